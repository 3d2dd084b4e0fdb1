/** Of several files, which are meant; and what is asked of the files themselves. */

import { analyze } from './analysis.mjs';
import { labelOf, likelyOf, nounsOf, PEOPLE, ROW_NOUNS, sortOf, stem, WHO } from './names.mjs';
import { questionsOf } from './offers.mjs';
import { readQuestion } from './question.mjs';
import { cell, countOf, inWords, lineOf, MOST_NAMED, offered } from './report.mjs';
import { openTable } from './table.mjs';

/** Speaks of the files, and says nothing else of them but what they are and how long. */
const OF_FILES =
	/\b((which|what|each|every) (of (my|the|these|those) )?(csv )?(file|table|sheet|spreadsheet)|(csv )?(files|tables|sheets|spreadsheets))\b/;
/** A second question in the last line, of more than `and how many?`. */
const TWO_PARTS =
	/^((?:.*\n)*.*\S+\s+\S+),?[^\S\n]+and\s+((?:the\s+)?(?:how|what|who|which|when|where|total|average)\s+\S+\s+\S.*|(?:the\s+)?(?:total|average)\s+\S+.*)$/i;
/** A row of any file. */
const OF_ANY_ROW = /^(row|record|entry|item|person|people|measurement)$/;
/** What a file is looked for by. */
const OF_WORDS =
	/\bfiles?\b.*?\b(?:mentions?|has|have|contains?|says|say(?: something)? about|is|are|talks? about|about|names?|with)\b (?:(?:something|anything) )?(?:about )?(?:the |an? )?(?:column (?:called |named )?)?(.+?)(?: in (?:it|them))?\W*$/;
const ABOUT_FILES =
	/\b(what|which|is|are|in|of|about|the|these|those|this|my|our|your|both|all|two|three|four|five|\d|one|each|every|and|do|does|have|has|how|many|there|it|them|me|up|for|can|could|you|please|give|a|an|short|quick|show|tell|say|says|contain|sum|summar\p{L}+|describe|explain|overview|compare|number|row|rows|column|columns|more|most|bigger|biggest|larger|largest|longer|longest|fewer|fewest|less|least|smaller|smallest|shorter|shortest|than|other|or)\b/gu;
const MORE_OR_LESS =
	/\b(?:more|most|bigger|biggest|larger|largest|longer|longest|(fewer|fewest|less|least|smaller|smallest|shorter|shortest))\b/;
const TAKINGS = /\b(revenue|turnover|takings|sales|sell|sold)\b/i;

/** `What is the total?`, `In bank.csv`: the question of before, for that file. */
export function fileChosen(options) {
	const lines = options.question?.trim().split('\n') ?? [];
	const fileIn = (line) => {
		const [, name] = /^\W*(?:(?:and|in|of|for|from|the|file)\s+)*(\S+?)\W*$/i.exec(line) ?? [];
		return options.files.find((file) => file.toLowerCase() === name?.toLowerCase());
	};
	const file = fileIn(lines.at(-1) ?? '');
	const asked = lines.filter((line) => !fileIn(line));
	return file && asked.length > 0 ? { ...options, files: [file], question: asked.join('\n') } : options;
}

/** `What are these two files about?`, `Which file has more rows?`: of the files, and not of what is in one. */
export function isOfFiles({ files, question = '' }) {
	const said = lastLine(question).toLowerCase();
	const text =
		files.length > 1 ? files.reduce((rest, file) => rest.replaceAll(file.toLowerCase(), 'files'), said) : said;
	const isMeant = OF_FILES.test(text) || (files.length > 1 && /\b(these|those|both|all|them)\W*$/.test(text));
	return isMeant && !/[\p{L}\p{N}]/u.test(text.replace(new RegExp(OF_FILES, 'g'), ' ').replace(ABOUT_FILES, ' '));
}

/** A line for each file: how much is in it, of what, and of when. */
export function describe(options) {
	const read = options.files.map((file) => {
		const table = openTable(file, options);
		const { columns, rows } = analyze(table, []);
		return { file, table, columns, rows };
	});
	const said = lastLine(options.question).toLowerCase();
	const end = MORE_OR_LESS.exec(said);
	if (end && /^\W*(which|what)\b/.test(said) && !/\bcolumns?\b/.test(said) && read.length > 1) {
		const [word, isLess] = end[1] ? ['fewest', true] : ['most', false];
		const rows = (isLess ? Math.min : Math.max)(...read.map((each) => each.rows));
		const best = read.filter((each) => each.rows === rows).map(({ file }) => `**${file}**`);
		console.log(
			`${inWords(best)} ${best.length > 1 ? 'have' : 'has'} the ${word} rows (${rows.toLocaleString('en-US')}).\n`
		);
	}
	const lines = read.map(({ table, ...found }) => `- ${lineOf(table, found)}`);
	console.log(`${lines.join('\n')}\n\n${offered(read.map(({ file }) => `summary of ${file}`))}`);
}

/** `Which of my files mentions York?`: the cells and the columns of each that have these words. */
export function placesOf(options) {
	const last = lastLine(options.question ?? '').toLowerCase();
	const [, said = ''] = (OF_FILES.test(last) && OF_WORDS.exec(last)) || [];
	const wanted = said.match(/[\p{L}\p{N}]+/gu) ?? [];
	if (wanted.length === 0) return [];
	const isIn = (text) => {
		const own = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem);
		return wanted.every((word) => own.includes(stem(word)));
	};
	return options.files.flatMap((file) => {
		const table = openTable(file, options);
		return analyze(table, []).columns.flatMap(({ name, counts }) => {
			const cells = [...counts.keys()].filter(isIn);
			const rows = cells.reduce((sum, text) => sum + counts.get(text), 0);
			if (rows === 0) return isIn(name) ? [`**${table.name}** has a column ${cell(name)}.`] : [];
			const texts = cells.slice(0, MOST_NAMED).map((text) => `“${cell(text)}”`);
			return [`**${table.name}** has ${inWords(texts)} in ${cell(name)} (${countOf(rows, 'row')}).`];
		});
	});
}

/** What no file has by itself, all of them together have: that can't be read. */
export function divide(options) {
	const list = options.files.flatMap((file) => firstQuestion(file, options));
	console.log(
		`One question can look at one file at a time, and this is of ${inWords(options.files)}.\n\n${offered(list)}`
	);
}

/** The first of the words, as they stand in the question. */
export function asSaid(words, question) {
	const at = (word) => question.toLowerCase().lastIndexOf(word);
	const own = (word) => (at(word) < 0 ? word : question.slice(at(word), at(word) + word.length));
	return words.slice(0, 3).map((word) => `“${own(word)}”`);
}

/** None of these files has the words. */
export function lack(options, files, words) {
	const marked = asSaid(words, options.question);
	const list = files.flatMap((each) => firstQuestion(each, options));
	console.log(
		`${inWords(files)} can't answer that: I find nothing for ${marked.join(', ')} in them.\n\n${offered(list)}`
	);
}

function firstQuestion(file, options) {
	const table = openTable(file, options);
	const { columns } = analyze(table, []);
	const [first] = questionsOf(table, columns);
	return first ? [`${first.replace(/\?$/, '')} in ${file}?`] : [];
}

export function lastLine(question) {
	return question.trim().split('\n').at(-1);
}

/**
 * Those that have what is named; of a question, those that have most of it, and the words that no file has; none, where it
 * takes more than one. Without a question those whose table `hasColumns` of the options.
 */
export function filesMeant(options, hasColumns) {
	const isAsked = Boolean(options.question?.trim());
	const known = options.files.flatMap((file) => {
		const table = openTable(file, options);
		if (!isAsked) return hasColumns(options, table) ? [{ file, points: 0 }] : [];
		const { columns } = analyze(table, []);
		const [, one = options.question] = TWO_PARTS.exec(options.question) ?? [];
		const { unknown, conditions, by, value, measure, flow } = readQuestion(one, table, columns);
		const likely = likelyOf(columns);
		const isOfNumber = value !== null || (/sum|mean|median/.test(measure) && likely !== null);
		// A fee is money, too, but no revenue.
		const isOfSales =
			TAKINGS.test(options.question) &&
			likely !== null &&
			(table.productNote || columns.some(({ name }) => TAKINGS.test(name) || sortOf(name) === 'pieces'));
		// `people over 50` is of ages, and only perhaps of money.
		const sure = conditions.filter(({ isNamed }) => isNamed).length;
		// `York` is more of a town than of `Train ticket York`.
		const parts = conditions.filter(({ isPart }) => isPart).length / 2;
		const known =
			conditions.length +
			sure -
			parts +
			by.length +
			Number(isOfNumber) +
			Number(Boolean(isOfSales)) +
			Number(Boolean(flow));
		const points = unknown.length > 0 ? known / 100 - unknown.length : known;
		return [{ file, points, unknown, nouns: nounsOf(file), table, columns }];
	});
	const most = Math.max(...known.map(({ points }) => points));
	const found = known.filter(({ points }) => points === most);
	const best = found.map(({ file }) => file);
	if (!isAsked) return { meant: best.length === 0 ? [options.files[0]] : best };
	// `Did any member buy bread?` of members.csv and bakery.csv
	const words = (
		lastLine(options.question)
			.toLowerCase()
			.match(/\p{L}+/gu) ?? []
	).map(stem);
	const isOfOther = (one) =>
		known.some(({ nouns }) =>
			nouns.some((noun) => words.includes(noun) && !one.nouns.includes(noun) && !isThingOf(noun, one))
		);
	const things = words.filter((word) => ROW_NOUNS.has(word) && !OF_ANY_ROW.test(word));
	const own = found.filter((each) => things.some((word) => isThingOf(word, each)));
	// `When is the plant sale?`, where no file has either
	if (most === 0 && things.length > 0 && own.length === 0) return { meant: best, unknown: things };
	if (most === 0 && own.length > 0) return { meant: own.map(({ file }) => file) };
	if (most < 0) {
		const inNone = found[0].unknown.filter((word) => known.every(({ unknown }) => unknown.includes(word)));
		return inNone.length > 0 && (!OF_FILES.test(options.question) || OF_WORDS.test(options.question))
			? { meant: best, unknown: inNone }
			: { meant: [] };
	}
	return { meant: found.every(isOfOther) ? [] : best };
}

/** Is the file of such things, or has it the word in a column or a cell? */
function isThingOf(word, { table, columns, nouns }) {
	const label = columns[labelOf(columns)];
	const isOfPeople = PEOPLE.test(word) && WHO.test(label?.name) && label.counts.size === label.filled;
	return (
		nouns.includes(word) ||
		isOfPeople ||
		[...table.columns, ...columns.flatMap(({ type, counts }) => (type === 'text' ? [...counts.keys()] : []))].some(
			(text) =>
				text
					.toLowerCase()
					.split(/[^\p{L}]+/u)
					.some((part) => stem(part) === word)
		)
	);
}

/** The question once for each file. */
export function offer(files, question) {
	const last = lastLine(question).replace(/[\s?.!]+$/, '');
	console.log(`Which file do you mean? ${inWords(files)} fit alike.\n`);
	console.log(offered(files.map((file) => `${last} in ${file}?`)));
}

/** `How much came in and how much went out?` is two questions, the second of which goes on with the first, if both can be answered. */
export function partsOf({ question, ...options }, file) {
	const [, one, other] = TWO_PARTS.exec(question ?? '') ?? [];
	if (!one) return [question];
	const table = openTable(file, options);
	const { columns } = analyze(table, []);
	const cellsOf = (text) => readQuestion(text, table, columns).conditions.filter(({ cells }) => cells);
	// `… on food and how much on rent?`, which is in another column
	const isApart = cellsOf(one).some(({ index }) => cellsOf(other).some((each) => each.index !== index));
	const parts = [one, isApart ? other : `${one}\n${other}`];
	const [first, second] = parts.map((each) => readQuestion(each, table, columns));
	if (first.unknown.length > 0 || second.unknown.length > 0) return [question];
	// `Who lives in Leeds and when did they join?`: one row tells both.
	const figureOf = ({ conditions, by, value, measure, end, shown }) =>
		JSON.stringify([conditions, by, value, measure, end, shown], (_, part) =>
			typeof part === 'bigint' ? String(part) : part
		);
	return figureOf(first) === figureOf(second) ? [one] : parts;
}
