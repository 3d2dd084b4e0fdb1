/** Items: as lists show them in pages, like OpenAI's API, and as the model gets what a client sent (F12). */
import { z } from 'zod';
import { asArray, asObject, isObject } from '../../../shared/json.ts';
import { type ResponseItem, userItem } from '../../agent/model.ts';
import { isNote } from '../../agent/turn-note.ts';
import type { StoredResponse, ConversationItem, ResponseConversations } from '../../store/responses.ts';
import { badParameter, ApiError } from './errors.ts';
import { checkBody, type ResponseRequest } from './request.ts';
import { noteOfTools, readCall, toolsOf } from './tools.ts';

export interface ListPage<Item> {
	object: 'list';
	data: Item[];
	first_id: string | null;
	last_id: string | null;
	has_more: boolean;
}

const listQuery = (most: number) =>
	z.object({
		limit: z.coerce
			.number()
			.int()
			.min(1)
			.max(most)
			.default(most > MOST_LISTED ? most : USUAL),
		order: z.enum(['asc', 'desc']).default('desc'),
		after: z.string().max(200).optional()
	});
const MOST_LISTED = 100;
const USUAL = 20;

/** `items` are in the order they came; more than `MOST_LISTED` at once is also the default. @throws ApiError for a wrong parameter, or if `after` isn't one of them */
export function pageOf<Item extends { id: string }>(
	items: readonly Item[],
	query: URLSearchParams,
	most = MOST_LISTED
): ListPage<Item> {
	const schema = listQuery(most);
	const given = [...query].filter(([name, value]) => value !== '' && Object.hasOwn(schema.shape, name));
	const { limit, order, after } = checkBody(schema, Object.fromEntries(given));
	const all = order === 'asc' ? items : items.toReversed();
	const place = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
	if (after !== undefined && place < 0) throw badParameter('after', 'There’s no item with the id in after.');
	const data = all.slice(place + 1, place + 1 + limit);
	return {
		object: 'list',
		data,
		first_id: data[0]?.id ?? null,
		last_id: data.at(-1)?.id ?? null,
		has_more: place + 1 + limit < all.length
	};
}

export type ShownItem = ResponseItem & { id: string };

/** What the request brought, without what came before it in its chain. An item has the same id each time. */
export function inputItemsOf(stored: StoredResponse): ShownItem[] {
	return inputEntries(stored).flatMap(({ id, item }) => (isNote(item) ? [] : [shownItem(item, id)]));
}

/** As they were sent, with notes that only the model is told. */
export function inputEntries({ id, items, inputCount }: StoredResponse): { id: string; item: ResponseItem }[] {
	const all = items as ResponseItem[];
	return withIds(all.slice(0, inputCount ?? firstAnswer(all)), id.replace(/^resp_/, ''));
}

/** `hex` is unique, and the same each time. */
export function withIds(items: readonly ResponseItem[], hex: string): { id: string; item: ResponseItem }[] {
	return items.map((item, index) => ({ id: `${prefixOf(item)}_${hex}_i${index}`, item }));
}

/** Of items that only the model's server knows, the one that it gave them: some refuse another. */
function prefixOf({ type, id }: ResponseItem): string {
	return PREFIXES[type] ?? (typeof id === 'string' ? /^[a-z]{1,10}(?=_)/.exec(id)?.[0] : undefined) ?? 'item';
}

const PREFIXES: Record<string, string> = {
	message: 'msg',
	function_call: 'fc',
	function_call_output: 'fco',
	custom_tool_call: 'ctc',
	custom_tool_call_output: 'ctco',
	tool_search_call: 'tsc',
	tool_search_output: 'tso',
	reasoning: 'rs',
	compaction: 'cmp'
};

/** Responses of older versions don't say where their output begins. */
function firstAnswer(items: readonly ResponseItem[]): number {
	const index = items.findIndex(
		({ type, role }) => type === 'reasoning' || type === 'function_call' || role === 'assistant'
	);
	return index < 0 ? items.length : index;
}

/** Without what only the model's server reads. */
export function shownItem(item: ResponseItem, id: string): ShownItem {
	const { as_model: _model, encrypted_content: sealed, ...shown } = withNames(item);
	const kept = item.type === 'compaction' ? { ...shown, encrypted_content: sealed } : shown;
	return { ...kept, type: item.type, id, ...(item.type === 'reasoning' ? {} : { status: item.status ?? 'completed' }) };
}

/** Callers get names of pictures in the workspace, which lasts, in place of our own parts. */
export function withNames(item: ResponseItem): ResponseItem {
	const named = (parts: unknown) =>
		asArray(parts).map((part) => {
			const { type, file } = asObject(part);
			const { path } = asObject(file);
			if (type === 'output_text') return { annotations: [], logprobs: [], ...asObject(part) };
			return typeof path === 'string' ? { type: 'input_text', text: `[Picture: ${path}]` } : part;
		});
	return {
		...item,
		...(Array.isArray(item.content) && { content: named(item.content) }),
		...(Array.isArray(item.output) && { output: named(item.output) })
	};
}

// Items of a request are kept as the client sent them, and become the model's when it's asked (F12).

export interface ReadItem {
	items: ResponseItem[];
	/** Id of the call to insert them before. */
	before?: string | undefined;
}

/** What the model gets in an item's place, where that can't be read from the item itself. Only this server writes it. */
export function inPlaceOf(item: ResponseItem, read: ReadItem): ResponseItem {
	return { ...item, as_model: read };
}

/** Of one request, or of one conversation: what is to be inserted before a call finds its call. */
export function forModel(items: readonly ResponseItem[]): ResponseItem[] {
	const all: ResponseItem[] = [];
	for (const item of items) insert(modelItems(item), all);
	return all;
}

export function insert({ items, before }: ReadItem, all: ResponseItem[]): void {
	const place = before === undefined ? -1 : all.findLastIndex(({ call_id }) => call_id === before);
	all.splice(place < 0 ? all.length : place, 0, ...items);
}

export function modelItems(item: ResponseItem): ReadItem {
	if (isObject(item.as_model)) return item.as_model as unknown as ReadItem;
	const { id: _id, status: _status, ...kept } = item;
	switch (item.type) {
		case 'message':
		case 'function_call_output':
			return { items: [kept] };
		case 'custom_tool_call_output':
			return { items: [{ ...kept, type: 'function_call_output' }] };
		case 'additional_tools':
			return { items: [noteOfTools(toolsOf(item.tools))] };
		case 'agent_message':
			return { items: [readAgentMessage(item)] };
		default:
			return { items: [readCall(item) ?? item] };
	}
}

/** What another agent says to the caller's. Passed on if only the model's server can read it. */
function readAgentMessage(item: ResponseItem): ResponseItem {
	const content = item.content as { text?: unknown }[];
	const texts = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
	if (texts.length < content.length) return item;
	const author = typeof item.author === 'string' ? item.author : '';
	return userItem([`Message of the agent ${author}:`, ...texts].join('\n'));
}

/** Without fields that only this server writes, and reads unchecked. */
export function withoutOurs<Item extends object>(item: Item): Item {
	const ours = item as Item & { found_tools?: unknown; told?: unknown; as_model?: unknown };
	const { found_tools: _found, told: _told, as_model: _model, ...rest } = ours;
	return rest as unknown as Item;
}

// The conversation that a request names, and its items (F12).

export interface ConversationStore {
	store: { responseConversations: ResponseConversations };
	/** Limit of what one key's conversations have together, and of its responses. */
	storedBytes: number;
}

/** Null without one. */
export function conversationId(conversation: ResponseRequest['conversation']): string | null {
	return (typeof conversation === 'string' ? conversation : conversation?.id) ?? null;
}

/** Null without a conversation. @throws ApiError 404; 400 if it's full, or all of the key are */
export async function itemsOfConversation(
	{ store: { responseConversations }, storedBytes }: ConversationStore,
	id: string | null,
	apiKeyId: string | null
): Promise<ConversationItem[] | null> {
	if (id === null) return null;
	if (!(await responseConversations.get(id, apiKeyId))) throw noConversation(id);
	if (!(await responseConversations.hasRoom(apiKeyId, storedBytes))) throw keyIsFull('conversation', storedBytes);
	const items = await responseConversations.items(id);
	if (items.length < MOST.items) return items;
	const sentence = `This conversation has ${items.length} items, and can’t take more. Begin another one.`;
	throw badParameter('conversation', sentence, 'conversation_full');
}

/** Of a conversation: more text than any model takes. Pictures and files are in the workspace. */
export const MOST = { items: 5000, bytes: 16 * 1024 * 1024 };

export function keyIsFull(param: string, bytes: number): ApiError {
	const most = `${Math.floor(bytes / 1024 / 1024)} MB`;
	const hint = 'Delete some with DELETE /v1/conversations/{id}, or have RESPONSES_MB raised on the server.';
	return badParameter(param, `The conversations of this key have reached ${most} together. ${hint}`, 'storage_full');
}

export function noConversation(id: string): ApiError {
	const message = `Conversation with id '${id.slice(0, 100)}' not found.`;
	return new ApiError(404, message, { code: 'conversation_not_found', param: 'conversation' });
}
