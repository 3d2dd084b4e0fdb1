/** Shows what a program printed as Markdown, and gives an answer the form that a caller asked for. */
import type { ModelOptions } from '../agent/model.ts';
import { slotWords } from './slots.ts';
import { asArray, asNumber, asObject, asText, isObject, type JsonObject, parseJson } from '../../shared/json.ts';

const MAX_ROWS = 50;
const MAX_COLUMNS = 10;
const MAX_DEPTH = 2;
const IS_MARKDOWN =
	/^(?:#{1,6} \S|[-*+] \S|\d{1,4}[.)] \S|> |```|~~~|\|[^\n]*\|[ \t]*$)|\*\*[^\s*][^*\n]{0,200}\*\*|\[[^\]\n]{1,200}\]\(/m;
/** A line that only tells that something goes on, and a last sentence on how to call the program otherwise. */
const PROGRESS = /^(?:[^\n]{0,200}(?:…|\.{3})[ \t]*\n+)+(?=\S)/;
const HINT = /(?<=[.!?)]) [^.!?\n]{0,200} --[a-z][\w-]*[^.!?\n]{0,100}[.!]$/gm;

/** Of a tool: any JSON, or a text that is none. */
export function renderValue(output: string): string {
	const value = parseWritten(output) ?? output;
	const text = typeof value === 'string' ? value : output;
	if (text.trim() === '') return 'Done.';
	if (text === 'null') return 'Done: there is no result to show.';
	return typeof value === 'string' ? renderOutput(value) : renderJson(value);
}

/** Of a script: the answer in what it printed, without its progress and its advice for the command line. */
export function renderOutput(output: string): string {
	const text = output.trimEnd().replace(PROGRESS, '').replace(HINT, '');
	const value = /^\s*[[{]/.test(text) ? parseWritten(text) : undefined;
	if (typeof value === 'object' && value !== null) return renderJson(value);
	if (IS_MARKDOWN.test(text.slice(0, 20_000)) || isProse(text)) return text;
	const line = text.trim();
	if (line.includes('\n') || line.length > 2_000) return fenced(text);
	return /[`*_<>[\]\\|~$]/.test(line) ? inlineCode(line) : line;
}

/** In a fence longer than any inside. */
export function fenced(text: string): string {
	const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}text\n${text}\n${fence}`;
}

export function inlineCode(text: string): string {
	const longest = longestRun(text);
	const mark = '`'.repeat(longest + 1);
	return longest === 0 ? `${mark}${text}${mark}` : `${mark} ${text} ${mark}`;
}

function longestRun(text: string): number {
	return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

/** Paragraphs, each on one line: nothing is lost when a reader joins lines. */
function isProse(text: string): boolean {
	return text
		.split(/\n{2,}/)
		.every((paragraph) => /^\S[^\n]*[.!?:]$/.test(paragraph) && !/ {2}|[\t`*_<>]/.test(paragraph));
}

function renderJson(value: unknown, depth = 0): string {
	const indent = '  '.repeat(depth);
	if (isScalar(value)) return scalar(value);
	if (!Array.isArray(value)) {
		const entries = Object.entries(value as object);
		const list = entries.map(([key, item]) => `**${keyText(key)}**:${member(item, depth)}`);
		const isOne = depth === 0 && list.length === 1 && isScalar(entries[0]?.[1]);
		return isOne
			? String(list[0])
			: list.map((line) => `${indent}- ${line}`).join('\n') || 'Nothing: the result is empty.';
	}
	if (value.length === 0) return 'Nothing: the list is empty.';
	const rows = value.slice(0, MAX_ROWS);
	const more = value.length > MAX_ROWS ? `\n\n… and ${value.length - MAX_ROWS} more` : '';
	return (
		(depth === 0 && isTable(rows) ? renderTable(rows) : rows.map((row) => `${indent}- ${inLine(row)}`).join('\n')) +
		more
	);
}

/** `charactersWithoutSpaces` in words. */
function keyText(key: string): string {
	return /^\p{Ll}+(\p{Lu}\p{Ll}+)+$/u.test(key) ? slotWords(key).join(' ') : escapeText(key);
}

/** What stands after the key of a list entry. */
function member(value: unknown, depth: number): string {
	if (typeof value === 'string' && value.includes('\n'))
		return `\n\n${fenced(value).replace(/^/gm, '  '.repeat(depth + 1))}\n`;
	if (Array.isArray(value) && value.every(isScalar)) return ` ${value.map(scalar).join(', ') || '–'}`;
	return isScalar(value) || depth === MAX_DEPTH || isTable(value)
		? ` ${inLine(value)}`
		: `\n${renderJson(value, depth + 1)}`;
}

function renderTable(rows: readonly JsonObject[]): string {
	const columns = [...new Set(rows.flatMap(Object.keys))];
	const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	return [
		line(columns.map(escapeText)),
		line(columns.map((column) => (rows.every((row) => row[column] instanceof WrittenNumber) ? '---:' : '---'))),
		...rows.map((row) => line(columns.map((column) => (column in row ? inCell(row[column], column) : ''))))
	].join('\n');
}

/** 7,764; but a year, or what only tells one from another, has no comma. */
function inCell(value: unknown, column: string): string {
	const isFigure = !/^(year|id|code|zip|no|number|port|phone)s?$/.test(slotWords(column).at(-1) ?? '');
	if (!(value instanceof WrittenNumber) || !isFigure) return inLine(value);
	return inLine(value).replace(/^-?\d{4,15}(?=\.|$)/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ','));
}

/** Objects of a handful of plain members. */
function isTable(value: unknown): value is JsonObject[] {
	const isRow = (row: unknown) => isObject(row) && !isScalar(row) && Object.values(row).every(isScalar);
	if (!Array.isArray(value) || value.length === 0 || !value.every(isRow)) return false;
	return new Set(value.flatMap(Object.keys)).size <= MAX_COLUMNS;
}

function inLine(value: unknown): string {
	return (isScalar(value) ? scalar(value) : inlineCode(JSON.stringify(value)).replaceAll('|', '\\|')).replaceAll(
		'\n',
		' '
	);
}

function scalar(value: unknown): string {
	return value === null || value === '' ? '–' : typeof value === 'string' ? escapeText(value) : String(value);
}

function isScalar(value: unknown): boolean {
	return typeof value !== 'object' || value === null || value instanceof WrittenNumber;
}

function escapeText(text: string): string {
	return text.replace(/[\\`*_[\]<>|~]/g, '\\$&');
}

/** A number as the program wrote it: `1.50` stays, and so does an integer that no double can hold. */
class WrittenNumber extends Number {
	readonly written: string;
	constructor(value: number, written = String(value)) {
		super(value);
		this.written = written;
	}
	override toString(): string {
		return this.written;
	}
}

/** JSON with its numbers as they are written; undefined where the text is none. */
function parseWritten(text: string): unknown {
	if (parseJson(text) === undefined) return undefined;
	// The text of a value is known from Node 21 on.
	const keep = (_key: string, value: unknown, context?: { source?: string }) =>
		typeof value === 'number' ? new WrittenNumber(value, context?.source) : value;
	return JSON.parse(text, keep) as unknown;
}

// The form that a caller asked for: JSON by a schema, no longer than so many tokens.

export interface ShapedText {
	text: string;
	/** Why it is not whole; null when it is. */
	incompleteReason: string | null;
}

/** As everywhere in demo mode, four characters are about a token. */
const CHARACTERS_A_TOKEN = 4;

export function shapeText(text: string, options: ModelOptions = {}): ShapedText {
	const format = asObject(asObject(options.text).format);
	const schema = format.type === 'json_schema' ? asObject(format.schema) : {};
	const value = Object.keys(schema).length > 0 ? valueFor(schema, { text, root: schema }) : { answer: text };
	const shaped = format.type === 'json_object' || format.type === 'json_schema' ? JSON.stringify(value) : text;
	const most = (asNumber(options.max_output_tokens) ?? Infinity) * CHARACTERS_A_TOKEN;
	if (shaped.length <= most) return { text: shaped, incompleteReason: null };
	return { text: shaped.slice(0, most).toWellFormed(), incompleteReason: 'max_output_tokens' };
}

/** A value that the schema allows; a figure is the one that the text tells beside the property's name. */
function valueFor(given: unknown, told: { text: string; root: JsonObject }, key = '', depth = 12): unknown {
	const { text, root } = told;
	const path = asText(asObject(given).$ref)?.match(/^#\/?(.*)$/)?.[1];
	const keys = path === undefined || path === '' ? [] : path.split('/').map((name) => name.replaceAll('~1', '/'));
	const schema = path === undefined ? asObject(given) : keys.reduce((value, name) => asObject(value[name]), root);
	const [branch] = [schema.anyOf, schema.oneOf, schema.allOf].flatMap(asArray);
	const choices = 'const' in schema ? [schema.const] : asArray(schema.enum);
	if (depth <= 0) return null;
	if (choices.length > 0) return choices.find((choice) => text.includes(String(choice) || '\0')) ?? choices[0];
	if (branch !== undefined) return valueFor(branch, told, key, depth - 1);
	const properties = asObject(schema.properties);
	const type = [schema.type].flat().find((each) => each !== 'null') ?? (schema.properties ? 'object' : 'string');
	if (type === 'null' || type === 'boolean') return type === 'null' ? null : false;
	if (type === 'array') {
		const length = Math.min(asNumber(schema.minItems) ?? 0, 10);
		return Array.from({ length }, () => valueFor(schema.items, told, '', depth - 1));
	}
	if (type === 'object') {
		const names = Array.isArray(schema.required) ? schema.required.map(String) : Object.keys(properties);
		return Object.fromEntries(names.map((name) => [name, valueFor(properties[name], told, name, depth - 1)]));
	}
	if (type !== 'number' && type !== 'integer') return text.slice(0, asNumber(schema.maxLength) ?? undefined);
	const plain = keyText(key)
		.toLowerCase()
		.replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
	const label = text.toLowerCase().includes(plain) ? plain : key.toLowerCase();
	const at = label === '' ? -1 : text.toLowerCase().indexOf(label);
	const figure = at < 0 ? null : /^[^\p{L}\d]{1,12}?(-?\d+(?:\.\d+)?)/u.exec(text.slice(at + label.length))?.[1];
	const number = figure ? Number(figure) : (asNumber(schema.minimum) ?? 0);
	return type === 'integer' ? Math.trunc(number) : number;
}
