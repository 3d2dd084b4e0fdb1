/** Finds values by their place in the message: pairs, quoted pieces, the text after a colon, names, what is left over. */
import { tokenize } from '../skills/find/scores.ts';
import { type Filling, type Found, framing, isFree, isKnownFile, isOpen, isValueWord } from './filling.ts';
import { capitalRun, found, isTimeWord, phraseAfter, phraseBefore } from './phrases.ts';
import { isFiller, overlaps, type Word } from './question.ts';
import { isFileName, type Slot } from './slots.ts';

const CONNECTORS = new Set(['to', 'into', 'onto', '->', '→', '=>', 'with', 'against', 'vs', 'versus']);
const PLACE_PREPOSITIONS = new Set(['in', 'for', 'at', 'of', 'near', 'around', 'to', 'from', 'about']);
/** SOURCE and TARGET from `X to Y`, `from X to Y`, `between X and Y`. */
export function paired(slot: Slot, filling: Filling): Found | null {
	if (slot.side === null || !isOpen(slot) || slot.kind === 'number') return null;
	const { words } = filling.question;
	const needsBoth = hasPartner(slot, filling);
	for (const [index, word] of words.entries()) {
		if (word.isQuoted) continue;
		if (slot.side === 'source' && (word.lower === 'from' || word.lower === 'between')) {
			const start = phraseAfter(index, filling, 'word');
			if (start) return start;
		}
		const isBetween =
			word.lower === 'and' && words.slice(Math.max(0, index - 6), index).some(({ lower }) => lower === 'between');
		if (!CONNECTORS.has(word.lower) && !isBetween) continue;
		const before = isTaken(index - 1, filling) ? null : phraseBefore(index, filling);
		const after = isTaken(index + 1, filling) ? null : phraseAfter(index, filling, 'word');
		const isPair = !needsBoth || ((before ?? isTaken(index - 1, filling)) && (after ?? isTaken(index + 1, filling)));
		const side = slot.side === 'source' ? before : after;
		if (isPair && side) return side;
	}
	return null;
}

function isTaken(index: number, filling: Filling): boolean {
	const word = filling.question.words[index];
	return word !== undefined && !isFree(word, filling);
}

export function quoted(slot: Slot, filling: Filling): Found | null {
	if (!isOpen(slot) || !['text', 'word', 'place', 'id', 'column', 'folder'].includes(slot.kind)) return null;
	const { quotes, payload } = filling.question;
	const free = quotes.filter(
		(quote) => isFree(quote, filling) && (slot.kind !== 'text' || !payload || !overlaps(quote, payload))
	);
	const quote = slot.kind === 'text' ? (free.find(({ value }) => !isFileName(value)) ?? null) : free[0];
	return quote ? { value: quote.value, spans: [quote], isSure: true } : null;
}

/** The text after the colon; a short one does for a name, too. */
export function afterColon(slot: Slot, filling: Filling): Found | null {
	const { payload, text } = filling.question;
	if (!payload || !isOpen(slot) || !['text', 'word', 'place', 'id'].includes(slot.kind)) return null;
	const isShort = payload.value.length <= 80 && !text.slice(payload.start, payload.end).includes('\n');
	const isFit = slot.kind === 'text' ? !isKnownFile(payload.value, filling.question) : isShort;
	return isFit && isFree(payload, filling) ? { value: payload.value, spans: [payload], isSure: true } : null;
}

/** The name of something new: `called greet-people`, `named "Winter"`. */
export function calledName(slot: Slot, filling: Filling): Found | null {
	if (!isOpen(slot) || slot.kind !== 'word' || !slot.words.includes('name')) return null;
	const index = filling.question.words.findIndex(({ lower, isQuoted }) => !isQuoted && /^(called|named)$/.test(lower));
	return index < 0 ? null : phraseAfter(index, filling, 'word');
}

/** What something is to be or do, to the end of the message: `a skill that greets people`. */
export function describedAs(slot: Slot, filling: Filling): Found | null {
	const asksForOne = [...slot.words, slot.flag?.replace(/^-+/, '') ?? ''].some((word) => DESCRIPTION.has(word));
	if (!slot.isRequired || !asksForOne) return null;
	const { words, text } = filling.question;
	const that = words.findIndex(({ lower, isQuoted }) => !isQuoted && /^(that|which|to)$/.test(lower));
	const rest = words.slice(that + 1);
	const [first] = rest;
	if (that < 1 || !first || !rest.every((word) => isFree(word, filling))) return null;
	const span = { start: first.start, end: text.trimEnd().length };
	return { value: text.slice(span.start, span.end), spans: [span], isSure: true };
}

const DESCRIPTION = new Set(['description', 'purpose', 'summary']);

/** A word of the same form as the example: `3d8` for `2d6`, `EUR` for `USD`. */
export function shaped(slot: Slot, filling: Filling): Found | null {
	if (slot.example === null || slot.kind !== 'word') return null;
	const shape = shapeOf(slot.example);
	const word = filling.question.words.find((word) => isFree(word, filling) && shapeOf(word.text) === shape);
	return word ? { value: word.text, spans: [word], isSure: true } : null;
}

function shapeOf(text: string): string {
	return text
		.replace(/\p{Lu}+/gu, (run) => `A${run.length}`)
		.replace(/\p{Ll}+/gu, 'a')
		.replace(/(?<!A)\d+/g, '9');
}

/** A place: a capitalised name after a preposition, any such name, or the words after the preposition. */
export function placed(slot: Slot, filling: Filling): Found | null {
	if (slot.kind !== 'place' || !isOpen(slot)) return null;
	const { words } = filling.question;
	const after = words.flatMap((word, index) =>
		PLACE_PREPOSITIONS.has(word.lower) ? (phraseAfter(index, filling, 'clause') ?? []) : []
	);
	const phrases = after.filter(({ value }) => isPlaceName(value, filling));
	const named = phrases.find(({ value }) => /^\p{Lu}/u.test(value));
	if (named) return named;
	for (const [index, word] of words.entries()) {
		const isSentenceStart = index === 0 && (filling.vocabulary.has(word.stem) || isFiller(word));
		const run = isSentenceStart || !isFree(word, filling) ? [] : capitalRun(index, filling);
		if (run.length > 0 && !(index === 0 && run.length === words.length && run.length > 3)) {
			const name = found(withoutVocabulary(run, filling), filling);
			if (name) return name;
		}
	}
	return phrases[0] ?? bareRest(filling);
}

function isPlaceName(value: string, filling: Filling): boolean {
	const words = tokenize(value);
	return !/^\d/.test(value) && !words.every((word) => filling.ownWords.has(word)) && !isFileName(value);
}

function withoutVocabulary(run: readonly Word[], filling: Filling): Word[] {
	const end = run.findIndex((word) => filling.vocabulary.has(word.stem));
	return end < 0 ? [...run] : run.slice(0, end);
}

/** `weather berlin`: what the message says besides the words that ask for it. */
function bareRest(filling: Filling): Found | null {
	const rest = framing(filling).filter(
		(word) =>
			isValueWord(word, filling) &&
			!filling.vocabulary.has(word.stem) &&
			!filling.ownWords.has(word.stem) &&
			!isTimeWord(word) &&
			!/^\d/.test(word.text)
	);
	const first = rest[0];
	const last = rest.at(-1);
	const isOneRun =
		first !== undefined && last !== undefined && rest.length <= 3 && runLength(first, last, filling) === rest.length;
	return isOneRun ? found(rest, filling, false) : null;
}

function runLength(first: Word, last: Word, filling: Filling): number {
	const { words } = filling.question;
	return words.indexOf(last) - words.indexOf(first) + 1;
}

/** Of two things that a command needs, one in the message could be either, unless the message pairs them. */
export function hasPartner(slot: Slot, filling: Filling): boolean {
	if (slot.side === null) return false;
	return filling.slots.some((other) => other.isRequired && other.side !== null && other.side !== slot.side);
}
