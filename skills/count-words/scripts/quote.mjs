#!/usr/bin/env node
/** Finds the sentences of a text file that have the words of a question. It reads no meaning. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const USAGE = `Usage: quote.mjs FILE... --question TEXT

Prints the sentences of text files that have most words of the question, with the numbers of their lines.`;
const MOST_SHOWN = 10;
const MOST_FIRST = 3;
/** Hold a question together, or speak of the file itself. */
const SMALL = new Set(
	`a an the this that these those it its he she they them their his her i we you me my our your us is are was were be been being am do does did done has have had made
	 can could will would shall should may might must what which who whom whose when where why how many much often of in on at for from to with into as by about
	 and or but not no if then than so any some all each every there here please tell show list give find get look see say says said read file files text texts document documents note notes
	 line lines sentence sentences word words mention mentions mentioned contain contains written write anything something anyone someone everything let know
	 summarise summarize summary describe explain overview gist main key point points bullet bullets paragraph paragraphs short shortly content contents quote just also up out hi hello two three four five both`.split(
		/\s+/
	)
);

const SUMMING = /\b(summar\p{L}+|overview|describe|gist|(main|key) points)\b/iu;

/** What a question can ask for by its kind. */
const KINDS = [
	['an e-mail address', /^(e-?mails?|mails?|address(es)?)$/, /[^\s@]+@[^\s@]+\.\p{L}{2,}/u],
	['a web address', /^(web|websites?|sites?|urls?|links?|web-?pages?|address(es)?)$/, /https?:\/\/\S|\bwww\.\S/],
	['a phone number', /^((tele)?phones?|mobile|numbers?)$/, /(?<![\d.,-])(\+\d|0\d|\(0?\d)[\d ()/-]{5,}\d/],
	[
		'a date',
		/^(dates?|days?)$/,
		/\b\d{4}-\d\d-\d\d\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b\d{1,2}(st|nd|rd|th)?\.? (of )?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{L}* \d{1,2}\b/u
	],
	['a time', /^times?$/, /\b\d{1,2}:\d\d\b|\b\d{1,2} ?(am|pm)\b/i],
	[
		'an amount',
		/^(amounts?|prices?|costs?|sums?|money)$/,
		/[$€£¥] ?\d|\d ?([$€£¥]|(kr|eur|euros?|usd|dollars?|gbp|pounds?|chf|sek|nok|dkk)\b)/i
	]
];

const DECIDED = 'what was decided';
/** What minutes and letters say in other words than one asks in. */
const SAID_SO = [
	[
		'when it was',
		/\b(when|(what|which) (day|date|time)|on (what|which) (day|date)) (was|is) (the|this) (meeting|call|session)\b/i,
		/^\W*(date|held)\b/i
	],
	['where it was', /\bwhere (was|is) (the|this) (meeting|call|session)\b/i, /^\W*(place|venue|location|held)\b/i],
	[
		'who was there',
		/\bwho\b.*\b(at|in) (the|this) (meeting|call|session)\b|\bwho (else )?(was|were) (there|present)\b|\bwho (came|attended)\b|\bparticipants\b/i,
		/^\W*(present|attend\w*|participants|in attendance)\b/i,
		'Who was there?'
	],
	[
		'who was not there',
		/\bwho\b.*(\b(missing|absent|excused|sick)\b|(\bnot|n[’']t) (there|come|at|present)\b)/i,
		/^\W*(apologies|absent|excused|regrets|not present)\b/i
	],
	[
		DECIDED,
		/\bwhat\b.*\b(decided|agreed|decisions?)\b/i,
		/\b(decided|agreed|resolved|approved|voted|decisions?)\b/i,
		'What was decided?'
	]
];

function main(args) {
	const { values, positionals } = parseArgs({
		args,
		allowPositionals: true,
		options: { question: { type: 'string' }, help: { type: 'boolean', short: 'h' } }
	});
	if (values.help) return console.log(USAGE);
	if (positionals.length === 0 || !values.question?.trim()) throw new TypeError(USAGE);
	const texts = positionals.map((file) => ({
		file: file.replace(/^.*[/\\]/, ''),
		text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
	}));
	const name = inWords(
		texts.map(({ file }) => file),
		'and'
	);
	const isOfFiles = texts.length > 1 || /\b(which|what|any)\b.*\b(files?|documents?)\b/i.test(values.question);
	const sentences = texts.flatMap(({ file, text }) =>
		sentencesOf(text).map((each) => ({ ...each, place: `${isOfFiles ? `${file}, line` : 'Line'} ${each.line}` }))
	);
	if (sentences.length === 0) return console.log(`${name} is empty.`);
	// What goes on with a question is in a line of its own.
	const question = texts
		.reduce((rest, { file }) => rest.replaceAll(file, ' '), values.question)
		.replace(/\bsum (it |this |that |them )?up\b|\S+\.(csv|tsv|txt|md)\b/gi, ' ');
	const telling = (line) => wordsOf(line).filter((word) => !SMALL.has(word.toLowerCase()));
	const line = question.split('\n').findLast((each) => telling(each).length > 0) ?? question;
	const called = texts.flatMap(({ file }) => wordsOf(file.replace(/\.\w+$/, '').replace(/[_-]/g, ' ')));
	// `Summarise the minutes` is of minutes.txt.
	const isNamed = (word) => SUMMING.test(line) && called.some((each) => isSame(each, word));
	const asked = [...new Set(telling(line))].filter((word) => !isNamed(word));
	let [subject] = asked;
	for (const [what, asking, pattern] of SAID_SO) {
		if (!asking.test(line)) continue;
		// `What was decided about the fee?`
		const topics = asked.filter(
			(word) => !pattern.test(word) && !asking.test(word) && !/^(decid|agree|meeting)/i.test(word)
		);
		const isAbout = ({ about }) =>
			what !== DECIDED ||
			topics.length === 0 ||
			topics.some((topic) => wordsOf(about).some((word) => isSame(topic, word)));
		const said = sentences.filter((each) => pattern.test(each.text) && isAbout(each)).slice(0, MOST_SHOWN);
		if (said.length > 0)
			return console.log(
				`${quoted(said)}\n\n${said.length === 1 ? 'This sentence says' : 'These sentences say'} ${what}.`
			);
		if (what === DECIDED && topics.length > 0) [subject] = topics;
	}
	if (asked.length === 0) {
		console.log(`This finds words in ${name}, and can't sum up what it says. It begins:\n`);
		return console.log(`${quoted(sentences.slice(0, MOST_FIRST))}\n\n${questions(sentences)}`);
	}
	const found = sentences.map((each) => {
		const said = wordsOf(each.text);
		const isSaid = (word) => said.some((other) => isSame(word, other));
		return { ...each, isSaid, hits: asked.filter((word) => isSaid(word) || kindIn(each.text, word)) };
	});
	const most = Math.max(...found.map(({ hits }) => hits.length));
	// One word of many is found by chance, unless it's what is asked about.
	const isMeant = ({ isSaid }) => most > 1 || (asked.length < 3 && subject === asked[0]) || isSaid(subject);
	const best = found.filter((each) => each.hits.length === most && isMeant(each));
	if (most === 0 || best.length === 0)
		return console.log(
			`${name} can't answer that: no sentence has ${most > 0 ? 'two of ' : ''}${inWords(marked(asked), most > 0 ? 'and' : 'or')}. This finds words, and doesn't read what is meant.\n\n${questions(sentences)}`
		);
	// What stands below a heading: its section, a sentence, or a whole list or table.
	let isBelow = false;
	const shown = found.filter((each, at) => {
		const before = found[at - 1];
		isBelow =
			before !== undefined &&
			((best.includes(before) && isLead(before, each)) ||
				(isBelow && (isItem(before) ? isItem(each) : each.heading !== '' && each.heading === before.heading)));
		return isBelow || best.includes(each);
	});
	const known = asked.filter((word) => best.some(({ hits }) => hits.includes(word)));
	console.log(quoted(shown.slice(0, MOST_SHOWN)));
	if (shown.length > MOST_SHOWN) console.log(`\n${shown.length - MOST_SHOWN} more are not shown.`);
	const missing = asked.filter((word) => !known.includes(word));
	const have =
		shown.length > best.length
			? 'What comes first has'
			: best.length === 1
				? 'This sentence has'
				: `These ${best.length} sentences have`;
	const none = missing.length > 0 ? ` No such sentence has ${inWords(marked(missing), 'or')}.` : '';
	const kindOf = (word) =>
		!best.some(({ isSaid }) => isSaid(word)) && best.map(({ text }) => kindIn(text, word)).find(Boolean);
	const names = [...new Set(known.map((word) => kindOf(word) || `“${word}”`))];
	console.log(`\n${have} ${inWords(names, most === known.length ? 'and' : 'or')}.${none}`);
}

/** A list of what it has an answer to: the kinds of things that are in the text, and a word that it has often. */
function questions(sentences) {
	const kinds = KINDS.filter(
		([name, , pattern]) => !/web/.test(name) && sentences.some(({ text }) => pattern.test(text))
	);
	const times = new Map();
	for (const { text } of sentences)
		for (const word of new Set(
			wordsOf(text).filter((each) => /^\p{L}{4,}$/u.test(each) && !SMALL.has(each.toLowerCase()))
		))
			if (!KINDS.some(([, , pattern]) => pattern.test(`1 ${word}`))) times.set(word, (times.get(word) ?? 0) + 1);
	const [often] = [...times].sort(([, one], [, other]) => other - one);
	const list = kinds.slice(0, 3).map(([name]) => `Which ${name.replace(/^an? /, '').replace(/s$/, 'se')}s are in it?`);
	if (often?.[1] > 1) list.push(`What does it say about ${often[0]}?`);
	const told = SAID_SO.flatMap(([, , pattern, question]) =>
		question && sentences.some(({ text }) => pattern.test(text)) ? [question] : []
	);
	return `You can ask for:\n\n${[...told, ...list, 'How many words does it have?'].map((each) => `- ${each}`).join('\n')}`;
}

/**
 * With the numbers of their lines, and what they are about: their line and the heading above; a line that only stands for layout has
 * none. A row of a table is one, with the names of its columns.
 */
function sentencesOf(text) {
	const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
	const lines = text.split(/\r\n|\r|\n/);
	let [heading, columns] = ['', null];
	return lines.flatMap((line, index) => {
		if (/^#{1,6} /.test(line)) heading = line;
		const cells = cellsOf(line);
		const isNames = cells && /^[\s|:-]+$/.test(lines[index + 1] ?? '') && cellsOf(lines[index + 1]);
		columns = isNames ? cells : cells && columns;
		if (isNames || /^[\s|:-]+$/.test(line)) return [];
		const row = cells?.map((cell, at) => (columns?.[at] && cell ? `${columns[at]}: ${cell}` : cell)).filter(Boolean);
		const sentences = [];
		for (const { segment } of row ? [{ segment: row.join('; ') }] : segmenter.segment(line)) {
			// `Dr. Olsen`, `J. Finch` and `1. Minutes` are no end.
			if (/(\b(Dr|Mr|Mrs|Ms|Prof|St|No|\p{Lu})|^\W*\d{1,3})\. *$/u.test(sentences.at(-1) ?? ''))
				sentences.push(sentences.pop() + segment);
			else sentences.push(segment);
		}
		return sentences.flatMap((each) =>
			/[\p{L}\p{N}]/u.test(each) && !/^\d{1,3}\.$/.test(each.trim())
				? [{ line: index + 1, text: each.trim(), about: `${heading} ${line}`, heading, isRow: Boolean(row) }]
				: []
		);
	});
}

function cellsOf(line) {
	return /^\s*\|.*\|\s*$/.test(line)
		? line
				.trim()
				.slice(1, -1)
				.split('|')
				.map((cell) => cell.trim())
		: null;
}

function wordsOf(text) {
	return text.replace(/[’']s\b|n[’']t\b/g, '').match(/[\p{L}\p{N}]+(?:[-'’.:][\p{L}\p{N}]+)*/gu) ?? [];
}

/** `a date` for `date`, where the text has one; else undefined. */
function kindIn(text, word) {
	return KINDS.find(([, name, pattern]) => name.test(word.toLowerCase()) && pattern.test(text))?.[0];
}

/** Endings are forgiven: `Meetings` for `meeting`; `planned` is not `plan`. */
function isSame(one, other) {
	return stem(one.toLowerCase()) === stem(other.toLowerCase());
}

/** A few words without an end, or what ends with a colon before a list. */
function isLead({ text, ...lead }, next) {
	const isHeading = /^#/.test(text) || (!/[.!?:]$|:\W*\s/.test(text) && wordsOf(text).length <= 5);
	return !isItem({ text, ...lead }) && (isHeading || (/:\W*$/.test(text) && isItem(next)));
}

function isItem({ text, isRow }) {
	return isRow || /^([-*•]|\d{1,2}[.)]) /.test(text);
}

const IRREGULAR = Object.fromEntries(
	'paid:pay met:meet sent:send sold:sell bought:buy held:hold took:take gave:give made:make wrote:write came:come went:go voted:vote decision:decide decisions:decide'
		.split(' ')
		.map((pair) => pair.split(':'))
);

function stem(word) {
	const bare = (IRREGULAR[word] ?? word).replace(/(?<=\p{L}{3})(ing|ed|es|s)$/u, '');
	// `June` is no `Jun`.
	return bare.replace(/(?<=\p{L}{4})[ey]$/u, '');
}

function quoted(sentences) {
	return sentences.map(({ place, text }) => `> ${place}: ${text}`).join('\n>\n');
}

function marked(words) {
	return words.map((word) => `“${word}”`);
}

function inWords(names, link) {
	return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${link} ${names.at(-1)}`;
}

try {
	main(process.argv.slice(2));
} catch (error) {
	const isUsage = error instanceof TypeError && error.code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
	const reason =
		{ ENOENT: 'file not found', ERR_ENCODING_INVALID_ENCODED_DATA: 'not a UTF-8 text file' }[error.code] ??
		error.message;
	console.error(isUsage ? error.message : `Couldn't read the text: ${reason}.`);
	process.exitCode = isUsage ? 2 : 1;
}
