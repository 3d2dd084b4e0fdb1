/** The state of filling one set of placeholders: what they may take from a message, and what is taken already. */
import { framingWords, isFiller, overlaps } from './question.ts';
import type { Question, Span, Word } from './question.ts';
import { isFileName } from './slots.ts';
import type { Slot } from './slots.ts';

/** What a command or tool is filled for. */
export interface FillContext {
	question: Question;
	/** Stems of the words that name the command: they ask for it, so they are no values. */
	ownWords: ReadonlySet<string>;
	/** Stems of the words around it; a value does not go on over them. */
	vocabulary: ReadonlySet<string>;
}

export interface Found {
	value: string;
	/** All values, for a placeholder that takes many. */
	values?: string[];
	/** Where in the message; empty when it comes from elsewhere. */
	spans: Span[];
	/** Did the message say so, rather than leave it to a guess? */
	isSure: boolean;
}

export interface Filling extends FillContext {
	slots: readonly Slot[];
	found: Map<Slot, Found>;
	taken: Span[];
}

/** A way to find a value. */
export type Source = (slot: Slot, filling: Filling) => Found | null;

export function isFree(span: Span, filling: Filling): boolean {
	return !filling.taken.some((taken) => overlaps(taken, span));
}

export function hasValue(value: string, filling: Filling): boolean {
	return [...filling.found.values()].some((found) => found.value === value || found.values?.includes(value));
}

/** Required, or positional: such a placeholder takes what the message has for it without being named. */
export function isOpen(slot: Slot): boolean {
	return slot.isRequired || slot.flag === null;
}

/** Can the word be (part of) a value? */
export function isValueWord(word: Word | undefined, filling: Filling): word is Word {
	return word !== undefined && !isFiller(word) && isFree(word, filling);
}

export function isKnownFile(text: string, question: Question): boolean {
	return [question.attachedFiles, question.earlierFiles, question.workspaceFiles].some((files) => files.includes(text));
}

export function isPath(word: Word, question: Question): boolean {
	return isKnownFile(word.text, question) || isFileName(word.text);
}

/** The quoted piece that begins at or around the word. */
export function quoteAt(word: Word, question: Question): Found | null {
	const quote = word.isQuoted ? question.quotes.find((quote) => overlaps(quote, word)) : undefined;
	return quote ? { value: quote.value, spans: [quote], isSure: true } : null;
}

/** Words that are not the text to work on, with their place among all words. */
export function framing(filling: Filling): Word[] {
	return framingWords(filling.question);
}

export function isCapitalised(word: Word): boolean {
	return /^\p{Lu}/u.test(word.text);
}
