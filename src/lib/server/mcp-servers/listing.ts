/** The tools of one server as the agent has them: counted, bounded and cleaned, whatever the server says of itself (FEATURES E36). */
import { createHash } from 'node:crypto';
import { withoutHidden } from '../../shared/characters.ts';

export interface ListedTool {
	/** Among all tools. */
	name: string;
	/** The server's own name for it. */
	tool: string;
	/** The same as one line for people. */
	shown: string;
	description: string;
	/** JSON Schema. */
	parameters: Record<string, unknown>;
	/** Of all that the server says of it: one that changes is another tool. */
	digest: string;
}

export interface Listing {
	tools: ListedTool[];
	/** What was left out, in a sentence. */
	note: string | null;
}

/** One page, as the protocol has it. */
export interface ToolPage {
	tools: readonly { name: string; description?: string | undefined; inputSchema: Record<string, unknown> }[];
	nextCursor?: string | undefined;
}

const MAX_TOOLS = 128;
const MAX_PAGES = 32;
const MAX_NAME = 256;
const MAX_DESCRIPTION = 4_000;
const MAX_SCHEMA = 32_000;
/** Of all its tools together: each request to the model has them. */
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
			if (total > MAX_TOTAL)
				return end(tools, `Only its first ${tools.size} tools are used, because the descriptions are too long.`);
			tools.set(listed.name, listed);
		}
		if (nextCursor === undefined || nextCursor === '') break;
		if (page === MAX_PAGES) return end(tools, `Its tool list is too long. Only the first ${MAX_PAGES} pages are used.`);
		cursor = nextCursor;
	}
	const problem = unusable === 1 ? '1 of its tools is' : `${unusable} of its tools are`;
	return end(
		tools,
		unusable === 0 ? null : `${problem} skipped: the name appears twice, or the description is too long.`
	);
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
		digest: createHash('sha256')
			.update(JSON.stringify([server, name, description, inputSchema]))
			.digest('hex')
	};
}

const TOO_DEEP = Symbol('too deep');

/** Texts of a schema are read by the model as the description is. */
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

// What a tool of an MCP server answered, as text that the model reads (FEATURES E36); pure.

/** A result as the protocol has it, with what of it is used. */
export interface ToolAnswer {
	content?: readonly Record<string, unknown>[] | undefined;
	structuredContent?: unknown;
	isError?: boolean | undefined;
}

/** Texts as they are; of images, sounds and files what they are; what is data alone as JSON. */
export function resultText({ content = [], structuredContent }: ToolAnswer): string {
	const parts = content.map(partText);
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

/** NUL is kept by no database. */
function textOf(text: unknown): string {
	return typeof text === 'string' ? text.replaceAll('\0', '').toWellFormed() : '';
}

function word(value: unknown): string {
	return typeof value === 'string' && value !== '' ? plainLine(value, 500) : 'unknown';
}

/** Of what is in base64. */
function sizeOf(data: unknown): string {
	const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
	return bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`;
}

// Makes text of a foreign program fit to be shown and sent on: no controls, no bidi, no tags, no more than there is room for.

/** Line breaks and tabs stay; `most` is in UTF-16 units. */
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

/** At most `maxBytes` of UTF-8, its beginning and its end, with a line between them that says so. */
export function boundedText(text: string, maxBytes: number): { text: string; truncated: boolean } {
	const bytes = Buffer.from(text);
	if (bytes.length <= maxBytes) return { text, truncated: false };
	const half = Math.max(1, Math.floor(maxBytes / 2));
	const left = bytes.length - 2 * half;
	// A character that is cut in two at an edge is left out.
	const head = bytes
		.subarray(0, half)
		.toString()
		.replace(/\ufffd+$/, '');
	const tail = bytes
		.subarray(bytes.length - half)
		.toString()
		.replace(/^\ufffd+/, '');
	return { text: `${head}\n… ${left} bytes left out …\n${tail}`, truncated: true };
}

// What a server's tool is called among all tools: `mcp__server__tool`, and no other tool is called the same (FEATURES E36); pure.

/** The most that models' servers take. */
const MAX_LENGTH = 64;
const DIGEST_LENGTH = 8;

/**
 * As it is where the name can be read back: servers end at the first `__` behind the prefix. Any other has a digest of both
 * names at its end, the same each time.
 */
export function toolName(server: string, tool: string): string {
	const plain = `mcp__${server}__${tool}`;
	const isClear = !server.includes('__') && !server.endsWith('_');
	if (isClear && plain.length <= MAX_LENGTH && /^[A-Za-z0-9_-]+$/.test(tool)) return plain;
	const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, DIGEST_LENGTH);
	const readable = plain.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1);
	return `${readable}_${digest}`;
}
