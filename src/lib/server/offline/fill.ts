/** Fills the slots of an action from the pieces of a message: surest signs first, and with an account of what is left. */
import { stem } from '../skills/find/words.ts';
import { type Action, saysAmounts } from './actions.ts';
import {
	amountAsked,
	framing,
	isFiller,
	isUnit,
	type Message,
	namesOfUnit,
	overlaps,
	type Piece,
	piecesOf
} from './message.ts';
import type { Span, Word } from './message.ts';
import { extensionOf, type Slot, slotWords, wantedExtensions } from './slots.ts';

export interface Value {
	/** One text; several for a slot that is repeated. */
	texts: string[];
	/** Where in the message; empty when it comes from elsewhere. */
	spans: Span[];
	/** Did the message say so, rather than leave it to a guess? */
	isSure: boolean;
	/** Does its form or a sign beside it tell what it is? Then there may be talk around it. */
	isPlain: boolean;
}

export interface Filled {
	values: Map<Slot, Value>;
	/** Required, and the message has nothing certain for them. */
	missing: Slot[];
	/** What was said and would go nowhere: it must be asked about. */
	left: string[];
	/** Words that nothing in the skill speaks of. */
	strange: string[];
	/** So many of them may be mere talk. */
	talk: number;
}

interface Filling {
	action: Action;
	message: Message;
	places: Place[];
	values: Map<Slot, Value>;
	taken: Span[];
	/** Was there a question, so that what is left of the message has lost its place? */
	isAnswered: boolean;
}

/** A piece, and the words around it. */
export interface Place extends Piece {
	own: Word | undefined;
	direct: Word | undefined;
	/** The word before it, small words aside. */
	before: Word | undefined;
	after: Word | undefined;
	/** A number with a unit beside it, or that unit; the place after a time, as in `9:00 in Tokyo`. */
	isMeasure: boolean;
}

const FINDERS = [switches, cued, lone, implied, colon]; // in the order of trust

const setOf = (words: string) => new Set(words.split(' '));
const stemsOf = (words: string) => new Set(words.split(' ').map(stem));
const SMALL = setOf('is are was were be of = at by with for the a an about my our this that set to');
const PREPOSITIONS = setOf(
	'in into to for of at from on onto by per with about near around as via using than over under between and vs against'
);
const TO = setOf('to into -> → =>');
/** They change what is asked: they are used, or asked about. */
const RESTRICTING =
	/^(no|not|never|without|except|excluding|exclude|ignoring|ignore|skip|skipping|only|unless|instead|half|double|twice|extra|\p{L}{2,5}n['’]t|dont)$/u;
/** A part of a sentence that begins so tells what is, and asks for nothing. */
const TELLERS = /^(i|my|we|our|the|it|its|he|she|his|her|they|their|this|that|there|and|so|but|because)$/;
const PERCENT = stemsOf('percent percentage rate');
const MONEY = stemsOf('amount price cost bill sum money principal loan salary budget payment pay total income fee');
const COUNT = stemsOf(
	'n k count number people days hours minutes seconds weeks months years top limit times length digits rows lines port'
);
const MEASURES = ['mean average avg', 'sum total', 'max maximum highest largest', 'min minimum lowest smallest'].map(
	(group) => group.split(' ').map(stem).join(' ')
);
/** Which forms of pieces a kind of slot takes by themselves, and which only where a word beside them says so. */
const TAKES: Partial<Record<Slot['kind'], [alone: string, told: string]>> = {
	output: ['', 'file quote'],
	text: ['quote', 'code name'],
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
const MAX_PIECES = 150;

export function fillAction(
	action: Action,
	message: Message,
	given: ReadonlyMap<Slot, Value>,
	places = placesOf(message)
): Filled {
	const filling: Filling = { action, message, places, values: new Map(), taken: [], isAnswered: given.size > 0 };
	for (const [slot, value] of given) put(slot, value, filling);
	for (const find of FINDERS) find(filling);
	const missing = action.slots.filter((slot) => slot.isRequired && filling.values.get(slot)?.isSure !== true);
	return { values: filling.values, missing, ...account(filling) };
}

function put(slot: Slot, value: Partial<Value> & { texts: string[] }, { action, values, taken }: Filling): void {
	if (value.texts.length === 0 || value.texts.includes('')) return;
	// `miles` as `mi`, where the skill writes it so; itself where it is written in no way, or in several.
	const spelled = (text: string) => {
		const [only, ...others] = spellings(text, slot, action);
		return only !== undefined && others.length === 0 ? only : text;
	};
	const whole = { spans: [], isSure: true, isPlain: true, ...value, texts: value.texts.map(spelled) };
	values.set(slot, whole);
	taken.push(...whole.spans);
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
	return !taken.some((other) => overlaps(other, span));
}

function isUsed(text: string, { values }: Filling): boolean {
	return [...values.values()].some(({ texts }) => texts.includes(text));
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
	const { action } = filling;
	const isTold = ({ labels, hints }: Slot) => isLabel(word, labels) || hints.includes(word.stem);
	return isFree(word, filling) && !isNamed(word, action) && !action.slots.some(isTold);
}

/** The same for every action that a message is tried with. */
export function placesOf(message: Message): Place[] {
	const { words } = message;
	const pieces = piecesOf(message).slice(0, MAX_PIECES);
	return pieces.map((piece) => {
		const first = words.findIndex((word) => overlaps(word, piece));
		const last = words.findLastIndex((word) => overlaps(word, piece));
		const isBreak = (word: Word | undefined) => word === undefined || word.endsClause || word.hasComma;
		let at = first - 1;
		while (SMALL.has(words[at]?.lower ?? '') && !isBreak(words[at])) at -= 1;
		const [direct, before] = [words[first - 1], words[at]].map((word) => (isBreak(word) ? undefined : word));
		const after = isBreak(words[last]) ? undefined : words[last + 1];
		const [partner, most = 0] = PARTNERS[piece.form] ?? [];
		const gap = (other: Piece) => (piece.form === 'number' ? other.start - piece.end : piece.start - other.end);
		const isMeasure = pieces.some((other) => other.form === partner && gap(other) > -4 && gap(other) < most);
		return { ...piece, own: words[first], direct, before, after, isMeasure };
	});
}

// Finders.

/** A switch is on where its own words are said, and not denied. */
function switches(filling: Filling): void {
	const { words } = filling.message;
	for (const slot of open(filling, 'switch')) {
		const flag = words.find((word) => word.text === slot.flag);
		const said = slot.labels.flatMap((label) => {
			const isSaid = (word: Word, at: number) =>
				!word.isQuoted && (word.stem === label || stem(`${word.stem}${words[at + 1]?.stem ?? ''}`) === label);
			return words.find(isSaid) ?? [];
		});
		const from = Math.max(0, Math.min(...said.map((word) => words.indexOf(word))));
		const denial = words
			.slice(Math.max(0, from - 2), from)
			.filter(({ lower }) => /^(no|not|without|never|don['’]?t)$/.test(lower));
		const isMeant = slot.labels.join('').length > 2 && said.length === slot.labels.length;
		const isRight = slot.labels.some((label) => /^(no|without)$/.test(label)) || denial.length === 0;
		if (flag ?? (isMeant && isRight))
			put(slot, { texts: ['true'], spans: flag ? [flag] : [...said, ...denial] }, filling);
	}
}

/** What a word or sign beside a piece says it is: the surest first, as long as it has no rival. */
function cued(filling: Filling): void {
	const slots = open(filling).filter(({ isRepeated }) => !isRepeated);
	const all = filling.places.flatMap((place) =>
		slots.map((slot) => ({ place, slot, points: closeness(place, slot, filling) }))
	);
	let pairs = all.filter(({ points }) => points >= TOLD).sort((a, b) => b.points - a.points);
	for (let [best] = pairs; best; [best] = pairs) {
		const { slot, place, points } = best;
		const top = pairs.filter((pair) => pair.points === points && (pair.slot === slot) !== (pair.place === place));
		const rivals = top.filter((pair) => overlaps(pair.place, place) === (pair.place === place));
		const said = [place, ...rivals.map((pair) => pair.place)];
		if (rivals.length === 0) {
			const isPlain = place.form !== 'word' || slot.choices.length > 0;
			put(slot, { texts: [place.value], spans: said, isPlain }, filling);
		}
		pairs = pairs.filter(
			(pair) => !said.includes(pair.place) && !filling.values.has(pair.slot) && isFree(pair.place, filling)
		);
	}
}

/** Null for never; else what the form alone is worth. */
function takes(slot: Slot, { form, value }: Piece, { action }: Filling): number | null {
	if (slot.choices.length > 0)
		return /^(word|name|unit|code)$/.test(form) && slot.choices.some((choice) => isChoice(value, choice)) ? TOLD : null;
	const [alone, told] = TAKES[slot.kind] ?? [slot.kind, ''];
	if (alone.split(' ').includes(form)) {
		const wanted = slot.kind === 'file' ? wantedExtensions(slot) : [];
		if (wanted.length > 0) return Number(wanted.includes(extensionOf(value)));
		const ways = form === 'unit' ? spellings(value, slot, action).length : 1;
		return ways > 1 ? null : ways;
	}
	if (!told.split(' ').includes(form)) return null;
	return Number(form === 'number' && /(^|_|-)(id|no|nr|number|key|issue|ticket)$/i.test(slot.name));
}

function isChoice(value: string, choice: string): boolean {
	const plain = (text: string) => stem(text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
	const isSame = (group: string) => [value, choice].every((word) => group.split(' ').includes(plain(word)));
	return plain(value) === plain(choice) || MEASURES.some(isSame);
}

/** Below 0 the piece cannot be meant for the slot. */
function closeness(place: Place, slot: Slot, filling: Filling): number {
	const { form, own, direct, before, after, isMeasure } = place;
	const { labels, side, isRequired } = slot;
	const { slots, literals, own: names } = filling.action;
	const base = takes(slot, place, filling);
	const isWord = form === 'word' && slot.choices.length === 0;
	if (base === null || (form === 'word' && PREPOSITIONS.has(own?.lower ?? ''))) return -1;
	if (isWord && own && (names.has(own.stem) || isFiller(own) || slots.some((each) => isLabel(own, each.labels))))
		return -1;
	let points = base;
	if (isLabel(before, labels)) points += 5;
	else if (isLabel(after, labels) && form !== 'word') points += form === 'number' ? 5.5 : 3.5;
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
	if (form === 'number' && slot.kind === 'number') {
		// What is measured is the value that a command cannot do without, where the command takes units.
		const isValue = isMeasure && isRequired && slots.some(({ kind }) => kind === 'name') && [...literals].some(isUnit);
		return numberPoints(place, slot, points + (isValue ? 3 : 0));
	}
	return isWord && points < TOLD ? -1 : points;
}

/** A sign tells, a fraction counts nothing. */
function numberPoints({ unit = '', value }: Piece, { labels, hints }: Slot, points: number): number {
	const isPercent = [...labels, ...hints].some((word) => PERCENT.has(word));
	const isMoney = /^[$€£¥]$/.test(unit);
	const isCount = !isPercent && labels.some((label) => COUNT.has(label)) && !labels.some((label) => MONEY.has(label));
	if ((unit === '%' && !isPercent) || (isMoney && (isCount || isPercent))) return -1;
	// A count is whole, and a large one has its unit beside it.
	if (isCount && (!/^[+-]?\d+(\.0+)?$/.test(value) || (points < TOLD && Number(value) > 1000))) return -1;
	const isUnitOf = (label: string) => isAlike(stem(unit), label) || (unit.length === 1 && label.startsWith(unit));
	return points - 1 + (unit === '%' ? 4 : isMoney ? 3 : unit !== '' && labels.some(isUnitOf) ? 5 : 0);
}

/** Pieces that can only be for the slots that are left, because there are as many. */
function lone(filling: Filling): void {
	for (const kind of ['date', 'time', 'url', 'email', 'number', 'file', 'text', 'name'] as const) {
		const slots = open(filling, kind).filter(({ choices }) => choices.length === 0);
		const fits = (place: Place) => (slot: Slot) =>
			(takes(slot, place, filling) ?? -1) > 0 && closeness(place, slot, filling) >= 0;
		const apt = filling.places.filter((place) => isFree(place, filling) && slots.some(fits(place)));
		// A sign or quotation marks tell more than a capital: `to #dev on Discord`.
		const told = apt.filter(({ form }) => form !== 'name');
		const free = told.length > 0 ? told : apt;
		const usable: Piece[] = free.length > 0 || kind !== 'name' ? free : phrases(filling);
		const required = slots.filter(({ isRequired }) => isRequired);
		// Numbers have no order: any of several slots may be meant.
		const isNumber = kind === 'number';
		const positional = required.length > 0 ? required : slots.filter(({ flag }) => flag === null);
		const rivals = isNumber ? slots.filter((slot) => free.some((place) => fits(place)(slot))) : positional;
		const isProduct = isNumber && usable.every(({ word }) => word === usable[0]?.word);
		const [slot] = rivals;
		if (slot?.isRepeated) put(slot, { texts: usable.map(({ value }) => value), spans: usable }, filling);
		else if (
			rivals.length === usable.length &&
			(rivals.length === 1 || isProduct || kind === 'file' || kind === 'date')
		)
			for (const [index, each] of rivals.entries()) putLone(each, usable[index] as Piece, filling);
	}
}

function putLone(slot: Slot, piece: Piece, filling: Filling): void {
	const { words, text } = filling.message;
	const next = words.find(({ start }) => start >= piece.end);
	const isBeside = next !== undefined && text.slice(piece.end, next.start).trim() === '';
	// `for 5 friends` is no number of days.
	if (slot.kind === 'number' && !slot.isRequired && isBeside && isOpenWord(next, filling)) return;
	const isSure = slot.kind !== 'name' || !filling.isAnswered;
	const isPlain = piece.form !== 'name' && piece.form !== 'word';
	put(slot, { texts: [piece.value], spans: [piece], isPlain, isSure }, filling);
}

/** Lower-case words after a preposition that nothing in the skill speaks of: `weather in rio de janeiro`. */
function phrases(filling: Filling): Piece[] {
	const { words, text } = filling.message;
	return words.flatMap((word, index): Piece[] => {
		const isPlace = /^(in|for|at|from|of|to|near|around|about)$/.test(words[index - 1]?.lower ?? '');
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
		const lists = [attached.filter(fits), attached.filter(isNew), before, others];
		const list = lists.find(({ length }) => length > 0) ?? [];
		if (list.length === 1 || slot.isRepeated) put(slot, { texts: list }, filling);
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
	if (slot) put(slot, { texts: [payload.value], spans: [payload] }, filling);
}

/** What was said and is not used. */
function account(filling: Filling): Pick<Filled, 'left' | 'strange' | 'talk'> {
	const { message, action, values, places } = filling;
	const { payload, attached, text } = message;
	const isLost = (span: Span) => isFree(span, filling);
	const isHard = ({ form }: Piece) => /^(number|date|time|url|email|file|quote|code)$/.test(form);
	// What is said twice is used once.
	const isTwice = ({ value }: Piece) => places.some((other) => other.value === value && !isLost(other));
	const lost = places.filter(
		(place) => isHard(place) && isLost(place) && !isTwice(place) && !isUsed(place.value, filling)
	);
	const words = framing(message).filter((word) => isLost(word) && !lost.some((span) => overlaps(span, word)));
	const isMoney = ({ text }: Word) => namesOfUnit(text).some((name) => /[$€£¥]/.test(name));
	// Of `look up the parcel` the `up` belongs to the verb.
	const isParticle = ({ lower }: Word) => /^(up|out|down|off)$/.test(lower);
	const strange = words.filter(
		(word, at) => !isFiller(word, at === 0) && !isParticle(word) && !isMoney(word) && isOpenWord(word, filling)
	);
	const named = new Set(words.map((word) => word.stem).filter((said) => action.own.has(said))).size;
	const near = nearTo((word) => !isLost(word) || (values.size === 0 && isNamed(word, action)), message);
	const telling = words.filter((word) => {
		const isOption = (slot: Slot) =>
			!values.has(slot) && !slot.isRequired && slot.kind !== 'switch' && slot.labels.includes(word.stem);
		// `to French and Spanish`: there is more of what was taken.
		const at = message.words.indexOf(word);
		const [value, link] = message.words.slice(Math.max(0, at - 2), at);
		const [next] = message.words.slice(at + 1);
		const isMore =
			value &&
			!isLost(value) &&
			/^(and|or)$/.test(link?.lower ?? '') &&
			!(next && !isLost(next)) &&
			!action.own.has(word.stem);
		const isUnused = !isNamed(word, action) && action.slots.some(isOption);
		return RESTRICTING.test(word.lower) || isUnused || (isMore && !isFiller(word));
	});
	const unread = payload && isLost(payload) && !places.some((place) => overlaps(place, payload)) ? [payload] : [];
	const found = [...values].filter(([{ kind }]) => kind !== 'file' && kind !== 'switch').map(([, value]) => value);
	const uncounted = found.length > 0 || saysAmounts(action) ? [] : amountAsked(message);
	const left = [...lost, ...unread, ...telling, ...uncounted].map(({ start, end }) =>
		text.slice(start, Math.min(end, start + 60))
	);
	const files = attached.some((path) => isUsed(path, filling)) ? [] : attached;
	return {
		left: [...new Set([...left, ...files])],
		strange: strange.map((word) => word.text),
		talk:
			found.some(({ isPlain }) => !isPlain) ||
			strange.filter((word) => near.has(word)).length > Number(named > 1 && values.size > 0)
				? 0
				: 1 + 3 * found.length
	};
}

/** The words of the parts of sentences that hold a value: they say what is wanted. Not those that only tell: `My aunt weighs 11 stone`. */
function nearTo(isUsed: (word: Word) => boolean, { words }: Message): Set<Word> {
	const near = new Set<Word>();
	for (let start = 0; start < words.length;) {
		const length = words.slice(start).findIndex((word) => word.endsClause || word.hasComma) + 1;
		const part = words.slice(start, length === 0 ? undefined : start + length);
		const [first, second] = part.map(({ lower }) => lower);
		const isTold = TELLERS.test(first ?? '') && !/^(need|want|would|like|must|should)$/.test(second ?? '');
		if (!isTold && part.some(isUsed)) for (const word of part) near.add(word);
		start += part.length;
	}
	return near;
}
