/** What people say of a table, in the words of its columns: one table of words, so that the question itself is read in one way. */

import { inLetters, OF_HEADS, sortOf } from './names.mjs';
import { hasBothSigns, kindsOf } from './report.mjs';

/** A column of such a name, what it is called, and what the high and the low end of it are. */
const CALLED = [
	[/(?<!\p{L})temp/iu, 'temperatures?|degrees', 'hot|warm', 'cold|cool|chilli'],
	[/(?<!\p{L})(rain|precip)/iu, 'rainfall|precipitation', 'wet|raini', 'dri'],
	[/(?<!\p{L})(weight|kg|gram)/iu, 'weigh|weighs', 'heavi', 'light'],
	[/(?<!\p{L})(size|area)(?!\p{L})/iu, 'size|area', 'bigg|larg', 'small'],
	[/(?<!\p{L})(height|tall)/iu, 'tall', 'tall', 'short'],
	[/(?<!\p{L})(speed|km\/?h|mph)/iu, 'speed', 'fast|quick', 'slow'],
	[/(?<!\p{L})(distance|miles)|^km$/iu, 'km|kilomet(?:re|er)s|miles', 'far|farth|furth', 'near|clos'],
	[/(?<!\p{L})(stars?|ratings?|scores?|marks?|grades?)(?!\p{L})/iu, 'ratings?|stars|scores?', 'good', 'bad']
];
export const OF_BALANCE = /balance/i;
const LASTING = /(?<!\p{L})(minutes|hours|days|duration|length|time)(?!\p{L})/iu;
const IS_OF_OTHERS = /\b(expense|payment|sale|order|bill|cost|price|amount|total|spend|day|month)s?\b/;
/** What people call a column of texts, and its names. */
const ALIKE = [
	[/\b(?:products?|articles?)\b|(?<=\b(?:which|each|per|by) )items?\b/g, /^(product|article|item)s?$/i],
	[/\b(?:shops?|stores?|merchants?|payees?)\b/g, /^(shop|store|merchant|payee)s?$/i],
	[/\b(?:towns?|cit(?:y|ies))\b/g, /^(town|city)$/i],
	[/\b(?:clients?|customers?|buyers?)\b/g, /^(client|customer|buyer)s?$/i]
];

/** Said of an amount that is in it anyway. */
const CURRENCIES = [
	[/\bin euros?\b/g, /(?<!\p{L})eur(?!\p{L})|€/iu],
	[/\bin dollars?\b/g, /(?<!\p{L})usd(?!\p{L})|\$/iu],
	[/\bin pounds?\b/g, /(?<!\p{L})gbp(?!\p{L})|£/iu]
];

const MONTH =
	'(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?: \\d{4})?';
/** From one day to another, in the words that readMonths knows. */
const SPANS = [
	[
		new RegExp(
			`\\b(between|from) (\\d{1,2})(?:st|nd|rd|th)? (and|to|until|till) (\\d{1,2})(?:st|nd|rd|th)? (${MONTH})\\b`,
			'g'
		),
		'$1 $2 $5 $3 $4 $5'
	],
	[new RegExp(`\\b(?:in |during )?(?:the )?first week (?:of|in) (${MONTH})\\b`, 'g'), 'from 1 $1 to 7 $1']
];

/** `heavy` of `heavi`est, `big` of `bigg`est */
function spoken(ends) {
	return ends.replace(/i(?=\||$)/g, 'y').replace(/gg(?=\||$)/g, 'g');
}

/** What people say, in words that readQuestion knows: `warmest` is the highest of the only column of temperatures. */
export function inOwnWords(line, columns) {
	const numbers = columns.filter(({ isNumber, name }) => isNumber && sortOf(name) !== 'id');
	const only = (isMeant) => {
		const [found, ...others] = numbers.filter(isMeant);
		return found && others.length === 0 ? inLetters(found.name) : undefined;
	};
	const pieces = only(({ name }) => sortOf(name) === 'pieces');
	const heads = only(({ name }) => OF_HEADS.test(name));
	const rain = only(({ name }) => /(?<!\p{L})rain/iu.test(name));
	const others = numbers.flatMap(({ name }) => (/^total$/i.test(name) ? [] : [name.toLowerCase()]));
	const hasPrice = numbers.some(({ name }) => /price/i.test(name));
	const coin = hasPrice ? undefined : only((column) => column.isOfMoney);
	const isOfBalance = /\bbalance\b|\bleft\b/.test(line);
	const balance = isOfBalance ? only(({ name }) => OF_BALANCE.test(name)) : undefined;
	const lasting = only(({ name }) => LASTING.test(name));
	const clock = columns.find(({ isOfDigits, name }) => isOfDigits && LASTING.test(name))?.name.toLowerCase();
	// Two columns, for what comes in and what goes out
	const inward = only(({ name }) => /(?<!\p{L})(in|credits?|deposits?|received|income)$/iu.test(name));
	const outward = only(({ name }) => /(?<!\p{L})(out|debits?|withdrawals?|spent|spending|expenses?)$/iu.test(name));
	const rating = only(({ name }) => /(?<!\p{L})(stars?|rating|score)(?!\p{L})/iu.test(name));
	const done = columns
		.find(({ type, name }) => type === 'yes/no' && /^(done|finished|completed?)$/i.test(name))
		?.name.toLowerCase();
	const paid = columns.find(({ type, name }) => type === 'yes/no' && /^paid$/i.test(name)) && 'paid';
	const person = columns.find(
		({ type, name }) => type === 'text' && /^(name|who|person|payer)$|\bby$|_by$/i.test(name)
	)?.name;
	const age = only(({ name }) => /age$/i.test(name));
	const flow = only((column) => column.isOfMoney && hasBothSigns(column));
	// Of two that are named, one is higher; of all, the highest.
	const isOfAll = /\b(which|what|who)\b/.test(line) && !/\b(than|or)\b/.test(line);
	const [time, ...times] = columns.filter(({ type }) => type === 'date');
	const kinds = columns[kindsOf(columns)]?.name.toLowerCase();
	const rewritten = [
		...(time ? SPANS : []),
		...CALLED.flatMap(([pattern, name, ...ends]) => {
			const own = only((column) => pattern.test(column.name));
			// `biggest` is said of money and of whatever is named, too.
			if (
				!own ||
				(/^size/.test(name) && (IS_OF_OTHERS.test(line) || others.some((each) => each !== own && line.includes(each))))
			)
				return [];
			const words = ['high', 'low'].flatMap((end, at) => [
				[new RegExp(`\\b(?:${ends[at]})t?est\\b`, 'g'), `${end}est ${own}`],
				[new RegExp(`\\b(?:${ends[at]})t?er\\b`, 'g'), `${end}${isOfAll ? 'est' : 'er'} ${own}`]
			]);
			const howTo = ['high', 'low'].map((end, at) => [
				new RegExp(`\\bhow (?:${spoken(ends[at])}) (?:did|does|has) it (?:get|got|gotten)\\b`, 'g'),
				`${end}est ${own}`
			]);
			return [...words, ...howTo, [new RegExp(`\\bhow (?:${spoken(ends[0])})\\b|\\b(?:${name})\\b`, 'g'), own]];
		}),
		...ALIKE.map(([pattern, name]) => {
			const own = columns.find((column) => column.type === 'text' && name.test(column.name))?.name.toLowerCase();
			return [pattern, own && ((said) => (/s$/.test(said) ? own.replace(/y$/, 'ie').replace(/s?$/, 's') : own))];
		}),
		[/\b(?:still )?(?:to do|outstanding|pending)\b/g, done ? `not ${done}` : 'todo'],
		[/\b(?:still )?(?:owes?|owed)\b/g, paid && `un${paid}`],
		// `email address` of a column Email
		[/(?<=\be-?mail) address(?:es)?\b|(?<=\b(?:phone|mobile)) numbers?\b/g, ' '],
		[/\bout of stock\b/g, pieces ? `no ${pieces}` : 'outofstock'],
		[/\bprices?\b/g, coin],
		[/\b(?:doesn't|don't|does not|do not) (?:wear|have|own)\b/g, 'has no'],
		[/\b(?:took|takes?|lasted|lasts) (?:the )?longest\b/g, lasting && `has the highest ${lasting}`],
		[/\b(?:took|takes?|lasted|lasts) (?:the )?shortest\b/g, lasting && `has the lowest ${lasting}`],
		[/\bhow long\b/g, lasting ? `how much ${lasting}` : clock && `list their ${clock}`],
		[/\b(?:money )?(?:(?:came|comes?|coming|paid) in|income|earn(?:ed)?|receive[sd]?)\b/g, outward && inward],
		[/\b(?:money )?(?:(?:went|goes?|going|paid) out|spen[dt]|spending|expenses?|pay)\b/g, inward && outward],
		[new RegExp(`\\b(\\d+)[ -](?:stars?|${rating})\\b`, 'g'), rating && `${rating} $1`],
		// `Who is 45?`
		[/\b(is|are|was|turns?|aged) (\d{1,3})(?: years)?(?: old)?(?= $)/g, age && `$1 ${age} $2`],
		[/\b(?:people|persons?|participants|visitors|attendees)\b/g, heads],
		[/(?<=\b(?:each|per|every|by) )(?:person|people)\b/g, person?.toLowerCase()],
		...CURRENCIES.map(([words, name]) => [words, columns.some((column) => name.test(column.name)) && ' ']),
		[/\bhow old (?:are|were) they\b(?!.*\b(?:average|mean|median)\b)/g, age && `list their ${age}`],
		[/\bbest[ -]?sellers?\b/g, pieces && kinds && `${kinds} with the highest ${pieces}`],
		// In one file, what sold best is told by the same figure as what sold least.
		[
			/(^ what )?\b(?:sold|sells?) (?:the )?(?:(best|most)|least|worst)(?= $)/g,
			pieces &&
				kinds &&
				((_, what, isMost) => `${what ? ` which ${kinds} has` : 'with'} the ${isMost ? 'high' : 'low'}est ${pieces}`)
		],
		[/\bworst[ -]?sell(?:ers?|ing)\b/g, pieces && kinds && `${kinds} with the lowest ${pieces}`],
		[/\bmost popular\b|\bbest[ -]?selling\b/g, pieces ? `highest ${pieces}` : 'most common'],
		[/\b(more|less) popular\b/g, pieces && `$1 ${pieces}`],
		[/\b(?:units|pieces|quantit(?:y|ies))\b/g, pieces],
		// `total quantity`, where another column is called Total.
		[
			/\btotal (?:of )?(?:the )?(?=(.+) )/g,
			(all, rest) => (others.some((name) => rest.startsWith(name)) ? 'sum of ' : all)
		],
		[/\b(?:sell|sold|sells) (?:the )?(most|least) of\b/g, pieces && `$1 ${pieces}`],
		// `in total`, where a column is called Total.
		[/\bin total\b/g, others.length < numbers.length && 'altogether'],
		// `On which date did we sell most?`, where a day has several rows
		[
			/(?<=\b(?:which|what) )date\b(?=.*\b(?:most|least|highest|lowest|best)\b)/g,
			time && times.length === 0 && time.counts.size < time.filled && 'day'
		],
		// `paid and unpaid`
		[/\b(\p{L}+) (?:and|or|vs|versus) (?:un|not )\1\b/gu, 'by $1'],
		[/\bbusiest (\p{L}+)/gu, 'most entries per $1'],
		[/(?<!how much )\b(?:did|does) it rain\b|\bit rained\b/g, rain && `did it have ${rain} over 0`],
		[/\bhow many items (?=.*\b(sell|sold|buy|bought|order|ordered)\b)/g, pieces && `how many ${pieces} `],
		// `How much was left after January?` is of a balance, not of what came since.
		[/\bhow much (?:is|was|do i have|did i have) left(?: over)?(?= $| (?:after|in|until|at|by)\b)/g, balance],
		[
			/\bhow much ((?:is|was|do i have|did i have) left(?: over)?(?! (?:over|after|at|by)\b)|did (?:i|we) save)\b/g,
			flow && `total ${flow}`
		],
		[new RegExp(`\\b(?:after|(?:at|by) the end of) (?=${MONTH})`, 'g'), balance && 'until '],
		[/ current(?= balance\b)/g, balance && ' '],
		[/ at the end (?=$)/g, balance && ' '],
		[/\bhow (?:much|many) (?:dollars|euros?|pounds|bucks|quid|kroner|francs)\b/g, 'how much money'],
		[
			/(?<=\b(?:by|per|each) .*)\b(?:(?:sort|sorted|order|ordered) (?:by names?|(?:by the )?alphabet(?:ically)?)|in alphabetical order)\b/g,
			'alphabetically'
		],
		// `Which town has the most hours, and how many?`: that is told.
		[/ and how (?:much|many)(?: (?:is|was|are|were) (?:it|that|they|there))?(?= $)/g, ' '],
		[/\b(apart|aside) from\b|\b(leaving|not) out\b/g, 'except']
	];
	return rewritten.reduce((text, [pattern, own]) => (own ? text.replace(pattern, own) : text), line);
}
