/** Fills the slots of an action from the pieces of a message, the surest first. Pure. */
import { stem } from '../skills/find/words.ts';
import { type Action, INTERPRETERS } from './actions.ts';
import {
	isFiller,
	isOverview,
	isScript,
	isUnit,
	type Message,
	namesOfUnit,
	OVERVIEW,
	overlaps,
	overlapsAny,
	type Piece,
	type Span,
	type Word
} from './message.ts';
import { extensionOf, isSeen, type Slot, slotWords, speaksOf, wantedExtensions, wordsForFile } from './slots.ts';

/** A piece, and the words around it. */
export interface Place extends Piece {
	own: Word | undefined;
	direct: Word | undefined;
	/** The word before it, small words aside. */
	before: Word | undefined;
	after: Word | undefined;
	/** A number with a unit beside it, or that unit; the place after a time, as in `9:00 in Tokyo`. */
	isMeasure: boolean;
	/** `four` in `we're four`, `four of us`, `four ways`. */
	isPeople: boolean;
	/** `month` in `50 € a month`; else ''. */
	period: string;
}

export interface Filling {
	action: Action;
	message: Message;
	places: Place[];
	/** One text for each slot; several for one that is repeated. */
	values: Map<Slot, string[]>;
	taken: Span[];
}

const setOf = (words: string) => new Set(words.split(' '));
const stemsOf = (words: string) => new Set(words.split(' ').map(stem));
const SMALL = setOf('is are was were be of = at by with for the a an about my our this that set to');
export const PREPOSITIONS = setOf(
	'in into to for of at from on onto by per with about near around as via using than over under between and vs against'
);
const TO = setOf('to into as -> → =>');
const WE = /\b(we['’]?re|we (are|were)|us)\s+$/i;
const OF_US = /^ (of (us|them)|ways?|people|ppl|persons|guests|friends)\b/i;
const PERIOD = /^ ?[^\s,;.]{0,12} ?(?:a|an|per|each|every|\/) ?(day|week|month|quarter|year|hour|minute|second)\b/i;
const PEOPLE = stemsOf('people person guest passenger head serving diner');
const MEASURES = ['mean average avg', 'sum total', 'max maximum highest largest', 'min minimum lowest smallest'].map(
	stemsOf
);
/** A number after one of these is a limit, no value. */
const LIMITING = /^(every|than|least|most|under|above|below|beyond|within|except)$/;
const PERCENT = stemsOf('percent percentage rate');
const MONEY = stemsOf('amount price cost bill sum money principal loan salary budget payment pay total income fee');
const COUNT = stemsOf(
	'count people days hours minutes seconds weeks months years top limit times length digits rows lines port'
);
const IS_MONEY = /^[$€£¥]$/;
/** What stands beside a piece when it is a measure, and how near: `5 km`, `9:00 in Tokyo`. */
const PARTNERS: Partial<Record<Piece['form'], [Piece['form'], number]>> = {
	number: ['unit', 2],
	unit: ['number', 2],
	name: ['time', 5]
};
/** Which forms of pieces a kind of slot takes by themselves, and which only where a word beside them says so. */
const TAKES: Partial<Record<Slot['kind'], [alone: string, told: string]>> = {
	output: ['', 'file quote'],
	text: ['quote url email', 'code name'],
	name: ['quote code name unit span', 'word number file time']
};
const MAX_PIECES = 150;
/** From so many points on a value is meant. */
const TOLD = 3;
const NEVER = -1;

/** Given are the values that answers to earlier questions have settled. */
export function fillAction(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>): Filling {
	const filling = fill(action, message, new Map(), []);
	// Whoever answers with what the message says already means that place in it, unless it is used.
	const repeated = [...given.values()].flat();
	const said = filling.places.filter((place) => repeated.includes(place.value) && isFree(place, filling));
	return given.size > 0 ? fill(action, message, given, said) : filling;
}

function fill(action: Action, message: Message, given: ReadonlyMap<Slot, string[]>, said: readonly Span[]): Filling {
	const places = placesOf(message, action);
	// `Run scripts/x.mjs 42`, `node scripts/x.mjs 42` name the command.
	const script = places
		.filter(({ value }) => isScript(value, action.label))
		.flatMap((place) => (place.direct && INTERPRETERS.has(place.direct.lower) ? [place, place.direct] : [place]));
	const filling: Filling = { action, message, places, values: new Map(), taken: [...said, ...script] };
	for (const [slot, texts] of given) put(slot, texts, [], filling);
	for (const finder of [switches, cued, lone, implied, colon]) finder(filling);
	return filling;
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
	const isSame = (word: string) =>
		slot.choices.length > 0 ? isChoice(text, word) : units.includes(word.toLowerCase());
	const alike = known.filter(isSame);
	return [...new Set(same.length === 0 || alike.length > 1 ? alike : same)];
}

function isOneOf(value: string, { choices }: Slot): boolean {
	return choices.some((choice) => isChoice(value, choice));
}

export function isChoice(value: string, choice: string): boolean {
	const [said, written] = [value, choice].map((text) => stem(text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''))) as [
		string,
		string
	];
	return said === written || MEASURES.some((group) => group.has(said) && group.has(written));
}

/** Slots without a value, required ones first. */
function open({ action, values }: Filling, kind?: Slot['kind']): Slot[] {
	const slots = action.slots.filter((slot) => !values.has(slot) && (kind === undefined || kind === slot.kind));
	return slots.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

export function isFree(span: Span, { taken }: Filling): boolean {
	return !overlapsAny(span, taken);
}

export function isUsed(text: string, { values }: Filling): boolean {
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

/** Is the word one of these stems? `e-mail` is where `mail` is, and `describe` where `summary` is. */
export function isAmong(word: Word, stems: Iterable<string>): boolean {
	const { lower, stem: whole } = word;
	const parts = isOverview(word) ? OVERVIEW : [whole, stem(lower.replaceAll('-', '')), ...lower.split('-').map(stem)];
	return [...stems].some((each) => parts.some((part) => isAlike(part, each)));
}

/** Does the skill speak of it? */
export function isNamed(word: Word, { own, prose, subject }: Action): boolean {
	return [own, prose, subject].some((stems) => isAmong(word, stems));
}

/** A word that could be (part of) a value: nothing else accounts for it. */
function isOpenWord(word: Word | undefined, filling: Filling): word is Word {
	if (word === undefined || word.isQuoted || isFiller(word) || PREPOSITIONS.has(word.lower)) return false;
	const isTold = ({ labels, hints }: Slot) => isLabel(word, labels) || hints.includes(word.stem);
	return isFree(word, filling) && !isNamed(word, filling.action) && !filling.action.slots.some(isTold);
}

function placesOf({ text, words, pieces, payload }: Message, action: Action): Place[] {
	// A text to work on is not taken apart.
	const read = pieces.filter(({ start }) => start < (payload?.start ?? Infinity)).slice(0, MAX_PIECES);
	const asked = read.flatMap((piece): Piece[] => {
		const own = words.filter((word) => overlaps(word, piece));
		const before = words[words.indexOf(own[0] as Word) - 1];
		if (piece.form !== 'name' || (before && !before.endsClause)) return [piece];
		// Of `Weather Berlin`, `Which Region` the first word is no part of the name.
		const isMade = ({ lower }: Word) => lower === 'which' || action.slots.some((slot) => isOneOf(lower, slot));
		const at = own.findIndex((word) => word === own.at(-1) || !(isMade(word) || isNamed(word, action)));
		const apart = own.slice(0, at).map((word): Piece => ({ ...word, value: word.text, form: 'word' }));
		const { start } = own[at] as Word;
		return [...apart, { ...piece, start, value: text.slice(start, piece.end) }];
	});
	const unbroken = (word: Word | undefined) => (word?.endsClause || word?.hasComma ? undefined : word);
	return asked.map((piece) => {
		const first = words.findIndex((word) => overlaps(word, piece));
		const last = words.findLastIndex((word) => overlaps(word, piece));
		let at = first - 1;
		while (SMALL.has(unbroken(words[at])?.lower ?? '')) at -= 1;
		const [partner, most = 0] = PARTNERS[piece.form] ?? [];
		const gap = (other: Piece) => (piece.form === 'number' ? other.start - piece.end : piece.start - other.end);
		const isSpan = asked.some((other) => other.form === 'span' && overlaps(words[first - 1] ?? piece, other));
		return {
			...piece,
			own: words[first],
			direct: isSpan ? undefined : unbroken(words[first - 1]),
			before: unbroken(words[at]),
			after: unbroken(words[last]) && words[last + 1],
			isMeasure: asked.some((other) => other.form === partner && gap(other) > -4 && gap(other) < most),
			isPeople: WE.test(text.slice(0, piece.start)) || OF_US.test(text.slice(piece.end)),
			period: PERIOD.exec(text.slice(piece.end, piece.end + 40))?.[1]?.toLowerCase() ?? ''
		};
	});
}

// Finders.

/** A switch is on where its own words are said, and not denied. */
function switches(filling: Filling): void {
	const { words } = filling.message;
	for (const slot of open(filling, 'switch')) {
		const { labels } = slot;
		const isSaid = (label: string) => (word: Word) =>
			!word.isQuoted &&
			(word.stem === label || stem(`${word.stem}${words[words.indexOf(word) + 1]?.stem ?? ''}`) === label);
		const from = words.findIndex((word) => labels.some((label) => isSaid(label)(word)));
		const said = labels.flatMap((label) => words.slice(from, from + labels.length + 1).find(isSaid(label)) ?? []);
		const denial = words
			.slice(Math.max(0, from - 2), from)
			.filter(({ lower }) => /^(no|not|without|never|don['’]?t)$/.test(lower));
		const isMeant = labels.join('').length > 2 && said.length === labels.length;
		const isRight = denial.length === 0 || labels.some((label) => /^(no|without)$/.test(label));
		if (isMeant && isRight) put(slot, ['true'], [...said, ...denial], filling);
	}
}

/** What a word or sign beside a piece says it is: the surest first, as long as it has no rival. */
function cued(filling: Filling): void {
	const slots = open(filling).filter(({ isRepeated }) => !isRepeated);
	const pairs = filling.places
		.flatMap((place) => slots.map((slot) => ({ place, slot, points: pointsOf(place, slot, filling) })))
		.filter(({ points }) => points >= TOLD)
		.sort((a, b) => b.points - a.points);
	const doubtful: Place[] = [];
	const isLive = ({ slot, place }: { slot: Slot; place: Place }) =>
		!filling.values.has(slot) && isFree(place, filling) && !doubtful.includes(place);
	for (const { slot, place, points } of pairs.filter(isLive)) {
		if (!isLive({ slot, place })) continue;
		const rivals = pairs.filter(
			(pair) =>
				isLive(pair) &&
				pair.points === points &&
				(pair.slot === slot) !== (pair.place === place) &&
				overlaps(pair.place, place) === (pair.place === place)
		);
		if (rivals.length === 0) put(slot, [place.value], [place], filling);
		else doubtful.push(place, ...rivals.map((pair) => pair.place));
	}
}

/** What the form of a piece alone is worth; NEVER for what the slot does not take. */
function formPoints(slot: Slot, { form, value }: Piece, { action }: Filling): number {
	if (slot.choices.length > 0)
		return /^(word|name|unit|code|number)$/.test(form) && isOneOf(value, slot) ? TOLD : NEVER;
	const [alone, told] = (TAKES[slot.kind] ?? [slot.kind, '']).map((forms) => forms.split(' ').includes(form));
	// Where it goes is no value of what goes there: `to our Discord`.
	if (value.toLowerCase() === action.skill) return NEVER;
	if (!isShaped(slot, value, action.literals) || (!alone && !told)) return NEVER;
	if (told) return Number(form === 'number' && /(^|_|-)(id|no|nr|number|key|issue|ticket)$/i.test(slot.name));
	const wanted = slot.kind === 'file' ? wantedExtensions(slot) : [];
	if (wanted.length > 0) return Number(wanted.includes(extensionOf(value)));
	if (form !== 'unit') return 1;
	const ways = spellings(value, slot, action).length;
	// A skill for money need not spell its currencies.
	const isMoney = namesOfUnit(value).some((name) => IS_MONEY.test(name));
	return ways === 1
		? 1
		: ways === 0 && isMoney && ['money', 'currency'].some((word) => action.subject.has(stem(word)))
			? 0
			: NEVER;
}

/** One character is one, and what is called by a number has a digit. */
export function isShaped({ name, flag }: Slot, value: string, literals: Iterable<string> = []): boolean {
	if (/^(char|character|letter|delimiter)$/i.test(name)) return value.length === 1;
	// `--channel=#dev`, as the skill writes it, is a name.
	const isShown = flag !== null && [...literals].some((text) => text.startsWith(`${flag}=`) && !/\d/.test(text));
	return isShown || !/(^|_|-)(id|no|nr|number|issue|ticket)$/i.test(name) || /\d|^[#@]/.test(value);
}

/** How surely the piece is meant for the slot; NEVER, or below TOLD where only its form speaks for it. */
function pointsOf(place: Place, slot: Slot, filling: Filling): number {
	const { form, own, direct, before, after, isMeasure } = place;
	const { labels, side, isRequired, kind } = slot;
	const { slots, own: names } = filling.action;
	const base = formPoints(slot, place, filling);
	const isWord = form === 'word' && slot.choices.length === 0;
	const [isCalled, isOther] = [
		isLabel(before, labels),
		slots.some((each) => each !== slot && isLabel(before, each.labels))
	];
	const [said, next] = [direct?.lower ?? '', after?.lower ?? ''];
	const isVague =
		own !== undefined &&
		(names.has(own.stem) ||
			(isFiller(own) && (slot.flag === null || !isLabel(direct, labels))) ||
			slots.some((each) => isLabel(own, each.labels)));
	if (base === NEVER || (form === 'word' && PREPOSITIONS.has(own?.lower ?? '')) || (isWord && isVague)) return NEVER;
	const flag = slot.flag?.split('-').at(-1) ?? '';
	// `revenue by region`: of two columns it is the one that is not grouped by.
	const isGrouped = (each: Slot) =>
		/-by$/.test(each.flag ?? '') && slotWords(each.name).at(-1) === slotWords(slot.name).at(-1);
	// `did I spend`: what somebody does is no column.
	const isDone = /^(i|you|we|they|he|she)$/.test(said);
	const isColumn =
		isWord &&
		!isRequired &&
		!isDone &&
		(said === 'of' || isOpenWord(own, filling)) &&
		flag !== 'by' &&
		slots.some(isGrouped);
	const [isSince, isUntil] = [/^(since|after)$/.test(said), /^(before|until|till)$/.test(said)];
	const cues: [isMet: boolean, worth: number][] = [
		[isCalled, 5],
		[!isCalled && isLabel(after, labels) && form !== 'word' && !isOther, form === 'number' ? 5.5 : 3.5],
		[PREPOSITIONS.has(flag) && form !== 'file' && (said === flag || (flag === 'by' && /^(per|each)$/.test(said))), 4],
		[isColumn && /^(by|per)$/.test(next), 4],
		[side === 'target' && TO.has(said), 4],
		[side === 'source' && (TO.has(next) || (form !== 'number' && isMeasure)), 3]
	];
	const points = cues.reduce((sum, [isMet, worth]) => sum + (isMet ? worth : 0), base);
	// `before 10:00` is no time for a slot that only takes a time.
	// The only time that is said is the one that a command cannot do without: `the next train after 8:00`.
	const isAlone = isRequired && slots.every((each) => each === slot || each.kind !== kind);
	const isOnly = isAlone && filling.places.every((each) => each === place || each.form !== form);
	const isLimit = ((said === 'from' || (isSince && !isOnly)) && side !== 'source') || (isUntil && side !== 'target');
	if (isLimit && /^(name|unit|date|time)$/.test(form) && points < TOLD) return NEVER;
	if (form === 'number' && kind === 'number') return numberPoints(place, slot, points, filling);
	return isWord && points < TOLD ? NEVER : points;
}

/** A number fills a slot that takes a number of these: its sign, its unit and the noun after it must be the slot's. */
function numberPoints(
	{ unit = '', after, direct, isPeople, isMeasure, period }: Place,
	slot: Slot,
	given: number,
	{ action }: Filling
): number {
	const { labels, hints, isRequired } = slot;
	const { slots, literals, prose } = action;
	const words = [...labels, ...hints];
	const isPercent = words.some((word) => PERCENT.has(word));
	const isCount = !isPercent && labels.some((label) => COUNT.has(label)) && !labels.some((label) => MONEY.has(label));
	// What is measured is the value that a command cannot do without, where the command takes units.
	const units = [...literals, ...slots.flatMap(({ choices }) => choices)].flatMap(namesOfUnit);
	const isTaken = namesOfUnit(unit).some((name) => units.includes(name));
	const isValue = isMeasure && isTaken && isRequired && slots.some(({ kind }) => kind === 'name');
	const names = [unit, ...namesOfUnit(unit)].map(stem);
	const isIn = (set: readonly string[]) =>
		set.some((word) => names.includes(word) || (unit.length === 1 && word.startsWith(unit)));
	const isMoney = IS_MONEY.test(unit);
	const isKnown = unit === '' || isValue || isIn(words) || (!words.some(isUnit) && isIn([...prose]));
	const isPeriod = (unit === '%' && period === 'year') || words.some((word) => word.startsWith(stem(period)));
	const isOther = (isPeople && !words.some((word) => PEOPLE.has(word))) || (period !== '' && !isPeriod);
	const isOf = unit === '%' ? isPercent : isMoney ? !isCount && !isPercent : isKnown;
	// `300 calories` are no minutes, and `by 3` is a change.
	const isMany = after !== undefined && /[^s]s$/.test(after.lower) && !isFiller(after) && !isUnit(after.lower);
	if (LIMITING.test(direct?.lower ?? '') || !isOf || isOther || (isMany && !isCounted(after, slot, action)))
		return NEVER;
	const isUnitSaid = isPeople || (unit !== '' && isIn(labels));
	const sign = unit === '%' ? 4 : isMoney ? 3 : isUnitSaid ? 5 : 0;
	return given - 1 + sign + (isValue ? 3 : 0);
}

/** Is it a number of these that the slot takes, as far as the skill tells? */
function isCounted(noun: Word | undefined, slot: Slot, { own, prose, subject }: Action): boolean {
	if (noun === undefined) return false;
	const isName = own.has(noun.stem) || subject.has(noun.stem);
	const isCount = /^-{0,2}(n|num|number|count|amount)$/i.test(slot.flag ?? slot.name);
	return [...slot.labels, ...slot.hints].includes(noun.stem) || (isName ? isCount : prose.has(noun.stem));
}

/** Pieces that can only be for the slots that are left, because there are as many. */
function lone(filling: Filling): void {
	for (const kind of ['date', 'time', 'url', 'email', 'number', 'file', 'text', 'name'] as const) {
		const slots = open(filling, kind).filter(({ choices }) => choices.length === 0);
		const fits = (place: Place) => (slot: Slot) =>
			formPoints(slot, place, filling) > 0 && pointsOf(place, slot, filling) > NEVER;
		const free = filling.places.filter((place) => isFree(place, filling) && slots.some(fits(place)));
		const isPhrase = kind === 'name' && free.length === 0;
		const usable: (Piece & { after?: Word | undefined })[] = isPhrase
			? phrases(filling).filter(({ value }) => slots.some((slot) => isShaped(slot, value)))
			: free;
		const required = slots.filter(({ isRequired }) => isRequired);
		const isOnly = slots.length === 1 && /^(date|time|url|email)$/.test(kind);
		const inOrder = isOnly ? slots : required.length > 0 ? required : slots.filter(({ flag }) => flag === null);
		// Numbers have no order: any of several slots may be meant. But `300x200` is a width and a height.
		const rivals = kind === 'number' ? slots.filter((slot) => free.some((place) => fits(place)(slot))) : inOrder;
		const isProduct = kind === 'number' && usable[1]?.start === (usable[0]?.end ?? 0) + 1;
		const isSure = rivals.length === 1 || isProduct || kind === 'file' || kind === 'date';
		const texts = usable.flatMap(({ value }) => value.split(/, ?/));
		if (rivals[0]?.isRepeated) put(rivals[0], texts, usable, filling);
		else if (rivals.length !== usable.length || !isSure) continue;
		else
			for (const [index, slot] of rivals.entries()) {
				const { value, after, ...span } = usable[index] as Place;
				// An option is more than a number that is left: `for 5 friends`, `two tides` are no number of days.
				if (kind !== 'number' || slot.isRequired || isCounted(after, slot, filling.action))
					put(slot, [value], [span], filling);
			}
	}
}

/** Lower-case words after a preposition that nothing in the skill speaks of: `weather in rio de janeiro`. */
function phrases(filling: Filling): Piece[] {
	const { words, text } = filling.message;
	return words.flatMap((word, index): Piece[] => {
		const isPlace = /^(in|for|at|near|around)$/.test(words[index - 1]?.lower ?? '');
		if (!isPlace || !isOpenWord(word, filling) || /^\d/.test(word.text)) return [];
		let last = word;
		for (const next of words.slice(index + 1, index + 4)) {
			if (last.endsClause || last.hasComma || !isOpenWord(next, filling)) break;
			last = next;
		}
		return [{ start: word.start, end: last.end, value: text.slice(word.start, last.end), form: 'word' }];
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
		// A picture or a PDF is only for a skill that speaks of such.
		const { subject, prose } = filling.action;
		const isSpokenOf = (path: string) =>
			!isSeen(path) || wordsForFile(path).some((word) => subject.has(stem(word)) || prose.has(stem(word)));
		const isWanted = (path: string) => (wanted.length === 0 ? isSpokenOf(path) : wanted.includes(extensionOf(path)));
		const fits = (path: string) => isNew(path) && isWanted(path);
		// What is only there isn't for a skill that speaks of other files.
		const stems = new Set([...subject, ...prose]);
		const isFor = (path: string) => fits(path) && speaksOf(path, stems) > 0;
		const before = [...new Set(earlier)].filter(isFor);
		const others = slot.isRequired ? [before, [...new Set([...before, ...workspace])].filter(isFor)] : [];
		const brought = attached.filter(fits);
		// Of several that came along, those that the skill speaks of.
		const spoken = brought.filter((path) => speaksOf(path, stems) === 3);
		const isClear = slot.isRepeated ? spoken.length > 0 : spoken.length === 1;
		const list = [isClear ? spoken : brought, ...others].find(({ length }) => length > 0) ?? [];
		if (list.length === 1 || slot.isRepeated) put(slot, list, [], filling);
	}
}

/** The text after the colon; a short one does for a name, too. */
function colon(filling: Filling): void {
	const { payload } = filling.message;
	if (!payload || !isFree(payload, filling)) return;
	const isShort = payload.value.length <= 80 && !payload.value.includes('\n');
	const slot = open(filling).find(({ kind, choices, isRequired, flag }) => {
		return choices.length === 0 && (isRequired || flag === null) && (kind === 'text' || (kind === 'name' && isShort));
	});
	if (slot) put(slot, [payload.value], [payload], filling);
}
