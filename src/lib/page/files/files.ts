/** Tables (CSV, TSV), names, addresses and contents of workspace files. */
import { plainLine } from '../../shared/characters.ts';
import { ApiError, errorFromBody, goToLogin, unreachable } from '../request.ts';

export interface Table {
	head: string[];
	rows: string[][];
	hiddenColumns: number;
	/** The file has more rows. */
	isCut: boolean;
}

/** `isCut`: the text is only the start of the file, so its last row may be incomplete. */
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

/** Numbers by value and before text; empty cells last in either direction. Ties keep their order. */
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

/** Allows thousands separators, a currency or a percent sign. */
export function numberOf(cell: string): number | null {
	const bare = cell.replace(/^[$€£¥]\s?|\s?[%€£¥]$/g, '').replace(/,(?=\d{3}(?:\D|$))/g, '');
	return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(bare) ? Number(bare) : null;
}

/** Quoted cells may contain separators, doubled quotes and line breaks. An incomplete last row counts. */
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

/** By extension; the first match counts. `page` is HTML, `drawing` SVG, `office` a workbook or a text document. */
const KINDS = [
	['image', /\.(png|jpe?g|gif|webp|avif)$/i],
	['drawing', /\.svg$/i],
	['notebook', /\.ipynb$/i],
	// Types that browsers play; the server sends matching media types.
	['audio', /\.(mp3|wav|ogg|opus|m4a|flac)$/i],
	['video', /\.(mp4|webm|mov)$/i],
	['table', /\.(csv|tsv)$/i],
	['markdown', /\.(md|markdown)$/i],
	['json', /\.(json|geojson)$/i],
	['page', /\.html?$/i],
	['pdf', /\.pdf$/i],
	['office', /\.(xlsx|docx)$/i],
	[
		'text',
		/\.(txt|jsonl|log|xml|ya?ml|toml|ini|css|js|mjs|cjs|jsx|ts|tsx|svelte|vue|py|rb|rs|go|java|kt|c|h|cpp|cs|php|sh|bash|ps1|sql|diff|patch|tex|srt|vtt|ics|vcf)$/i
	]
] as const;
export type FileKind = (typeof KINDS)[number][0] | 'other';
const MAX_NAME = 120;

export function fileKind(path: string): FileKind {
	return KINDS.find(([, pattern]) => pattern.test(path))?.[0] ?? 'other';
}

/** Text of sentences, each paragraph often a line: it is read wrapped. */
export function isProse(path: string): boolean {
	return /(?:\.(?:md|markdown|txt)|(?:^|\/)(?:license|readme|notice))$/i.test(path);
}

export function fileName(path: string): string {
	return path.slice(path.lastIndexOf('/') + 1);
}

/** Address of an earlier version. */
export function versionUrl(conversationId: string, path: string, id: string): string {
	return `${fileUrl(conversationId, path)}?version=${id}`;
}

/** Upload and download address of a workspace file. `version` only keeps caches from showing an older one. */
export function fileUrl(conversationId: string, path: string, version?: string): string {
	const segments = path.split('/').map(encodeURIComponent).join('/');
	const query = version === undefined ? '' : `?v=${encodeURIComponent(version)}`;
	return `/api/conversations/${encodeURIComponent(conversationId)}/files/${segments}${query}`;
}

/** Where a chat's folder with this SKILL.md is reviewed and installed; null for other files, and without a folder. */
export function installUrl(conversationId: string, path: string): string | null {
	const folder = /^(.+)\/SKILL\.md$/.exec(path)?.[1];
	return folder === undefined ? null : `/skills/install?${new URLSearchParams({ chat: conversationId, folder })}`;
}

/** Address for viewing a file in a frame, with or without its scripts. */
export function viewUrl(url: string, view: 'plain' | 'scripts'): string {
	return `${url}${url.includes('?') ? '&' : '?'}view=${view}`;
}

/** Address of a zip archive of all files. */
export function archiveUrl(conversationId: string): string {
	return `/api/conversations/${encodeURIComponent(conversationId)}/files?format=zip`;
}

/** A name for one path segment on any system, as close to `name` as possible. */
export function safeName(name: string): string {
	const cleaned = plainLine(name.toWellFormed())
		.normalize('NFC')
		.replace(/[/\\:*?"<>|]/g, '_')
		.replace(/^[.\s]+|[.\s]+$/g, '');
	if (cleaned === '') return 'file';
	const [stem, extension] = splitExtension(cleaned);
	// Cutting by code points keeps emojis whole.
	return [...stem].slice(0, MAX_NAME - extension.length).join('') + extension;
}

export function safePath(path: string): string {
	return path.split('/').map(safeName).join('/');
}

/** Appends ` (2)`, ` (3)` … to taken names, ignoring case. */
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

/** The top keys of a Markdown file's front matter, and the text below it. */
export function splitFrontMatter(text: string): { fields: [key: string, value: string][]; body: string } {
	const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
	const fields: [string, string][] = [];
	for (const line of found?.[1]?.split(/\r?\n/) ?? []) {
		const [, key, value = ''] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
		const last = fields.at(-1);
		if (key !== undefined) fields.push([key, value.replace(/^(["'])(.*)\1$/, '$2')]);
		else if (last) last[1] = `${last[1]} ${line.trim()}`.trim();
	}
	return fields.length === 0 ? { fields, body: text } : { fields, body: text.slice(found?.[0].length) };
}

export interface FileStart {
	text: string;
	isCut: boolean;
	/** Of the whole file; null if unknown. */
	bytes: number | null;
}

/** Opens a file for reading. @throws ApiError */
export async function openFile(url: string): Promise<Response> {
	const response = await fetch(url).catch((error: unknown) => {
		throw unreachable(error);
	});
	if (response.status === 401) goToLogin();
	if (!response.ok) throw errorFromBody(response.status, await response.text());
	return response;
}

/** Reads at most `maxBytes` and cancels the rest. @throws ApiError */
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

/** Checks whether the file still has this size; if unknown, `same`. Never rejects. */
export async function checkFile(url: string, bytes: number): Promise<FileState> {
	const response = await fetch(url, { method: 'HEAD' }).catch(() => null);
	if (response?.status === 404) return 'gone';
	const now = response?.ok && response.headers.has('content-disposition') ? sizeOf(response) : null;
	return now === null || now === bytes ? 'same' : { bytes: now };
}

function sizeOf(response: Response): number | null {
	const length = response.headers.get('content-length');
	// The length of a compressed response isn't the file's.
	return length === null || response.headers.has('content-encoding') ? null : Number(length);
}
