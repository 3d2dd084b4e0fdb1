/** Reads what a request continues from: the chain before it, its session and workspace, and its own items. */
import { hash } from 'node:crypto';
import { attachedFiles } from '../../agent/history.ts';
import { type Model, type ResponseItem, userItem } from '../../agent/model.ts';
import type { ConversationItem, ResponseConversations, Responses, StoredResponse } from '../../store/responses.ts';
import type { Workspaces } from '../../workspaces.ts';
import { type Compaction, type CompactionSeal, MAX_UNSHOWN, type Room, take, unseal } from './sealed.ts';
import {
	conversationId,
	type ConversationStore,
	itemsOfConversation,
	forModel,
	inPlaceOf,
	insert,
	modelItems,
	type ReadItem,
	withoutOurs
} from './items.ts';
import { badParameter, type ApiError, missing } from './errors.ts';
import type { FilesApi } from './files.ts';
import type { ResponseRequest, InputItem } from './request.ts';
import { sentTool } from './tools.ts';
import type { ExecutedCall } from './wire.ts';
import { AppError } from '../../../shared/errors.ts';
import { decodeReceived, keepReceived, nameOfReceived, type Received } from '../received-files.ts';
import { type AttachedPart, attachedParts, type FilePart } from '../../turns/attachments.ts';
import { problemOfPicture, withoutMetadata } from '../../turns/pictures.ts';
import { formatOf } from '../../skills/run/picture-format.ts';

export interface ConversationParts extends ConversationStore {
	store: { responses: Responses; responseConversations: ResponseConversations };
	workspaces: Workspaces;
	compactions: CompactionSeal;
	files: Pick<FilesApi, 'resolve'>;
	/** Name of the workspace: one per key, or per chain without a key. */
	folderOf(apiKeyId: string | null, sessionId: string): string;
	/** The operator's limit of the context; null: the model's own. */
	contextTokens: number | null;
}

export interface Conversation {
	/** Everything so far, as the model gets it. */
	input: ResponseItem[];
	/** Items this request adds, as they were sent. */
	asked: ResponseItem[];
	sessionId: string;
	folder: string;
}

/** @throws ApiError if the previous response doesn't exist, items can't be read, or there is no input at all */
export async function readConversation(
	parts: ConversationParts,
	{
		input,
		previous_response_id: previous,
		conversation
	}: Pick<ResponseRequest, 'input' | 'previous_response_id'> & Pick<Partial<ResponseRequest>, 'conversation'>,
	{
		newSessionId,
		model,
		apiKeyId,
		signal
	}: { newSessionId: string; model: Model; apiKeyId: string | null; signal: AbortSignal }
): Promise<Conversation> {
	const { responses } = parts.store;
	const isNew = previous === null || previous === undefined;
	const chain = isNew ? [] : await responses.chain(previous, apiKeyId);
	if (!chain) {
		const id = `'${previous?.slice(0, 100)}'`;
		const message = (await responses.get(previous ?? '', apiKeyId))
			? `The chain before ${id} can’t be read: its oldest responses were removed, or it has over 1,000. Send the items, or use a conversation.`
			: `Previous response with id ${id} not found.`;
		throw badParameter('previous_response_id', message, 'previous_response_not_found');
	}
	if (chain.at(-1)?.isRunning) {
		const message = `Response '${previous?.slice(0, 100)}' is still being written. Wait for its end, then continue it.`;
		throw badParameter('previous_response_id', message, 'previous_response_not_ready');
	}
	const said = await itemsOfConversation(parts, conversationId(conversation), apiKeyId);
	const isEmpty = input === undefined || input === null || input.length === 0;
	if (isEmpty && chain.length === 0 && !said?.length && input !== '') throw missing('input');
	const open = (sealed: string, room: Room) => parts.compactions.open(sealed, apiKeyId, room);
	// A compaction starts a new chain but keeps the workspace of the old one.
	const sessionId =
		conversationId(conversation) ?? chain[0]?.sessionId ?? compactedSession(input, open) ?? newSessionId;
	const folder = parts.folderOf(apiKeyId, sessionId);
	const context = { ...parts, folder, model, apiKeyId, signal };
	const before = said
		? await readStored(said, inputContext(context, []))
		: chain.flatMap((link) => itemsOf(link).filter(({ type }) => type !== 'reasoning' || link.body.model === model.id));
	const asked = await readInput(input, inputContext(context, before));
	return { input: [...before, ...forModel(asked)], asked, sessionId, folder };
}

/** Of a stored response, as the model gets them: what it answered is kept as it was. */
function itemsOf({ items, inputCount }: StoredResponse): ResponseItem[] {
	const all = items as ResponseItem[];
	return [...forModel(all.slice(0, inputCount ?? 0)), ...all.slice(inputCount ?? 0)];
}

/** Reads what goes into a conversation without a response, as it is to be kept. @throws ApiError naming the item */
export function readItems(
	parts: ConversationParts,
	items: InputItem[],
	more: { folder: string; model: Model; apiKeyId: string | null; signal: AbortSignal; before: ConversationItem[] }
): Promise<ResponseItem[]> {
	return readInput(items, inputContext({ ...parts, ...more }, forModel(more.before.map(({ item }) => item))));
}

function inputContext(
	{
		folder,
		model,
		apiKeyId,
		signal,
		...parts
	}: ConversationParts & { folder: string; model: Model; apiKeyId: string | null; signal: AbortSignal },
	before: readonly ResponseItem[]
): InputContext {
	return {
		model: model.id,
		workspaces: parts.workspaces,
		folder,
		resolve: (part, param) => parts.files.resolve(part, param, { apiKeyId }),
		reading: { conversationId: folder, model, cap: parts.contextTokens, signal },
		open: (sealed, room) => parts.compactions.open(sealed, apiKeyId, room),
		calls: new Set(before.flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : []))),
		find: (itemId) => findItem(parts.store.responses, itemId, apiKeyId)
	};
}

function compactedSession(input: ResponseRequest['input'], open: InputContext['open']): string | null {
	const item = Array.isArray(input) ? input.findLast(({ type }) => type === 'compaction') : undefined;
	const compaction = item?.type === 'compaction' ? open(item.encrypted_content, { left: MAX_UNSHOWN }) : null;
	return compaction === null || compaction === 'unreadable' ? null : compaction.sessionId;
}

/** Ids of a response's items contain the same hex as its own id, `resp_<hex>`. */
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

/** Ids of what a model's server did with its tools; ours contain the response's. */
const SERVER_ITEM = /^(ws|fs|ig|ci|mcp|mcpl|mcpr|cu|tsc|tso)_(?![0-9a-f]{32}_i?\d+$)/;
/** Of a picture or file. */
const MAX_ADDRESS = 8192;
const MAX_ARGUMENTS = 300;
const MAX_RESULT = 600;

/** A skill call, as the reasoning summary shows it. */
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

interface InputContext {
	/** The model that will answer; reasoning from other models is left out. */
	model: string;
	workspaces: Workspaces;
	folder: string;
	/** The content of a file that was uploaded, in place of its id. */
	resolve(part: Part, param: string): Promise<Part>;
	reading: Parameters<typeof attachedParts>[2];
	/** Ids of the calls in the chain before the request. */
	calls: ReadonlySet<string>;
	/** Finds an item of a stored response of the same caller. */
	find(id: string): Promise<Record<string, unknown> | null>;
	/** Opens a compaction of the same caller; see CompactionSeal. */
	open(sealed: string, room: Room): Compaction | 'unreadable' | null;
}

/** `uploads`: bytes left for uploads that the request names, as often as it does. */
type RoomyContext = InputContext & { room: Room; uploads: Room };

/** Each upload that is named is read, written and compared: a few characters must not cost hours. */
const MAX_UPLOADS = 100 * 1024 * 1024;
const newRooms = () => ({ room: { left: MAX_UNSHOWN }, uploads: { left: MAX_UPLOADS } });

/**
 * Converts a request's items for the model: resolves references, unseals reasoning, saves files to the workspace.
 * @throws ApiError naming the item
 */
async function readInput(input: ResponseRequest['input'], context: InputContext): Promise<ResponseItem[]> {
	if (typeof input === 'string') return [userItem(input)];
	const items: ResponseItem[] = [];
	const calls = new Set(context.calls);
	const roomy = { ...context, ...newRooms() };
	for (const [index, item] of (input ?? []).entries()) {
		const read = await readItem(item, `input[${index}]`, roomy);
		for (const each of forModel(read)) {
			if (each.type === 'function_call') calls.add(String(each.call_id));
			if (each.type === 'function_call_output' && !calls.has(String(each.call_id))) {
				const sentence = `No tool call found for function call output with call_id ${String(each.call_id)}.`;
				throw badParameter(`input[${index}]`, sentence);
			}
		}
		items.push(...read);
	}
	return items;
}

/** As a client that sends everything back would have it read. */
async function readStored(stored: readonly ConversationItem[], context: InputContext): Promise<ResponseItem[]> {
	const items: ResponseItem[] = [];
	const roomy = { ...context, ...newRooms() };
	for (const { item, model } of stored) {
		const read = await readOwn(item, 'conversation', roomy);
		const kept = model === context.model ? read.items : read.items.filter(({ type }) => type !== 'reasoning');
		insert({ ...read, items: kept }, items);
	}
	// The call of a result may have been deleted, and models' servers refuse one without the other.
	const calls = new Set(items.flatMap(({ type, call_id }) => (type === 'function_call' ? [call_id] : [])));
	return items.filter(({ type, call_id }) => type !== 'function_call_output' || calls.has(call_id));
}

/** As it's kept: in the client's words, with its files in the workspace and what it refers to in its place. */
async function readItem(item: InputItem, param: string, context: RoomyContext): Promise<ResponseItem[]> {
	switch (item.type) {
		case 'item_reference': {
			const found = await context.find(item.id);
			// The chain has it, or nobody: its text is in the answer.
			if (!found && SERVER_ITEM.test(item.id)) return [];
			if (!found) throw badParameter(param, `Item with id '${item.id.slice(0, 100)}' not found.`, 'item_not_found');
			take(Buffer.byteLength(JSON.stringify(found)), context.room);
			const { openrouter_skills: _executed, ...kept } = withoutOurs(found);
			return [kept.type === 'reasoning' ? await keepReasoning(kept, param, context) : (kept as ResponseItem)];
		}
		case 'reasoning':
			return [await keepReasoning(item, param, context)];
		case 'compaction':
			return [readCompaction(item, param, context)];
		case 'function_call':
		case 'custom_tool_call':
		case 'tool_search_call':
		case 'agent_message':
			return [withoutOurs(item)];
		case 'tool_search_output':
		case 'additional_tools':
			return [{ ...withoutOurs(item), tools: item.tools.map(sentTool) }];
		case 'function_call_output':
		case 'custom_tool_call_output': {
			if (typeof item.output === 'string') return [item];
			const { parts, attached } = await readParts(item.output, `${param}.output`, context);
			const kept = { ...item, output: parts };
			if (attached.length === 0) return [kept];
			return [inPlaceOf(kept, modelItems({ ...kept, output: [...parts, ...attached] }))];
		}
		case 'other':
			return [withoutOurs(item.item)];
		case 'message': {
			const { type, role, content, status } = item;
			const textType = role === 'assistant' ? 'output_text' : 'input_text';
			const { parts, attached } =
				typeof content === 'string'
					? { parts: [{ type: textType, text: content }], attached: [] }
					: await readParts(content, `${param}.content`, context);
			const phase = role === 'assistant' ? item.phase : undefined;
			// Apart, because it isn't what the user said.
			const note = attached.length > 0 ? [{ type, role, content: attached, told: {} }] : [];
			return [{ type, role, content: parts, phase: phase ?? undefined, status: status ?? undefined }, ...note];
		}
		default:
			return item satisfies never;
	}
}

/** Reads an item of a conversation. */
async function readOwn(item: ConversationItem['item'], param: string, context: RoomyContext): Promise<ReadItem> {
	const { openrouter_skills: _executed, ...kept } = item;
	return item.type === 'reasoning' && !item.as_model ? readReasoning(item, param, context) : modelItems(kept);
}

/** Passes another product's compaction on: only its own server can read it. */
function readCompaction(
	item: Extract<InputItem, { type: 'compaction' }>,
	param: string,
	{ open, room }: RoomyContext
): ResponseItem {
	const compaction = open(item.encrypted_content, room);
	if (compaction !== 'unreadable') return compaction ? inPlaceOf(item, compaction) : item;
	throw invalidContent(param, 'can’t be read: it’s from another server or key, or was changed.');
}

function invalidContent(item: string, problem: string): ApiError {
	const param = `${item}.encrypted_content`;
	return badParameter(param, `${param} ${problem}`, 'invalid_encrypted_content');
}

/** Its summary is for people; what is sealed in it is for the model. */
async function keepReasoning(
	item: Record<string, unknown>,
	param: string,
	context: RoomyContext
): Promise<ResponseItem> {
	const read = await readReasoning(item, param, context);
	const { encrypted_content: _sealed, ...shown } = item as ResponseItem;
	return read.items[0] === item ? (item as ResponseItem) : inPlaceOf(shown, read);
}

/** Keeps the sealed part of a reasoning item. */
async function readReasoning(item: Record<string, unknown>, param: string, context: RoomyContext): Promise<ReadItem> {
	if (typeof item.encrypted_content === 'string') {
		return unsealed(item.encrypted_content, param, context) ?? { items: [item as ResponseItem] };
	}
	const content = typeof item.id === 'string' ? (await context.find(item.id))?.encrypted_content : null;
	return (typeof content === 'string' && unsealed(content, param, context)) || { items: [] };
}

function unsealed(text: string, param: string, { model, room }: RoomyContext): ReadItem | null {
	const sealed = unseal(text, room);
	if (sealed === null) return null;
	if (sealed === 'damaged') throw invalidContent(param, 'is damaged. Send it exactly as you received it.');
	const isOwn = sealed.model === model;
	const items = sealed.items.filter(({ type }) => isOwn || type !== 'reasoning').map(withoutOurs);
	return { items, before: sealed.before };
}

type Part = Record<string, unknown> & {
	type: string;
	detail?: 'low' | 'high' | 'auto' | 'original' | null | undefined;
	filename?: string | null | undefined;
	file_data?: string | null | undefined;
	file_url?: string | null | undefined;
	file_id?: string | null | undefined;
	image_url?: string | null | undefined;
};

/** Saves pictures and files to the workspace and lists them in an extra text part, like the chat does. Addresses and ids stay. */
async function readParts(
	parts: readonly Part[],
	param: string,
	context: RoomyContext
): Promise<{ parts: Record<string, unknown>[]; attached: AttachedPart[] }> {
	const read: Record<string, unknown>[] = [];
	const [names, files]: [string[], string[]] = [[], []];
	for (const [index, sent] of parts.entries()) {
		const place = `${param}[${index}]`;
		const part = await context.resolve(sent, place);
		if (part !== sent) context.uploads.left -= bytesOf(part);
		if (context.uploads.left < 0) {
			throw badParameter(`${place}.file_id`, 'The uploads that one request names may total 100 MB.', 'too_large');
		}
		if (part.type === 'input_image') {
			const picture = await readPicture(part, place, context);
			read.push(picture);
			if (isKept(picture)) names.push(picture.file.path);
		} else if (part.type !== 'input_file') read.push(part);
		else if (typeof part.file_data === 'string') {
			const { bytes, mediaType } = decode(part.file_data, `${place}.file_data`);
			const name = nameOfReceived({ bytes, mediaType, filename: part.filename });
			files.push(await keepFile(context, { name, bytes }, `${place}.filename`));
		} else if (part.file_url) read.push({ ...part, file_url: address(part.file_url, `${place}.file_url`) });
		else if (part.file_id) read.push(part);
		else throw missing(`${place}.file_data`);
	}
	names.push(...files);
	if (names.length > 0) read.push({ type: 'input_text', text: attachedFiles(names) });
	return { parts: read, attached: await attachedParts(context.workspaces, files, context.reading) };
}

/** Of a data URL. */
function bytesOf({ file_data: data, image_url: url }: Part): number {
	return ((data ?? url ?? '').length * 3) / 4;
}

function isKept(part: Part | FilePart): part is FilePart {
	return 'file' in part;
}

/** Stays where it is among the parts: its text may refer to it. @throws ApiError */
async function readPicture(part: Part, param: string, context: InputContext): Promise<Part | FilePart> {
	const { type, image_url: url, file_id } = part;
	const detail = part.detail ?? 'auto';
	if (!url && file_id) return { type, detail, file_id };
	const place = `${param}.image_url`;
	if (!url) throw missing(place);
	if (!/^data:/i.test(url)) return { type, detail, image_url: address(url, place) };
	const { bytes } = decode(url, place);
	const format = formatOf(bytes);
	if (!format) throw badParameter(place, `${place} isn’t a PNG, JPEG, GIF or WebP.`);
	const { mediaType } = format;
	const problem =
		problemOfPicture(format, bytes.length) ?? (withoutMetadata(bytes, mediaType) ? null : 'it’s damaged.');
	if (problem !== null) throw badParameter(place, `${place} can’t be used: ${problem}`);
	const wanted = { name: nameOfReceived({ bytes, mediaType, kind: 'image' }), bytes };
	const path = await keepFile(context, wanted, place);
	const file = { path, bytes: bytes.length, mediaType, digest: hash('sha256', bytes) };
	return { type: 'input_image', detail, file };
}

/** Passed on to the model's server; nothing is fetched here. @throws ApiError */
function address(url: string, param: string): string {
	if (url.length <= MAX_ADDRESS && /^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url;
	throw badParameter(param, `${param} must be a data URL or an http(s) address of at most ${MAX_ADDRESS} characters.`);
}

/** @throws ApiError */
async function keepFile(
	{ workspaces, folder }: InputContext,
	{ name, bytes }: { name: string; bytes: Buffer<ArrayBuffer> },
	param: string
): Promise<string> {
	try {
		return await keepReceived(workspaces, folder, { name, bytes });
	} catch (error) {
		if (!(error instanceof AppError) || error.status >= 500) throw error;
		throw badParameter(param, `${param}: ${error.message}`);
	}
}

/** @throws ApiError */
function decode(data: string, param: string): Received {
	const received = decodeReceived(data);
	if (received) return received;
	throw badParameter(param, `${param} must be base64, or a data URL.`);
}
