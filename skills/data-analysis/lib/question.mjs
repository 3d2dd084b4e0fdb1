/** Turns a question into what the script can do: which rows it wants, what to group them by, and which number to look at. */

import { compare, plain, subtract, ZERO } from './decimal.mjs';
import { conditionText, monthsIn } from './conditions.mjs';
import { isAmount, labelOf, likelyValue, namedColumns, ROW_NOUNS, SMALL, sortOf, stem, WHO } from './names.mjs';
import { kindsOf } from './report.mjs';
import { monthNumber, parseNumber } from './values.mjs';
import { hasBothSigns, inOwnWords } from './wording.mjs';

const MEASURES = [
	[
		'count',
		/\b(how many|number of|count|how often|(most|least) (often|common|frequent(ly)?)|(visit|go to|used?|read|see|watch) .{0,20}most|have (the )?most of)\b/
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
const MONEY = /\b(revenue|turnover|value|worth|money|income|spen[dt]|pay|earn(?:ed)?|cost|costs)\b|[$€£¥]/;
/** Asks for money, without a word for it. */
const TAKING =
	/\b(?:how much|what) (?:(?:money|cash) )?(?:(?:did|do|does|have|has|had) (?:\p{L}+ ){1,3})?(take|took|taken|make|made|earn\w*|bring in|brought in)\b(?! (?:a|the|to)\b)/u;
/** Between a first and a last, of which it tells no difference. */
const MOVING = /\b(go|goes|gone|going|went|come|came|move|moved) (up|down)\b/;
const PRICES = /\b(cheapest|expensive|dearest|priciest|price|prices)\b/;
/** A price of one, which only a column of prices tells. */
const PRICED =
	/\b(?:how much (?:is|are|does|do) (?:a|an|the|one|each) (\p{L}+)|what (?:do|does|did) (?:a|an|one|each) (\p{L}+) costs?)\b/u;
const FLIPPED = { '>': '<', '<': '>', '>=': '<=', '<=': '>=', '=': '=' };
/** In a column with both signs: what goes out, and what comes in. */
const GOING_OUT = /\b(spen[dt]\w*|expenses?|expensive|cheapest|costs?|pay|paid|payments?|purchases?|buy|buys|bought)\b/;
/** Of people. */
const BIRTH = /birth|born|dob/i;
const OF_BIRTH = /\b(oldest|eldest|youngest|born|birthdays?)\b/;
const COMING_IN = /\b(earn\w*|income|came in|comes in|received?|(?:get|got) paid|deposits?)\b/;
const RATINGS = /rating|score|stars?|grade|mark/i;
/** `oldest first` */
const DIRECTION =
	/\b(oldest|youngest|highest|lowest|biggest|largest|smallest|newest|latest|earliest|cheapest|longest|shortest|most expensive|best|worst)( ones?)? first\b/;
/** `table 3` */
const A_VALUE = /^ (?:is |= ?|no |number )?(\d+(?:\.\d+)?)\b/;
const A_YEAR = /^(19|20)\d\d$/;
const A_MONTH = /^(st|nd|rd|th)?( of)? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/;
const SORTING = /\b(sort|sorted|order|ordered|rank|ranked|list|show|top|first)\b.* by$/;
const COINS = /^ ?(pounds|euros?|dollars|bucks|quid|kroner|francs)$/;
/** Says when, and is no name for what rows are. */
const TIME =
	/^(yesterday|today|tomorrow|tonight|now|ago|daily|(week|weekday|weekend|day|month|quarter|year|time|morning|evening|night)s?)$/;
const MISSING = ['', 'na', 'n/a', 'nan', 'null', '-', '--'];
/** A file has only what was. */
const OF_FUTURE = /\b(will|shall|going to|tomorrow|next (day|week|month|quarter|year)|in future|forecast|predict)\b/;
const IS_MISSING = /\b(missing|empty|blank)\b/;
const MORE = /\b(more|higher|bigger|larger|greater)\b/;
const LESS = /\b(less|fewer|lower|smaller|cheaper)\b/;
/** A question for yes or no. */
const YES_NO =
	/^ ((and|but|so|ok|okay) )*(is|are|was|were|do|does|did|has|have|had) (?!(a|the|an?other) (chart|graph|list|count|look))/;
const ASKING = /\b(how|which|what|who|whom|whose|when|where|list|show)\b/;
const OF_ALL = /\b(?<!at )(all|every|everyone|everybody)\b/;
/** What a total is asked of, unless it's of one among many. */
const ADDING = /\b(spen[dt]|earn\w*|sell|sold|sells|make|made|cost|costs)\b/;
const OF_ONE = /\b(ever|any\w*|some\w*|one|single|once)\b/;
/** Nothing by themselves, unless a cell is called so. */
const EMPTY = /\b(any(thing|where)|something|among)\b/g;
/** Goes on with what was asked before. */
const FOLLOWING = /^ (and|what about|how about|only|just) /;
/** Right before what isn't meant, small words aside. */
const NOT =
	/(\b(not|never|no|without|except|excluding|neither|other than|not counting|has to|have to|had to|must|needs? to)|n't)( (been|yet|have|has|had|is|are|the|for|from|in|of|at|on|to|a))*$/;
/** Stands before what is grouped by. */
const BY = /\b(per|by|each|every|a|across|in which|which|what|whose)$/;
const BEST = /\b(highest|most|lowest|least|best|worst|expensive|cheapest|biggest|smallest|top|common)$/;
const DATE_SIGNS = { since: '>=', after: '>', before: '<', until: '<=', till: '<=' };
const PERIODS = {
	weekday: /\b(weekdays?|days? of the week)\b/g,
	day: /\b(days?|daily)\b/g,
	month: /\b(months?|monthly|over time|trend)\b/g,
	quarter: /\b(quarters?|quarterly)\b/g,
	year: /\b(years?|yearly)\b/g
};
const NUMBER = '[$€£¥]?\\s?(\\d[\\d,.]*\\d|\\d)';
const LIMITS = [
	['>=', `(?:at least|minimum of|>=|≥) ?${NUMBER}|${NUMBER} or (?:more|over|above|higher)`],
	['<=', `(?:at most|up to|maximum of|no more than|<=|≤) ?${NUMBER}|${NUMBER} or (?:less|fewer|under|below|lower)`],
	['>', `(?:over|above|more than|greater than|higher than|bigger than|larger than|older than|exceeding|>) ?${NUMBER}`],
	['<', `(?:under|below|less than|fewer than|lower than|smaller than|cheaper than|younger than|<) ?${NUMBER}`],
	['=', `(?:exactly|equal to|equals|=) ?${NUMBER}`]
];
const NUMBER_WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const ENDS =
	'first|last|latest|newest|oldest|earliest|recent|biggest|largest|highest|lowest|cheapest|smallest|best|worst|most expensive';
const MOST_CELL_WORDS = 6;

/**
 * Each line after the first goes on with the one before: `how much on food?`, `and in January?`.
 * @param columns of the whole file, summed up
 * @returns `conditions`, `by` (indexes), `period`, `value` (index or null), `measure` (or undefined), `end` (`high`, `low`, `late`, `early` or undefined), `top`,
 * `date` (index of the column of dates that is meant), `isOfKinds` (how many different ones there are), `isOfWhen` (dates name the rows), `isOfPeriods` (what a month or year has on average), `isList`, `isChart`, `isPie`, `isOverview`; and `unknown`: words that nothing in the file is called by
 */
export function readQuestion(text, table, columns) {
	const lines = text
		.split('\n')
		.map((line) => line.trim())
		.filter(Boolean);
	const [last, ...earlier] = lines.map((line) => readLine(line, table, columns)).toReversed();
	// What was refused is gone on with by nothing.
	const read = [...earlier.toReversed().filter(({ unknown }) => unknown.length === 0), last].reduce(goOn);
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
	const conditions = [
		...before.conditions.filter(({ index }) => next.conditions.every((each) => each.index !== index)),
		...next.conditions
	];
	// What was compared by a column is now about one of it.
	const by =
		next.by.length > 0
			? next.by
			: before.by.filter((index) =>
					next.conditions.every((each) => each.index !== index || each.isSeveral || each.sign !== '=')
				);
	return {
		...before,
		...Object.fromEntries(given),
		conditions,
		by,
		// `How much did I spend?`, `Which was the biggest?`: the biggest that goes out.
		end:
			next.flow === undefined && before.flow === 'out' && next.value === null
				? ({ low: 'high', high: 'low' }[next.end] ?? next.end ?? before.end)
				: (next.end ?? before.end),
		period: next.by.length > 0 ? next.period : before.period,
		// Yes or no only what asks for it, or goes on with such.
		isYesNo: next.isYesNo || (before.isYesNo && next.isFollowing),
		isOfAll: next.isOfAll || (before.isOfAll && next.isFollowing),
		limit: next.limit ?? (next.isFollowing ? before.limit : undefined),
		shown: next.shown ?? (next.isFollowing ? before.shown : undefined),
		isList: next.isList || (before.isList && next.measure === undefined),
		isOverview: false
	};
}

function readLine(line, table, columns) {
	const sentence = sentenceOf(line, table.name, columns);
	const { said } = sentence;
	const named = namedColumns(said, columns);
	const numbers = columns.flatMap(({ isNumber }, index) => (isNumber ? [index] : []));
	const numberOf = (sort) => numbers.find((index) => sortOf(columns[index].name) === sort);
	const age = numbers.find((index) => /age$/i.test(columns[index].name));
	const pieces = numberOf('pieces');
	const levels = numbers.filter((index) => sortOf(columns[index].name) === 'level');
	const price = levels.find((index) => /price/i.test(columns[index].name));
	/** A year of birth. */
	const born = age === undefined ? numbers.find((index) => BIRTH.test(columns[index].name)) : undefined;
	const bornEnd =
		born === undefined ? undefined : AGES.high.test(said) ? 'low' : AGES.low.test(said) ? 'high' : undefined;
	const ageEnd = age === undefined ? undefined : Object.keys(AGES).find((key) => AGES[key].test(said));
	const isOfPrice =
		price !== undefined &&
		(PRICES.test(said) || /\bhow much (is|are|does)\b|\bwhat (is|are|do|does|did) .* costs?\b/.test(said));
	const namedNumber = named.find(
		({ index, at, text }) =>
			columns[index].isNumber && sortOf(columns[index].name) !== 'id' && !A_VALUE.test(said.slice(at + text.length))
	)?.index;
	const rated = levels.find((index) => RATINGS.test(columns[index].name));
	const isOfRating = rated !== undefined && /\b(best|worst|favou?rite)\b/.test(said);
	const dates = columns.flatMap(({ type }, index) => (type === 'date' ? [index] : []));
	const birth = dates.find((index) => BIRTH.test(columns[index].name));
	const isOfBirth = birth !== undefined && age === undefined && OF_BIRTH.test(said);
	const date =
		named.find(({ index }) => dates.includes(index))?.index ??
		(isOfBirth ? birth : (dates.find((index) => index !== birth) ?? birth));
	const amount = likelyValue(columns, numbers);

	// One row a day.
	const isDaily =
		date !== undefined && columns[date].counts.size === columns[date].filled && columns[date].missing === 0;
	if (isDaily && !/\bdays? (since|ago|until|between|left|later)\b/.test(said)) sentence.nouns.add('day');
	if (date !== undefined) sentence.known.add('date');
	// `Who joined before 2020?` of a column Member since
	if (dates.length === 1 && WHO.test(columns[labelOf(columns)]?.name))
		for (const verb of ['join', 'start', 'register', 'arrive']) sentence.known.add(verb);
	// `the supplier with most products`, where each row is a product
	const own = named.find(
		({ index }) => index === labelOf(columns) && columns[index].counts.size === columns[index].filled
	);
	if (own && named.some(({ index }) => index !== own.index && columns[index].type === 'text'))
		sentence.nouns.add(stem(own.text));
	const top = readTop(sentence);
	const direction = DIRECTION.exec(said)?.[1];
	sentence.takeAll(/(?<=\b(est|one|ones|worst|expensive) )first\b/g, () => direction !== undefined);
	for (const { index } of named)
		for (const part of columns[index].name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) sentence.known.add(stem(part));
	const limited = /\d (items?|units?|pieces|sold|bought)\b/.test(said)
		? pieces
		: (namedNumber ?? amount ?? (levels.length === 1 ? levels[0] : undefined));
	const isYesNo = YES_NO.test(said) && !ASKING.test(said);
	const isRowNoun = (word, at) =>
		(ROW_NOUNS.has(stem(word)) || sentence.nouns.has(stem(word))) &&
		named.every((each) => each.at !== at || !columns[each.index].isNumber);
	const { limits, limitsOfRows } = readLimits(sentence, columns, limited, age, table.decimalComma, {
		hasDates: date !== undefined && namedNumber === undefined,
		isRowNoun: pieces !== undefined && limited === pieces ? () => false : isRowNoun
	});
	const conditions = [
		...limits,
		...readYears(sentence, columns, named),
		...readMonths(sentence, columns, date),
		...readCells(sentence, columns, named)
	];
	const { by, flags, isOfKinds, sortedBy, shown: shownOwn } = readColumns(sentence, columns, named, conditions);
	const shown = shownOwn ?? readShown(sentence, columns, named, by);
	conditions.push(...flags);
	const isListed = /\b(list|show)\b/.test(said);
	const compared = isListed || !COMPARING.test(said) ? undefined : conditions.find(({ isSeveral }) => isSeveral);
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
	const periodNamed = date === undefined || isDateNamed ? undefined : readPeriod(sentence);
	const period = periodNamed ?? (compared?.months ? comparedPeriod(compared.months) : undefined);
	if (period) by.unshift(date);

	const isOfAges = age !== undefined && /\bhow old\b/.test(said);
	// What each row is a price of, all of them cost together.
	const isOfCosts = price !== undefined && pieces === undefined && /\bhow much did .* cost\b/.test(said);
	const ofNumber =
		namedNumber ??
		(ageEnd || isOfAges ? age : bornEnd ? born : isOfPrice || isOfCosts ? price : isOfRating ? rated : undefined);
	const isTotal = /\b(totals?|sums?)\b/.test(said);
	const measured = MEASURES.find(([, pattern]) => pattern.test(said))?.[0];
	const isOfAverage = measured === 'sum' && !isTotal && !isOfCosts && (isOfPrice || isOfAges);
	// `pages per book`: a row
	const each = /\b(?:per|each|every) (\p{L}+)/u.exec(said);
	const isEachRow =
		each && (sentence.nouns.has(stem(each[1])) || (ROW_NOUNS.has(stem(each[1])) && each[1] !== 'person'));
	const meant =
		(isOfAverage || (isEachRow && by.length === 0 && ofNumber !== undefined) ? 'mean' : measured) ??
		(ofNumber === undefined && isOfCount(sentence) ? 'count' : undefined);
	const isOfPieces =
		meant === 'count' && pieces !== undefined && /\b(sell|sold|sells|buy|bought|ordered|have|left)\b/.test(said);
	const isOfSum =
		meant === 'count' &&
		namedNumber !== undefined &&
		isAmount(columns[namedNumber].name) &&
		/\b(how many|number of)$/.test(sentence.before(named.find(({ index }) => index === namedNumber).at));
	const isShare = /\b(share|percent|percentage|proportion)\b|%/.test(said);
	// A balance is the last one, and no average.
	const isOfBalance =
		namedNumber !== undefined &&
		/balance/i.test(columns[namedNumber].name) &&
		!measured &&
		date !== undefined &&
		by.length === 0 &&
		conditions.length === 0;
	const isSomeLevel =
		meant !== 'count' &&
		amount === null &&
		levels.length === 1 &&
		(/mean|median/.test(meant) || LOW.test(said) || HIGH.test(said));
	const value = ofNumber ?? (isOfPieces ? pieces : isSomeLevel ? levels[0] : null);
	const isLevel = value !== null && sortOf(columns[value].name) === 'level';
	const isOfMoney = MONEY.test(said);
	const isEnded =
		[[LOW, HIGH], Object.values(AGES)].some((both) => both.every((pattern) => pattern.test(sentence.left))) &&
		!direction;
	const dated = readEnd(sentence, date !== undefined && by.length === 0 && !ageEnd && !bornEnd && !direction, compared);
	// `When was the last delivery?` of a column Last delivery
	const isOfLast =
		/\bwhen\b/.test(said) && conditions.length === 0 && by.length === 0 && named.some(({ index }) => index === date);
	const isFlipped = /low|high/.test(dated) && GOING_OUT.test(said) && hasBothSigns(columns[ofNumber ?? amount]);
	const end =
		(isOfBalance ? 'late' : undefined) ??
		ageEnd ??
		bornEnd ??
		(isOfBirth && AGES.low.test(said) ? 'late' : undefined) ??
		(isFlipped
			? { low: 'high', high: 'low' }[dated]
			: (dated ?? (isOfLast && /\b(last|latest)\b/.test(said) ? 'late' : undefined)));
	const kinds = kindsOf(columns);
	const label = labelOf(columns);
	const who = columns.findIndex(({ name, counts, filled }) => WHO.test(name) && counts.size < filled);
	// “What did I spend most on?” asks for a kind, not for a row; so does “who has the most orders?”.
	if (end && by.length === 0 && kinds !== null && /\b(on|for|from) ((except|without|excluding) .*)?$/.test(said))
		by.push(kinds);
	if (/\bwho\b/.test(said) && by.length === 1 && columns[by[0]].counts.size === columns[by[0]].filled && label !== null)
		by.length = 0;
	if (/low|high/.test(end) && by.length === 0 && who >= 0 && !direction && /\bwho\b/.test(said)) by.push(who);
	const signed = value ?? amount;
	const hasSigns = hasBothSigns(columns[signed]);
	const isIn = hasSigns && COMING_IN.test(said);
	const isOut = hasSigns && !isIn && GOING_OUT.test(said);
	if (isIn || isOut)
		conditions.push({
			index: signed,
			sign: isIn ? '>' : '<',
			number: ZERO,
			isOfFlow: true,
			text: `${columns[signed].name} ${isIn ? 'above' : 'below'} 0`
		});
	// `which tasks are done`: their names, and nothing by task.
	const [only] = by;
	const isOfNames =
		by.length === 1 &&
		only === label &&
		columns[label].counts.size === columns[label].filled &&
		conditions.length > 0 &&
		meant === undefined &&
		namedNumber === undefined &&
		!end &&
		!EACH.test(said);
	if (isOfNames) by.length = 0;
	const shownEnd = end ?? (isOut && by.length > 0 ? 'low' : undefined);
	const isSorted = sortedBy !== undefined || (direction !== undefined && by.length === 0);
	sentence.takeAll(/\b(sort|sorted|rank|ranked)\b/g, () => isSorted);
	sentence.takeAll(new RegExp(COMING_IN, 'g'), () => isIn);
	sentence.takeAll(new RegExp(GOING_OUT, 'g'), () => isOut);
	sentence.takeAll(/\b(used?|read|see|watch)\b/g, () => /\b(used?|read|see|watch) .{0,20}most\b/.test(said));
	sentence.takeAll(/\bsingle\b/g, () => /\b(\p{L}+est|expensive|any|every|one|a) single\b/u.test(said));
	sentence.takeAll(/\bdifference\b/g, () => pairIn(compared) !== undefined);
	for (const { index, at, text } of named)
		sentence.takeAll(
			/\b(types?|sorts?|groups?)\b/g,
			(_, place) => place === at + text.length + 1 && !columns[index].isNumber
		);
	const isCoin = amount !== null && columns[amount].isOfMoney;
	sentence.takeAll(/\b(revenue|turnover|takings)\b/g, () => isCoin && !hasSigns);
	const unknown = unknownIn(sentence);
	// `Is the paint ordered?`, where there is but a row called Order paint
	const done = /(?<!un)\b(\p{L}+ed|bought|sold|spent)\b(?<!named|called|listed)/u.exec(said)?.[0];
	if (
		isYesNo &&
		done &&
		named.length === 0 &&
		conditions.length > 0 &&
		conditions.every((each) => each.index === label)
	)
		unknown.push(done);
	const isOfFuture = OF_FUTURE.test(said) && unknown.length > 0;
	if (meant === 'count' && /\b(average|mean|avg)\b/.test(said)) unknown.push('average');
	// Whether it's the most, or so for each, is no question of which rows there are.
	const isCompared = pairIn(compared) !== undefined;
	if (isYesNo && !isCompared)
		unknown.push(
			...(end ? [LOW, HIGH, LATE, EARLY] : by.length > 0 ? [EACH] : []).flatMap((each) => each.exec(said)?.[0] ?? [])
		);
	// `How many days did it rain?` is not of days that have a figure.
	const isOfFilled = meant === 'count' && namedNumber !== undefined && !isOfSum && !isOfPieces && by.length === 0;
	if (isOfFilled && conditions.every(({ index }) => index !== namedNumber))
		unknown.push(named.find(({ index }) => index === namedNumber).text);
	// Which of several columns of numbers a limit is for is only clear of money.
	const isGuess = ({ index, number, said: words, isNamed }) =>
		number &&
		words &&
		!isNamed &&
		index === amount &&
		limited !== pieces &&
		index !== namedNumber &&
		!columns[index].isOfMoney;
	if (numbers.filter((index) => sortOf(columns[index].name) !== 'id').length > 1)
		unknown.push(...conditions.filter(isGuess).map(({ said: words }) => words));
	// `Did I spend more than 500 on food?` is of a total.
	const isOfFigure = /sum|mean|median/.test(meant) || (ADDING.test(said) && !OF_ONE.test(said));
	const limiting =
		isYesNo && isOfFigure
			? conditions.filter(({ index, number, isOfFlow }) => number && !isOfFlow && index === (value ?? amount))
			: [];
	const [limit, ...moreLimits] = [...limiting, ...limitsOfRows];
	conditions.splice(0, Infinity, ...conditions.filter((each) => !limiting.includes(each)));
	// `payments over 100` are below -100.
	for (const each of isOut ? conditions : [])
		if (each.number && each.index === signed && !each.isOfFlow) {
			const [number, sign] = [subtract(ZERO, each.number), FLIPPED[each.sign]];
			Object.assign(each, {
				number,
				sign,
				isFlipped: true,
				text: conditionText(columns[signed].name, sign, plain(number))
			});
		}
	if (limit && (moreLimits.length > 0 || by.length > 0 || !isYesNo)) unknown.push(limit.said);
	// What would be answered with something else is refused: shares of a part, limits of a sum, both ends, money where there's but a quantity.
	const shared = conditions.filter(({ isOfFlow }) => !isOfFlow);
	if (isShare && (shared.length > 1 || by.length > 0) && shared.length > 0) unknown.push('percentage');
	if (by.length > 0 && conditions.some(({ number }) => number) && TOGETHER.test(said)) unknown.push('in total');
	if (isEnded) unknown.push('both ends at once');
	// `each person`, where no column has persons
	if (each && !isEachRow && by.length === 0 && !isYesNo) unknown.push(each[0]);
	const ago = /\b(last|past|previous|next) \d+ (day|week|month|quarter|year)s?\b/.exec(said)?.[0];
	if (ago) unknown.push(ago);
	if (/\bfavou?rite\b/.test(said) && rated === undefined) unknown.push('favourite');
	// `How much is a ticket?`, `What does one kWh cost?` ask for a price.
	const priced = PRICED.exec(said)?.slice(1).find(Boolean);
	const isOne = /\b(one|each)\b/.test(PRICED.exec(said)?.[0]) && meant !== 'mean';
	if (priced && price === undefined && conditions.length === 0 && (named.length === 0 || isOne))
		unknown.push(isOne ? `the price of one ${priced}` : priced);
	// Of two columns of numbers it divides none by the other.
	const divisor = named.find(
		({ index, at, text }) =>
			by.includes(index) &&
			columns[index].isNumber &&
			(isAmount(columns[index].name) || text.length + 1 < columns[index].name.length) &&
			/\b(per|each|every)$/.test(sentence.before(at))
	);
	if (divisor) unknown.push(`per ${divisor.text}`);
	const money = (MONEY.exec(said) ?? TAKING.exec(said)?.slice(1))?.[0];
	const isOfTakings = Boolean(money) && value === null && (amount !== null || levels.length > 0) && !isCoin;
	if (isOfTakings) unknown.push(money);
	const moving = MOVING.exec(said)?.[0];
	if (moving) unknown.push(moving);
	// A day with no honey has no row that says so: of groups it knows only what they have.
	const isOfMany =
		by.length > 0 || (/\b(who|when)\b/.test(said) && columns[label]?.counts.size !== columns[label]?.filled);
	const lacking = isOfMany && conditions.find(({ sign, ends }) => sign === '!=' && ends);
	const lacked = lacking && /\bno( \S+){1,6}$/.exec(sentence.before(lacking.ends[0]))?.[0];
	if (lacked) unknown.push(lacked);
	// Of a month there's one total, and the average is that of all months.
	const isOfPeriods = meant === 'mean' && period !== undefined && !isLevel;
	const ofEnds = { high: 'max', low: 'min' }[end];
	const isOfEnds =
		by.length > 0 &&
		ofEnds &&
		meant === undefined &&
		(isLevel ? isOfPrice || EACH.test(said) : EACH.test(said) && period === undefined);
	const isOfAll = isYesNo && OF_ALL.test(said);
	const isVerdict = isYesNo && (!isOfAll || conditions.length === 1) && (limit !== undefined || measured === undefined);
	const isOfBeing = isVerdict && !limit && !end && by.length === 0 && conditions.length > 0;
	const isOfRows =
		isShare &&
		by.length === 0 &&
		!isOfMoney &&
		!isOut &&
		!isIn &&
		(namedNumber === undefined || [...said.matchAll(/\p{L}+/gu)].some(([word]) => ROW_NOUNS.has(stem(word))));
	// `members per age`: what it is grouped by isn't what is counted.
	const isOfGroups = by.includes(value);
	return {
		conditions,
		by: [...new Set(by)],
		period,
		value: isOfGroups ? null : value,
		date,
		measure:
			isOfPeriods || isOfPieces || isOfSum
				? 'sum'
				: isOfGroups || isOfRows || isOfBeing || (limit === limitsOfRows[0] && limit)
					? 'count'
					: (meant ??
						(isOfEnds
							? ofEnds
							: isLevel && (by.length > 0 || (!end && conditions.every(({ index }) => index !== value)))
								? 'mean'
								: undefined)),
		end: shownEnd,
		top,
		isOfKinds: isOfKinds || isOfDays,
		isOfPeriods,
		isOfMoney: isOfMoney && !isOfBeing,
		isShare,
		isYesNo: isVerdict,
		isOfAll,
		isFollowing: FOLLOWING.test(said) && !measured,
		limit,
		flow: isOut ? 'out' : isIn ? 'in' : undefined,
		pair: pairIn(compared),
		isThan: /\bthan (?![$€£¥]?\d)/.test(said),
		isLess: LESS.test(said),
		shown: isOfBalance ? namedNumber : shown,
		isOfWhen: date !== undefined && /\b(when|days?|dates?)\b/.test(said),
		isOfWho: /\b(who|whom|whose|names?)\b/.test(said),
		noun: isDaily && /\bdays\b/.test(said) ? 'days' : nounOf(sentence, named),
		sortBy: isSorted ? (sortedBy ?? value ?? (/new|late|earl/.test(direction) ? date : (age ?? amount))) : undefined,
		isDescending:
			/^(oldest|highest|biggest|largest|newest|latest|longest|most|best)/.test(direction ?? '') ||
			(sortedBy !== undefined && !direction && top !== undefined),
		isList:
			isListed ||
			isSorted ||
			isOfNames ||
			isOfBeing ||
			shown !== undefined ||
			(meant === undefined && /\b(who|whom|which ones|when)\b/.test(said)),
		isChart: /\b(draw|chart|graph|plot|diagram|pie|visuali[sz]e|bars?)\b/.test(said),
		isPie: /\bpie\b/.test(said),
		isOverview: /\b(summar\w+|describe|analy[sz]e|overview|statistics)\b/.test(said),
		isOfFuture,
		unknown: [...new Set(unknown)]
	};
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
	if (at === undefined || others.length > 0 || !isPlain || named.some(({ index }) => columns[index].isNumber))
		return undefined;
	const { name, counts, filled } = columns[at];
	if (counts.size < filled && !WHO.test(name) && !/\b(their|its|them)\b/.test(said)) return undefined;
	by.length = 0;
	return at;
}

/** Two that are compared, in the order of the sentence. */
function pairIn({ cells, ends, months } = {}) {
	const two = cells?.toSorted((one, other) => ends[cells.indexOf(one)] - ends[cells.indexOf(other)]) ?? months;
	return two?.length === 2 ? two : undefined;
}

/** What the rows are, by the name of the file, else as the question calls them. */
function nounOf({ said, nouns }, named) {
	const isColumn = (at) => named.some((each) => at >= each.at && at < each.at + each.text.length);
	const isNoun = (word) => ROW_NOUNS.has(stem(word)) && (/s$/.test(word) || word === 'people');
	const own = [...nouns].find((word) => ROW_NOUNS.has(word) && !/person|people|row|entry|record|item/.test(word));
	if (own) return own.endsWith('y') ? `${own.slice(0, -1)}ies` : `${own}s`;
	return [...said.matchAll(/\p{L}+/gu)].find(
		({ 0: word, index }) => isNoun(word) && !isColumn(index) && !/^(items|sales)$/.test(word)
	)?.[0];
}

/** A line in small letters, without marks: `said` as a whole, and what is `left` of it, from which the readers below take what they understand, so that it means nothing else. */
function sentenceOf(line, fileName, columns) {
	const plain = line
		.toLowerCase()
		.replaceAll(fileName.toLowerCase(), ' ')
		.replace(/[’`]/g, "'")
		.replace(/\b(have|has|did|do|does|is|are|were|was)nt\b/g, "$1n't")
		.replace(/\b(what|who|where|how|that|it|there|when)'s\b/g, '$1')
		.replace(/[?!;:"“”()]|[.,](?=\s|$)/g, ' ');
	const counted = ` ${plain.replace(/\s+/g, ' ').trim()} `.replace(/\b\p{Ll}{3,5}\b/gu, (word) =>
		NUMBER_WORDS.includes(word) ? String(NUMBER_WORDS.indexOf(word) + 2) : word
	);
	const said = inOwnWords(counted, columns);
	const nouns = new Set(
		(
			fileName
				.toLowerCase()
				.replace(/\.\w+$/, '')
				.match(/\p{L}{3,}/gu) ?? []
		).map(stem)
	);
	return {
		said,
		left: said,
		/** What the file is of: `run` for `runs.csv`. */
		nouns,
		/** Parts of the names of columns that are meant. */
		known: new Set(),
		before: (at) => said.slice(0, at).trimEnd(),
		take(at, length) {
			this.left = this.left.slice(0, at) + ' '.repeat(length) + this.left.slice(at + length);
		},
		takeAll(pattern, isMeant = () => true) {
			this.left = this.left.replace(pattern, (word, ...rest) =>
				isMeant(
					word,
					rest.find((each) => typeof each === 'number')
				)
					? ' '.repeat(word.length)
					: word
			);
		},
		/** Is what stands here excluded? */
		isDenied(at) {
			const denial = NOT.exec(this.before(at));
			if (denial) this.take(denial.index, denial[0].length);
			return denial !== null;
		}
	};
}

/** `over 100`, `between 5 and 10`: limits of the column that is named, else of the likeliest one. */
function readLimits(sentence, columns, likely, age, decimalComma, { hasDates, isRowNoun }) {
	const { said } = sentence;
	const range = new RegExp(` between ${NUMBER} and ${NUMBER}(?![\\d-])`).exec(said);
	const limits = range
		? [
				['>=', range[1], range],
				['<=', range[2], range]
			]
		: LIMITS.flatMap(([sign, pattern]) =>
				[...said.matchAll(new RegExp(` (?:${pattern})(?![\\d-])`, 'g'))].map((found) => [
					sign,
					found[1] ?? found[2],
					found
				])
			);
	const limitsOfRows = [];
	const found = limits.flatMap(([sign, digits, { 0: text, index: at }]) => {
		const number = parseNumber(digits, decimalComma);
		// `over 100 m2`, where a column is called Size m2
		const [unit] = /^ ?[\p{L}%°]+\d?/u.exec(said.slice(at + text.length)) ?? [''];
		const ofUnit = columns.findIndex(
			(column) => column.isNumber && unit.trim() !== '' && unitOf(column.name) === unit.trim()
		);
		const index = /older|younger/.test(text) ? age : ofUnit >= 0 ? ofUnit : likely;
		if (ofUnit >= 0 || (columns[likely]?.isOfMoney && COINS.test(unit))) sentence.take(at + text.length, unit.length);
		// `more than 5 members` are rows.
		const next = /^ (\p{L}+)/u.exec(said.slice(at + text.length));
		if (number && next && isRowNoun(next[1], at + text.length + 1)) {
			sentence.take(at, text.length);
			limitsOfRows.push({ sign, number, said: text.trim() });
			return [];
		}
		// `between 10 and 20 March` are days.
		if (
			!number ||
			index === undefined ||
			index === null ||
			A_MONTH.test(said.slice(at + text.length)) ||
			(hasDates && A_YEAR.test(digits))
		)
			return [];
		sentence.take(at, text.length);
		return [
			{
				index,
				sign,
				number,
				said: text.trim(),
				isNamed: ofUnit >= 0,
				text: conditionText(columns[index].name, sign, digits)
			}
		];
	});
	return { limits: found, limitsOfRows };
}

/** `m2` of `Size m2`, `km` of `Distance (km)` */
function unitOf(name) {
	const parts = name.toLowerCase().match(/[\p{L}%°]+\d?/gu) ?? [];
	return parts.length > 1 ? parts.at(-1) : undefined;
}

/** The 3 of `top 3` and `the 3 biggest`. */
function readTop(sentence) {
	const found = new RegExp(`\\b(?:top|${ENDS}) (\\d{1,2})\\b|\\b(\\d{1,2}) (?:${ENDS})\\b`).exec(sentence.left);
	if (!found) return undefined;
	const digits = found[1] ?? found[2];
	sentence.take(found.index + found[0].indexOf(digits), digits.length);
	return Number(digits);
}

/** `born after 1990`, where the column has but years */
function readYears(sentence, columns, named) {
	const isOfYears = ({ index }) => columns[index].type === 'integer' && /born|birth|year/i.test(columns[index].name);
	const found = named.find(isOfYears);
	const [all, word = '', year] =
		(found && / (?:(in|since|after|before|until) )?((?:18|19|20)\d\d)(?= )/.exec(sentence.left)) ?? [];
	if (!all) return [];
	const { name } = columns[found.index];
	sentence.take(sentence.left.indexOf(all), all.length);
	const sign = DATE_SIGNS[word] ?? '=';
	return [{ index: found.index, sign, number: parseNumber(year), text: `${name} ${word || 'in'} ${year}` }];
}

/** `in February`, `since 2025`, `between March and May`, for the column of dates at index `date`. */
function readMonths(sentence, columns, date) {
	const conditions = [];
	if (date === undefined) return conditions;
	let isRange = false;
	// `Jun Sato` is no month.
	const names = cellsIn(sentence.left, columns).filter(({ text }) => text.includes(' '));
	const isOfName = (at) => names.some((each) => at >= each.at && at < each.at + each.text.length);
	for (const { text: word, at, months } of monthsIn(sentence.left)) {
		if (isOfName(at)) continue;
		const text = word.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
		const before = sentence.before(at);
		const isEnd = isRange && /\b(and|to|until|till|through|-|–)$/.test(before);
		isRange = /\bbetween$/.test(before) || /^ (to|until|till|through|-|–) /.test(sentence.said.slice(at + word.length));
		const sign = isRange
			? '>='
			: isEnd
				? '<='
				: (DATE_SIGNS[/\b(since|after|before|until|till)$/.exec(before)?.[1]] ?? '=');
		const same = conditions.find((each) => each.sign === '=' && sign === '=');
		if (same)
			Object.assign(same, { months: [...same.months, months], text: `${same.text} or ${text}`, isSeveral: true });
		else
			conditions.push({
				index: date,
				sign,
				months: [months],
				text: conditionText(columns[date].name, sign, text, true)
			});
		sentence.take(at, word.length);
	}
	sentence.takeAll(/\b(since|after|before|until|till|through)\b/g);
	return conditions;
}

/** Cells, the longest first, so that `New York` is not the `new` of another column. */
function readCells(sentence, columns, named) {
	const conditions = [];
	// In the order of the sentence: what is denied goes on.
	for (const { text, at, index, cell } of cellsIn(sentence.left, columns)) {
		const isColumn = named.some(
			(each) => each.at < at + text.length && at < each.at + each.text.length && each.text.length >= text.length
		);
		if (isColumn || sentence.left.slice(at, at + text.length) !== text) continue;
		const isMore = conditions.some(
			(each) =>
				each.sign === '!=' &&
				each.index === index &&
				each.ends.some((end) => /^ *(,|and|or|nor)( the)? *$/.test(sentence.said.slice(end, at)))
		);
		const sign = sentence.isDenied(at) || isMore ? '!=' : '=';
		const same = conditions.find((each) => each.index === index && each.sign === sign);
		same?.ends.push(at + text.length);
		if (same && !same.cells.includes(cell))
			Object.assign(same, { cells: [...same.cells, cell], text: `${same.text} or ${cell}`, isSeveral: true });
		else if (!same)
			conditions.push({
				index,
				sign,
				cells: [cell],
				ends: [at + text.length],
				text: conditionText(columns[index].name, sign, cell)
			});
		sentence.take(at, text.length);
	}
	return conditions;
}

/** Columns of yes and no are what rows have or lack; others are grouped by, unless a number or a date is what is asked for. */
function readColumns(sentence, columns, named, conditions) {
	const by = [];
	const flags = [];
	let isOfKinds = false;
	let [sortedBy, shown] = [];
	const label = labelOf(columns);
	const isOne = (each) =>
		each.index === label &&
		each.sign === '=' &&
		each.cells?.length === 1 &&
		columns[label].counts.size === columns[label].filled;
	for (const { text, at, index } of named) {
		const { name, type, counts } = columns[index];
		// The number of a table or a room is a name.
		const isNumber = columns[index].isNumber && sortOf(name) !== 'id';
		const before = sentence.before(at);
		const isBy =
			/\b(per|by|each|every)$/.test(before) ||
			(type !== 'date' && (BY.test(before) || BEST.test(before)) && !(type === 'yes/no' && /\ba$/.test(before)));
		const isUn = /\bun$/.test(sentence.said.slice(0, at));
		const missing =
			IS_MISSING.exec(sentence.left.slice(at + text.length).split(/\b(and|or)\b/)[0]) ??
			(/\b(missing|empty|blank|no|without)( (a|an|the|any))?$/.test(before) && type !== 'yes/no');
		// `my average grocery shop`: a row.
		const isOfCell = conditions.some(
			({ ends, index: own }) => own !== index && own !== label && ends?.includes(at - 1)
		);
		// Of Dan, who is named, it's told what he has; nothing is grouped or compared.
		const isOfOne = index !== label && type !== 'yes/no' && !isNumber && conditions.some(isOne);
		if (isOfOne) {
			// `her membership number` is not her membership.
			const isPart = (name.match(/[\p{L}\p{N}]+/gu) ?? []).length > (text.match(/[\p{L}\p{N}]+/gu) ?? []).length;
			const isOther = isPart && /^ (number|no|id|code)\b/.test(sentence.said.slice(at + text.length));
			if (!isOther) shown ??= index;
		} else if (isOfCell && !isBy && type === 'text' && !/s$/.test(text)) {
			// Taken below.
		} else if (missing) {
			// A day without rain has a 0.
			const isNone = isNumber && (columns[index].missing === 0 || counts.has('0'));
			const none = isNone
				? { number: ZERO, text: conditionText(name, '=', '0') }
				: { cells: MISSING, text: `no ${name}` };
			flags.push({ index, sign: '=', ...none });
			sentence.takeAll(/\b(missing|empty|blank|no|without|not known)\b/g);
		} else if (columns[index].isNumber && A_VALUE.test(sentence.said.slice(at + text.length)) && !BEST.test(before)) {
			const [all, digits] = A_VALUE.exec(sentence.said.slice(at + text.length));
			flags.push({ index, sign: '=', number: parseNumber(digits), text: conditionText(name, '=', digits) });
			sentence.take(at + text.length, all.length);
		} else if (
			type === 'date' &&
			columns[index].missing > 0 &&
			!isBy &&
			conditions.every((each) => each.index !== index)
		) {
			// `which books have I read?`: those that have the date.
			const isNone = isUn || sentence.isDenied(at) || /n't( \p{L}+){1,3}$/u.test(before);
			if (isNone) sentence.takeAll(/\p{L}+n't\b/gu);
			flags.push({ index, sign: isNone ? '=' : '!=', cells: MISSING, text: `${isNone ? 'no' : 'a'} ${name}` });
		} else if (SORTING.test(before) && (isNumber || type === 'date')) sortedBy = index;
		else if (type === 'yes/no' && !isBy) {
			const [answer = '', told] =
				/^ (?:is |are )?(yes|no|true|false)\b/.exec(sentence.said.slice(at + text.length)) ?? [];
			sentence.take(at + text.length, answer.length);
			const isNo = told ? /no|false/.test(told) : sentence.isDenied(at) || isUn;
			const cell = [...counts.keys()].find((each) => /^(no|false)$/i.test(each) === isNo) ?? (isNo ? 'no' : 'yes');
			flags.push({ index, sign: '=', cells: [cell], text: conditionText(name, '=', cell) });
		} else if (
			isBy ? !isNumber || (/\b(per|each|every)$/.test(before) && by.length === 0) : !isNumber && type !== 'date'
		) {
			// `how many bills are unpaid` in bills.csv: rows.
			const isRow =
				(!isBy || /\b(most|fewest)$/.test(before)) &&
				(sentence.nouns.has(stem(text)) ||
					(conditions.length > 0 && /\bhow many$/.test(before) && !isBy) ||
					(ROW_NOUNS.has(stem(text)) && flags.length + conditions.length > 0 && !/how many$/.test(before)));
			isOfKinds ||= !isRow && /\b(how many|number of)( (different|various|distinct|unique))?$/.test(before);
			const isOwn = counts.size === columns[index].filled && conditions.length > 0 && !isBy;
			// `average plot size`, where each row has a plot of its own
			const isOfEach =
				!isBy && counts.size === columns[index].filled && named.some((each) => columns[each.index].isNumber);
			if (!isOwn && !isRow && !isOfEach && (isBy || conditions.every((each) => each.index !== index))) by.push(index);
		}
		// Rows are still to be counted.
		if (!(sentence.nouns.has(stem(text)) && /\b(most|fewest)$/.test(before)))
			sentence.take(isUn ? at - 2 : at, text.length + (isUn ? 2 : 0));
	}
	return { by, flags, isOfKinds, sortedBy, shown };
}

/** `per month`, `the best month`; not `last month`. */
function readPeriod(sentence) {
	for (const [name, pattern] of Object.entries(PERIODS)) {
		const [found] = sentence.left.matchAll(pattern);
		const before = found && sentence.before(found.index);
		const isBy =
			found &&
			(BY.test(before) ||
				BEST.test(before) ||
				/\b(over|under|more|fewer|less|each)$/.test(before) ||
				/ly$|^over|^trend/.test(found[0]) ||
				/\d$/.test(before));
		if (!isBy) continue;
		sentence.take(found.index, found[0].length);
		return name;
	}
	return undefined;
}

/** Of `June or May`, what each of them is. */
function comparedPeriod(months) {
	return months.every((key) => /^\d{4}$/.test(key))
		? 'year'
		: months.every((key) => /-\d{2}$/.test(key))
			? 'month'
			: undefined;
}

/** `the most orders`, `more members`: of rows there are many, of a number there is much. */
function isOfCount({ left, nouns }) {
	const [, ...next] = /\b(?:most|fewest|more|fewer) +(\p{L}+)(?: +(\p{L}+))?/u.exec(left) ?? [];
	const [, counted] = /(\p{L}+) +(?:per|by|each|every|in each)\b/u.exec(left) ?? [];
	if (
		counted &&
		!LOW.test(left) &&
		!HIGH.test(left) &&
		!OF_MONEY.test(counted) &&
		(ROW_NOUNS.has(stem(counted)) || nouns.has(stem(counted)))
	)
		return true;
	return next.some((word) => word && (ROW_NOUNS.has(stem(word)) || nouns.has(stem(word))));
}

function isSmall(word) {
	return SMALL.has(word) || ROW_NOUNS.has(stem(word));
}

/** Which end is asked for; `more` and `less` only of what is compared. */
function readEnd(sentence, isDated, compared) {
	const ends = { ...(isDated && { late: LATE, early: EARLY }), low: LOW, high: HIGH };
	const end =
		Object.keys(ends).find((key) => ends[key].test(sentence.left)) ??
		(compared && (LESS.test(sentence.left) ? 'low' : MORE.test(sentence.left) ? 'high' : undefined));
	for (const pattern of [LATE, EARLY, LOW, HIGH, ...(compared ? [MORE, LESS] : [])])
		sentence.takeAll(new RegExp(pattern, 'g'));
	return end;
}

/** What is left of the sentence and has a meaning of its own. */
function unknownIn(sentence) {
	for (const pattern of [...Object.values(AGES), TOGETHER, EMPTY]) sentence.takeAll(new RegExp(pattern, 'g'));
	for (const [, pattern] of MEASURES) sentence.takeAll(new RegExp(pattern, 'g'));
	const words = sentence.left.match(/[\p{L}\p{N}][\p{L}\p{N}'.,-]*/gu) ?? [];
	return [...new Set(words)].filter(
		(word) => !isSmall(word) && !sentence.nouns.has(stem(word)) && !sentence.known.has(stem(word))
	);
}

/** Cells of text that are said, the longest first; a month is found by its short name, too. */
function cellsIn(open, columns) {
	const keys = new Map();
	for (const [index, { type, isNumber, counts }] of columns.entries()) {
		if (isNumber || type === 'date' || type === 'yes/no') continue;
		for (const cell of counts.keys()) {
			const key = keyOf(cell);
			if (key && !keys.has(key)) keys.set(key, { index, cell });
		}
	}
	// `Ann` of `Ann Lee`, if nobody else is called so.
	const parts = new Map();
	for (const each of keys.values())
		for (const word of each.cell.toLowerCase().split(/\s+/))
			parts.set(word, parts.has(word) && parts.get(word) !== each ? null : each);
	for (const [word, each] of parts)
		if (each && word.length > 1 && /^\p{L}+$/u.test(word) && !keys.has(keyOf(word))) keys.set(keyOf(word), each);
	const tokens = [...open.matchAll(/[^\s,]+/g)].map(({ 0: text, index }) => ({ text, at: index }));
	const found = [];
	for (let size = Math.min(MOST_CELL_WORDS, tokens.length); size > 0; size -= 1)
		for (let place = 0; place + size <= tokens.length; place += 1) {
			const last = tokens[place + size - 1];
			const text = open.slice(tokens[place].at, last.at + last.text.length);
			const known = keys.get(keyOf(text));
			const isVague =
				size === 1 &&
				(SMALL.has(text) ||
					(/^(yes|no|none)$/.test(text) &&
						!open.slice(0, tokens[place].at).trimEnd().endsWith(columns[known?.index]?.name.toLowerCase())));
			if (known && !isVague) found.push({ ...known, text, at: tokens[place].at });
		}
	return found;
}

function keyOf(text) {
	const plain = text
		.toLowerCase()
		.trim()
		.replace(/'s$/, '')
		.replace(/[.,](?=\s|$)/g, '');
	const month = monthNumber(plain);
	return month ? `month ${month}` : plain.split(/\s+/).map(stem).join(' ');
}
