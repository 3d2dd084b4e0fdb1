/** Finds the columns that are meant, by what people call them. */

import { UsageError } from './errors.mjs';

const LIKELY_VALUES = ['revenue', 'sales', 'amount', 'total', 'turnover', 'income', 'value', 'cost'];

/** What rows often are. */
export const ROW_NOUNS = new Set(
	'member customer guest client order purchase payment transaction visit trip student employee sale row entry record item expense bill invoice guest pupil user person people ride game run race workout session booking ticket event book film movie song album plant recipe reading measurement'.split(
		' '
	)
);
/** Of those, what only a person is. */
export const PEOPLE = /^(member|customer|guest|client|student|employee|pupil|user|person|people)s?$/;
/** A column of places. */
export const PLACE = /^(home ?)?(town|city|village|place|country|county|region|state|location|venue|address)$/i;
const LIVING = 'lives?|lived|living|based|located|comes?|is|are|was|were|any\\w+|some\\w+';
/** What stands before a value, of which column it is: `lives in Paris`, `plays the harp`. */
const POINTING = [
	[/\b(play|plays|played|playing)$/, /^(instrument|sport|position|game)s?$/i],
	[/\b(sell|sells|sold|buy|buys|bought|order|ordered|stock|have)$/, /^(product|article|item|goods)s?$/i],
	[/\b(pay|pays|paid) (by|with|in)$/, /^(payment|method|paid (by|with))( method| type)?$/i],
	[/\b(teach|teaches|taught)$/, /^(title|course|subject|class)$/i],
	[/\b(grow|grows|grew|grown|plant|planted)$/, /^(plant|crop|variety|species)s?$/i],
	[/\b(read|watch|watched|seen)$/, /^(title|book|film|movie|series)$/i],
	[new RegExp(`\\b(${LIVING}|${[...ROW_NOUNS].join('s?|')}) (in|from|at)$`), PLACE]
];

/** The only column of texts that a value after these words would be in; undefined where that isn't clear. */
export function columnAfter(before, columns) {
	const bare = before.toLowerCase().replace(/( (any|an?|the|some))*\s*$/, '');
	const [, name] = POINTING.find(([pattern]) => pattern.test(bare)) ?? [];
	const found = columns.filter((column) => name?.test(column.name) && column.type === 'text');
	return found.length === 1 ? found[0] : undefined;
}

/** They hold a sentence together, or say what every row is. */
export const SMALL = new Set(
	`a an the this that these those it its them they their there i we you he she my our your me us is are was were be been being am do does did done have has had used
	 can could would may might please tell show give list find get see know want need what which who whom whose where when how of in on at for from to with
	 into as by per and or also then now but so if any all some each every across within between than vs versus compared compare comparison against out up only just
	 say said called named go goes went come comes came bring brings brought take takes took make makes made spend spends spent spending gives gave given pay pays cost costs buy buys bought sell sells sold
	 earn earns earned live lives living belong happen happened hi hello hey thanks thank ok okay file csv tsv table data sheet dataset spreadsheet column columns
	 row rows line lines entry entries record records item items thing things one ones people person persons value values number numbers figure figures
	 altogether overall whole entire time times much many money about sale sales spending expense expenses costs everyone everybody everything often still yet ever again there different various distinct unique kind kinds
	 draw chart charts graph graphs plot diagram picture bar bars pie visualise visualize order ordered group grouped calculate compute work add up same instead again play plays played fell wear wears wearing away
	 summarise summarize summary describe analyse analyze overview statistics explain it’s it's i've we've us old young share shares percent percentage proportion expensive common frequent frequently back whats got get gets scored did anyone anybody somebody someone somewhere`.split(
		/\s+/
	)
);

/** A name as it is said: `distance km` of `Distance (km)`. */
export function inLetters(name) {
	return (name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}

/** Indexes of the columns that may be meant: by the exact name, then without regard to case and punctuation, then near misses. */
export function nearColumns(wanted, { columns }) {
	if (columns.includes(wanted)) return [columns.indexOf(wanted)];
	const plain = columns.map(simplify);
	const target = simplify(wanted);
	const same = plain.flatMap((name, index) => (target && name === target ? [index] : []));
	if (same.length === 1) return same;
	const matches = (isNear) => plain.flatMap((name, index) => (isNear(name) ? [index] : []));
	let near =
		target.length > 2 ? matches((name) => name.length > 2 && (name.startsWith(target) || target.startsWith(name))) : [];
	if (near.length === 0 && target.length > 2) near = matches((name) => likeness(name, target) >= 0.8);
	return near;
}

/** A near miss is noted. */
export function columnIndex(wanted, table, notes) {
	const { columns, name } = table;
	const [index, ...others] = nearColumns(wanted, table);
	if (index === undefined || others.length > 0)
		throw new UsageError(`There is no column "${wanted}" in ${name}. Its columns are: ${columns.join(', ')}.`);
	if (columns[index] !== wanted && simplify(columns[index]) !== simplify(wanted))
		notes.push(`There is no column "${wanted}", so "${columns[index]}" was used.`);
	return index;
}

export function simplify(name) {
	return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Numbers that name something, and those of which a sum says nothing. */
const IDS = /^(lat|latitude|lon|lng|longitude|year|born|birth|table|shelf|room|seat|group|team|week|page)$/;
/** The last word of a name: `Member no`, `order_id`, `House number`. */
const IS_ID =
	/(^|[^\p{L}])(id|ids|no|nr|num|number|code|zip|postcode|phone|tel|telephone|mobile|isbn|sku|ref|reference|barcode)[.#]?$|^(user|order|customer|member|client|product|item|row|employee|student)id$/iu;
const LEVELS =
	/^hourly|perhour$|(age|rating|score|grade|mark|marks|price|rate|pulse|temperature|weight|height|percent|speed|kmh|mph|pace|rank|temp|humidity|pressure|balance|stars?)$/;
/** `temp_c`, `weight (kg)` */
const A_UNIT = /[\s_([]+(eur|usd|gbp|chf|°?[cf]|celsius|fahrenheit|k?g|[cmk]?m|pct|%)[)\]]?$/i;
const PIECES =
	/^(units?|quantity|qty|pieces|count|(in)?stock|onhand|(tickets|seats)(sold)?|participants|attendees|visitors)$/;

/** How many people there were. */
export const OF_HEADS = /^(participants|attendees|visitors)$/i;

/** Columns of money. */
export const OF_COIN =
	/amount|price|cost|revenue|sales|total|paid|spent|spend|value|income|fee|balance|turnover|budget|salary|rent|bill|debit|credit|money|payment|eur|usd|gbp|[$€£]/i;

/** `id`, `level` (an age, a price, a mark), `pieces` (a quantity) or `amount`. */
export function sortOf(name) {
	const plain = simplify(name.replace(A_UNIT, ''));
	const isId = IDS.test(plain) || IS_ID.test(name.trim().replace(/(\p{Ll})I[dD]$/u, '$1 id'));
	return PIECES.test(plain) ? 'pieces' : isId ? 'id' : LEVELS.test(plain) ? 'level' : 'amount';
}

/** Can it be added up? */
export function isAmount(name) {
	return /amount|pieces/.test(sortOf(name));
}

/** The number column that a reader most likely means to add up: by its name, else the first that has decimals, else the first; null where a sum says nothing. */
export function likelyValue(columns, numbers) {
	const fee = feeOf(columns);
	const amounts = numbers.filter(
		(index) => isAmount(columns[index].name) && !columns[index].isOfYears && index !== fee
	);
	for (const word of LIKELY_VALUES) {
		const named = amounts.find((index) => simplify(columns[index].name).includes(word));
		if (named !== undefined) return named;
	}
	const best = ['isOfMoney', 'hasDecimals'].map((kind) => amounts.find((index) => columns[index][kind]));
	return best[0] ?? best[1] ?? amounts[0] ?? null;
}

/** What one of the people pays, which isn't added up: a fee beside participants. */
export function feeOf(columns) {
	const at = columns.findIndex(
		({ name, isNumber }) => isNumber && /fee|price|cost|charge/i.test(name) && !/total|sum/i.test(name)
	);
	return at >= 0 && columns.some(({ name }) => OF_HEADS.test(name)) ? at : undefined;
}

/** Of all number columns. */
export function likelyOf(columns) {
	return likelyValue(
		columns,
		columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : []))
	);
}

/** A column of those who do something. */
export const WHO =
	/(name|customer|client|tenant|teacher|trainer|coach|person|member|pupil|student|employee|user|guest|player|author|seller|buyer|driver|owner|assignee|hirer|renter|borrower|lender|payer|donor|sender|winner|runner|rider|volunteer)s?$/i;
const NAMING = /^(name|title|description|item|product|what|book|film|event|task|todo)$/;

/** The column that names the rows: one of names, else one of texts that are all different; null where there is none. */
export function labelOf(columns) {
	const texts = columns.flatMap(({ type }, index) => (type === 'text' ? [index] : []));
	const isUnique = (index) => columns[index].missing === 0 && columns[index].counts.size === columns[index].filled;
	const isName = (index) => NAMING.test(simplify(columns[index].name));
	const ways = [
		(index) => isName(index) && isUnique(index),
		(index) => WHO.test(columns[index].name),
		isName,
		isUnique
	];
	return ways.map((is) => texts.find(is)).find((index) => index !== undefined) ?? null;
}

/** Without the ending that a number or a tense gives it. */
export function stem(word) {
	return word
		.replace(/^paid$/, 'pay')
		.replace(/^(\p{L}{3,})ing$/u, '$1')
		.replace(/^(\p{L}{3,})ed$/u, '$1')
		.replace(/ies$/, 'y')
		.replace(/(l[eo]a|al|el|ol|ar)ves$/, '$1f')
		.replace(/(ss|sh|ch|x|z)es$/, '$1')
		.replace(/([^s])s$/, '$1');
}

/** Of an order, and no part of a name: `Who joined first?` is of no First aid. */
const ORDER =
	/^(first|last|latest|newest|earliest|oldest|youngest|most|least|high|higher|highest|low|lower|lowest|best|worst|top|next|new|old)$/;

/** Names of people only where they are written so: `how long`, of nobody called Long. */
const ALSO_NAMES = /^(prices?|long|short|young|rich|days?)$/;

export function isOrder(word) {
	return ORDER.test(word) || ALSO_NAMES.test(word);
}

/** `job`, where the first column is `Job no` and numbers the rows. */
export function rowNounOf([{ name, isNumber, counts, filled }]) {
	const words = inLetters(name).split(' ');
	return isNumber && counts.size === filled && words.length > 1 && IS_ID.test(name) ? stem(words[0]) : undefined;
}

/** What `work` finds in the cells of columns that were read to their end: worked out once, however many questions are read. */
export function ofCells(work) {
	const known = new WeakMap();
	return (columns) => {
		if (!known.has(columns)) known.set(columns, work(columns));
		return known.get(columns);
	};
}

const stemsOfCells = ofCells(
	(columns) =>
		new Set(
			columns.flatMap(({ type, counts }) =>
				type === 'text' ? [...counts.keys()].map((each) => stem(each.toLowerCase())) : []
			)
		)
);

/** Columns that are named, in the order of the sentence: by all words of the name, or nearly (`joined` by `join`, `revenue` by `revnue`). */
export function namedColumns(said, columns) {
	const tokens = [...said.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: text, index }) => ({ text, at: index }));
	const found = [];
	// `full` is a kind of member where there is such a cell, and no `Full Name`.
	const isCellOf = (text) => stemsOfCells(columns).has(stem(text));
	const order = columns
		.map(({ name }, index) => ({ index, parts: name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [] }))
		.sort((one, other) => other.parts.length - one.parts.length);
	for (const isSame of [(one, other) => stem(one) === stem(other), isNear]) {
		for (const { index, parts } of order) {
			const isTaken = (token) =>
				found.some(({ at, text }) => token.at < at + text.length && at < token.at + token.text.length);
			if (parts.length === 0 || found.some((each) => each.index === index)) continue;
			const from = tokens.findIndex((_, place) =>
				parts.every(
					(part, step) =>
						tokens[place + step] && !isTaken(tokens[place + step]) && isSame(tokens[place + step].text, part)
				)
			);
			const [first, last] = [tokens[from], tokens[from + parts.length - 1]];
			if (first) found.push({ index, at: first.at, text: said.slice(first.at, last.at + last.text.length) });
		}
		// `distance` for `distance_km`, if no other column is called so
		for (const { index, parts } of order) {
			const isOnly = (token) =>
				order.filter((each) => each.parts.some((part) => stem(part) === stem(token.text))).length === 1;
			const token = tokens.find(
				({ text, at }) =>
					text.length > 2 &&
					(!SMALL.has(text) || /\b(per|by|each|every) $/.test(said.slice(0, at))) &&
					!ORDER.test(text) &&
					!ROW_NOUNS.has(stem(text)) &&
					parts.some((part) => stem(part) === stem(text)) &&
					// `jobs` are the rows, where the first column is `Job no`.
					!(index === 0 && stem(text) === rowNounOf(columns) && !/^ \d/.test(said.slice(at + text.length))) &&
					isOnly({ text }) &&
					found.every((each) => at >= each.at + each.text.length || at + text.length <= each.at) &&
					(columns[index].isNumber || !isCellOf(text))
			);
			if (token && parts.length > 1 && found.every((each) => each.index !== index))
				found.push({ index, at: token.at, text: token.text });
		}
		// `unpaid`
		for (const { index, parts } of order)
			if (
				parts.length === 1 &&
				/yes\/no|date/.test(columns[index].type) &&
				found.every((each) => each.index !== index)
			) {
				const at = said.indexOf(` un${parts[0]} `);
				if (at >= 0) found.push({ index, at: at + 3, text: parts[0] });
			}
	}
	return found.sort((one, other) => one.at - other.at);
}

function isNear(said, name) {
	if (SMALL.has(said) || ROW_NOUNS.has(stem(said)) || said.length < 4 || name.length < 4) return false;
	// `unfinished` is the opposite.
	if (said.startsWith('un') !== name.startsWith('un')) return false;
	// What was `hired` is no `Hirer`.
	if (/(ed|ing)$/.test(said) && /[eo]r$/.test(name)) return false;
	const [short, long] = said.length < name.length ? [said, name] : [name, said];
	return (
		(long.startsWith(short) && long.length - short.length <= 4) || (short.length > 4 && likeness(said, name) >= 0.8)
	);
}

/** The share of letters that two names have in common, in the same order: 0 to 1. */
function likeness(one, other) {
	let row = new Array(other.length + 1).fill(0);
	for (const letter of one) {
		const next = [0];
		for (let index = 0; index < other.length; index += 1)
			next.push(letter === other[index] ? row[index] + 1 : Math.max(row[index + 1], next[index]));
		row = next;
	}
	return (2 * row.at(-1)) / (one.length + other.length);
}

/** What the file is of: `run` for `runs.csv`. */
export function nounsOf(fileName) {
	return (
		fileName
			.replace(/^.*[/\\]|\.\w+$/g, '')
			.toLowerCase()
			.match(/\p{L}{3,}/gu) ?? []
	).map(stem);
}
