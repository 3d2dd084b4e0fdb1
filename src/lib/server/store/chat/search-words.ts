/** Words for the full-text search, without case and accents, the same in both databases. */
import type { Snippet } from '../../../shared/api.ts';

export interface SearchQuery {
	/** The whole folded text, for titles. Empty: finds everything. */
	folded: string;
	/** All must occur in one text. */
	words: string[];
	/** The last word, which may be incomplete. */
	prefix: string | null;
}

/** In scripts without spaces, each character is a word. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;
const MAX_WORD = 64;
const MAX_QUERY = 1000;
const MAX_QUERY_WORDS = 32;
/** Bytes of words per text; Postgres allows less than 1 MB. */
const MAX_INDEXED = 512 * 1024;
const SNIPPET = 120;
const BEFORE_MATCH = 40;

/** Removes case, accents, and variants of the same character. */
export function foldText(text: string): string {
	return text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** The words of a text, without duplicates. */
export function indexedWords(text: string): string[] {
	const words = new Set<string>();
	let bytes = 0;
	for (const [word] of text.matchAll(WORD)) {
		for (const folded of foldWord(word)) {
			if (words.has(folded)) continue;
			bytes += Buffer.byteLength(folded) + 1;
			if (bytes > MAX_INDEXED) return [...words];
			words.add(folded);
		}
	}
	return [...words];
}

/** Accepts any text. A query without words (like an emoji) searches titles only. */
export function readQuery(text: string): SearchQuery {
	const sought = text.replaceAll('\0', '').toWellFormed().trim().slice(0, MAX_QUERY).toWellFormed();
	const all = [...sought.matchAll(WORD)].flatMap(([word]) => foldWord(word)).slice(0, MAX_QUERY_WORDS);
	// Even after a space or comma: people expect results while typing.
	const prefix = all.pop() ?? null;
	return { folded: foldText(sought), words: [...new Set(all)].filter((word) => word !== prefix), prefix };
}

/** About 120 characters around the first match; null if there is none. */
export function findSnippet(text: string, query: SearchQuery): Omit<Snippet, 'messageId'> | null {
	const plain = plainText(text);
	const first = nextMatch(plain, query, 0);
	if (!first) return null;
	const from = first.from <= BEFORE_MATCH ? 0 : wordStart(plain, first.from - BEFORE_MATCH, first.from);
	const to = Math.max(first.to, wordEnd(plain, from + SNIPPET));
	const start = from === 0 ? '' : '…';
	const shift = start.length - from;
	const matches: [number, number][] = [];
	for (let match: Place | null = first; match && match.to <= to; match = nextMatch(plain, query, match.to)) {
		matches.push([match.from + shift, match.to + shift]);
	}
	return { text: `${start}${plain.slice(from, to)}${to === plain.length ? '' : '…'}`, matches };
}

interface Place {
	from: number;
	to: number;
}

function nextMatch(text: string, { words, prefix }: SearchQuery, from: number): Place | null {
	const pattern = new RegExp(WORD);
	pattern.lastIndex = from;
	for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
		const isSought = foldWord(found[0]).some(
			(word) => words.includes(word) || (prefix !== null && word.startsWith(prefix))
		);
		if (isSought) return { from: found.index, to: found.index + found[0].length };
	}
	return null;
}

/** Usually one word; none for combining marks only, several if one character stands for several words. */
function foldWord(word: string): string[] {
	return [...foldText(word).matchAll(WORD)].map(([part]) => part.slice(0, MAX_WORD).replace(/[\ud800-\udbff]$/, ''));
}

/** One line, without common Markdown characters. */
function plainText(text: string): string {
	return text
		.toWellFormed()
		.replaceAll(/^[ \t]*(?:#{1,6}|>)[ \t]+|\*\*|`+/gm, '')
		.replaceAll(/[\s\0]+/g, ' ')
		.trim();
}

/** The start of a word near `at`, before `limit`; never inside a surrogate pair. */
function wordStart(text: string, at: number, limit: number): number {
	const space = text.indexOf(' ', at);
	if (space >= 0 && space < limit) return space + 1;
	return isLowSurrogate(text, at) ? at + 1 : at;
}

function wordEnd(text: string, at: number): number {
	if (at >= text.length) return text.length;
	const space = text.lastIndexOf(' ', at);
	if (space > at - BEFORE_MATCH) return space;
	return isLowSurrogate(text, at) ? at - 1 : at;
}

function isLowSurrogate(text: string, at: number): boolean {
	const unit = text.charCodeAt(at);
	return unit >= 0xdc00 && unit <= 0xdfff;
}
