/** Finds values when no better sign is left: numbers in their order, what follows the words that ask for the command. */
import { isFree, isKnownFile, isOpen, isPath } from './filling.ts';
import type { Filling, Found } from './filling.ts';
import { isFolderNoun, phraseAfter, phraseBefore, PREPOSITIONS } from './phrases.ts';
import { isFiller, overlaps } from './question.ts';
import type { Word } from './question.ts';
import { isFileName } from './slots.ts';
import type { Slot } from './slots.ts';
import { hasPartner } from './told-values.ts';

const LEADING =
	/^(?:(?:in|of|for|from|to|on|with|into|about|is|are|does|do|me|out|up|using|it|there|please|say|saying|says|reads|reading)\s+)+/i;
const TEXT_NOUN =
	/^(?:(?:the|this|that|these|those|following|my|a|an|our|given)\s+){0,3}(?:texts?|strings?|sentences?|phrases?|words?|titles?|messages?|paragraphs?|lines?|names?|following|expressions?|headlines?)\b[\s:,]*/i;

/** What stands before a value that is taken, and at the end of a question. */
const TRAILING = /(?:[\s,]+(?:to|in|into|as|with|by|at|for|from|on|the|and|a|using|of|=))+$/i;
const ENDING = /(?:[,\s]+please)?[?]*$/i;
/** Such words are looked for only so far from either end. */
const EDGE_LENGTH = 200;

/** The numbers that nothing else has claimed, in their order. */
export function leftNumber(slot: Slot, filling: Filling): Found | null {
	if (slot.kind !== 'number' && !(slot.kind === 'id' && slot.isRequired)) return null;
	const isLimit =
		slot.words.some((word) => /^(n|k|top|limit|count|max|number|num|first|results)$/.test(word)) ||
		/(top|limit|count|max)$/.test(slot.flag ?? '');
	if (!isOpen(slot) && !isLimit) return null;
	const { words, numbers } = filling.question;
	const free = numbers.filter((number) => isFree(number, filling));
	const number = isOpen(slot) ? free[0] : free.length === 1 ? free[0] : undefined;
	if (!number) return null;
	const isDatePart =
		/^(in|at|since|until|from|by)$/.test(words[number.word - 1]?.lower ?? '') ||
		number.unit !== '' ||
		words[number.word]?.endsClause;
	return !isOpen(slot) && isDatePart ? null : { value: number.value, spans: [number], isSure: isOpen(slot) };
}

/** What follows the words that ask for the command: `slugify Hello World`. */
export function afterOwnWords(slot: Slot, filling: Filling): Found | null {
	if (slot.kind !== 'text' || !slot.isRequired) return null;
	const { words } = filling.question;
	const first = words.findIndex((word) => !word.isQuoted && filling.ownWords.has(word.stem));
	let last = first;
	for (let at = first + 1; first >= 0 && at <= last + 2 && at < words.length; at += 1) {
		const word = words[at];
		const isBetween = at === last + 1 || DETERMINER.test(words[at - 1]?.lower ?? '');
		if (word && filling.ownWords.has(word.stem) && !words[last]?.endsClause && isBetween) last = at;
	}
	const start = first >= 0 ? last + 1 : lastPreposition(words) + 1;
	return start > 0 ? restFrom(start, filling) : null;
}

const DETERMINER = /^(the|a|an|my|this|all|of|how|many)$/;

function lastPreposition(words: readonly Word[]): number {
	return words.findLastIndex((word) => !word.isQuoted && /^(of|for|from|in|about)$/.test(word.lower));
}

/** `the message hello`, `the title Winter`: the kind of text, then the text. */
export function afterTextNoun(slot: Slot, filling: Filling): Found | null {
	if (slot.kind !== 'text' || !slot.isRequired) return null;
	const { words } = filling.question;
	const noun = words.findIndex(
		(word, index) =>
			/^(text|message|sentence|phrase|string|title|headline)$/.test(word.lower) &&
			!word.isQuoted &&
			!word.endsClause &&
			/^(the|this|a|following|my)$/.test(words[index - 1]?.lower ?? '') &&
			!PREPOSITIONS.has(words[index + 1]?.lower ?? 'to')
	);
	return noun < 0 ? null : restFrom(noun + 1, filling);
}

/** The message from that word up to what is claimed, without words that only lead to it. */
function restFrom(index: number, filling: Filling): Found | null {
	const { question } = filling;
	const start = question.words.slice(index).find((word) => isFree(word, filling))?.start;
	if (start === undefined) return null;
	const end = Math.min(
		question.text.length,
		...filling.taken.map((span) => span.start).filter((position) => position > start)
	);
	const text = question.text.slice(start, end).trimEnd();
	const head = text.slice(0, -EDGE_LENGTH);
	const tail = text.slice(-EDGE_LENGTH).replace(end < question.text.length ? TRAILING : ENDING, '');
	const body = `${head}${tail}`;
	const value = (
		body.slice(0, EDGE_LENGTH).replace(LEADING, '').replace(TEXT_NOUN, '').replace(LEADING, '') +
		body.slice(EDGE_LENGTH)
	).trim();
	const isMeaningful =
		/\d/.test(value) ||
		question.words.some((word) => value.includes(word.text) && word.start >= start && !isFiller(word));
	const isFile =
		isFileName(value) ||
		question.words.some(
			(word) => overlaps(word, { start, end }) && isPath(word, question) && isKnownFile(word.text, question)
		);
	if (!isMeaningful || isFile) return null;
	const offset = question.text.indexOf(value, start);
	return { value, spans: [{ start: offset, end: offset + value.length }], isSure: false };
}

/** `the folder out`, `the out folder`, for what may be a folder. */
export function besideFolder(slot: Slot, filling: Filling): Found | null {
	if (!slot.isRequired || (slot.kind !== 'folder' && slot.side === null) || hasPartner(slot, filling)) return null;
	for (const [index, word] of filling.question.words.entries()) {
		const beside = isFolderNoun(word)
			? ((word.endsClause ? null : phraseAfter(index, filling, 'word')) ?? phraseBefore(index, filling))
			: null;
		if (beside) return beside;
	}
	return null;
}

/** The phrase after the nearest fitting preposition, for what has no better sign. */
export function afterPreposition(slot: Slot, filling: Filling): Found | null {
	if (
		!slot.isRequired ||
		slot.kind === 'number' ||
		slot.kind === 'file' ||
		slot.kind === 'output' ||
		slot.kind === 'text' ||
		slot.kind === 'url'
	)
		return null;
	if (hasPartner(slot, filling)) return slot.side === 'source' ? directObject(filling) : null;
	const { words } = filling.question;
	const order =
		slot.side === 'source'
			? ['from', 'of', 'in']
			: slot.kind === 'column'
				? ['by', 'per', 'of', 'for']
				: ['to', 'into', 'as', 'in', 'for', 'of', 'at', 'from', 'on', 'by', 'with'];
	for (const preposition of order) {
		for (const [index, word] of words.entries()) {
			const after = word.lower === preposition && !word.isQuoted ? phraseAfter(index, filling, 'word') : null;
			if (after && !(slot.kind === 'date' && !isTimeOrDate(after.value))) return { ...after, isSure: false };
		}
	}
	return slot.kind === 'date' ? null : directObject(filling);
}

/** What follows the first word that asks for the command: `deploy dist`. */
function directObject(filling: Filling): Found | null {
	const { words } = filling.question;
	const own = words.findIndex((word) => !word.isQuoted && filling.ownWords.has(word.stem));
	const direct = own < 0 || PREPOSITIONS.has(words[own + 1]?.lower ?? '') ? null : phraseAfter(own, filling, 'word');
	return direct ? { ...direct, isSure: false } : null;
}

function isTimeOrDate(value: string): boolean {
	return /\d/.test(value) || /^(today|tomorrow|yesterday|now|\w+day)$/i.test(value);
}

/** `date` for `DATE_COLUMN`: a column is often named after what it holds. */
export function namedColumn(slot: Slot): Found | null {
	const name =
		slot.kind === 'column'
			? slot.words.filter((word) => !/^(columns?|fields?|cols?|number|name|group|value)$/.test(word)).join('_')
			: '';
	return slot.isRequired && name !== '' ? { value: name, spans: [], isSure: false } : null;
}

export function fallback(slot: Slot): Found | null {
	return slot.fallback === null ? null : { value: slot.fallback, spans: [], isSure: false };
}
