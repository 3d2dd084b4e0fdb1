/** Of several files, which are meant; and what is asked of the files themselves. */

import { analyze } from './analysis.mjs';
import { labelOf, likelyOf, namedColumns, nounsOf, OF_COIN, PEOPLE, ROW_NOUNS, sortOf, stem, WHO } from './names.mjs';
import { questionsOf } from './offers.mjs';
import { readQuestion } from './question.mjs';
import { cell, countOf, inWords, lineOf, MOST_NAMED, offered } from './report.mjs';
import { openTable } from './table.mjs';
import { monthNumber } from './values.mjs';

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
/** Says which file a row is of, where several are one table. */
const FILE = 'file';
const MOST_IN_NAME = 3;
const ALL_FILES =
	/\b(?:(?:over|for|in|of|from|across) )?(?:both|all(?: the)?|(?:the )?(?:two|three|four|\d+)) (?:\p{L}+ )?(?:files|tables|sheets|months|weeks|quarters|years)\b/iu;
const COMPARING = /\b(compar\p{L}+|differ\p{L}*|versus|vs|than|more|less|fewer|better|worse|or)\b/iu;
const TAKINGS = /\b(revenue|turnover|takings|sales|sell|sold)\b/i;

/** `What is the total?`, `In bank.csv`: the question of before, for that file. */
export function fileChosen(options) {
	const lines = options.question?.trim().split('\n') ?? [];
	const fileIn = (line) => {
		const [, name] = /^\W*(?:(?:and|only|just|in|of|for|from|the|file)\s+)*(\S+?)\W*$/i.exec(line) ?? [];
		return options.files.find((file) => file.toLowerCase() === name?.toLowerCase());
	};
	const file = fileIn(lines.at(-1) ?? '');
	const asked = lines.filter((line) => !fileIn(line));
	return file && asked.length > 0 ? { ...options, files: [file], question: asked.join('\n') } : options;
}

/** The tables that the files make, each as its files: those with the same columns are one. */
function tablesOf(options) {
	const tables = new Map();
	for (const file of new Set(options.files)) {
		const { columns, dates, decimalComma, hasHeader } = openTable(file, options);
		const isOne = hasHeader && !columns.includes(FILE);
		const key = isOne ? JSON.stringify([columns, dates, decimalComma]).toLowerCase() : file;
		tables.set(key, [...(tables.get(key) ?? []), file]);
	}
	return [...tables.values()];
}

/** All rows of one file or several, of several with the file of each in one more column. */
function openFiles(files, options) {
	const tables = files.map((file) => openTable(file, options));
	const [first, ...others] = tables;
	if (others.length === 0) return first;
	const names = tables.map(({ name }) => name);
	const more = names.length > MOST_IN_NAME ? [`${names.length - MOST_IN_NAME + 1} more`] : [];
	const width = first.columns.length;
	return {
		...first,
		name: inWords([...names.slice(0, MOST_IN_NAME - more.length), ...more]),
		columns: [...first.columns, FILE],
		isOfSeveral: true,
		*rows() {
			for (const { name, rows } of tables)
				// A row that is too short stays so.
				for (const row of rows())
					yield row.cells.length < width ? row : { ...row, cells: row.cells.toSpliced(width, 0, name) };
		}
	};
}

/** A table with what is asked of it: `in sales-feb.csv` of several files is of that one alone, and two that are compared are told by file. */
function readFiles(files, options) {
	const table = openFiles(files, options);
	const all = analyze(table, []);
	const { columns } = all;
	const hourly = table.columns.find((name) => /^hourly/i.test(name));
	const asked = hourly ? options.question.replace(/\b(per|an) hour\b/gi, hourly) : options.question;
	const question = files.length > 1 ? asked.replaceAll(new RegExp(ALL_FILES, 'giu'), ' ') : asked;
	const read = { files, table, all, columns, question };
	if (files.length === 1) return read;
	const last = lastLine(question);
	// Without a name: words of a file's name say which is meant.
	const { unknown } = readQuestion(last, { ...table, name: ' ' }, columns);
	// `In February?` of sales-feb.csv, where no column has dates
	const isOwn = (file, said) =>
		nounsOf(file).some(
			(noun) =>
				(noun === stem(said) || (monthNumber(noun) ?? 0) === monthNumber(said)) &&
				files.some((each) => !nounsOf(each).includes(noun))
		);
	const waysTo = (file) => [file, ...unknown.filter((word) => isOwn(file, word))];
	const isIn = (way) => last.toLowerCase().includes(way.toLowerCase());
	const isOfTotal = /\bcompar/i.test(last);
	const named = isOfTotal && ALL_FILES.test(lastLine(asked)) ? files : files.filter((file) => waysTo(file).some(isIn));
	if (named.length === 0) return read;
	const rest = named
		.flatMap(waysTo)
		.map((way) => new RegExp(way.replace(/[^\p{L}\p{N}]/gu, '\\$&'), 'gi'))
		.reduce((text, pattern) => text.replaceAll(pattern, ' '), question);
	if (named.length === 1 || !COMPARING.test(last)) return readFiles(named, { ...options, question: rest });
	// `Did they take more?`, where what adds up is no money
	const isClear = isOfTotal || OF_COIN.test(columns[likelyOf(columns)]?.name) || namedColumns(last, columns).length > 0;
	if (!isClear) return read;
	const plain = rest.replace(/^\W*(did|do|does|is|are|was|were)\b/i, '').replaceAll(new RegExp(COMPARING, 'giu'), ' ');
	return readFiles(named, { ...options, question: `${plain} total per ${FILE}` });
}

/** `What are these two files about?`, `Which file has more rows?`: of the files, and not of what is in one. */
export function isOfFiles({ files, question = '', ...options }) {
	const said = lastLine(question)
		.toLowerCase()
		.replace(/\b(what|which)['’]s\b/, '$1');
	const named = files.filter((file) => said.includes(file.toLowerCase()));
	const isOneTable = () => tablesOf({ ...options, files: named.length > 0 ? named : files }).length === 1;
	if (/\bcompar/.test(said) && isOneTable()) return false;
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
	const list = tablesOf(options).flatMap((files) => firstQuestion(files, options));
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
export function lack(options, meant, words) {
	const marked = asSaid(words, options.question);
	const list = meant.flatMap(({ files }) => firstQuestion(files, options));
	console.log(
		`${inWords(meant.flatMap(({ files }) => files))} can't answer that: I find nothing for ${marked.join(', ')} in ${meant.length > 1 ? 'them' : 'it'}.\n\n${offered(list)}`
	);
}

function firstQuestion(files, options) {
	const table = openFiles(files, options);
	const { columns } = analyze(table, []);
	const [first] = questionsOf(table, columns);
	return first ? [`${first.replace(/\?$/, '')} in ${inWords(files)}?`] : [];
}

export function lastLine(question) {
	return question.trim().split('\n').at(-1);
}

/**
 * Those that have what is named; of a question, those that have most of it, and the words that no file has; none, where it
 * takes more than one. Without a question those whose table `hasColumns` of the options.
 */
export function filesMeant(options, hasColumns) {
	if (!options.question?.trim()) {
		const each = options.files.map((file) => ({ table: openTable(file, options) }));
		const fitting = each.filter(({ table }) => hasColumns(options, table));
		return { meant: fitting.length > 0 ? fitting : each.slice(0, 1) };
	}
	const known = tablesOf(options).map((files) => {
		const each = readFiles(files, options);
		const { table, columns } = each;
		const [, one = each.question] = TWO_PARTS.exec(each.question) ?? [];
		const read = readQuestion(one, table, columns);
		const { conditions, by, value, measure, flow } = read;
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
		const kinds = [isOfNumber, isOfSales, flow].filter(Boolean).length;
		const found = conditions.length + sure - parts + by.length + kinds;
		const deed = deedOf(read, each);
		const unknown = [...read.unknown, ...deed];
		// `When did Kit start?` is of the file with such a column.
		const named = namedColumns(lastLine(each.question).toLowerCase(), columns).length / 10;
		const points = unknown.length > 0 ? found / 100 - unknown.length : found + named;
		return { ...each, points, unknown, read, deed, isOfSales, nouns: files.flatMap(nounsOf) };
	});
	const lacking = (meant, words) => ({ meant, unknown: meant.length > 1 ? words : meant[0].deed });
	if (known.length === 1) return lacking(known);
	const none = notThere(known, options.question);
	if (none) return { meant: [], none };
	const most = Math.max(...known.map(({ points }) => points));
	const best = known.filter(({ points }) => points === most);
	// `Did any member buy bread?` of members.csv and bakery.csv
	const last = lastLine(options.question).toLowerCase();
	const words = (last.match(/\p{L}+/gu) ?? []).map(stem);
	const isOfOther = (one) =>
		known.some(({ nouns }) =>
			nouns.some((noun) => words.includes(noun) && !one.nouns.includes(noun) && !isThingOf(noun, one))
		);
	const things = words.filter((word) => ROW_NOUNS.has(word) && !OF_ANY_ROW.test(word));
	const own = best.filter((each) => things.some((word) => isThingOf(word, each)));
	// `When is the plant sale?`, where no file has either
	if (most === 0 && things.length > 0 && own.length === 0) return lacking(best, things);
	if (most === 0 && own.length > 0) return { meant: own };
	if (known.every(isOfOther)) return { meant: [] };
	// `Who was there?` names nothing of a table.
	const isOfNothing = ({ read: { measure, end, isOverview, isChart, isList, isOfWho } }) =>
		!(measure || end || isOverview || isChart) && (isOfWho || !isList);
	if (most === 0 && known.every(isOfNothing)) return lacking(known, [last.replace(/\W+$/, '')]);
	if (most < 0) {
		const inNone = best[0].unknown.filter((word) => known.every(({ unknown }) => unknown.includes(word)));
		return inNone.length > 0 && (!OF_FILES.test(options.question) || OF_WORDS.test(options.question))
			? lacking(best, inNone)
			: { meant: [] };
	}
	return { meant: best.every(isOfOther) ? [] : best };
}

/** `Did Leo sell anything?`, where only another file has Leo. */
function notThere(known, question) {
	const names = known.flatMap(({ read, columns }) =>
		read.conditions.flatMap(({ index, cells = [] }) => (index === labelOf(columns) ? cells : []))
	);
	const parts = names.flatMap((name) => name.toLowerCase().split(/\s+/));
	const found = known.find(
		({ unknown, isOfSales }) => isOfSales && unknown.length > 0 && unknown.every((word) => parts.includes(word))
	);
	const [who, ...others] = found?.columns.filter(({ name, type }) => type === 'text' && WHO.test(name)) ?? [];
	if (!who || others.length > 0) return '';
	const lead = /^\W*(do|does|did|has|have|had)\b/i.test(lastLine(question)) ? 'No' : '**None**';
	return `${lead}: no row has ${asSaid(found.unknown, question).join(', ')} in ${cell(who.name)} (of ${found.table.name}).`;
}

/** `Did Leo sell anything?` of a list of people: that he is in it says nothing of what he did. */
function deedOf({ isYesNo, conditions, by, limit, end }, { columns, question }) {
	const [named, ...others] = conditions;
	const isMention = isYesNo && named?.cells && others.length + by.length === 0 && !limit && !end;
	if (!isMention || named.index !== labelOf(columns)) return [];
	const name = (named.cells[0].match(/\p{L}+/gu) ?? []).join('|');
	const did = new RegExp(
		`\\b(?:do|does|did|has|have|had)\\b.*\\b(?:${name}) (?:ever |also )?(?!(?:in|on|at|as|of|a|the|have|here|there|listed)\\b)(\\p{L}+)`,
		'iu'
	);
	return did.exec(lastLine(question))?.slice(1) ?? [];
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
export function offer(meant, question) {
	const last = lastLine(question).replace(/[\s?.!]+$/, '');
	console.log(`Which file do you mean? ${inWords(meant.flatMap(({ files }) => files))} fit alike.\n`);
	console.log(offered(meant.map(({ files }) => `${last} in ${inWords(files)}?`)));
}

/** `How much came in and how much went out?` is two questions, the second of which goes on with the first, if both can be answered. */
export function partsOf({ question, table, all }) {
	const [, one, other] = TWO_PARTS.exec(question ?? '') ?? [];
	if (!one) return [question];
	const { columns } = all;
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
