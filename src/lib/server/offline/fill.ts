/** Fills the slots of an action from the pieces of a message, the surest first, and accounts for every word that is left. Pure. */
import { stem } from '../skills/find/words.ts';
import { type Action, answersAmounts, answersChecks } from './actions.ts';
import {
	framing,
	isFiller,
	isUnit,
	type Message,
	namesOfUnit,
	overlaps,
	overlapsAny,
	type Piece,
	type Span,
	type Word
} from './message.ts';
import { extensionOf, type Slot, slotWords, wantedExtensions } from './slots.ts';

export interface Filled {
	/** One text for each slot; several for one that is repeated. */
	values: Map<Slot, string[]>;
	/** Required, and the message has nothing certain for them. */
	missing: Slot[];
	/** What was said and would go nowhere: it must be asked about. */
	left: string[];
	/** How many words nothing in the skill speaks of, talk included. */
	strange: number;
}

/** A piece, and the words around it. */
interface Place extends Piece {
	own: Word | undefined;
	direct: Word | undefined;
	/** The word before it, small words aside. */
	before: Word | undefined;
	after: Word | undefined;
	/** A number with a unit beside it, or that unit; the place after a time, as in `9:00 in Tokyo`. */
	isMeasure: boolean;
	/** `3` and `5` in `3 to 5`, `3 or 5`, `between 3 and 5`. */
	isRange: boolean;
	/** `four` in `we're four`, `four of us`, `four ways`. */
	isPeople: boolean;
	/** `month` in `50 € a month`; else ''. */
	period: string;
}

interface Filling {
	action: Action;
	message: Message;
	places: Place[];
	values: Map<Slot, string[]>;
	taken: Span[];
	/** Was there a question, so that what is left of the message has lost its place? */
	isAnswered: boolean;
}

const setOf = (words: string) => new Set(words.split(' '));
const stemsOf = (words: string) => new Set(words.split(' ').map(stem));
const SMALL = setOf('is are was were be of = at by with for the a an about my our this that set to');
const PREPOSITIONS = setOf(
	'in into to for of at from on onto by per with about near around as via using than over under between and vs against'
);
const TO = setOf('to into as -> → =>');
/** They change what is asked: they are used, or asked about. */
export const RESTRICTING = new RegExp(
	`^(${
		'no not never without except excluding exclude ignoring ignore skip skipping only unless until instead half double twice extra than other why who whose dont rather else ' +
		'above below within during beyond against neither nor both fewer less again behind minus plus off down back ' +
		'smallest largest biggest longest shortest highest lowest oldest newest latest earliest fastest slowest cheapest best worst least average mean median'
	}|\\p{L}{2,5}n['’]t)$`.replaceAll(' ', '|'),
	'u'
);
/** Names of days and months are no names of anything else. */
const DAY_NAME =
	/^((mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|(sept|octo|novem|decem)(em)?ber)$/;
/** A text to work on that ends in what sounds like one more wish or question. */
const MIXED =
	/^[^\n]{0,200}[,.;!?] +(then|and (then|also)|please|but|without|with|how|what|which|make|also|only|except|max|at (most|least)|not|no)\b[^\n]*$|[^\n]\n+(then|please|but|and then|how|what|also|make)\b[^\n]*$|^[^\n]*(\?\s*|\bplease\b[^\n]*)$/i;
/** A number after one of these is a limit, no value. */
const LIMITING = /^(every|than|least|most|under|above|below|beyond|within|except)$/;
/** A part of a sentence that begins so tells what is, and asks for nothing. */
const TELLERS = /^(i|we|it|he|she|they|this|that|there|everybody|everyone|nobody)$|^(i|we|it|he|she|they|that)['’]/;
const OWNERS = /^(my|our|the|its|his|her|their)$/;
const VERBS =
	/^(is|are|was|were|be|been|has|have|had|do|does|did|will|can|says?|said|costs?|weighs?|comes?|came|goes|went|takes?|took|gets?|got|needs?|\p{L}{3,}ed)$/u;
const LINKS = /^(and|so|but|because|since|as)$/;
const WISHES = /^(need|want|would|like|must|should|wish|prefer|please|only)$|^(i|we|they|he|she|it|that)['’]d$/;
const CHECKS = /^(is|are|was|were|does|did|has|have|should|shall|must|may|am)$/;
const PERCENT = stemsOf('percent percentage rate');
const MONEY = stemsOf('amount price cost bill sum money principal loan salary budget payment pay total income fee');
const COUNT = stemsOf(
	'n k count number people days hours minutes seconds weeks months years top limit times length digits rows lines port'
);
const SIZES = stemsOf('max min limit size width height length');
const PEOPLE = stemsOf('people person guest passenger head serving diner');
const WE = /\b(we['’]?re|we (are|were)|us)\s+$/i;
const OF_US = /^ (of (us|them)|ways?|people|ppl|persons|guests|friends)\b/i;
const PERIOD = /^ ?[^\s,;.]{0,12} ?(?:a|an|per|each|every|\/) ?(day|week|month|quarter|year|hour|minute|second)\b/i;
const MEASURES = ['mean average avg', 'sum total', 'max maximum highest largest', 'min minimum lowest smallest'].map(
	(group) => group.split(' ').map(stem)
);
/** Which forms of pieces a kind of slot takes by themselves, and which only where a word beside them says so. */
const TAKES: Partial<Record<Slot['kind'], [alone: string, told: string]>> = {
	output: ['', 'file quote'],
	text: ['quote url email', 'code name'],
	name: ['quote code name unit span', 'word number file time']
};
/** What stands beside a piece when it is a measure, and how near: `5 km`, `9:00 in Tokyo`. */
const PARTNERS: Partial<Record<Piece['form'], [Piece['form'], number]>> = {
	number: ['unit', 2],
	unit: ['number', 2],
	name: ['time', 5]
};
/** From so many points on a value is meant. */
const TOLD = 3;
const NEVER = -1;
const MAX_PIECES = 150;

/** Given are the values that answers to earlier questions have settled. */
export function fillAction(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>): Filled {
	const filling: Filling = {
		...{ action, message, places: placesOf(message, action), values: new Map(), taken: [] },
		isAnswered: [...given.keys()].some(({ kind }) => kind === 'name')
	};
	for (const [slot, texts] of given) put(slot, texts, [], filling);
	for (const find of [switches, cued, lone, implied, colon]) find(filling);
	const { values } = filling;
	const missing = action.slots.filter((slot) => slot.isRequired && !values.has(slot));
	return { values, missing, ...account(filling) };
}

function put(slot: Slot, texts: readonly string[], spans: readonly Span[], filling: Filling): void {
	if (texts.length === 0 || texts.includes('')) return;
	// `miles` as `mi`, where the skill writes it so; itself where it is written in no way, or in several.
	const spelled = (text: string) => {
		const [only, ...others] = spellings(text, slot, filling.action);
		return only !== undefined && others.length === 0 ? only : text;
	};
	filling.values.set(slot, texts.map(spelled));
	filling.taken.push(...spans);
}

function spellings(text: string, slot: Slot, { literals }: Action): string[] {
	const known = slot.choices.length > 0 ? slot.choices : slot.kind === 'name' ? [...literals] : [];
	const same = known.filter((word) => word.toLowerCase() === text.toLowerCase());
	const units = namesOfUnit(text);
	const alike = known.filter((word) =>
		slot.choices.length > 0 ? isChoice(text, word) : units.includes(word.toLowerCase())
	);
	return [...new Set(same.length === 0 || alike.length > 1 ? alike : same)];
}

/** Slots without a value, required ones first. */
function open({ action, values }: Filling, kind?: Slot['kind']): Slot[] {
	const slots = action.slots.filter((slot) => !values.has(slot) && (kind === undefined || kind === slot.kind));
	return slots.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function isFree(span: Span, { taken }: Filling): boolean {
	return !overlapsAny(span, taken);
}

function isUsed(text: string, { values }: Filling): boolean {
	return [...values.values()].some((texts) => texts.includes(text));
}

function isLabel(word: Word | undefined, labels: readonly string[]): boolean {
	return word !== undefined && !word.isQuoted && labels.some((label) => isAlike(word.stem, label));
}

/** `pay` and `payment` are the same label. */
export function isAlike(a: string, b: string): boolean {
	const [short, long] = a.length < b.length ? [a, b] : [b, a];
	return a === b || (short.length > 2 && long.startsWith(short) && /^(ment|er|ing)$/.test(long.slice(short.length)));
}

/** Does the skill speak of it? `e-mail` is known where `mail` is. */
function isNamed({ lower, stem: whole }: Word, { label, own, prose, subject }: Action): boolean {
	const parts = [whole, stem(lower.replaceAll('-', '')), ...lower.split('-').map(stem)];
	const isIn = (part: string) => prose.has(part) || subject.has(part) || [...own].some((each) => isAlike(each, part));
	return lower === label || parts.some(isIn);
}

/** A word that could be (part of) a value. */
function isOpenWord(word: Word | undefined, filling: Filling): word is Word {
	if (word === undefined || word.isQuoted || isFiller(word) || PREPOSITIONS.has(word.lower)) return false;
	const isTold = ({ labels, hints }: Slot) => isLabel(word, labels) || hints.includes(word.stem);
	return isFree(word, filling) && !isNamed(word, filling.action) && !filling.action.slots.some(isTold);
}

function placesOf({ text, words, pieces, payload }: Message, action: Action): Place[] {
	// A text to work on is not taken apart.
	const asked = pieces.filter(({ start }) => start < (payload?.start ?? Infinity)).slice(0, MAX_PIECES);
	const isBreak = (word: Word | undefined) => word === undefined || word.endsClause || word.hasComma;
	const unbroken = (word: Word | undefined) => (isBreak(word) ? undefined : word);
	const spans = asked.filter(({ form }) => form === 'span');
	return asked.map((given) => {
		const start = words.findIndex((word) => overlaps(word, given));
		const end = words.findLastIndex((word) => overlaps(word, given));
		// Of `Weather Berlin` the first word is no part of the name.
		let first = start;
		const isSentence = start === 0 || words[start - 1]?.endsClause === true;
		while (given.form === 'name' && isSentence && first < end && isNamed(words[first] as Word, action)) first += 1;
		const from = first > start ? (words[first] as Word).start : given.start;
		const piece = { ...given, start: from, value: first > start ? text.slice(from, given.end) : given.value };
		const last = end;
		let at = first - 1;
		while (SMALL.has(words[at]?.lower ?? '') && !isBreak(words[at])) at -= 1;
		const [partner, most = 0] = PARTNERS[piece.form] ?? [];
		const gap = (other: Piece) => (piece.form === 'number' ? other.start - piece.end : piece.start - other.end);
		const isTwin = (at: number, link: Word | undefined, start: Word | undefined) =>
			(/^(to|or|-|–)$/.test(link?.lower ?? '') || (link?.lower === 'and' && start?.lower === 'between')) &&
			asked.some(({ form, ...span }) => form === piece.form && overlaps(words[at] ?? span, span));
		return {
			...piece,
			own: words[first],
			direct: spans.some((span) => overlaps(words[first - 1] ?? piece, span)) ? undefined : unbroken(words[first - 1]),
			before: unbroken(words[at]),
			after: isBreak(words[last]) ? undefined : words[last + 1],
			isMeasure: asked.some((other) => other.form === partner && gap(other) > -4 && gap(other) < most),
			isPeople:
				WE.test(text.slice(Math.max(0, piece.start - 20), piece.start)) ||
				OF_US.test(text.slice(piece.end, piece.end + 20)),
			period: stem(PERIOD.exec(text.slice(piece.end, piece.end + 40))?.[1]?.toLowerCase() ?? ''),
			isRange:
				(last + 2 < words.length && isTwin(last + 2, words[last + 1], words[first - 1])) ||
				(first > 1 && isTwin(first - 2, words[first - 1], words[first - 3]))
		};
	});
}

// Finders.

/** A switch is on where its own words are said, and not denied. */
function switches(filling: Filling): void {
	const { words } = filling.message;
	for (const slot of open(filling, 'switch')) {
		const flag = words.find((word) => word.text === slot.flag);
		const isSaid = (label: string) => (word: Word, at: number) =>
			!word.isQuoted && (word.stem === label || stem(`${word.stem}${words[at + 1]?.stem ?? ''}`) === label);
		const said = slot.labels.flatMap((label) => words.find(isSaid(label)) ?? []);
		const from = Math.max(0, Math.min(...said.map((word) => words.indexOf(word))));
		const denial = words
			.slice(Math.max(0, from - 2), from)
			.filter(({ lower }) => /^(no|not|without|never|don['’]?t)$/.test(lower));
		const far = Math.max(...said.map((word) => words.indexOf(word))) - from;
		const isMeant = slot.labels.join('').length > 2 && said.length === slot.labels.length && far <= slot.labels.length;
		const isRight = denial.length === 0 || slot.labels.some((label) => /^(no|without)$/.test(label));
		if (flag ?? (isMeant && isRight)) put(slot, ['true'], flag ? [flag] : [...said, ...denial], filling);
	}
}

/** What a word or sign beside a piece says it is: the surest first, as long as it has no rival. */
function cued(filling: Filling): void {
	const slots = open(filling).filter(({ isRepeated }) => !isRepeated);
	const all = filling.places.flatMap((place) =>
		slots.map((slot) => ({ place, slot, points: pointsOf(place, slot, filling) }))
	);
	let pairs = all.filter(({ points }) => points >= TOLD).sort((a, b) => b.points - a.points);
	for (let [best] = pairs; best; [best] = pairs) {
		const { slot, place, points } = best;
		const top = pairs.filter((pair) => pair.points === points && (pair.slot === slot) !== (pair.place === place));
		const rivals = top.filter((pair) => overlaps(pair.place, place) === (pair.place === place));
		const said = [place, ...rivals.map((pair) => pair.place)];
		if (rivals.length === 0) put(slot, [place.value], said, filling);
		pairs = pairs.filter(
			(pair) => !said.includes(pair.place) && !filling.values.has(pair.slot) && isFree(pair.place, filling)
		);
	}
}

/** Null for never; else what the form alone is worth. */
function takes(slot: Slot, { form, value }: Piece, { action }: Filling): number | null {
	if (slot.choices.length > 0)
		return /^(word|name|unit|code|number)$/.test(form) && slot.choices.some((choice) => isChoice(value, choice))
			? TOLD
			: null;
	if (!isShaped(slot, value)) return null;
	const [alone, told] = TAKES[slot.kind] ?? [slot.kind, ''];
	if (alone.split(' ').includes(form)) {
		const wanted = slot.kind === 'file' ? wantedExtensions(slot) : [];
		if (wanted.length > 0) return Number(wanted.includes(extensionOf(value)));
		if (form !== 'unit') return 1;
		const ways = spellings(value, slot, action).length;
		// A skill for money need not spell its currencies.
		const isMoney = namesOfUnit(value).some((name) => /[$€£¥]/.test(name));
		const isFree = isMoney && ['money', 'currency'].map(stem).some((word) => action.subject.has(word));
		return ways === 1 ? 1 : ways === 0 && (isFree || slot.choices.length > 0) ? 0 : null;
	}
	if (!told.split(' ').includes(form)) return null;
	return Number(form === 'number' && /(^|_|-)(id|no|nr|number|key|issue|ticket)$/i.test(slot.name));
}

/** One character is one, and what is called by a number has a digit. */
export function isShaped({ name }: Slot, value: string): boolean {
	if (/^(char|character|letter|delimiter|symbol)$/i.test(name)) return value.length === 1;
	return !/(^|_|-)(id|no|nr|number|issue|ticket)$/i.test(name) || /\d|^[#@]/.test(value);
}

function isChoice(value: string, choice: string): boolean {
	const plain = (text: string) => stem(text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
	return (
		plain(value) === plain(choice) ||
		MEASURES.some((group) => [value, choice].every((word) => group.includes(plain(word))))
	);
}

/** How surely the piece is meant for the slot; NEVER, or below TOLD where only its form speaks for it. */
function pointsOf(place: Place, slot: Slot, filling: Filling): number {
	const { form, own, direct, before, after, isMeasure, isRange } = place;
	const { labels, side, isRequired } = slot;
	const { slots, literals, own: names } = filling.action;
	const base = takes(slot, place, filling);
	const isWord = form === 'word' && slot.choices.length === 0;
	if (form === 'name' && DAY_NAME.test(place.value.toLowerCase()) && slot.kind === 'name' && !isLabel(before, labels))
		return NEVER;
	if (base === null || (form === 'word' && PREPOSITIONS.has(own?.lower ?? ''))) return NEVER;
	if (
		isWord &&
		own &&
		(names.has(own.stem) ||
			(isFiller(own) && (slot.flag === null || !isLabel(direct, labels))) ||
			slots.some((each) => isLabel(own, each.labels)))
	)
		return NEVER;
	if (isRange && side === null && /^(number|date|time)$/.test(form)) return NEVER;
	let points = base;
	const isOther = slots.some((each) => each !== slot && isLabel(before, each.labels));
	if (isLabel(before, labels)) points += 5;
	else if (isLabel(after, labels) && form !== 'word' && !isOther) points += form === 'number' ? 5.5 : 3.5;
	const [said, next] = [direct?.lower ?? '', after?.lower ?? ''];
	const flag = slot.flag?.split('-').at(-1) ?? '';
	if (PREPOSITIONS.has(flag) && (said === flag || (flag === 'by' && said === 'per'))) points += 4;
	// `revenue by region`: of two columns it is the one that is not grouped by.
	const isGrouped = (each: Slot) =>
		/-by$/.test(each.flag ?? '') && slotWords(each.name).at(-1) === slotWords(slot.name).at(-1);
	const isMeant = said === 'of' || isOpenWord(own, filling);
	if (isWord && !isRequired && isMeant && /^(by|per)$/.test(next) && flag !== 'by' && slots.some(isGrouped))
		points += 4;
	if (side === 'target' && TO.has(said)) points += 4;
	if (side === 'source' && /^(from|between)$/.test(said)) points += 4;
	if (side === 'source' && (TO.has(next) || (form !== 'number' && isMeasure))) points += 3;
	// `before 10:00` is no time for a slot that only takes a time.
	const isPast = /^(from|since|after)$/.test(said) && side !== 'source';
	const isAhead = /^(before|until|till)$/.test(said) && side !== 'target';
	if (
		/^(date|time)$/.test(form) &&
		((side === 'source' && /^(since|after)$/.test(said)) || (side === 'target' && /^(before|until|till)$/.test(said)))
	)
		points += 4;
	if ((isPast || isAhead) && /^(name|unit|date|time)$/.test(form) && points < TOLD) return NEVER;
	if (form === 'number' && slot.kind === 'number') {
		// `300 calories` are no minutes.
		const isMany = after !== undefined && /[^s]s$/.test(after.lower) && !isFiller(after) && !isUnit(after.lower);
		if (isMany && !isCounted(after, slot, filling.action)) return NEVER;
		// What is measured is the value that a command cannot do without, where the command takes units.
		const units = [...literals, ...slots.flatMap(({ choices }) => choices)].flatMap(namesOfUnit);
		const isTaken = namesOfUnit(place.unit ?? '').some((name) => units.includes(name));
		const isValue = isMeasure && isTaken && isRequired && slots.some(({ kind }) => kind === 'name');
		return numberPoints(place, slot, points, isValue, filling.action);
	}
	return isWord && points < TOLD ? NEVER : points;
}

/** A sign tells, a fraction counts nothing, and a unit must be the one that the slot speaks of. */
function numberPoints(
	place: Place,
	{ labels, hints }: Slot,
	given: number,
	isValue: boolean,
	{ prose }: Action
): number {
	const { unit = '', value, direct, after, isPeople, period } = place;
	const words = [...labels, ...hints];
	const isPercent = words.some((word) => PERCENT.has(word));
	const isMoney = /^[$€£¥]$/.test(unit);
	const isCount = !isPercent && labels.some((label) => COUNT.has(label)) && !labels.some((label) => MONEY.has(label));
	const names = new Set([unit, ...namesOfUnit(unit)].map(stem));
	const isOwn = (word: string) => names.has(word) || (unit.length === 1 && word.startsWith(unit));
	const isSpoken = !words.some(isUnit) && [...prose].some(isOwn);
	const isKnownUnit = isSpoken || unit === '' || unit === '%' || isMoney || isValue || words.some(isOwn);
	const isKnownPeriod =
		period === '' || (unit === '%' && period === 'year') || words.some((word) => word.startsWith(period));
	const isDay = [direct, after].some((word) => word !== undefined && DAY_NAME.test(word.lower));
	// `by 3` is a change, no size.
	const isChange = direct?.lower === 'by' && labels.some((label) => SIZES.has(label));
	if (LIMITING.test(direct?.lower ?? '') || isChange || isDay || !isKnownUnit || !isKnownPeriod) return NEVER;
	if ((unit === '%' && !isPercent) || (isMoney && (isCount || isPercent))) return NEVER;
	if (isPeople && !words.some((word) => PEOPLE.has(word))) return NEVER;
	const isUnitSaid = unit !== '' && labels.some(isOwn);
	// A count is whole, and a large one has its unit beside it.
	const isWhole = /^[+-]?\d+(\.0+)?$/.test(value) && Number(value) <= 1000;
	if (isCount && given < TOLD && !isUnitSaid && !isWhole) return NEVER;
	const sign = unit === '%' ? 4 : isMoney ? 3 : isPeople || isUnitSaid ? 5 : 0;
	return given - 1 + sign + (isValue ? 3 : 0);
}

/** Pieces that can only be for the slots that are left, because there are as many. */
function lone(filling: Filling): void {
	for (const kind of ['date', 'time', 'url', 'email', 'number', 'file', 'text', 'name'] as const) {
		const slots = open(filling, kind).filter(({ choices }) => choices.length === 0);
		const fits = (place: Place) => (slot: Slot) =>
			(takes(slot, place, filling) ?? -1) > 0 && pointsOf(place, slot, filling) > NEVER;
		const apt = filling.places.filter((place) => isFree(place, filling) && slots.some(fits(place)));
		// A sign or quotation marks tell more than a capital: `to #dev on Discord`.
		const told = apt.filter(({ form }) => form !== 'name');
		const free = told.length > 0 ? told : apt;
		const usable: (Piece & { after?: Word | undefined })[] =
			free.length > 0 || kind !== 'name'
				? free
				: phrases(filling).filter(({ value }) => slots.some((slot) => isShaped(slot, value)));
		const required = slots.filter(({ isRequired }) => isRequired);
		// Numbers have no order: any of several slots may be meant.
		const isNumber = kind === 'number';
		const isOnly = slots.length === 1 && /^(date|time|url|email)$/.test(kind);
		const positional =
			required.length > 0 || isOnly ? (isOnly ? slots : required) : slots.filter(({ flag }) => flag === null);
		const rivals = isNumber ? slots.filter((slot) => free.some((place) => fits(place)(slot))) : positional;
		// `300x200` is a width and a height.
		const isProduct = isNumber && usable[1]?.start === (usable[0]?.end ?? 0) + 1;
		const [slot] = rivals;
		if (slot?.isRepeated)
			put(
				slot,
				usable.flatMap(({ value }) => value.split(/, ?/)),
				usable,
				filling
			);
		else if (
			rivals.length === usable.length &&
			(rivals.length === 1 || isProduct || kind === 'file' || kind === 'date')
		)
			for (const [index, each] of rivals.entries()) putLone(each, usable[index] as Place, filling);
	}
}

function putLone(slot: Slot, place: Place, filling: Filling): void {
	// An option is more than a number that is left: `for 5 friends`, `two tides` are no number of days.
	if (place.form === 'number' && !slot.isRequired && !isCounted(place.after, slot, filling.action)) return;
	if (slot.kind !== 'name' || !filling.isAnswered) put(slot, [place.value], [place], filling);
}

/** Is it a number of these that the slot takes, as far as the skill tells? */
function isCounted(noun: Word | undefined, slot: Slot, { own, prose, subject, counted }: Action): boolean {
	if (noun === undefined) return false;
	const isName = own.has(noun.stem) || subject.has(noun.stem);
	const isCount = /^-{0,2}(n|num|number|count|amount)$/i.test(slot.flag ?? slot.name);
	return [...slot.labels, ...slot.hints, ...counted].includes(noun.stem) || (isName ? isCount : prose.has(noun.stem));
}

/** Lower-case words after a preposition that nothing in the skill speaks of: `weather in rio de janeiro`. */
function phrases(filling: Filling): Piece[] {
	const { words, text } = filling.message;
	return words.flatMap((word, index): Piece[] => {
		const isPlace = /^(in|for|at|of|to|near|around|about)$/.test(words[index - 1]?.lower ?? '');
		if (!isPlace || !isOpenWord(word, filling) || /^\d/.test(word.text)) return [];
		let end = index;
		while (end < index + 3 && isOpenWord(words[end + 1], filling) && !words[end]?.endsClause && !words[end]?.hasComma)
			end += 1;
		const span = { start: word.start, end: words[end]?.end ?? word.end };
		return [{ ...span, value: text.slice(span.start, span.end), form: 'word' }];
	});
}

/** The file that came along, the one before, or the only one of its sort. */
function implied(filling: Filling): void {
	const { attached, earlier, workspace } = filling.message;
	// An option may be a file to write: what came along is for it only where nothing else takes a file.
	const hasOwn = filling.action.slots.some(({ kind, isRequired }) => kind === 'file' && isRequired);
	for (const slot of open(filling, 'file').filter(({ isRequired }) => isRequired || !hasOwn)) {
		const wanted = wantedExtensions(slot);
		const isNew = (path: string) => !isUsed(path, filling) && !filling.places.some(({ value }) => value === path);
		const fits = (path: string) => isNew(path) && (wanted.length === 0 || wanted.includes(extensionOf(path)));
		const others = slot.isRequired ? [...new Set([...earlier, ...workspace])].filter(fits) : [];
		const before = others.filter((path) => earlier.includes(path));
		const lists = [attached.filter(fits), before, others];
		const list = lists.find(({ length }) => length > 0) ?? [];
		if (list.length === 1 || slot.isRepeated) put(slot, list, [], filling);
	}
}

/** The text after the colon; a short one does for a name, too. */
function colon(filling: Filling): void {
	const { payload } = filling.message;
	if (!payload || !isFree(payload, filling)) return;
	const isShort = payload.value.length <= 80 && !payload.value.includes('\n');
	const fits = ({ kind, choices, isRequired, flag }: Slot) =>
		choices.length === 0 && (isRequired || flag === null) && (kind === 'text' || (kind === 'name' && isShort));
	const slot = open(filling).find(fits);
	if (slot) put(slot, [payload.value], [payload], filling);
}

// The account.

/** What was said and is not used: nothing runs as long as there is any. */
function account(filling: Filling): Pick<Filled, 'left' | 'strange'> {
	const { message, action, values, places, taken } = filling;
	const { payload, attached, text } = message;
	const isLost = (span: Span) => isFree(span, filling);
	const used = places.filter((place) => !isLost(place));
	// What is said twice is used once.
	const isTwice = ({ value }: Piece) => isUsed(value, filling) || used.some((other) => other.value === value);
	const isHard = ({ form }: Piece) => /^(number|date|time|url|email|file|quote|code)$/.test(form);
	// `$80` where a currency could be chosen, and is not.
	const takesCoins = action.slots.some((slot) => !values.has(slot) && slot.choices.some(isUnit));
	const isCoin = ({ unit = '' }: Piece) => /[$€£¥]/.test(unit) && takesCoins;
	const lost = places.filter((place) => isHard(place) && (isLost(place) ? !isTwice(place) : isCoin(place)));
	const isUnitOf = ({ start }: Span, { form, ...other }: Piece) =>
		form === 'number' && start > other.start && start - other.end < 2;
	const units = places.filter((place) => place.form === 'unit' && used.some((other) => isUnitOf(place, other)));
	const words = framing(message).filter((word) => !overlapsAny(word, [...taken, ...lost, ...units]));
	const talk = talkOf(message);
	// Of `look up the parcel` the `up` belongs to the verb.
	const isStrange = (word: Word, at: number) =>
		!isFiller(word, at === 0) && !/^(up|out)$/.test(word.lower) && isOpenWord(word, filling);
	// `this article` is the file that came along.
	const isAttached = ({ start }: Word) =>
		attached.some((path) => isUsed(path, filling)) && /\b(this|attached) $/i.test(text.slice(0, start));
	const strange = words.filter((word, at) => isStrange(word, at) && !isAttached(word));
	// `2 million`: what stands right after a value belongs to it.
	const isTalk = (word: Word) => values.size > 0 && talk.has(word) && !used.some(({ after }) => after === word);
	const telling = words.filter((word) => tells(word, filling) && (!talk.has(word) || RESTRICTING.test(word.lower)));
	const isRaw = payload?.value === text.slice(payload?.start, payload?.end);
	const isUnread = payload && isLost(payload) && !places.some((place) => overlaps(place, payload));
	const texts = payload && (isUnread || (isRaw && MIXED.test(payload.value.slice(-300)))) ? [payload] : [];
	const isReckoned = [...values.keys()].some(({ kind }) => kind === 'number');
	const isAnswered = ({ isAmount }: { isAmount: boolean }) =>
		isAmount ? isReckoned || answersAmounts(action) : answersChecks(action);
	const asked = questionsOf(message).filter((question) => !isAnswered(question));
	const spans = [...lost, ...texts, ...telling, ...asked];
	const files = attached.some((path) => isUsed(path, filling)) ? [] : attached;
	const left = [...spans.map(({ start, end }) => text.slice(start, Math.min(end, start + 60))), ...files];
	const odd = strange.filter((word) => !isTalk(word)).slice(0, 12);
	if (left.length === 0 && odd.length > 0) left.push(odd.map((word) => word.text).join(' '));
	return { left: [...new Set(left)], strange: strange.length };
}

/** Does an unused word change what is asked, although the skill may know it? */
function tells(word: Word, { message, action, values, taken }: Filling): boolean {
	const { words } = message;
	const { own, prose, subject, slots } = action;
	const isLost = (other: Word | undefined) => other !== undefined && !overlapsAny(other, taken);
	const [unused, used] = [slots.filter((slot) => !values.has(slot)), slots.filter((slot) => values.has(slot))];
	const isIn = ({ labels, hints }: Slot) => labels.includes(word.stem) || hints.includes(word.stem);
	const isCommon = [own, prose, subject].some((set) => set.has(word.stem)) || used.some(isIn) || isFiller(word);
	// It speaks of an option alone, or is a value that it could take.
	const isOption = !isCommon && unused.some((slot) => !slot.isRequired && isIn(slot));
	const isValue = unused.some(({ choices }) => choices.some((choice) => isChoice(word.text, choice)));
	const at = words.indexOf(word);
	const [value, link] = words.slice(Math.max(0, at - 2), at);
	const [next] = words.slice(at + 1);
	// `to French and Spanish`: there is more of what was taken. `all but 3`: it is not what is meant.
	const isMore =
		value && !isLost(value) && /^(and|or)$/.test(link?.lower ?? '') && isLost(next ?? word) && !own.has(word.stem);
	const isBut =
		word.lower === 'but' && (/^(all|(every|any|no)(thing|one|body|where)?)$/.test(link?.lower ?? '') || !isLost(next));
	// `hex … to text`: what comes after `to` is not the one that was taken.
	const isVerb = /^(need|want|like|going|how|have|has|try|trying|able|wish|love)$/.test(value?.lower ?? '');
	const isAim = TO.has(link?.lower ?? '') && !isVerb && used.some(({ side }) => side === 'target') && !isFiller(word);
	const isOwn = own.has(word.stem) || prose.has(word.stem) || used.some(isIn);
	return (
		(RESTRICTING.test(word.lower) && !isOwn) ||
		/\d/.test(word.text) ||
		isAim ||
		isOption ||
		isValue ||
		isBut ||
		(isMore === true && !isFiller(word))
	);
}

/** Words of the parts of sentences that only tell: `My aunt weighs 11 stone`, `the duck was dry`. */
function talkOf({ words }: Message): Set<Word> {
	const talk = new Set<Word>();
	for (let start = 0; start < words.length;) {
		const length = words.slice(start).findIndex((word) => word.endsClause || word.hasComma) + 1;
		const part = words.slice(start, length === 0 ? undefined : start + length);
		const first = part.find(({ lower }) => !LINKS.test(lower));
		const isPurpose = /^for (a|an|my|our|the)$/.test(`${part[0]?.lower} ${part[1]?.lower}`) && start > 0;
		const isTold =
			(isPurpose ||
				TELLERS.test(first?.lower ?? '') ||
				(OWNERS.test(first?.lower ?? '') && part.some(({ lower }) => VERBS.test(lower)))) &&
			!part.some(({ lower }) => WISHES.test(lower));
		if (isTold) for (const word of part) talk.add(word);
		start += part.length;
	}
	return talk;
}

/** Questions that running something is no answer to: for a number, or for a yes or no. */
function questionsOf(message: Message): (Span & { isAmount: boolean })[] {
	const words = framing(message);
	const ways = /^(how (many|much|often)|number of|(do|does) (we|i|you|they)|(is|are) there)$/;
	return words.flatMap((word, at): (Span & { isAmount: boolean })[] => {
		const [before, next] = [words[at - 1], words[at + 1]];
		const length = words.slice(at + 2).findIndex((each) => isFiller(each) || each.endsClause);
		const last = words[length < 0 ? words.length - 1 : at + 1 + length] ?? word;
		if (ways.test(`${word.lower} ${next?.lower}`)) return [{ isAmount: true, start: word.start, end: last.end }];
		const isStart = before === undefined || before.endsClause || before.hasComma;
		// `is it …?`, `when did …?`: for yes or no, or for what was.
		const isLeave = word.lower === 'can' && /^(i|we|one)$/.test(next?.lower ?? '');
		const isCheck =
			next !== undefined &&
			((isStart && (isLeave || CHECKS.test(word.lower)) && next.lower !== 'you') ||
				(/^(when|where|how|what)$/.test(word.lower) && /^(did|had|was|were)$/.test(next.lower)));
		return isCheck ? [{ isAmount: false, start: word.start, end: next.end }] : [];
	});
}
