/** Turns a question into what the script can do: which rows it wants, what to group them by, and which number to look at. */

import { subtract, ZERO } from './decimal.mjs';
import {
	columnAfter,
	feeOf,
	inLetters,
	isAmount,
	labelOf,
	likelyValue,
	namedColumns,
	OF_HEADS,
	PEOPLE,
	rowNounOf,
	ROW_NOUNS,
	SMALL,
	sortOf,
	stem,
	WHO
} from './names.mjs';
import { hasBothSigns, kindsOf } from './report.mjs';
import {
	A_VALUE,
	cellsIn,
	comparedPeriod,
	PERIODS,
	readCells,
	readColumns,
	readDays,
	readLimits,
	readMonths,
	readPeriod,
	ranked,
	readRank,
	readTop,
	readYears,
	sentenceOf,
	sharedBy,
	wordsOf
} from './sentence.mjs';
import { monthNumber, parseDate } from './values.mjs';
import { OF_BALANCE } from './wording.mjs';

const MEASURES = [
	[
		'count',
		/\b(how many|number of|count|how often|(most|least|more|less) (often|common|frequent(ly)?)|(visit|go to|used?|read|see|watch) .{0,20}most|have (the )?most of)\b/
	],
	['median', /\bmedian\b/],
	['mean', /\b(average|averages|mean|avg|on average|typical|typically)\b/],
	['sum', /\b(total|totals|sum|sums|how much|altogether|add up|in all)\b/]
];
const HIGH =
	/\b(most expensive|highest|most|maximum|max|biggest|largest|greatest|top|best|dearest|priciest|longest|favourite|favorite)\b/;
const LOW = /\b(least expensive|lowest|least|minimum|min|smallest|fewest|cheapest|worst|shortest)\b/;
const LATE = /\b(last(?! (day|week|month|quarter|year)\b)|latest|newest|most recent|recent|recently)\b/;
const EARLY = /\b(first|earliest|oldest)\b|\blongest(?= standing\b)|\b(?<=been .*)longest\b/;
const AGES = { high: /\b(oldest|eldest)\b/, low: /\byoungest\b/ };
/** Of several kinds one figure is asked for. */
const TOGETHER = /\b(together|combined|altogether|in total)\b/;
/** Of several kinds, each is looked at by itself. */
const COMPARING =
	/\b(more|less|fewer|higher|bigger|larger|greater|lower|smaller|cheaper|compared?|comparison|vs|versus|difference|than|which|most|least|highest|lowest)\b/;
const EACH = /\b(each|per|every)\b/;
/** What is added up though it can be counted. */
const OF_MONEY = /^(sale|expense|payment|bill|invoice|spend|spending|cost)s?$/;
const MONEY = /\b(revenue|turnover|value|worth|money|income|spen[dt]|pay|earn(?:s|ed)?|cost|costs)\b|[$€£¥]/;
/** Asks for money, without a word for it. */
const TAKING =
	/\b(?:how much|what) (?:(?:money|cash) )?(?:(?:did|do|does|have|has|had) (?:\p{L}+ ){1,3})?(take|took|taken|make|made|earn\w*|bring in|brought in)\b(?! (?:a|the|to)\b)/u;
/** Between a first and a last, of which it tells no difference. */
const MOVING = /\b(go|goes|gone|going|went|come|came|move|moved) (up|down)\b/;
const PRICES = /\b(cheapest|cheaper|expensive|dearest|dearer|priciest|price|prices)\b/;
/** A price of one, which only a column of prices tells. */
const PRICED =
	/\b(?:how much (?:is|are|does|do) (?:a|an|the|one|each) (\p{L}+)|what (?:do|does|did) (?:a|an|one|each) (\p{L}+) costs?)\b/u;
/** Of two that are compared, without a word for what. */
const OF_NO_MEASURE = /\b(better|worse|bigger|larger|greater|smaller|higher|lower)\b/;
const OF_TAKINGS = /revenue|sales|turnover|takings|amount|total/i;
const OF_PRICE = /\b(expensive|cheaper|dearer|costs?|pays?|paid)\b/;
/** Of a row that is named after it. */
const BESIDE =
	/\b(?:(older|younger|better|worse|more|less|fewer|higher|lower|bigger|larger|greater|smaller|cheaper)(?: [\p{L}\p{N}]+){0,3}? than|(after|before|since|until|earlier than|later than)) (?:the )?/gu;
const FLIPPED = { '>': '<', '<': '>', '>=': '<=', '<=': '>=', '=': '=' };
/** In a column with both signs: what goes out, and what comes in. */
const GOING_OUT =
	/\b(spen[dt]\w*|expenses?|expensive|cheapest|cheaper|costs?|pay|paid|payments?|purchases?|buy|buys|bought|(?:go|goes|went) out)\b/;
const OF_END = /\b(out|back|due|until|ended|returned)\b/i;
/** Of people. */
const BIRTH = /birth|born|dob/i;
const OF_BIRTH = /\b(oldest|eldest|youngest|born|birthdays?)\b/;
const COMING_IN = /\b(earn\w*|income|came in|comes in|received?|(?:get|got) paid|deposits?)\b/;
const RATINGS = /rating|score|stars?|grade|mark/i;
/** `oldest first` */
const DIRECTION =
	/\b(oldest|youngest|highest|lowest|biggest|largest|smallest|newest|latest|earliest|cheapest|longest|shortest|most expensive|best|worst)( ones?)? first\b/;
/** A file has only what was. */
const OF_FUTURE = /\b(will|shall|going to|tomorrow|next (day|week|month|quarter|year)|in future|forecast|predict)\b/;
const MORE = /\b(more|higher|bigger|larger|greater|better|older|dearer)\b/;
const LESS = /\b(less|fewer|lower|smaller|cheaper|worse|younger)\b/;
const BY_NAME = /\balphabetically\b/;
const LISTED = /\b(list|show)\b/;
const SHARE = /\b(share|percent|percentage|proportion)\b|%/;
/** A question for yes or no. */
const YES_NO =
	/^ ((and|but|so|ok|okay) )*(is|are|was|were|do|does|did|has|have|had) (?!(a|the|an?other) (chart|graph|list|count|look))/;
/** `anyone who`, in a question for yes or no */
const ANYONE = /\b(any\w*|some\w*|an?|people|members?) (?:\p{L}+ )?(who|that|which)\b/gu;
const ASKING = /\b(how|which|what|who|whom|whose|when|where|list|show)\b/;
const OF_ALL = /\b(?<!at )(all|every|everyone|everybody)\b/;
/** What a total is asked of, unless it's of one among many. */
const ADDING = /\b(spen[dt]|earn\w*|sell|sold|sells|make|made|cost|costs)\b/;
const OF_ONE = /\b(ever|any\w*|some\w*|one|single|once)\b/;
/** Nothing by themselves, unless a cell is called so. */
const EMPTY = /\b(any(thing|where)|something|among)\b/g;
export const SUM_OF_PRICES = 'the sum of prices';
/** Right before the name of a column. */
export const FIGURE_OF =
	/\b(total|sum|average|mean|median|avg|highest|lowest|most|least|maximum|minimum)( of)?( the| all| their| our)*$/;
/** Words that only deny. */
export const DENYING = /^(no|not|never|none|nobody|neither|without|\p{L}+n't)$/u;
/** Speaks of the rows that were found before. */
const OF_THOSE =
	/\b(of|among) (them|those|these|that|it)\b|\b(they|them|their|those)\b|\b(who|which|how many) there\b/i;
/** Goes on with what was asked before. */
const FOLLOWING = /^ (and|what about|how about|only|just) /;
/**
 * Each line after the first goes on with the one before: `how much on food?`, `and in January?`.
 * @param columns of the whole file, summed up
 * @returns `conditions`, `by` (indexes), `period`, `value` (index or null), `measure` (or undefined), `end` (`high`, `low`, `late`, `early` or undefined), `top`,
 * `date` (index of the column of dates that is meant), `isOfKinds` (how many different ones there are), `isOfWhen` (dates name the rows), `isOfPeriods` (what a month or year has on average), `isList`, `isChart`, `isPie`, `isLine`, `isOverview`; and `unknown`: words that nothing in the file is called by
 */
export function readQuestion(text, table, columns) {
	const lines = text
		.split('\n')
		.map((line) => line.trim())
		.filter(Boolean);
	const [last, ...earlier] = lines.map((line) => readLine(line, table, columns)).toReversed();
	// What was refused is gone on with by nothing, and of those that weren't found nothing is told.
	const lacking = OF_THOSE.test(lines.at(-1)) && last.unknown.length === 0 ? (earlier[0]?.unknown ?? []) : [];
	const found = [...earlier.toReversed().filter(({ unknown }) => unknown.length === 0), last].reduce(goOn);
	const read = lacking.length > 0 ? { ...found, unknown: lacking } : found;
	// Who names some rows and no number wants to see them.
	const isOfNumber =
		read.measure ||
		read.isOfMoney ||
		read.isShare ||
		(read.value !== null && read.conditions.every(({ index }) => index !== read.value));
	return { ...read, isList: read.isList || (read.conditions.length > 0 && !isOfNumber) };
}

function goOn(before, next) {
	const given = Object.entries(next).filter(([, value]) =>
		Array.isArray(value) ? value.length > 0 : value || value === 0
	);
	// `How many are over 60?`, `Who is the youngest?`: of all.
	const isLimitOf = ({ index, number, isOfFlow }) => number && !isOfFlow && next.end && index === next.value;
	// `On food?`, `and on rent?`: in another column it may be meant beside the first or instead of it.
	const isOfCells = next.isFollowing && next.conditions.some(({ cells }) => cells);
	const conditions = [
		...before.conditions
			.filter(
				(each) =>
					!isLimitOf(each) &&
					next.conditions.every(({ index, days }) => index !== each.index || Boolean(days) !== Boolean(each.days))
			)
			.map((each) => (isOfCells && each.cells ? { ...each, isPerhaps: true } : each)),
		...next.conditions
	];
	// `The best day?`, `Who is the youngest?`: another figure, asked for anew, is of all, and so is somebody.
	const isOther = next.value !== null && next.value !== before.value && next.isAsking;
	const isAnew = !next.isFollowing && (isOther || (next.isOfWho && next.end !== undefined));
	// What was compared by a column is now about one of it.
	const by =
		next.by.length > 0 || isAnew
			? next.by
			: before.by.filter((index) =>
					next.conditions.every((each) => each.index !== index || each.isSeveral || each.sign !== '=')
				);
	// `What share is that?` of a sum
	const isShareOfSum = next.isShare && next.value === null && (before.measure === 'sum' || before.isShareOfSum);
	// `Who is the oldest?`, `What is the total?`: of all.
	const isOfTotal = /sum|mean|median/.test(next.measure) && next.end === undefined && by.length === 0;
	const isLevelOnly = isOfTotal && next.measure === 'sum' && before.end !== undefined && next.value === null;
	return {
		...before,
		...Object.fromEntries(given),
		...(isShareOfSum && { measure: 'sum', isShareOfSum }),
		...(isLevelOnly && before.isLevel && { value: null }),
		conditions,
		by,
		// `How much did I spend?`, `Which was the biggest?`: the biggest that goes out.
		rank: next.end ? next.rank : before.rank,
		end: isOfTotal
			? undefined
			: next.flow === undefined && before.flow === 'out' && next.value === null
				? ({ low: 'high', high: 'low' }[next.end] ?? next.end ?? before.end)
				: (next.end ?? before.end),
		period: next.by.length > 0 || isAnew ? next.period : before.period,
		// Yes or no only what asks for it, or goes on with such.
		isYesNo: next.isYesNo || (before.isYesNo && next.isFollowing),
		isShare: next.isShare || (before.isShare && next.isFollowing),
		/** `What percentage is that?` of a number of rows is of no sum. */
		isShareOfRows: next.isShare && before.measure === 'count',
		isOfAll: next.isOfAll || (before.isOfAll && next.isFollowing),
		limit: next.limit ?? (next.isFollowing ? before.limit : undefined),
		shown: next.shown ?? (next.isFollowing ? before.shown : undefined),
		isList: next.isList || (before.isList && next.measure === undefined),
		isOverview: false
	};
}

/**
 * One line: which columns play which part, then which rows are meant, then which figure. What is left of it means nothing that is known.
 * Each step takes from the sentence what it has understood, so their order counts.
 */
function readLine(line, table, columns, shared) {
	const sentence = withRowOf(sentenceOf(line, table.name, columns), table, columns);
	const { said } = sentence;
	const parts = partsOf(said, columns);
	sentence.learnNames(parts.named);
	learnWords(sentence, columns, parts);
	const rows = readRows(sentence, columns, parts, table.decimalComma, shared);
	const figure = readFigure(sentence, columns, parts, rows);
	const { conditions, by, period, compared, direction, sortedBy } = rows;
	const { date, age, amount, namedNumber, isDaily } = parts;
	const { meant, measured, value, end, isLevel, flow } = figure;
	const isSorted = sortedBy !== undefined || (direction !== undefined && by.length === 0);
	takeMeant(sentence, columns, parts, rows, figure, isSorted);
	const words = unknownIn(sentence, parts);
	const those = words.flatMap((word) => {
		const found = sharedBy(word, columns);
		return found ? [[word, found]] : [];
	});
	// `Is Tom a member?`: one of several.
	const [one] = words.length === 1 && parts.isYesNo ? words : [];
	const isOfSome =
		one && new RegExp(`^ is (there )?(an? |any\\w+ called )?${one}( an? (\\p{L}+)| there)? $`, 'u').exec(said);
	const some = isOfSome && (!isOfSome[4] || isNounOf(sentence.nouns, isOfSome[4])) && sharedBy(one, columns, true);
	if (some) those.push([one, some]);
	if (those.length > 0 && !shared) return readLine(line, table, columns, new Map(those));
	const undone = undoneIn(said, parts, rows);
	if (undone) words.push(undone);
	const guesses = guessesIn(conditions, columns, parts, rows);
	const { limit, moreLimits } = takeLimitsOfFigure(said, parts, rows, figure);
	if (flow === 'out') flipLimits(conditions, value ?? amount);
	const refused = refusedIn(sentence, columns, parts, rows, { ...figure, guesses, limit, moreLimits });
	// `Did we sell out?`
	const isOfNothing =
		conditions.length + by.length === 0 && !limit && !end && !meant && parts.namedNumber === undefined;
	const rest = said
		.replace(/^( (is|are|was|were|do|does|did|has|have|had|there|any\w*|we|i|you|it|they|this|that))+ /, '')
		.trim();
	if (parts.isYesNo && isOfNothing && words.length + refused.length === 0 && rest && !isNounOf(sentence.nouns, rest))
		words.push(rest);

	// `which towns are there?`
	const isOfNames =
		rows.isOfWhich &&
		by.length === 1 &&
		!meant &&
		!end &&
		!flow &&
		!limit &&
		!period &&
		value === null &&
		!ADDING.test(said);
	const isListed = LISTED.test(said);
	// `What costs more than 5?` asks for rows.
	const isOfMoney = MONEY.test(said.replace(/\bcosts? (?=more|less|over|under)/, ''));
	const isShare = SHARE.test(said);
	// Of a month there's one total, and the average is that of all months.
	const isOfPeriods = meant === 'mean' && period !== undefined && !isLevel;
	const ofEnds = { high: 'max', low: 'min' }[end];
	const isOfEnds =
		by.length > 0 &&
		ofEnds &&
		meant === undefined &&
		(isLevel ? figure.isOfPrice || EACH.test(said) : EACH.test(said) && period === undefined);
	const isOfAll = parts.isYesNo && OF_ALL.test(said);
	const pair = pairIn(compared);
	const isVerdict =
		parts.isYesNo && (!isOfAll || conditions.length === 1) && (limit ?? pair ?? measured === undefined) !== false;
	const isOfBeing = isVerdict && !limit && !end && by.length === 0 && conditions.length > 0;
	const isOfRows =
		isShare &&
		by.length === 0 &&
		!isOfMoney &&
		!flow &&
		(namedNumber === undefined || [...said.matchAll(/\p{L}+/gu)].some(([word]) => ROW_NOUNS.has(stem(word))));
	// `members per age`: what it is grouped by isn't what is counted.
	const isOfGroups = by.includes(value);
	const isOfMean = isLevel && (by.length > 0 || (!end && conditions.every(({ index }) => index !== value)));
	const measure =
		isOfPeriods || figure.isOfPieces || figure.isOfSum
			? 'sum'
			: isOfGroups || isOfRows || isOfBeing || (limit && limit === rows.limitsOfRows[0])
				? 'count'
				: (meant ?? (isOfEnds ? ofEnds : isOfMean ? 'mean' : undefined));
	return {
		conditions,
		by: [...new Set(by)],
		period,
		value: isOfGroups ? null : value,
		date,
		measure,
		end: end ?? (flow === 'out' && by.length > 0 ? 'low' : undefined),
		top: rows.top,
		isOfKinds: rows.isOfKinds || isOfNames,
		isOfPeriods,
		isLevel,
		isOfMoney: isOfMoney && !isOfBeing && !sentence.beside,
		isShare,
		isYesNo: isVerdict,
		isOfAll,
		rank: rows.rank,
		isFollowing: FOLLOWING.test(said) && !measured,
		isAsking: ASKING.test(said),
		limit,
		flow,
		beside: figure.beside,
		pair,
		isThan: /\bthan\b/.test(said) && pair !== undefined,
		isLess: LESS.test(said),
		// When it was so is told with a balance.
		shown: figure.isOfBalance ? (/low|high/.test(end) ? date : namedNumber) : rows.shown,
		isOfBalance: figure.isOfBalance && end === 'late',
		isOfWhen: date !== undefined && /\b(when|days?|dates?)\b/.test(said),
		isOfWho: /\b(who|whom|whose|names?)\b/.test(said),
		noun: isDaily && /\bdays\b/.test(said) ? 'days' : nounOf(sentence, parts.named, columns[parts.label]),
		/** How groups are ordered, where that is said. */
		order: by.length === 0 ? undefined : BY_NAME.test(said) ? 'name' : direction || rows.top ? 'size' : undefined,
		sortBy: isSorted ? (sortedBy ?? value ?? (/new|late|earl/.test(direction) ? date : (age ?? amount))) : undefined,
		isDescending:
			/^(oldest|highest|biggest|largest|newest|latest|longest|most|best)/.test(direction ?? '') ||
			(sortedBy !== undefined && !direction && rows.top !== undefined),
		isList:
			isListed ||
			isSorted ||
			figure.isOfNames ||
			isOfBeing ||
			rows.shown !== undefined ||
			(meant === undefined && /\b(who|whom|which ones|when)\b/.test(said)),
		isChart: /\b(draw|chart|graph|plot|diagram|pie|visuali[sz]e|bars?)\b/.test(said),
		isPie: /\bpie\b/.test(said),
		isLine: /\bline (chart|graph|plot|diagram)\b/.test(said),
		isOverview: /\b(summar\w+|describe|analy[sz]e|overview|statistics)\b/.test(said),
		isOfFuture: OF_FUTURE.test(said) && words.length > 0,
		unknown: [...new Set([...words, ...refused].map((each) => each.replace(/(?<!\S)_/g, '')))]
	};
}

/** `younger than Clara`, `joined after Clara`: what her row has stands for her. */
function withRowOf(sentence, table, columns) {
	const { said, nouns } = sentence;
	for (const { 0: all, 1: word, 2: when, index: at } of said.matchAll(BESIDE)) {
		const { namedNumber, rated, amount, numbers, age, date } = partsOf(said, columns);
		const names = cellsIn(said, columns);
		const one = names.find((each) => each.at === at + all.length);
		// Of two that are named, each has a figure of its own.
		const isOther = (each) => each.index === one.index && each.cells[0] !== one.cells[0];
		if (!one || monthNumber(one.text) || names.some(isOther)) continue;
		const coins = numbers.filter((index) => columns[index].isOfMoney);
		const price = coins.length > 1 ? undefined : coins[0];
		const likely = namedNumber ?? (OF_PRICE.test(said.slice(0, at + all.length)) ? price : amount);
		const index = when ? date : /older|younger/.test(word) ? age : /better|worse/.test(word) ? rated : likely;
		const found = new Set();
		for (const { cells } of table.rows())
			if (cells[one.index]?.trim() === one.cells[0]) found.add(cells[index]?.trim() ?? '');
		const [cell] = found;
		const text = when ? parseDate(cell) : /\d[\d,.]*/.exec(cell)?.[0];
		if (!text || found.size > 1) continue;
		const than = `${inLetters(columns[index].name)} ${LESS.test(word) ? 'less' : 'more'} than`;
		const sign = !when ? than : /before|earlier/.test(when) ? 'before' : when.replace('later than', 'after');
		const rest = said.slice(at + all.length + one.text.length);
		return wordsOf(`${said.slice(0, at)}${sign} ${text}${rest}`, nouns, { text, name: one.cells[0] });
	}
	return sentence;
}

/** Indexes of the columns by the part that they play in a question: what is said of a price, an age or a date is of them. */
function partsOf(said, columns) {
	const named = namedColumns(said, columns);
	const numbers = columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : []));
	const levels = numbers.filter((index) => sortOf(columns[index].name) === 'level');
	const ofNumbers = named.filter(
		({ index, at, text }) =>
			columns[index].isNumber && sortOf(columns[index].name) !== 'id' && !A_VALUE.test(said.slice(at + text.length))
	);
	// `revenue by region, units instead of revenue`
	const isInstead = ({ at, text }) => said.startsWith(' instead', at + text.length);
	const dates = columns.flatMap(({ type }, index) => (type === 'date' ? [index] : []));
	const age = numbers.find((index) => /age$/i.test(columns[index].name));
	const birth = dates.find((index) => BIRTH.test(columns[index].name));
	const isOfBirth = birth !== undefined && age === undefined && OF_BIRTH.test(said);
	const date =
		named.find(({ index }) => dates.includes(index))?.index ??
		// `What went out in May?` of two columns, `Date in` and `Date out`
		dates.find((index) => said.includes(` ${OF_END.exec(columns[index].name)?.[0].toLowerCase()} `)) ??
		(isOfBirth ? birth : (dates.find((index) => index !== birth) ?? birth));
	return {
		named,
		namedNumber: (ofNumbers.find(isInstead) ?? ofNumbers[0])?.index,
		numbers,
		levels,
		age,
		/** A year of birth. */
		born: age === undefined ? numbers.find((index) => BIRTH.test(columns[index].name)) : undefined,
		/** Of joining, where no column has the days. */
		years:
			date === undefined
				? numbers.find((index) => columns[index].isOfYears && !BIRTH.test(columns[index].name))
				: undefined,
		pieces: numbers.find((index) => sortOf(columns[index].name) === 'pieces'),
		price: levels.find((index) => /price/i.test(columns[index].name)) ?? feeOf(columns),
		rated: levels.find((index) => RATINGS.test(columns[index].name)),
		amount: likelyValue(columns, numbers),
		dates,
		date,
		isOfBirth,
		// One row a day.
		isDaily: date !== undefined && columns[date].counts.size === columns[date].filled && columns[date].missing === 0,
		label: labelOf(columns),
		isYesNo: YES_NO.test(said) && !ASKING.test(said.replace(ANYONE, ' '))
	};
}

/** Words that mean the rows of this file, or are parts of the names of its columns. */
function learnWords({ said, nouns, known }, columns, { named, date, dates, label, isDaily }) {
	if (isDaily && !/\bdays? (since|ago|until|between|left|later)\b/.test(said)) nouns.add('day');
	if (date !== undefined) known.add('date');
	const noun = rowNounOf(columns);
	if (noun) nouns.add(noun);
	// `Who joined before 2020?` of a column Member since
	if (dates.length === 1 && WHO.test(columns[label]?.name) && !/\b(does|do|will|shall)\b/.test(said))
		for (const verb of ['join', 'start', 'register', 'arrive']) known.add(verb);
	// `hired`, of what a hirer did
	for (const { name, type } of columns)
		if (type === 'text' && /[eo]r$/i.test(name) && WHO.test(name)) known.add(name.toLowerCase().slice(0, -2));
	// `the supplier with most products`, where each row is a product
	const own = named.find(({ index }) => index === label && columns[index].counts.size === columns[index].filled);
	const isKind = ({ type, name }) => type === 'text' || sortOf(name) === 'id';
	if (own && named.some(({ index }) => index !== own.index && isKind(columns[index]))) nouns.add(stem(own.text));
	for (const { index } of named)
		for (const part of columns[index].name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) known.add(stem(part));
}

/** Which rows are meant, in which groups and which order. */
function readRows(sentence, columns, parts, decimalComma, shared) {
	const { said } = sentence;
	const { named, namedNumber, date, pieces, amount, levels, isDaily } = parts;
	const rank = readRank(sentence);
	const top = readTop(sentence);
	const direction = DIRECTION.exec(said)?.[1];
	sentence.takeAll(/(?<=\b(est|one|ones|worst|expensive) )first\b/g, () => direction !== undefined);
	/** What a limit is for. */
	const limited = /\d (items?|units?|pieces|sold|bought)\b/.test(said)
		? pieces
		: (namedNumber ??
			(/\bcosts? (more|less|over|under)\b/.test(said) ? parts.price : undefined) ??
			amount ??
			(levels.length === 1 ? levels[0] : undefined));
	const isRowNoun = (word, at) =>
		isNounOf(sentence.nouns, word) && named.every((each) => each.at !== at || !columns[each.index].isNumber);
	const { limits, limitsOfRows } = readLimits(sentence, columns, limited, parts.age, decimalComma, {
		hasDates: date !== undefined && namedNumber === undefined,
		isRowNoun: pieces !== undefined && limited === pieces ? () => false : isRowNoun
	});
	const conditions = [
		...limits,
		...readYears(sentence, columns, named),
		...readMonths(sentence, columns, date),
		...readCells(sentence, columns, named, shared),
		...readDays(sentence, columns, date)
	];
	const { by, flags, isOfKinds, isOfWhich, sortedBy, shown } = readColumns(sentence, columns, named, conditions);
	const toShow =
		shown ?? columnToShow(said, columns, conditions, parts.label) ?? readShown(sentence, columns, named, by);
	conditions.push(...flags);
	const isCompared = !LISTED.test(said) && COMPARING.test(said);
	const compared = isCompared ? conditions.find(({ isSeveral }) => isSeveral) : undefined;
	if (compared?.cells && !by.includes(compared.index)) by.unshift(compared.index);
	// `on how many days …?`, where a day has several rows
	const isOfDays =
		date !== undefined &&
		!isDaily &&
		/\bhow many (?:different |various )?days\b(?! (?:since|ago|until|between|left|later))/.test(said);
	if (isOfDays) {
		by.unshift(date);
		sentence.takeAll(/\b(?:how many|days)\b/g);
	}
	const isDateNamed = by.includes(date) && named.every(({ index }) => index !== date);
	const ownPeriod = date === undefined || isDateNamed ? undefined : readPeriod(sentence);
	const comparedBy = compared?.days ? 'weekday' : compared?.months ? comparedPeriod(compared.months) : undefined;
	const period = ownPeriod ?? comparedBy;
	if (period) by.unshift(date);
	return {
		top,
		rank,
		direction,
		limited,
		limitsOfRows,
		conditions,
		by,
		period,
		compared,
		isOfKinds: isOfKinds || isOfDays,
		isOfWhich,
		sortedBy,
		shown: toShow
	};
}

/** Which number is looked at, what is made of it, and which end is asked for. It may change what `rows` are grouped by. */
function readFigure(sentence, columns, parts, rows) {
	const { said } = sentence;
	const { named, namedNumber, age, born, years, price, pieces, rated, levels, amount, date, label } = parts;
	const { conditions, by, compared, direction } = rows;
	const ageEnd = age === undefined ? undefined : Object.keys(AGES).find((key) => AGES[key].test(said));
	const measured = MEASURES.find(([, pattern]) => pattern.test(said))?.[0];
	const [older, newer] = born === undefined ? [EARLY, LATE] : [AGES.high, AGES.low];
	// `the average rating of the last books` asks for no year.
	const isOfYear = measured === undefined && (namedNumber ?? years) === years;
	const year = born ?? (isOfYear ? years : undefined);
	const bornEnd = year === undefined ? undefined : older.test(said) ? 'low' : newer.test(said) ? 'high' : undefined;
	const isOfPrice =
		price !== undefined &&
		!TAKING.test(said) &&
		(PRICES.test(said) || /\bhow much (is|are|does)\b|\bwhat (is|are|do|does|did) .* costs?\b/.test(said));
	const isOfRating = rated !== undefined && /\b(best|worst|better|worse|favou?rite)\b/.test(said);
	const isOfAges = age !== undefined && /\b(how old|older|younger)\b/.test(said);
	// What each row is a price of, all of them cost together.
	const isOfCosts = price !== undefined && pieces === undefined && /\bhow much did .* cost\b/.test(said);
	const ofNumber =
		namedNumber ??
		(ageEnd || isOfAges ? age : bornEnd ? year : isOfPrice || isOfCosts ? price : isOfRating ? rated : undefined);
	const isTotal = /\b(totals?|sums?)\b/.test(said);
	const isOfAverage = measured === 'sum' && !isTotal && !isOfCosts && (isOfPrice || isOfAges);
	// `pages per book`: a row
	const each = /\b(?:per|each|every) (\p{L}+)/u.exec(said);
	const isEachRow =
		each && (sentence.nouns.has(stem(each[1])) || (ROW_NOUNS.has(stem(each[1])) && each[1] !== 'person'));
	const meant =
		(isOfAverage || (isEachRow && by.length === 0 && ofNumber !== undefined) ? 'mean' : measured) ??
		(ofNumber === undefined && isOfCount(sentence) ? 'count' : undefined);
	const isOfPieces =
		meant === 'count' &&
		pieces !== undefined &&
		!PEOPLE.test(/\bhow many (\p{L}+)/u.exec(said)?.[1]) &&
		/\b(sell|sold|sells|buy|bought|ordered|have|left)\b/.test(said);
	const isOfSum =
		meant === 'count' &&
		namedNumber !== undefined &&
		isAmount(columns[namedNumber].name) &&
		!columns[namedNumber].isOfYears &&
		/\b(how many|number of)$/.test(sentence.before(named.find(({ index }) => index === namedNumber).at));
	// A balance is the last one, and no average.
	const isOfBalance =
		namedNumber !== undefined &&
		OF_BALANCE.test(columns[namedNumber].name) &&
		!measured &&
		date !== undefined &&
		by.length === 0 &&
		conditions.every(({ index }) => index === date);
	const isSomeLevel =
		meant !== 'count' &&
		amount === null &&
		levels.length === 1 &&
		(/mean|median/.test(meant) || LOW.test(said) || HIGH.test(said));
	const value = ofNumber ?? (isOfPieces ? pieces : isSomeLevel ? levels[0] : null);
	const isOfBothEnds =
		[[LOW, HIGH], Object.values(AGES)].some((both) => both.every((pattern) => pattern.test(sentence.left))) &&
		!direction;
	const isTimed = date !== undefined || bornEnd || isOfBalance || direction;
	const isDated = date !== undefined && by.length === 0 && !ageEnd && !bornEnd && !direction;
	const dated = readEnd(sentence, isDated, compared, isTimed ? [LATE, EARLY] : []);
	// `When was the last delivery?` of a column Last delivery
	const isOfLast =
		/\bwhen\b/.test(said) && conditions.length === 0 && by.length === 0 && named.some(({ index }) => index === date);
	const isFlipped = /low|high/.test(dated) && GOING_OUT.test(said) && hasBothSigns(columns[ofNumber ?? amount]);
	const end =
		ageEnd ??
		bornEnd ??
		(parts.isOfBirth && AGES.low.test(said) ? 'late' : undefined) ??
		(isFlipped
			? { low: 'high', high: 'low' }[dated]
			: (dated ?? (isOfBalance || (isOfLast && /\b(last|latest)\b/.test(said)) ? 'late' : undefined)));
	const isUnique = (index) => columns[index].counts.size === columns[index].filled;
	const kinds = kindsOf(columns);
	const who = columns.findIndex(({ name, counts, filled }) => WHO.test(name) && counts.size < filled);
	// “What did I spend most on?” asks for a kind, not for a row; so does “who has the most orders?”.
	if (end && by.length === 0 && kinds !== null && /\b(on|for|from) ((except|without|excluding) .*)?$/.test(said))
		by.push(kinds);
	if (/\bwho\b/.test(said) && by.length === 1 && isUnique(by[0]) && label !== null) by.length = 0;
	const isOfPeople = label !== null && WHO.test(columns[label].name) && isUnique(label);
	if (/low|high/.test(end) && by.length === 0 && who >= 0 && !direction && !isOfPeople && /\bwho\b/.test(said))
		by.push(who);
	const signed = value ?? amount;
	const hasSigns = hasBothSigns(columns[signed]);
	const flow = !hasSigns ? undefined : COMING_IN.test(said) ? 'in' : GOING_OUT.test(said) ? 'out' : undefined;
	const isBeside = ({ at, text }, start, end) =>
		/^ ((is|of|called) )?$/.test(at < start ? said.slice(at + text.length, start) : said.slice(end, at));
	// `Total income`, where a category is called so, is all that came in; what has that category is told beside.
	const ofIncome = conditions.findIndex(
		({ index, sign, cells, ends }) =>
			flow === 'in' &&
			sign === '=' &&
			cells?.length === 1 &&
			COMING_IN.test(cells[0].toLowerCase()) &&
			named.every((each) => each.index !== index || !isBeside(each, ends[0] - cells[0].length, ends[0]))
	);
	const [beside] = ofIncome < 0 ? [] : conditions.splice(ofIncome, 1);
	if (flow)
		conditions.push({
			index: signed,
			sign: flow === 'in' ? '>' : '<',
			number: ZERO,
			isOfFlow: true,
			text: `${columns[signed].name} ${flow === 'in' ? 'above' : 'below'} 0`
		});
	// `which tasks are done`: their names, and nothing by task.
	const isOfNames =
		by.length === 1 &&
		by[0] === label &&
		isUnique(label) &&
		conditions.length > 0 &&
		meant === undefined &&
		(namedNumber === undefined || conditions.some(({ index }) => index === namedNumber)) &&
		!end &&
		!EACH.test(said);
	if (isOfNames) by.length = 0;
	return {
		meant,
		measured,
		value,
		end,
		each,
		isEachRow,
		isLevel: value !== null && (value === price || sortOf(columns[value].name) === 'level'),
		isOfBalance,
		isOfBothEnds,
		isOfNames,
		isOfPieces,
		isOfPrice,
		isOfSum,
		hasSigns,
		flow,
		beside,
		isCoin: amount !== null && columns[amount].isOfMoney
	};
}

/** Takes words that have done their work, or say nothing beside what was read. */
function takeMeant(
	sentence,
	columns,
	{ named, namedNumber },
	{ compared, by, conditions },
	{ flow, isCoin, hasSigns },
	isSorted
) {
	const { said } = sentence;
	sentence.takeAll(/\b(sort|sorted|rank|ranked)\b/g, () => isSorted);
	sentence.takeAll(new RegExp(COMING_IN, 'g'), () => flow === 'in');
	sentence.takeAll(new RegExp(GOING_OUT, 'g'), () => flow === 'out');
	sentence.takeAll(/\b(used?|read|see|watch)\b/g, () => /\b(used?|read|see|watch) .{0,20}most\b/.test(said));
	sentence.takeAll(BY_NAME, () => by.length > 0);
	// `trumpet players`
	sentence.takeAll(/\bplayers?\b/g, (_, place) => conditions.some(({ ends }) => ends?.includes(place - 1)));
	sentence.takeAll(/\binstead\b/g, () => namedNumber !== undefined);
	sentence.takeAll(/\bsingle\b/g, () => /\b(\p{L}+est|expensive|any|every|one|a) single\b/u.test(said));
	sentence.takeAll(/\bdifference\b/g, () => pairIn(compared) !== undefined);
	for (const { index, at, text } of named)
		sentence.takeAll(
			/\b(types?|sorts?|groups?)\b/g,
			(_, place) => place === at + text.length + 1 && !columns[index].isNumber
		);
	sentence.takeAll(/\b(revenue|turnover|takings)\b/g, () => isCoin && !hasSigns);
}

/** `Is the paint ordered?`, where there is but a row called Order paint */
function undoneIn(said, { named, label, isYesNo }, { conditions }) {
	const isOfRow = named.length === 0 && conditions.length > 0 && conditions.every(({ index }) => index === label);
	return isYesNo && isOfRow
		? /(?<!un)\b(\p{L}+ed|bought|sold|spent)\b(?<!named|called|listed)/u.exec(said)?.[0]
		: undefined;
}

/** Limits in the words of the question, where it's not clear which of several columns of numbers they are for: it is of money alone. */
function guessesIn(conditions, columns, { numbers, amount, pieces, namedNumber }, { limited }) {
	if (numbers.filter((index) => sortOf(columns[index].name) !== 'id').length < 2) return [];
	const isGuess = ({ index, number, said, isNamed }) =>
		number &&
		said &&
		!isNamed &&
		index === amount &&
		limited !== pieces &&
		index !== namedNumber &&
		!columns[index].isOfMoney;
	return conditions.filter(isGuess).map(({ said }) => said);
}

/** `Did I spend more than 500 on food?` is of a total: its limit is no condition of rows. */
function takeLimitsOfFigure(said, { isYesNo, amount }, { conditions, limitsOfRows }, { meant, value }) {
	const isOfFigure = /sum|mean|median/.test(meant) || (ADDING.test(said) && !OF_ONE.test(said));
	const limiting =
		isYesNo && isOfFigure
			? conditions.filter(({ index, number, isOfFlow }) => number && !isOfFlow && index === (value ?? amount))
			: [];
	conditions.splice(0, Infinity, ...conditions.filter((each) => !limiting.includes(each)));
	const [limit, ...moreLimits] = [...limiting, ...limitsOfRows];
	return { limit, moreLimits };
}

/** `payments over 100` are below -100. */
function flipLimits(conditions, signed) {
	for (const each of conditions)
		if (each.number && each.index === signed && !each.isOfFlow) {
			// It's told as it was said, without the sign.
			Object.assign(each, { number: subtract(ZERO, each.number), sign: FLIPPED[each.sign], isFlipped: true });
		}
}

/** Words for what was understood, but would be answered with something else. */
function refusedIn(sentence, columns, parts, rows, figure) {
	const { said } = sentence;
	const { named, namedNumber, label, rated, price, pieces, amount, levels, isYesNo } = parts;
	const { conditions, by, compared } = rows;
	const { meant, end, each, value, limit, moreLimits, isCoin } = figure;
	const textOfNumber = named.find(({ index }) => index === namedNumber)?.text;
	// Whether it's the most, or so for each, is no question of which rows there are.
	const isOfRank = isYesNo && pairIn(compared) === undefined;
	const ranks = !isOfRank ? [] : end ? [LOW, HIGH, LATE, EARLY] : by.length > 0 ? [EACH] : [];
	// `How many days did it rain?` is not of days that have a figure.
	const isOfFilled =
		meant === 'count' && namedNumber !== undefined && !figure.isOfSum && !figure.isOfPieces && by.length === 0;
	const shared = conditions.filter(({ isOfFlow }) => !isOfFlow);
	const isOfPart = shared.length > 1 || by.length > 0;
	const ago = /\b(last|past|previous|next) \d+ (day|week|month|quarter|year)s?\b/.exec(said)?.[0];
	// `How much is a ticket?`, `What does one kWh cost?` ask for a price.
	const priced = PRICED.exec(said)?.slice(1).find(Boolean);
	const isOne = /\b(one|each)\b/.test(PRICED.exec(said)?.[0]) && meant !== 'mean';
	const isPriceless = price === undefined && conditions.length === 0 && (named.length === 0 || isOne);
	// Of two columns of numbers it divides none by the other.
	const divisor = named.find(
		({ index, at, text }) =>
			by.includes(index) &&
			columns[index].isNumber &&
			(isAmount(columns[index].name) || text.length + 1 < columns[index].name.length) &&
			/\b(per|each|every)$/.test(sentence.before(at))
	);
	const money = (MONEY.exec(said) ?? TAKING.exec(said)?.slice(1))?.[0];
	const isOfFlag = conditions.some(({ index }) => columns[index].type === 'yes/no');
	const isMoneyless = value === null && (amount !== null || levels.length > 0) && !isCoin && !isOfFlag;
	// Of two columns of money, `pay` names none.
	const coins = parts.numbers.map((index) => columns[index]).filter((each) => each.isOfMoney && isAmount(each.name));
	const isOfOneCoin =
		value !== null || figure.flow || coins.length < 2 || coins.some(({ name }) => OF_TAKINGS.test(name));
	// Somebody's age is no better than another's.
	const rankedBy = value ?? amount;
	const isOfNothing =
		end &&
		namedNumber === undefined &&
		(rankedBy === null ||
			(rankedBy !== rated && !isAmount(columns[rankedBy].name)) ||
			OF_HEADS.test(columns[rankedBy].name));
	// A day with no honey has no row that says so: of groups it knows only what they have.
	const isOfMany =
		by.length > 0 ||
		named.some(
			({ index, at }) => columns[index].type === 'text' && index !== label && /\bhow many$/.test(sentence.before(at))
		) ||
		(/\b(who|when)\b/.test(said) && columns[label]?.counts.size !== columns[label]?.filled);
	const lacking = isOfMany && conditions.find(({ sign, ends }) => sign === '!=' && ends);
	const isOfPeople = WHO.test(columns[label]?.name) && columns[label].counts.size === columns[label].filled;
	const others = parts.numbers.filter((index) => isAmount(columns[index].name) && index !== amount);
	const isUnmeasured =
		pairIn(compared) !== undefined &&
		value === null &&
		meant !== 'count' &&
		(figure.hasSigns || isOfPeople || (others.length > 0 && !OF_TAKINGS.test(columns[amount]?.name)));
	return [
		meant === 'count' && /\b(average|mean|avg)\b/.test(said) && 'average',
		...ranks.map((pattern) => pattern.exec(said)?.[0]),
		isOfFilled && conditions.every(({ index }) => index !== namedNumber) && textOfNumber,
		...figure.guesses,
		limit && (moreLimits.length > 0 || by.length > 0 || !isYesNo) && limit.said,
		SHARE.test(said) && isOfPart && shared.length > 0 && 'percentage',
		by.length > 0 && conditions.some(({ number }) => number) && TOGETHER.test(said) && 'in total',
		figure.isOfBothEnds && 'both ends at once',
		// `average Member no`
		...named.map(({ index, at, text }) => {
			const { isOfDigits, isNumber, isOfYears, name } = columns[index];
			const [figure] = FIGURE_OF.exec(sentence.before(at)) ?? [];
			return figure && (isOfDigits || (isNumber && !isOfYears && sortOf(name) === 'id')) && `${figure} ${text}`;
		}),
		figure.hasSigns &&
			GOING_OUT.test(said.replace(COMING_IN, ' ')) &&
			COMING_IN.test(said) &&
			'income and spending at once',
		numbersAtOnce(said, columns, named),
		// `each person`, where no column has persons
		each && !figure.isEachRow && by.length === 0 && !isYesNo && each[0],
		ago,
		rated === undefined && /\bfavou?rite\b/.test(said) && 'favourite',
		// What one costs isn't added up.
		pieces !== undefined && figure.value === price && price !== undefined && meant === 'sum' && SUM_OF_PRICES,
		end && value === null && !isCoin && !figure.flow && PRICES.exec(said)?.[0],
		isOfNothing && /\b(best|worst|(most|least)(?= $))\b/.exec(said)?.[0],
		priced && isPriceless && (isOne ? `the price of one ${priced}` : priced),
		divisor && `per ${divisor.text}`,
		(isMoneyless || (!isOfOneCoin && /\p{L}/u.test(money))) && money,
		MOVING.exec(said)?.[0],
		...conditions.map(({ twins }) => twins),
		isUnmeasured && OF_NO_MEASURE.exec(said)?.[0],
		// `in the same town as Tom`, `as old as Anna`, `between Lars and Anna`: of two rows at once
		shared.some(({ ends }) => ends) && /\bsame \p{L}+ as\b|\bas \p{L}+ as\b|\bin the same\b/u.exec(said)?.[0],
		!compared && shared.some(({ ends, isSeveral }) => ends && isSeveral) && /\bbetween\b/.exec(sentence.said)?.[0],
		rows.rank && (!end || compared || figure.isOfBothEnds) && ranked(rows.rank, ''),
		lacking && /(\bno|\bnot|\w+n't)( \S+){1,6}$/.exec(sentence.before(lacking.ends[0]))?.[0]
	].filter(Boolean);
}

/** `revenue and units by region`, of which only one would be told. */
function numbersAtOnce(said, columns, named) {
	const numbers = named.filter(({ index }) => columns[index].isNumber);
	const at = numbers.findIndex(({ index, at, text }, place) => {
		const next = numbers[place + 1];
		return (
			next &&
			next.index !== index &&
			/^ and (the )?((total|average|sum of) )*$/.test(said.slice(at + text.length, next.at))
		);
	});
	return at >= 0 && `${numbers[at].text} and ${numbers[at + 1].text} at once`;
}

/** `Where does Tom live?`: his town. `What does he play?`: his instrument. */
function columnToShow(said, columns, conditions, label) {
	const isOfOne = conditions.length === 1 && conditions[0].index === label && conditions[0].cells?.length === 1;
	const found = isOfOne && columnAfter(/\bwhere\b/.test(said) ? ' lives in' : said, columns);
	return found && columns.indexOf(found) !== label ? columns.indexOf(found) : undefined;
}

/** `their names?`: the column of names isn't grouped by, but shown. */
function readShown({ said }, columns, named, by) {
	const isPlain = ![
		...Object.values(PERIODS),
		HIGH,
		LOW,
		EACH,
		COMPARING,
		...MEASURES.map(([, pattern]) => pattern)
	].some((pattern) => new RegExp(pattern.source).test(said));
	const [at, ...others] = by;
	if (/\b(by|per) /.test(said)) return undefined;
	if (at === undefined || others.length > 0 || !isPlain || named.some(({ index }) => columns[index].isNumber))
		return undefined;
	const { name, counts, filled } = columns[at];
	if (counts.size < filled && !WHO.test(name) && !/\b(their|its|them)\b/.test(said)) return undefined;
	by.length = 0;
	return at;
}

/** Two that are compared, in the order of the sentence. */
function pairIn({ cells, ends, months, days } = {}) {
	const two = cells?.toSorted((one, other) => ends[cells.indexOf(one)] - ends[cells.indexOf(other)]) ?? months ?? days;
	return two?.length === 2 ? two : undefined;
}

/** What the rows are, by the name of the file, else as the question calls them; customers only where each row is somebody. */
function nounOf({ said, nouns }, named, label) {
	const isOfPeople = WHO.test(label?.name) && label.counts.size === label.filled;
	const isColumn = (at) => named.some((each) => at >= each.at && at < each.at + each.text.length);
	const isNoun = (word) => ROW_NOUNS.has(stem(word)) && (/s$/.test(word) || word === 'people');
	const own = [...nouns].find((word) => ROW_NOUNS.has(word) && !/person|people|row|entry|record|item/.test(word));
	if (own) return own.endsWith('y') ? `${own.slice(0, -1)}ies` : `${own}s`;
	return [...said.matchAll(/\p{L}+/gu)].find(
		({ 0: word, index }) =>
			isNoun(word) && !isColumn(index) && !/^(items|sales)$/.test(word) && (isOfPeople || !PEOPLE.test(word))
	)?.[0];
}

/** `the most orders`, `more members`: of rows there are many, of a number there is much. */
function isOfCount({ said, left, nouns }) {
	const [, ...next] = /\b(?:most|fewest|more|fewer) +(\p{L}+)(?: +(\p{L}+))?/u.exec(left) ?? [];
	const [, counted] = /(\p{L}+) +(?:per|by|each|every|in each)\b/u.exec(said) ?? [];
	const isEach = counted && !LOW.test(left) && !HIGH.test(left) && !OF_MONEY.test(counted);
	if (isEach && isNounOf(nouns, counted)) return true;
	return next.some((word) => word && isNounOf(nouns, word));
}

function isNounOf(nouns, word) {
	return ROW_NOUNS.has(stem(word)) || nouns.has(stem(word));
}

function isSmall(word) {
	return SMALL.has(word) || ROW_NOUNS.has(stem(word));
}

/** Which end is asked for; `more` and `less` only of what is compared. */
function readEnd(sentence, isDated, compared, ofTime) {
	const ends = { ...(isDated && { late: LATE, early: EARLY }), low: LOW, high: HIGH };
	const end =
		Object.keys(ends).find((key) => ends[key].test(sentence.left)) ??
		(compared && (LESS.test(sentence.left) ? 'low' : MORE.test(sentence.left) ? 'high' : undefined));
	for (const pattern of [...ofTime, LOW, HIGH, ...(compared ? [MORE, LESS] : [])])
		sentence.takeAll(new RegExp(pattern, 'g'));
	return end;
}

/** What is left of the sentence and has a meaning of its own. */
function unknownIn(sentence, { age, born, isOfBirth }) {
	const isAged = age !== undefined || born !== undefined || isOfBirth;
	for (const pattern of [...(isAged ? [...Object.values(AGES), /\bborn\b|\bbirthdays?\b/] : []), TOGETHER, EMPTY])
		sentence.takeAll(new RegExp(pattern, 'g'));
	for (const [, pattern] of MEASURES) sentence.takeAll(new RegExp(pattern, 'g'));
	const words = sentence.left.match(/[\p{L}\p{N}][\p{L}\p{N}'.,-]*(?: ?%)?/gu) ?? [];
	const unknown = [...new Set(words)].filter(
		(word) => !isSmall(word) && !sentence.nouns.has(stem(word)) && !sentence.known.has(stem(word))
	);
	// Beside another word, `not` explains nothing.
	const telling = unknown.filter((word) => !DENYING.test(word));
	return telling.length > 0 ? telling : unknown;
}
