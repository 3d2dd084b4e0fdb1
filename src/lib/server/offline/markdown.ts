/** Shows what a program printed as Markdown: prose and Markdown as they are, JSON as a list or a table, the rest as code. */
import type { ModelOptions } from '../agent/model.ts';
import { asArray, asNumber, asObject, asText, isObject, type JsonObject, parseJson } from '../../shared/json.ts';

/** A number as the program wrote it: `1.50` stays, and so does an integer that no double can hold. */
interface WrittenNumber {
	written: string;
}

const MAX_ROWS = 50;
const MAX_LIST_DEPTH = 2;
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
	return depth < MAX_LIST_DEPTH && !isTable(value)
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

// Gives an answer the form that the caller asked for: JSON by a schema, no longer than so many tokens. Pure.

export interface ShapedText {
	text: string;
	/** Why it is not whole; null when it is. */
	incompleteReason: string | null;
}

/** As everywhere in the built-in responder, four characters are about a token. */
const CHARACTERS_A_TOKEN = 4;
const MAX_SHAPE_DEPTH = 12;

export function shapeText(text: string, options: ModelOptions = {}): ShapedText {
	const format = asObject(asObject(options.text).format);
	const shaped = format.type === 'json_object' || format.type === 'json_schema' ? asJson(text, format) : text;
	const most = (asNumber(options.max_output_tokens) ?? Infinity) * CHARACTERS_A_TOKEN;
	if (shaped.length <= most) return { text: shaped, incompleteReason: null };
	return { text: shaped.slice(0, most).toWellFormed(), incompleteReason: 'max_output_tokens' };
}

function asJson(text: string, format: JsonObject): string {
	const schema = format.type === 'json_schema' ? asObject(format.schema) : {};
	const hasForm = Object.keys(schema).length > 0;
	return JSON.stringify(
		hasForm ? valueFor(schema, { text, root: schema, key: '' }, MAX_SHAPE_DEPTH) : { answer: text }
	);
}

interface Context {
	text: string;
	/** Where references lead. */
	root: JsonObject;
	/** Name of the property that the value is for; '' for none. */
	key: string;
}

/** A value that the schema allows; figures are those that the text tells beside the property's name. */
function valueFor(given: unknown, context: Context, depth: number): unknown {
	const schema = resolve(asObject(given), context.root);
	if (depth <= 0) return null;
	if ('const' in schema) return schema.const;
	const choices = asArray(schema.enum);
	if (choices.length > 0) {
		const told = choices.find((choice) => typeof choice === 'string' && choice !== '' && context.text.includes(choice));
		return told ?? choices[0];
	}
	const [branch] = [...asArray(schema.anyOf), ...asArray(schema.oneOf), ...asArray(schema.allOf)];
	if (branch !== undefined) return valueFor(branch, context, depth - 1);
	switch (typeOf(schema)) {
		case 'object':
			return objectFor(schema, context, depth);
		case 'array': {
			const length = Math.min(asNumber(schema.minItems) ?? 0, 10);
			return Array.from({ length }, () => valueFor(schema.items, context, depth - 1));
		}
		case 'integer':
		case 'number':
			return numberFor(schema, context);
		case 'boolean':
			return false;
		case 'null':
			return null;
		default:
			return context.text.slice(0, asNumber(schema.maxLength) ?? undefined);
	}
}

function objectFor(schema: JsonObject, context: Context, depth: number): JsonObject {
	const properties = asObject(schema.properties);
	const required = asArray(schema.required).filter((key) => typeof key === 'string');
	const keys = required.length > 0 ? required : Object.keys(properties);
	return Object.fromEntries(keys.map((key) => [key, valueFor(properties[key], { ...context, key }, depth - 1)]));
}

function numberFor(schema: JsonObject, { text, key }: Context): number {
	const label = key.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim();
	const at = label === '' ? -1 : text.toLowerCase().indexOf(label.toLowerCase());
	const told = at < 0 ? null : /^[^\p{L}\d]{1,12}?(-?\d+(?:\.\d+)?)/u.exec(text.slice(at + label.length));
	const value = told ? Number(told[1]) : (asNumber(schema.minimum) ?? 0);
	return typeOf(schema) === 'integer' ? Math.trunc(value) : value;
}

function typeOf(schema: JsonObject): string {
	const types = Array.isArray(schema.type) ? schema.type : [schema.type];
	const type = types.find((each) => typeof each === 'string' && each !== 'null');
	return asText(type) ?? (schema.properties ? 'object' : 'string');
}

/** Follows one reference inside the document. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
	const path = asText(schema.$ref)?.match(/^#\/(.+)$/)?.[1];
	if (path === undefined) return schema;
	return path.split('/').reduce<JsonObject>((value, key) => asObject(value[key.replaceAll('~1', '/')]), root);
}
