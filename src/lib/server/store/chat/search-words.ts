/** What a text is found by: its words without case and accents, the same in both databases. */
import type { Snippet } from '../../../shared/api.ts';

/** What somebody looks for. */
export interface SearchQuery {
	/** The whole text, folded; for titles. Empty: everything is found. */
	folded: string;
	/** All of them have to be in one text. */
	words: string[];
	/** The last one may be only the beginning of a word. */
	prefix: string | null;
}

/** Scripts without spaces between words: each sign is one. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu;
const MAX_WORD = 64;
const MAX_QUERY = 1000;
const MAX_QUERY_WORDS = 32;
/** Bytes of the words of one text: Postgres keeps less than 1 MB of them. */
const MAX_INDEXED = 512 * 1024;
const SNIPPET = 120;
const BEFORE_MATCH = 40;

/** Without case, accents, and the differences between forms of one sign. */
export function foldText(text: string): string {
	return text.toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

/** Each word once. */
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

/** Any text is a query; one that has no word, an emoji say, is looked for in titles only. */
export function readQuery(text: string): SearchQuery {
	const sought = text.replaceAll('\0', '').toWellFormed().trim().slice(0, MAX_QUERY).toWellFormed();
	const all = [...sought.matchAll(WORD)].flatMap(([word]) => foldWord(word)).slice(0, MAX_QUERY_WORDS);
	// After a space or a comma the last word is whole, but nobody stops to think of that while typing.
	const prefix = all.pop() ?? null;
	return { folded: foldText(sought), words: [...new Set(all)].filter((word) => word !== prefix), prefix };
}

/** About 120 characters around the first place where one of the words is; null where none is. */
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

/** Mostly one; none where a word is of marks alone, several where one sign stands for words. */
function foldWord(word: string): string[] {
	return [...foldText(word).matchAll(WORD)].map(([part]) => part.slice(0, MAX_WORD).replace(/[\ud800-\udbff]$/, ''));
}

/** On one line, without the commonest signs of Markdown. */
function plainText(text: string): string {
	return text
		.toWellFormed()
		.replaceAll(/^[ \t]*(?:#{1,6}|>)[ \t]+|\*\*|`+/gm, '')
		.replaceAll(/[\s\0]+/g, ' ')
		.trim();
}

/** The beginning of a word near `at`, before `limit`; never between the halves of a sign. */
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
