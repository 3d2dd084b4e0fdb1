/** What a request goes on from: the chain before it, its session and workspace, and the items that it brings. */
import { createHash } from 'node:crypto';
import type { ResponseItem } from '../../agent/model.ts';
import type { Responses } from '../../store/responses.ts';
import type { Workspaces } from '../../workspaces.ts';
import type { CompactionSeal, Compaction } from './compaction-seal.ts';
import { ApiError } from './errors.ts';
import type { ResponseRequest, InputItem } from './request.ts';
import { MAX_UNSHOWN, type Room, take, unseal } from './sealed.ts';
import type { ExecutedCall } from './wire.ts';
import { plainLine } from '../../../shared/characters.ts';
import { AppError } from '../../../shared/errors.ts';
import { endingOf } from '../refusals.ts';

export interface ConversationParts {
	store: { responses: Responses };
	workspaces: Workspaces;
	compactions: CompactionSeal;
	/** Name of the workspace of a key, or else of a chain. */
	folderOf(apiKeyId: string | null, sessionId: string): string;
}

export interface Conversation {
	/** What was said and done before this request. */
	before: ResponseItem[];
	/** What this request adds. */
	asked: ResponseItem[];
	sessionId: string;
	folder: string;
}

/** @throws ApiError for a chain that is not there, items that cannot be read, and where there is nothing at all */
export async function readConversation(
	parts: ConversationParts,
	{ input, previous_response_id: previous }: Pick<ResponseRequest, 'input' | 'previous_response_id'>,
	{ id, model, apiKeyId }: { id: string; model: string; apiKeyId: string | null }
): Promise<Conversation> {
	const { responses } = parts.store;
	const isNew = previous === null || previous === undefined;
	const chain = isNew ? [] : await responses.chain(previous, apiKeyId);
	if (!chain) {
		throw new ApiError(400, `Previous response with id '${previous?.slice(0, 100)}' not found.`, {
			code: 'previous_response_not_found',
			param: 'previous_response_id'
		});
	}
	const isEmpty = input === undefined || input === null || input.length === 0;
	if (isEmpty && chain.length === 0 && input !== '') {
		throw new ApiError(400, "Missing required parameter: 'input'.", {
			code: 'missing_required_parameter',
			param: 'input'
		});
	}
	const open = (sealed: string, room: Room) => parts.compactions.open(sealed, apiKeyId, room);
	// A compaction begins a new chain; the files of the one before are still meant.
	const sessionId = chain[0]?.sessionId ?? compactedSession(input, open) ?? id;
	const folder = parts.folderOf(apiKeyId, sessionId);
	const before = chain.flatMap(({ items, body }) => {
		return (items as ResponseItem[]).filter(({ type }) => type !== 'reasoning' || body.model === model);
	});
	const asked = await readInput(input, {
		model,
		workspaces: parts.workspaces,
		folder,
		open,
		calls: new Set(before.flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : []))),
		find: (itemId) => findItem(responses, itemId, apiKeyId)
	});
	return { before, asked, sessionId, folder };
}

function compactedSession(input: ResponseRequest['input'], open: InputContext['open']): string | null {
	const item = Array.isArray(input) ? input.findLast(({ type }) => type === 'compaction') : undefined;
	const compaction = item?.type === 'compaction' ? open(item.encrypted_content, { left: MAX_UNSHOWN }) : null;
	return compaction === null || compaction === 'unreadable' ? null : compaction.sessionId;
}

/** `resp_<hex>` gives its items ids with the same hex. */
async function findItem(
	responses: Responses,
	itemId: string,
	apiKeyId: string | null
): Promise<Record<string, unknown> | null> {
	const hex = /^[a-z]+_([0-9a-f]{32})_\d+$/.exec(itemId)?.[1];
	const stored = hex === undefined ? null : await responses.get(`resp_${hex}`, apiKeyId);
	const output = (stored?.body.output ?? []) as Record<string, unknown>[];
	return output.find(({ id }) => id === itemId) ?? null;
}

// What a reader of the thoughts sees of a skill's call.

const MAX_ARGUMENTS = 300;
const MAX_RESULT = 600;

export function callText({ name, arguments: text }: ExecutedCall): string {
	return `Running ${name} ${shortened(text, MAX_ARGUMENTS)}`;
}

/** Follows `callText`. */
export function resultText({ output = '', is_error: isError, name }: ExecutedCall): string {
	return `\n\n${name} ${isError ? 'failed' : 'answered'}: ${shortened(output, MAX_RESULT)}`;
}

function shortened(text: string, most: number): string {
	return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

// The items of a request → the items that the model is sent: references resolved, thoughts unsealed, files kept.

interface InputContext {
	/** What answers: reasoning of another model is left out. */
	model: string;
	workspaces: Workspaces;
	folder: string;
	/** Calls of the chain that the request goes on from. */
	calls: ReadonlySet<string>;
	/** An item of a stored response of the same caller. */
	find(id: string): Promise<Record<string, unknown> | null>;
	/** What a compaction of the same caller stands for; null for what no server of ours has made. */
	open(sealed: string, room: Room): Compaction | 'unreadable' | null;
}

type RoomyContext = InputContext & { room: Room };

/** @throws ApiError that names the item */
async function readInput(input: ResponseRequest['input'], context: InputContext): Promise<ResponseItem[]> {
	if (typeof input === 'string') return [userText(input)];
	const items: ResponseItem[] = [];
	const calls = new Set(context.calls);
	const roomy = { ...context, room: { left: MAX_UNSHOWN } };
	for (const [index, item] of (input ?? []).entries()) {
		const read = await readItem(item, `input[${index}]`, roomy);
		for (const each of read.items) {
			if (each.type === 'function_call') calls.add(String(each.call_id));
			if (each.type === 'function_call_output' && !calls.has(String(each.call_id))) {
				const sentence = `No tool call found for function call output with call_id ${String(each.call_id)}.`;
				throw new ApiError(400, sentence, { code: 'invalid_value', param: `input[${index}]` });
			}
		}
		const place = read.before === undefined ? -1 : items.findLastIndex(({ call_id }) => call_id === read.before);
		items.splice(place < 0 ? items.length : place, 0, ...read.items);
	}
	return items;
}

function userText(text: string): ResponseItem {
	return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

interface ReadItem {
	items: ResponseItem[];
	/** The call that they belong before. */
	before?: string | undefined;
}

async function readItem(item: InputItem, param: string, context: RoomyContext): Promise<ReadItem> {
	switch (item.type) {
		case 'item_reference': {
			const found = await context.find(item.id);
			if (!found)
				throw new ApiError(400, `Item with id '${item.id.slice(0, 100)}' not found.`, {
					code: 'item_not_found',
					param
				});
			take(Buffer.byteLength(JSON.stringify(found)), context.room);
			return readOwn(found, param, context);
		}
		case 'reasoning':
			return readThought(item, param, context);
		case 'compaction':
			return readCompaction(item, param, context);
		case 'function_call': {
			const { type, call_id, name, arguments: text } = item;
			return { items: [{ type, call_id, name, arguments: text }] };
		}
		case 'function_call_output': {
			const { type, call_id, output } = item;
			const content = typeof output === 'string' ? output : await readParts(output, `${param}.output`, context);
			return { items: [{ type, call_id, output: content }] };
		}
		case 'message': {
			const { type, role, content } = item;
			const textType = role === 'assistant' ? 'output_text' : 'input_text';
			const parts =
				typeof content === 'string'
					? [{ type: textType, text: content }]
					: await readParts(content, `${param}.content`, context);
			const phase = role === 'assistant' ? item.phase : undefined;
			return { items: [{ type, role, content: parts, phase: phase ?? undefined }] };
		}
		default:
			return item satisfies never;
	}
}

/** An item that this server has given. */
async function readOwn(item: Record<string, unknown>, param: string, context: RoomyContext): Promise<ReadItem> {
	if (item.type === 'reasoning') return readThought(item, param, context);
	const { id: _id, status: _status, openrouter_skills: _executed, ...kept } = item;
	return { items: [kept as ResponseItem] };
}

/** Of another server's compaction only that server can make something. */
function readCompaction(
	item: Extract<InputItem, { type: 'compaction' }>,
	param: string,
	{ open, room }: RoomyContext
): ReadItem {
	const compaction = open(item.encrypted_content, room);
	if (compaction !== 'unreadable') return { items: compaction?.items ?? [item] };
	const place = `${param}.encrypted_content`;
	throw new ApiError(400, `${place} can’t be read: it’s from another server or key, or was changed`, {
		code: 'invalid_encrypted_content',
		param: place
	});
}

/** What only its own server can read is of use to that one alone; the rest was for people. */
async function readThought(item: Record<string, unknown>, param: string, context: RoomyContext): Promise<ReadItem> {
	if (typeof item.encrypted_content === 'string') {
		return unsealed(item.encrypted_content, param, context) ?? { items: [item as ResponseItem] };
	}
	const stored = typeof item.id === 'string' ? await context.find(item.id) : null;
	return (
		(typeof stored?.encrypted_content === 'string' && unsealed(stored.encrypted_content, param, context)) || {
			items: []
		}
	);
}

function unsealed(text: unknown, param: string, { model, room }: RoomyContext): ReadItem | null {
	const sealed = unseal(String(text), room);
	if (sealed === null) return null;
	if (sealed === 'damaged') {
		const place = `${param}.encrypted_content`;
		throw new ApiError(400, `${place} is damaged. Send it exactly as you received it`, {
			code: 'invalid_encrypted_content',
			param: place
		});
	}
	const isOwn = sealed.model === model;
	return { items: sealed.items.filter(({ type }) => isOwn || type !== 'reasoning'), before: sealed.before };
}

type Part = {
	type: string;
	filename?: string | null | undefined;
	file_data?: string | null | undefined;
	file_url?: string | null | undefined;
} & Record<string, unknown>;

/** Files become files of the workspace, named in a part of their own, as the built-in chat names them. */
async function readParts(
	parts: readonly Part[],
	param: string,
	context: InputContext
): Promise<Record<string, unknown>[]> {
	const read: Record<string, unknown>[] = [];
	const names: string[] = [];
	for (const [index, part] of parts.entries()) {
		const place = `${param}[${index}]`;
		if (part.type === 'input_image' && !part.image_url) throw missing(`${place}.image_url`);
		if (part.type === 'input_image') read.push({ ...part, detail: part.detail ?? 'auto' });
		else if (part.type !== 'input_file' || part.file_url) read.push(part);
		else if (typeof part.file_data !== 'string') throw missing(`${place}.file_data`);
		else names.push(await keepFile(context, part, place));
	}
	if (names.length > 0) {
		read.push({ type: 'input_text', text: `Attached files:\n${names.map((name) => `- ${name}`).join('\n')}` });
	}
	return read;
}

function missing(param: string): ApiError {
	return new ApiError(400, `Missing required parameter: '${param}'.`, { code: 'missing_required_parameter', param });
}

// Files that come with a request: into the workspace of the call, where scripts find them (FEATURES F5, F12).

interface GivenFile {
	filename?: string | null | undefined;
	/** Base64, or a data URL of it. */
	file_data?: string | null | undefined;
}

/** Names it as it is called in the workspace. @throws ApiError when it cannot be kept; `param` names the part */
async function keepFile(
	{ workspaces, folder }: { workspaces: Workspaces; folder: string },
	{ filename, file_data: data }: GivenFile,
	param: string
): Promise<string> {
	const { bytes, mediaType } = decode(data ?? '', param);
	const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
	const wanted = plainName(filename ?? '') || `file-${hash}${endingOf(mediaType)}`;
	// One key's requests share a folder: a name that means another file already is left to that one.
	const name = (await isOther({ workspaces, folder }, wanted, bytes)) ? withMark(wanted, hash) : wanted;
	try {
		await workspaces.write(folder, name, new Blob([bytes]).stream());
		return name;
	} catch (error) {
		if (!(error instanceof AppError) || error.status >= 500) throw error;
		throw new ApiError(400, `${param}.filename: ${error.message}`, {
			code: 'invalid_value',
			param: `${param}.filename`
		});
	}
}

function decode(data: string, param: string): { bytes: Buffer<ArrayBuffer>; mediaType: string } {
	const [, mediaType = '', encoding, payload = data] =
		/^data:([^;,]*)(?:;[^;,]*)*?(;base64)?,([^]*)$/i.exec(data) ?? [];
	if (data.startsWith('data:') && encoding === undefined) {
		try {
			return { bytes: Buffer.from(decodeURIComponent(payload)), mediaType };
		} catch {
			// As no base64 is.
		}
	}
	const packed = payload.replaceAll(/\s+/g, '');
	if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(packed)) {
		const place = `${param}.file_data`;
		throw new ApiError(400, `${place} must be base64, or a data URL`, { code: 'invalid_value', param: place });
	}
	return { bytes: Buffer.from(packed, 'base64'), mediaType };
}

/** A name without a path, of characters that every system takes. */
function plainName(filename: string): string {
	const name = filename.split(/[\\/]/).at(-1) ?? '';
	return plainLine(name.toWellFormed())
		.normalize('NFC')
		.replaceAll(/[<>:"|?*]/g, '_')
		.replace(/^[. ]+|[. ]+$/g, '')
		.slice(0, 120);
}

function withMark(name: string, mark: string): string {
	const dot = name.lastIndexOf('.');
	return dot <= 0 ? `${name}-${mark}` : `${name.slice(0, dot)}-${mark}${name.slice(dot)}`;
}

async function isOther(
	{ workspaces, folder }: { workspaces: Workspaces; folder: string },
	name: string,
	bytes: Buffer
): Promise<boolean> {
	try {
		const { file, bytes: size } = await workspaces.read(folder, name);
		try {
			return size !== bytes.length || !(await file.readFile()).equals(bytes);
		} finally {
			await file.close();
		}
	} catch (error) {
		if (error instanceof AppError) return false;
		throw error;
	}
}
