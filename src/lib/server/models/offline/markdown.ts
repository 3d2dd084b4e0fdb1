/** Shows what a program printed as Markdown: prose and Markdown as they are, JSON as a list or a table, the rest as code. */
import { isObject, parseJson } from '../json.ts';

/** A number as the program wrote it: `1.50` stays, and so does an integer that no double can hold. */
interface WrittenNumber {
	written: string;
}

const MAX_ROWS = 50;
const MAX_DEPTH = 2;
const IS_MARKDOWN =
	/^(?:#{1,6} \S|[-*+] \S|\d{1,4}[.)] \S|> |```|~~~|\|[^\n]*\|[ \t]*$)|\*\*[^\s*][^*\n]{0,200}\*\*|\[[^\]\n]{1,200}\]\(/m;

/** Of a tool: any JSON, or a text that is none. */
export function renderValue(output: string): string {
	const value = parseWritten(output);
	if (value === undefined) return output.trim() === '' ? 'Done.' : renderOutput(output);
	if (typeof value === 'string') return value.trim() === '' ? 'Done.' : renderOutput(value);
	return value === null ? 'Done: there is no result to show.' : renderJson(value);
}

/** Of a script: what it printed. */
export function renderOutput(output: string): string {
	const text = output.trimEnd();
	const value = /^\s*[[{]/.test(text) ? parseWritten(text) : undefined;
	if (typeof value === 'object' && value !== null) return renderJson(value);
	if (IS_MARKDOWN.test(text.slice(0, 20_000))) return text;
	if (!text.trim().includes('\n')) {
		const line = text.trim();
		if (line.length > 2_000) return fenced(line);
		return /[`*_<>[\]\\|~$]/.test(line) ? inlineCode(line) : line;
	}
	return isProse(text) ? text : fenced(text);
}

/** In a fence longer than any inside. */
export function fenced(text: string): string {
	const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
	const fence = '`'.repeat(longest + 1);
	return `${fence}text\n${text}\n${fence}`;
}

export function inlineCode(text: string): string {
	const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
	const mark = '`'.repeat(longest + 1);
	return longest === 0 ? `${mark}${text}${mark}` : `${mark} ${text} ${mark}`;
}

/** Paragraphs, each on one line: nothing is lost when a reader joins lines. */
function isProse(text: string): boolean {
	return text
		.trim()
		.split(/\n{2,}/)
		.every(
			(paragraph) => !paragraph.includes('\n') && /^\S.*[.!?:]$/.test(paragraph) && !/ {2}|\t|[`*_<>]/.test(paragraph)
		);
}

function renderJson(value: unknown, depth = 0): string {
	if (Array.isArray(value)) return renderList(value, depth);
	if (!isObject(value) || isWritten(value)) return scalar(value);
	const entries = Object.entries(value);
	if (entries.length === 0) return 'Nothing: the result is empty.';
	const [only] = entries;
	if (entries.length === 1 && depth === 0 && only && isScalar(only[1]) && !isLong(only[1]))
		return `**${escapeText(only[0])}**: ${scalar(only[1])}`;
	return entries
		.map(([key, item]) => `${'  '.repeat(depth)}- **${escapeText(key)}**:${member(item, depth)}`)
		.join('\n');
}

/** What stands after the key of a list entry. */
function member(value: unknown, depth: number): string {
	if (isLong(value) && typeof value === 'string') return `\n\n${indented(fenced(value), depth + 1)}\n`;
	if (isScalar(value)) return ` ${scalar(value)}`;
	if (isEmpty(value)) return ' –';
	if (Array.isArray(value) && value.every((item) => isScalar(item) && !isLong(item)))
		return ` ${value.map(scalar).join(', ')}`;
	return depth < MAX_DEPTH && !isTable(value)
		? `\n${renderJson(value, depth + 1)}`
		: ` ${inlineCode(JSON.stringify(value, showWritten))}`;
}

function renderList(items: readonly unknown[], depth: number): string {
	if (items.length === 0) return 'Nothing: the list is empty.';
	const more = items.length > MAX_ROWS ? [`… and ${items.length - MAX_ROWS} more`] : [];
	if (depth === 0 && isTable(items))
		return [renderTable(items.slice(0, MAX_ROWS) as Record<string, unknown>[]), ...more].join('\n\n');
	const lines = items.slice(0, MAX_ROWS).map((item) => {
		const text = isScalar(item) ? scalar(item) : inlineCode(JSON.stringify(item, showWritten));
		return `${'  '.repeat(depth)}- ${text.replaceAll('\n', ' ')}`;
	});
	return [...lines, ...more.map((text) => `${'  '.repeat(depth)}- ${text}`)].join('\n');
}

function renderTable(rows: readonly Record<string, unknown>[]): string {
	const columns = [...new Set(rows.flatMap(Object.keys))];
	const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	const cell = (value: unknown) =>
		(value === undefined
			? ''
			: isScalar(value)
				? scalar(value)
				: JSON.stringify(value, showWritten).replaceAll('|', '\\|')
		).replaceAll('\n', ' ');
	return [
		line(columns.map(escapeText)),
		line(columns.map((column) => (rows.every((row) => isWritten(row[column])) ? '---:' : '---'))),
		...rows.map((row) => line(columns.map((column) => cell(row[column]))))
	].join('\n');
}

/** Objects of a handful of plain members. */
function isTable(value: unknown): boolean {
	if (!Array.isArray(value) || value.length === 0) return false;
	const columns = new Set<string>();
	const isFlat = value.every((row) => {
		if (!isObject(row) || isWritten(row)) return false;
		for (const key of Object.keys(row)) columns.add(key);
		return Object.values(row).every((item) => isScalar(item) && !isLong(item));
	});
	return isFlat && columns.size > 0 && columns.size <= 10;
}

function scalar(value: unknown): string {
	if (isWritten(value)) return value.written;
	if (typeof value === 'string') return value === '' ? '–' : escapeText(value);
	return value === null ? '–' : String(value);
}

function isScalar(value: unknown): boolean {
	return typeof value !== 'object' || value === null || isWritten(value);
}

function isLong(value: unknown): boolean {
	return typeof value === 'string' && (value.includes('\n') || value.length > 400);
}

function isEmpty(value: unknown): boolean {
	return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function indented(text: string, depth: number): string {
	return text.replace(/^/gm, '  '.repeat(depth));
}

function escapeText(text: string): string {
	return text.replace(/[\\`*_[\]<>|~]/g, '\\$&');
}

function isWritten(value: unknown): value is WrittenNumber {
	return value instanceof NumberText;
}

class NumberText implements WrittenNumber {
	readonly written: string;
	constructor(written: string) {
		this.written = written;
	}
}

function showWritten(_key: string, value: unknown): unknown {
	return isWritten(value) ? Number(value.written) : value;
}

/** JSON with its numbers as they are written; undefined where the text is none. */
function parseWritten(text: string): unknown {
	if (parseJson(text) === undefined) return undefined;
	return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
		// The text of a value is known from Node 21 on.
		typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value
	) as unknown;
}
