/** Reads a server’s tools and results: limited and cleaned, because the server is untrusted (E36). */
import { hash } from 'node:crypto';
import { withoutHidden } from '../../shared/characters.ts';

export interface ListedTool {
	/** Unique among all tools. */
	name: string;
	/** The server’s own name. */
	tool: string;
	/** The server’s name, safe to show. */
	shown: string;
	description: string;
	/** JSON Schema. */
	parameters: Record<string, unknown>;
	/** Digest of the whole definition: a changed tool needs approval again. */
	digest: string;
}

export interface Listing {
	tools: ListedTool[];
	/** A sentence about skipped tools. */
	note: string | null;
}

export interface ToolPage {
	tools: readonly { name: string; description?: string | undefined; inputSchema: Record<string, unknown> }[];
	nextCursor?: string | undefined;
}

const MAX_TOOLS = 128;
const MAX_PAGES = 32;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA = 32_000;
/** Total characters of all tools, which every request to the model contains. */
const MAX_TOTAL = 400_000;
const MAX_DEPTH = 32;

export async function readListing(
	server: string,
	readPage: (cursor: string | undefined) => Promise<ToolPage>
): Promise<Listing> {
	const tools = new Map<string, ListedTool>();
	let unusable = 0;
	let total = 0;
	let cursor: string | undefined;
	for (let page = 1; ; page += 1) {
		const { tools: given, nextCursor } = await readPage(cursor);
		for (const each of given) {
			if (tools.size === MAX_TOOLS) return end(tools, `Only its first ${MAX_TOOLS} tools are used.`);
			const listed = toListed(server, each);
			if (!listed || tools.has(listed.name)) {
				unusable += 1;
				continue;
			}
			total += listed.description.length + JSON.stringify(listed.parameters).length;
			if (total > MAX_TOTAL) {
				return end(tools, `Only its first ${tools.size} tools are used, because the descriptions are too long.`);
			}
			tools.set(listed.name, listed);
		}
		if (nextCursor === undefined || nextCursor === '') break;
		if (page === MAX_PAGES) return end(tools, `Its tool list is too long. Only the first ${MAX_PAGES} pages are used.`);
		cursor = nextCursor;
	}
	if (unusable === 0) return end(tools, null);
	const problem = unusable === 1 ? '1 of its tools is' : `${unusable} of its tools are`;
	return end(tools, `${problem} skipped: the name appears twice, or the description is too long.`);
}

function end(tools: ReadonlyMap<string, ListedTool>, note: string | null): Listing {
	return { tools: [...tools.values()], note };
}

function toListed(
	server: string,
	{ name, description = '', inputSchema }: ToolPage['tools'][number]
): ListedTool | null {
	const shown = plainLine(name, MAX_NAME);
	if (name.length > MAX_NAME || shown === '') return null;
	const parameters = cleaned(inputSchema, 0);
	if (parameters === TOO_DEEP || JSON.stringify(parameters).length > MAX_SCHEMA) return null;
	return {
		name: toolName(server, name),
		tool: name,
		shown,
		description: plainText(description, MAX_DESCRIPTION),
		parameters: parameters as Record<string, unknown>,
		digest: hash('sha256', JSON.stringify([server, name, description, inputSchema]))
	};
}

const TOO_DEEP = Symbol('too deep');

/** Models read the texts of a schema too. */
function cleaned(value: unknown, depth: number): unknown {
	if (depth > MAX_DEPTH) return TOO_DEEP;
	if (typeof value === 'string') return plainText(value, MAX_DESCRIPTION);
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) {
		const items = value.map((item) => cleaned(item, depth + 1));
		return items.includes(TOO_DEEP) ? TOO_DEEP : items;
	}
	const entries = Object.entries(value).map(([key, item]) => [key, cleaned(item, depth + 1)] as const);
	return entries.some(([, item]) => item === TOO_DEEP) ? TOO_DEEP : Object.fromEntries(entries);
}

export interface ToolAnswer {
	content?: readonly Record<string, unknown>[] | undefined;
	structuredContent?: unknown;
	isError?: boolean | undefined;
}

/** At most so many of one result are shown. */
const MAX_PICTURES = 8;

/**
 * Converts a result to text for the model: text unchanged, a description of media and files, pure data as JSON.
 * `pictures` receives those that can be shown, in base64.
 */
export function resultText({ content = [], structuredContent }: ToolAnswer, pictures?: string[]): string {
	const parts = content.map((part) => {
		if (part.type !== 'image' || typeof part.data !== 'string') return partText(part);
		if (!pictures || pictures.length >= MAX_PICTURES) return partText(part);
		pictures.push(part.data);
		return `[image: ${word(part.mimeType)}, ${sizeOf(part.data)}]`;
	});
	if (structuredContent !== undefined && !content.some(({ type }) => type === 'text')) {
		parts.push(JSON.stringify(structuredContent));
	}
	return parts.join('\n') || '(The tool returned nothing.)';
}

function partText(part: Record<string, unknown>): string {
	switch (part.type) {
		case 'text':
			return textOf(part.text);
		case 'image':
		case 'audio':
			return `[${part.type}: ${word(part.mimeType)}, ${sizeOf(part.data)}; not shown]`;
		case 'resource_link':
			return `[resource ${word(part.name)}: ${word(part.uri)}${part.mimeType ? `, ${word(part.mimeType)}` : ''}]`;
		case 'resource':
			return resourceText(part.resource);
		default:
			return `[${word(part.type)}: not shown]`;
	}
}

function resourceText(resource: unknown): string {
	const { uri, mimeType, text, blob } = (resource ?? {}) as Record<string, unknown>;
	if (typeof text === 'string') return `[resource ${word(uri)}]\n${textOf(text)}`;
	return `[resource ${word(uri)}: ${word(mimeType)}, ${sizeOf(blob)}; not shown]`;
}

/** Databases can’t store NUL. */
function textOf(text: unknown): string {
	return typeof text === 'string' ? text.replaceAll('\0', '').toWellFormed() : '';
}

function word(value: unknown): string {
	return typeof value === 'string' && value !== '' ? plainLine(value, 500) : 'unknown';
}

/** Decoded size of base64. */
function sizeOf(data: unknown): string {
	const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
	return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}

// Cleans foreign text: no control, bidi or tag characters, limited length.

/** Keeps line breaks and tabs. `most` is in UTF-16 units. */
export function plainText(text: string, most: number): string {
	const plain = withoutHidden(text.slice(0, most * 2))
		.replaceAll('\r\n', '\n')
		.toWellFormed()
		.trim();
	return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}

export function plainLine(text: string, most: number): string {
	return plainText(withoutHidden(text.slice(0, most * 4)).replaceAll(/\s+/g, ' '), most);
}

/** Keeps head and tail of at most `maxBytes` of UTF-8, with a line between about what was omitted. */
export function boundedText(text: string, maxBytes: number): { text: string; truncated: boolean } {
	const bytes = Buffer.from(text);
	if (bytes.length <= maxBytes) return { text, truncated: false };
	const half = Math.max(1, Math.floor(maxBytes / 2));
	const left = bytes.length - 2 * half;
	// Drops a character that was cut.
	const head = bytes.toString('utf8', 0, half).replace(/\ufffd+$/, '');
	const tail = bytes.toString('utf8', bytes.length - half).replace(/^\ufffd+/, '');
	return { text: `${head}\n… ${left} bytes left out …\n${tail}`, truncated: true };
}

// Unique names of tools: `mcp__server__tool` (E36).

/** Maximum of model servers. */
const MAX_LENGTH = 64;
const DIGEST_LENGTH = 8;

/** A name that can’t be split at the first `__` after the prefix, or isn’t valid, ends with a digest of both names. */
export function toolName(server: string, tool: string): string {
	const plain = `mcp__${server}__${tool}`;
	const isClear = !server.includes('__') && !server.endsWith('_');
	if (isClear && plain.length <= MAX_LENGTH && /^[A-Za-z0-9_-]+$/.test(tool)) return plain;
	const digest = hash('sha256', `${server}\0${tool}`).slice(0, DIGEST_LENGTH);
	const readable = plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1);
	return `${readable}_${digest}`;
}

/** A valid name for a server that isn't taken. */
export function freeName(given: string, isTaken: (name: string) => boolean): string {
	const plain =
		given
			.toLowerCase()
			.replaceAll(/[^a-z0-9_-]+/g, '-')
			.slice(0, 28) || 'server';
	let name = plain;
	for (let number = 2; isTaken(name); number += 1) name = `${plain}-${number}`;
	return name;
}
