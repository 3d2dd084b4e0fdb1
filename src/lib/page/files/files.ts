/** Reads the first rows of a CSV or TSV text, for a preview. Pure. */
import { plainLine } from '../../shared/characters.ts';
import { ApiError, errorFromBody, goToLogin, unreachable } from '../request.ts';

export interface Table {
	/** Its first row. */
	head: string[];
	rows: string[][];
	/** Columns that are left out. */
	hiddenColumns: number;
	/** There are more rows than were read. */
	isCut: boolean;
}

/** `isCut`: the text is only the beginning of the file, so its last row may be half a row. */
export function readTable(text: string, isCut: boolean, maxRows = 2_000, maxColumns = 50): Table {
	const read = parseRows(text.replace(/^\ufeff/, ''), maxRows + 2);
	const hasMore = read.length > maxRows + 1;
	const whole = isCut && !hasMore && read.length > 1 ? read.slice(0, -1) : read.slice(0, maxRows + 1);
	const columns = whole.reduce((most, { length }) => Math.max(most, length), 0);
	const shown = Math.min(columns, maxColumns);
	const [head = [], ...rows] = whole.map((cells) => Array.from({ length: shown }, (_, index) => cells[index] ?? ''));
	return { head, rows, hiddenColumns: columns - shown, isCut: isCut || hasMore };
}

export interface SortOrder {
	column: number;
	isDescending: boolean;
}

/** Numbers by value, and before text; what is empty last, whichever way. Equal rows keep their order. */
export function sortRows(rows: readonly string[][], { column, isDescending }: SortOrder): string[][] {
	const collator = new Intl.Collator(undefined, { numeric: true });
	const keyed = rows.map((row) => {
		const cell = row[column]?.trim() ?? '';
		return { row, cell, number: numberOf(cell) };
	});
	keyed.sort((one, other) => {
		if (one.cell === '' || other.cell === '') return Number(one.cell === '') - Number(other.cell === '');
		const order =
			one.number !== null && other.number !== null
				? one.number - other.number
				: one.number !== null || other.number !== null
					? Number(one.number === null) - Number(other.number === null)
					: collator.compare(one.cell, other.cell);
		return isDescending ? -order : order;
	});
	return keyed.map(({ row }) => row);
}

/** With separators of thousands, a currency or a percent sign. */
export function numberOf(cell: string): number | null {
	const bare = cell.replace(/^[$€£¥]\s?|\s?[%€£¥]$/g, '').replace(/,(?=\d{3}(?:\D|$))/g, '');
	return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(bare) ? Number(bare) : null;
}

/** Cells by row; quoted cells may hold separators, quotes (doubled) and line breaks. A row that was cut off counts. */
export function parseRows(text: string, maxRows: number): string[][] {
	const firstLine = text.slice(0, Math.max(0, text.indexOf('\n')) || text.length);
	const separator = separatorOf(firstLine);
	const rows: string[][] = [];
	let row: string[] = [];
	let cell = '';
	let isQuoted = false;
	for (let index = 0; index < text.length && rows.length < maxRows; index++) {
		const character = text[index] ?? '';
		if (isQuoted) {
			if (character !== '"') cell += character;
			else if (text[index + 1] === '"') cell += text[++index];
			else isQuoted = false;
		} else if (character === '"' && cell === '') isQuoted = true;
		else if (character === separator) {
			row.push(cell);
			cell = '';
		} else if (character === '\n') {
			rows.push([...row, cell]);
			row = [];
			cell = '';
		} else if (character !== '\r') cell += character;
	}
	if ((cell !== '' || row.length > 0) && rows.length < maxRows) rows.push([...row, cell]);
	return rows;
}

function separatorOf(line: string): string {
	const counts = [',', ';', '\t'].map((separator) => ({ separator, count: line.split(separator).length }));
	return counts.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}

// Names and addresses of workspace files.

/** How a file is shown; `page` is HTML, `drawing` SVG, `office` a workbook or a text document. */
export type FileKind =
	| 'image'
	| 'drawing'
	| 'audio'
	| 'video'
	| 'notebook'
	| 'pdf'
	| 'office'
	| 'table'
	| 'markdown'
	| 'json'
	| 'page'
	| 'text'
	| 'other';

const IMAGE = /\.(png|jpe?g|gif|webp|avif)$/i;
const DRAWING = /\.svg$/i;
/** What browsers play; the server says these types. */
const AUDIO = /\.(mp3|wav|ogg|opus|m4a|flac)$/i;
const VIDEO = /\.(mp4|webm|mov)$/i;
const TABLE = /\.(csv|tsv)$/i;
const MARKDOWN = /\.(md|markdown)$/i;
const JSON_TEXT = /\.(json|geojson)$/i;
const NOTEBOOK = /\.ipynb$/i;
const PAGE = /\.html?$/i;
const PDF = /\.pdf$/i;
const OFFICE = /\.(xlsx|docx)$/i;
const TEXT =
	/\.(txt|jsonl|log|xml|ya?ml|toml|ini|css|js|mjs|cjs|jsx|ts|tsx|svelte|vue|py|rb|rs|go|java|kt|c|h|cpp|cs|php|sh|bash|ps1|sql|diff|patch|tex|srt|vtt|ics|vcf)$/i;
const MAX_NAME = 120;

export function fileKind(path: string): FileKind {
	if (IMAGE.test(path)) return 'image';
	if (DRAWING.test(path)) return 'drawing';
	if (NOTEBOOK.test(path)) return 'notebook';
	if (AUDIO.test(path)) return 'audio';
	if (VIDEO.test(path)) return 'video';
	if (TABLE.test(path)) return 'table';
	if (MARKDOWN.test(path)) return 'markdown';
	if (JSON_TEXT.test(path)) return 'json';
	if (PAGE.test(path)) return 'page';
	if (PDF.test(path)) return 'pdf';
	if (OFFICE.test(path)) return 'office';
	return TEXT.test(path) ? 'text' : 'other';
}

export function fileName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

/** What a file had in it earlier. */
export function versionUrl(conversationId: string, path: string, id: string): string {
	return `${fileUrl(conversationId, path)}?version=${id}`;
}

/** Where a workspace file is uploaded to and downloaded from. `version` only keeps caches from showing an older one. */
export function fileUrl(conversationId: string, path: string, version?: string): string {
	const segments = path.split('/').map(encodeURIComponent).join('/');
	const query = version === undefined ? '' : `?v=${encodeURIComponent(version)}`;
	return `/api/conversations/${encodeURIComponent(conversationId)}/files/${segments}${query}`;
}

/** The same file, to be looked at in a frame: a page without its scripts, or with them. */
export function viewUrl(url: string, view: 'plain' | 'scripts'): string {
	return `${url}${url.includes('?') ? '&' : '?'}view=${view}`;
}

/** All files of a conversation in a zip archive. */
export function archiveUrl(conversationId: string): string {
	return `/api/conversations/${encodeURIComponent(conversationId)}/files?format=zip`;
}

/** A name that fits into one path segment on every system, as close to `name` as can be. */
export function safeName(name: string): string {
	const cleaned = plainLine(name.toWellFormed())
		.normalize('NFC')
		.replace(/[/\\:*?"<>|]/g, '_')
		.replace(/^[.\s]+|[.\s]+$/g, '');
	if (cleaned === '') return 'file';
	const [stem, extension] = splitExtension(cleaned);
	// Cutting by code points keeps an emoji whole.
	return [...stem].slice(0, MAX_NAME - extension.length).join('') + extension;
}

/** Each name as it is, or as `name (2)`, `name (3)` … where it is taken; case does not tell names apart. */
export function uniqueNames(names: string[], taken: Iterable<string>): string[] {
	const used = new Set([...taken].map((path) => path.toLowerCase()));
	return names.map((name) => {
		const [stem, extension] = splitExtension(name);
		let candidate = name;
		for (let number = 2; used.has(candidate.toLowerCase()); number++) candidate = `${stem} (${number})${extension}`;
		used.add(candidate.toLowerCase());
		return candidate;
	});
}

function splitExtension(name: string): [stem: string, extension: string] {
	const dot = name.lastIndexOf('.');
	return dot > 0 && name.length - dot <= 12 ? [name.slice(0, dot), name.slice(dot)] : [name, ''];
}

// Reads the beginning of a workspace file, for a preview, and tells whether it is still what it was.

export interface FileStart {
	text: string;
	isCut: boolean;
	/** Of the whole file; null where the server does not say. */
	bytes: number | null;
}

/** The file's content, still to be read. Throws an `ApiError`. */
export async function openFile(url: string): Promise<Response> {
	const response = await fetch(url).catch((error: unknown) => {
		throw unreachable(error);
	});
	if (response.status === 401) goToLogin();
	if (!response.ok) throw errorFromBody(response.status, await response.text());
	return response;
}

/** At most `maxBytes`; the rest is not fetched. Throws an `ApiError`. */
export async function readStart(url: string, maxBytes: number): Promise<FileStart> {
	const response = await openFile(url);
	if (!response.body) throw new ApiError('internal', 'The server sent no content for this file. Try again.');
	const whole = sizeOf(response);
	const decoder = new TextDecoder();
	const reader = response.body.getReader();
	let text = '';
	let bytes = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return { text: text + decoder.decode(), isCut: false, bytes: whole ?? bytes };
		const rest = maxBytes - bytes;
		text += decoder.decode(value.subarray(0, rest), { stream: true });
		bytes += value.byteLength;
		if (bytes <= maxBytes) continue;
		await reader.cancel();
		return { text, isCut: true, bytes: whole };
	}
}

export type FileState = 'same' | 'gone' | { bytes: number };

/** Is the file still there, as long as it was? What cannot be told counts as the same. Never rejects. */
export async function checkFile(url: string, bytes: number): Promise<FileState> {
	const response = await fetch(url, { method: 'HEAD' }).catch(() => null);
	if (response?.status === 404) return 'gone';
	const now = response?.ok && response.headers.has('content-disposition') ? sizeOf(response) : null;
	return now === null || now === bytes ? 'same' : { bytes: now };
}

function sizeOf(response: Response): number | null {
	const length = response.headers.get('content-length');
	// A body that was compressed on its way is not as long as the file.
	return length === null || response.headers.has('content-encoding') ? null : Number(length);
}
