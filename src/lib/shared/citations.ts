/** Sources that a model names for its text: read from annotations, numbered for an answer, and put into its Markdown. */
import { isObject } from './json.ts';
import type { Citation, Part, TextPart } from './message-schema.ts';

/** Of one text; the rest is dropped. */
export const MAX_CITATIONS = 200;
const MAX_URL = 4096;
const MAX_TITLE = 500;
const MAX_CONTENT = 2000;

/** A citation from an annotation of the Responses API (or of a chat completion); null if it can't be used. */
export function readCitation(annotation: unknown): Citation | null {
	if (!isObject(annotation)) return null;
	const { type } = annotation;
	if (type !== 'url_citation' && type !== 'file_citation') return null;
	const fields = isObject(annotation[type]) ? annotation[type] : annotation;
	const end = fields.end_index ?? fields.index;
	const start = fields.start_index ?? end;
	if (!isPlace(start) || !isPlace(end) || start > end) return null;
	const place = { start, end };
	const words = (value: unknown, most: number) =>
		typeof value === 'string' ? value.slice(0, most).toWellFormed().trim() : '';
	if (type === 'file_citation') {
		const [title, fileId] = [words(fields.filename, MAX_TITLE), words(fields.file_id, MAX_TITLE)];
		return title === '' && fileId === '' ? null : { title: title || fileId, fileId, ...place };
	}
	const url = webAddress(fields.url);
	if (url === null) return null;
	const content = words(fields.content, MAX_CONTENT);
	// As it was said, if only the path is missing.
	const said = url.href === `${String(fields.url)}/` ? String(fields.url) : url.href;
	return { url: said, title: words(fields.title, MAX_TITLE), ...place, ...(content !== '' && { content }) };
}

function isPlace(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The same in the Responses API. */
export function annotationOf({ url, title, start, end, content, fileId }: Citation): Record<string, unknown> {
	if (url === undefined) return { type: 'file_citation', file_id: fileId ?? title, filename: title, index: end };
	return { type: 'url_citation', url, title, start_index: start, end_index: end, ...(content && { content }) };
}

function webAddress(url: unknown): URL | null {
	const parsed = typeof url === 'string' && url.length <= MAX_URL ? URL.parse(url) : null;
	return parsed && /^https?:$/.test(parsed.protocol) ? parsed : null;
}

export interface Source {
	number: number;
	/** The host if the model gave none. */
	title: string;
	/** null for a file that the model's provider has. */
	url: string | null;
	host: string | null;
}

interface Mark {
	at: number;
	source: Source;
}

/** The sources of an answer, each once, in the order of the text. Citations of parts that still grow come later. */
export class Sources {
	readonly list: Source[] = [];
	readonly #marks = new Map<TextPart, Mark[]>();

	constructor(parts: readonly Part[]) {
		const known = new Map<string, Source>();
		for (const part of parts) {
			if (part.type !== 'text' || !part.citations?.length) continue;
			const marks: Mark[] = [];
			for (const { url, title, fileId, end } of part.citations.toSorted((a, b) => a.end - b.end)) {
				const address = url === undefined ? null : webAddress(url);
				if (end > part.text.length || (url !== undefined && !address)) continue;
				const key = address?.href ?? `file ${fileId} ${title}`;
				let source = known.get(key);
				if (!source) {
					const host = address?.host ?? null;
					source = { number: known.size + 1, title: title || (host ?? 'File'), url: address?.href ?? null, host };
					known.set(key, source);
					this.list.push(source);
				}
				if (!marks.some((mark) => mark.at === end && mark.source === source)) marks.push({ at: end, source });
			}
			this.#marks.set(part, marks);
		}
	}

	/** The Markdown of a part with what `print` makes of each number, where it can stand without changing anything else. */
	mark(part: TextPart, print: (source: Source) => string): string {
		const marks = this.#marks.get(part) ?? [];
		if (marks.length === 0) return part.text;
		const { text } = part;
		let [marked, from] = ['', 0];
		const spans = spansOf(text);
		let previous: Source | null = null;
		for (const { at: wanted, source } of marks) {
			const at = placeFor(text, wanted, spans);
			// Two that moved to one place are in order; one that would go back is no longer where it belongs.
			if (at === null || at < from || (at === from && source === previous)) continue;
			previous = source;
			// After a "!" it would be an image.
			const before = text.slice(from, at).replace(/(?<!\\)!$/, '\\!');
			marked += before + print(source);
			from = at;
		}
		return marked + text.slice(from);
	}
}

/** For the page: a link that reads `[1]`; that of a file leads nowhere. */
export function numberLink({ number, url }: Source): string {
	const target = url?.replace(/[()|<>\\`]/g, (character) => `%${character.charCodeAt(0).toString(16)}`) ?? '#';
	return `[\\[${number}\\]](${target})`;
}

/** The text of an answer to take elsewhere: numbers in it, and the list below. */
export function citedText({ parts }: { parts: readonly Part[] }): string {
	const sources = new Sources(parts);
	const texts = parts.map((part) => (part.type === 'text' ? markedText(sources, part) : ''));
	return [...texts, sourceList(sources)]
		.filter((text) => text !== '')
		.join('\n\n')
		.trim();
}

/** A part's text as Markdown, with `[1]` in it. */
export function markedText(sources: Sources, part: TextPart): string {
	return sources.mark(part, ({ number }) => `\\[${number}\\]`).replaceAll(/\\(\[\d+)\\\](?![([:])/g, '$1]');
}

/** The list below such texts; '' without sources. */
export function sourceList({ list }: Sources): string {
	const words = (text: string) => text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`);
	return list
		.map(({ number, title, url }) => `${number}. ${words(title)}${url === null ? '' : ` <${url}>`}`)
		.join('\n');
}

type Span = [start: number, end: number, mayEnd: boolean];

/**
 * Where Markdown isn't prose: a number would become part of code, a formula, a link or HTML. In the first group there's no
 * place for it, after the others there is. Repetitions are bounded, or consume what they have read.
 */
const OPAQUE = new RegExp(
	`(?<closed>${[
		// Fences, also in a list or a quote, then indented code, HTML, formulas, definitions, addresses.
		/(?<=^|\n)[ >]{0,12}(?:(?:[-*+]|\d{1,9}[.)]) {1,4})?(?<fence>`{3,}|~{3,})[^]*?(?:\n[ >]{0,12}\k<fence>|$)/,
		/(?<=^|\n)(?: {4}|\t)(?!\s*(?:[-*+]|\d{1,9}[.)])\s)[^\n]*/,
		/(?<=^|\n) {0,3}<[a-z/!?](?:(?!\n[ \t]*\n)[^]){0,5000}/,
		/\$\$[^]{1,5000}?\$\$|\\\[[^]{1,5000}?\\\]/,
		/(?<=^|\n) {0,3}\[[^\]\n]{1,500}\]:[^\n]*/,
		/(?<!\]\(|<)(?:https?:\/\/|www\.|\b[\w.+-]{1,64}@)[^\s<]{1,4096}/
	]
		.map(({ source }) => source)
		.join('|')})|${[
		/(?<ticks>`+)[^`](?:(?!\n[ \t]*\n)[^]){0,2000}?(?<!`)\k<ticks>(?!`)/,
		/\\\([^\n]{1,2000}?\\\)/,
		/\$(?![\s$]|\d[^\\^_={}$\n]*\s)[^$\n]{0,500}?[^\s$\\]\$(?!\w)/,
		/!?\[[^\]\n]{0,500}\](?:\([^)\n]{0,4096}\)|\[[^\]\n]{0,500}\])/,
		/<[^>\n]{1,4096}>/,
		/&#?\w{1,10};/,
		/\\[^\s]/
	]
		.map(({ source }) => source)
		.join('|')}`,
	'gi'
);

function spansOf(text: string): { opaque: Span[]; settled: string } {
	const opaque = [...text.matchAll(OPAQUE)].map(({ 0: whole, index, groups }): Span => [
		index,
		index + whole.length,
		groups?.['closed'] === undefined
	]);
	return { opaque, settled: text.replaceAll(OPAQUE, (whole) => whole.replaceAll(/[^\n]/g, ' ')) };
}

/** Only marks of a list, a heading, a quote or a table. */
const NO_PROSE = /^[\s>#*+|=~:_-]*(?:\d+[.)]?)?[\s>*_~|-]*(?:\[[ x]?\]?\s*)?$/i;
/** Marks outside of a span: what they belong to is for the parser to say, so the line has no numbers. */
const UNSETTLED = /[[\]`\\<]|\$[^]*\$|https?:|www\./i;
const IN_WORD = /^(?:[\p{L}\p{N}\p{M}]|\u200d|\ufe0f)$/u;

/** Where the number may stand; null if it can't. `settled`: the text without its spans. */
function placeFor(text: string, wanted: number, { opaque, settled }: { opaque: readonly Span[]; settled: string }) {
	let at = wanted;
	// Before line breaks and the end of a table's cell.
	while (at > 0 && /[\s|]/.test(text.charAt(at - 1))) at -= 1;
	while (at > 0 && at < text.length && isWithin(text, at)) at += 1;
	const around = opaque.find(([start, end, mayEnd]) => start < at && (at < end || (at === end && !mayEnd)));
	if (around?.[2] === false) return null;
	if (around) at = around[1];
	const [from, to] = [text.lastIndexOf('\n', at - 1) + 1, text.indexOf('\n', at)];
	if (NO_PROSE.test(text.slice(from, at)) || isAtDoubtfulMark(text, at)) return null;
	return UNSETTLED.test(settled.slice(from, to < 0 ? undefined : to)) ? null : at;
}

/** In a word, a character or a run of marks like `**`. */
function isWithin(text: string, at: number): boolean {
	const [before, after] = [characterBefore(text, at), characterAt(text, at)];
	if (/[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))) return true;
	return (IN_WORD.test(before) && IN_WORD.test(after)) || (/[*_~]/.test(after) && before === after);
}

/** Next to a run like `**` between two words, which may open or close: a number would decide that. */
function isAtDoubtfulMark(text: string, at: number): boolean {
	const [left] = /[*_~]*$/.exec(text.slice(Math.max(0, at - 20), at)) ?? [''];
	const [right] = /^[*_~]*/.exec(text.slice(at, at + 20)) ?? [''];
	if (left === '' && right === '') return false;
	return IN_WORD.test(characterBefore(text, at - left.length)) && IN_WORD.test(characterAt(text, at + right.length));
}

function characterBefore(text: string, at: number): string {
	return [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
}

function characterAt(text: string, at: number): string {
	return [...text.slice(at, at + 2)][0] ?? '';
}
