/** Items of a request are kept as the client sent them, and become the model's when it's asked (F12). */
import { isObject } from '../../../shared/json.ts';
import type { ResponseItem } from '../../agent/model.ts';
import { noteOfTools, readCall, toolsOf } from './tools.ts';

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
	return userText([`Message of the agent ${author}:`, ...texts].join('\n'));
}

export function userText(text: string): ResponseItem {
	return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

/** Without fields that only this server writes, and reads unchecked. */
export function withoutOurs<Item extends object>(item: Item): Item {
	const ours = item as Item & { found_tools?: unknown; told?: unknown; as_model?: unknown };
	const { found_tools: _found, told: _told, as_model: _model, ...rest } = ours;
	return rest as unknown as Item;
}
