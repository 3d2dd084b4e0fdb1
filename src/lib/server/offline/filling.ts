/** A message as an action reads it: its pieces with the words around them, which slots have a value, and what is used. Pure. */
import { stem } from '../skills/find/words.ts';
import type { Action } from './actions.ts';
import {
	isFiller,
	type Message,
	namesOfUnit,
	overlaps,
	overlapsAny,
	type Piece,
	type Span,
	type Word
} from './message.ts';
import type { Slot } from './slots.ts';

/** A piece, and the words around it. */
export interface Place extends Piece {
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

export interface Filling {
	action: Action;
	message: Message;
	places: Place[];
	values: Map<Slot, string[]>;
	taken: Span[];
	/** Was there a question, so that what is left of the message has lost its place? */
	isAnswered: boolean;
}

const setOf = (words: string) => new Set(words.split(' '));
export const stemsOf = (words: string) => new Set(words.split(' ').map(stem));
const SMALL = setOf('is are was were be of = at by with for the a an about my our this that set to');
export const PREPOSITIONS = setOf(
	'in into to for of at from on onto by per with about near around as via using than over under between and vs against'
);
export const TO = setOf('to into as -> → =>');
const WE = /\b(we['’]?re|we (are|were)|us)\s+$/i;
const OF_US = /^ (of (us|them)|ways?|people|ppl|persons|guests|friends)\b/i;
const PERIOD = /^ ?[^\s,;.]{0,12} ?(?:a|an|per|each|every|\/) ?(day|week|month|quarter|year|hour|minute|second)\b/i;
const MEASURES = ['mean average avg', 'sum total', 'max maximum highest largest', 'min minimum lowest smallest'].map(
	(group) => group.split(' ').map(stem)
);
/** What stands beside a piece when it is a measure, and how near: `5 km`, `9:00 in Tokyo`. */
const PARTNERS: Partial<Record<Piece['form'], [Piece['form'], number]>> = {
	number: ['unit', 2],
	unit: ['number', 2],
	name: ['time', 5]
};
const MAX_PIECES = 150;

export function put(slot: Slot, texts: readonly string[], spans: readonly Span[], filling: Filling): void {
	if (texts.length === 0 || texts.includes('')) return;
	// `miles` as `mi`, where the skill writes it so; itself where it is written in no way, or in several.
	const spelled = (text: string) => {
		const [only, ...others] = spellings(text, slot, filling.action);
		return only !== undefined && others.length === 0 ? only : text;
	};
	filling.values.set(slot, texts.map(spelled));
	filling.taken.push(...spans);
}

export function spellings(text: string, slot: Slot, { literals }: Action): string[] {
	const known = slot.choices.length > 0 ? slot.choices : slot.kind === 'name' ? [...literals] : [];
	const same = known.filter((word) => word.toLowerCase() === text.toLowerCase());
	const units = namesOfUnit(text);
	const alike = known.filter((word) =>
		slot.choices.length > 0 ? isChoice(text, word) : units.includes(word.toLowerCase())
	);
	return [...new Set(same.length === 0 || alike.length > 1 ? alike : same)];
}

/** Slots without a value, required ones first. */
export function open({ action, values }: Filling, kind?: Slot['kind']): Slot[] {
	const slots = action.slots.filter((slot) => !values.has(slot) && (kind === undefined || kind === slot.kind));
	return slots.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

export function isFree(span: Span, { taken }: Filling): boolean {
	return !overlapsAny(span, taken);
}

export function isUsed(text: string, { values }: Filling): boolean {
	return [...values.values()].some((texts) => texts.includes(text));
}

export function isLabel(word: Word | undefined, labels: readonly string[]): boolean {
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
export function isOpenWord(word: Word | undefined, filling: Filling): word is Word {
	if (word === undefined || word.isQuoted || isFiller(word) || PREPOSITIONS.has(word.lower)) return false;
	const isTold = ({ labels, hints }: Slot) => isLabel(word, labels) || hints.includes(word.stem);
	return isFree(word, filling) && !isNamed(word, filling.action) && !filling.action.slots.some(isTold);
}

export function placesOf({ text, words, pieces, payload }: Message, action: Action): Place[] {
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

export function isChoice(value: string, choice: string): boolean {
	const plain = (text: string) => stem(text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
	return (
		plain(value) === plain(choice) ||
		MEASURES.some((group) => [value, choice].every((word) => group.includes(plain(word))))
	);
}
