/** Tools whose input is a text, on servers that have them; everywhere else here, and in the history, they are functions (F12). */
import { isObject, parseJson, type JsonObject } from '../../../shared/json.ts';
import { isOpenRouter } from '../../../shared/names.ts';
import type { FunctionTool, ResponseItem } from '../../agent/model.ts';

/** OpenAI's models know them, and hold their text to its grammar. Other servers might ignore them without a word. */
export function takesCustom(url: URL, model: string): boolean {
	if (isOpenRouter(new URL('.', url).href)) return /^~?openai\//.test(model);
	return /(^|\.)(openai\.com|openai\.azure\.com)$/.test(url.hostname);
}

export function asCustomTool({ name, custom }: FunctionTool): object {
	return { type: 'custom', name, ...custom };
}

/** The calls of these tools, and their outputs, as the server made them. */
export function withCustomCalls(items: readonly ResponseItem[], names: ReadonlySet<string>): ResponseItem[] {
	const ids = new Set<unknown>();
	return items.map((item) => {
		const { type, call_id } = item;
		if (type === 'function_call' && names.has(String(item.name))) {
			ids.add(call_id);
			const args = parseJson(String(item.arguments));
			const input = isObject(args) && typeof args.input === 'string' ? args.input : String(item.arguments);
			return { type: 'custom_tool_call', call_id, name: item.name, input };
		}
		return type === 'function_call_output' && ids.has(call_id) ? { ...item, type: 'custom_tool_call_output' } : item;
	});
}

/** An event or a response with such calls as calls of functions. Their text comes whole, with the item. */
export function withFunctionCalls(event: JsonObject): JsonObject {
	const { item, output, response } = event;
	if (isObject(item) && item.type === 'custom_tool_call') return { ...event, item: asFunctionCall(item) };
	if (Array.isArray(output)) return { ...event, output: output.map(asFunctionCall) };
	return isObject(response) && Array.isArray(response.output)
		? { ...event, response: withFunctionCalls(response) }
		: event;
}

function asFunctionCall(item: unknown): unknown {
	if (!isObject(item) || item.type !== 'custom_tool_call') return item;
	const { call_id, name, input, status } = item;
	const isWhole = typeof input === 'string' && input !== '';
	return { type: 'function_call', call_id, name, status, arguments: isWhole ? JSON.stringify({ input }) : '' };
}
