/** Anthropic Messages: `system`, tools with `input_schema`, content blocks. */
import type { ToolDefinition } from '../types.ts';
import { type ExtractedCall, extractToolCalls, toAnthropicTools, toChatTools, toToolResult } from './adapters.ts';
import { asRecord } from '../../../shared/json.ts';

export const anthropic: WireFormat = {
	toolNames: (body) => namesIn(recordsIn(body.tools).map(({ name }) => name)),
	withTools: (body, tools) => ({ ...body, tools: [...toAnthropicTools(tools), ...listOf(body.tools)] }),
	withPrompt(body, text) {
		const { system } = body;
		if (Array.isArray(system)) return { ...body, system: [...(system as unknown[]), { type: 'text', text }] };
		return { ...body, system: withParagraph(typeof system === 'string' ? system : '', text) };
	},
	withoutForcedCall(body) {
		const choice = asRecord(body.tool_choice);
		if (choice?.type !== 'any' && choice?.type !== 'tool') return body;
		const { name: _name, ...rest } = choice;
		return { ...body, tool_choice: { ...rest, type: 'auto' } };
	},
	withoutCalls: (body) => ({ ...body, tool_choice: { type: 'none' } }),
	turnOf(response) {
		const { content, stop_reason: reason } = asRecord(response) ?? {};
		// Members of Anthropic's own toolsets are the host's, whatever their names.
		const [others, own] = [
			recordsIn(content).filter(isOfToolset),
			recordsIn(content).filter((each) => !isOfToolset(each))
		];
		return {
			items: Array.isArray(content) ? [{ role: 'assistant', content: content.map(repeatable) }] : [],
			calls: extractToolCalls({ content: own }),
			hasOtherCalls: others.length > 0,
			isCutOff: reason === 'max_tokens' || reason === 'model_context_window_exceeded'
		};
	},
	// All results of a turn stand in one message, or the request is refused.
	results(results) {
		const content = results.map(({ call, output, isError }) => toToolResult(call, output, isError));
		return content.length > 0 ? [{ role: 'user', content }] : [];
	},
	append: (body, items) => ({ ...body, messages: [...listOf(body.messages), ...items] })
};

/** A block as the vendor takes it back: the input of a call must be an object, whatever the model made of it. */
function repeatable(block: unknown): unknown {
	const record = asRecord(block);
	return record?.type === 'tool_use' && !asRecord(record.input) ? { ...record, input: {} } : block;
}

function isOfToolset({ type, toolset_name: toolset }: Json): boolean {
	return type === 'tool_use' && typeof toolset === 'string';
}

// Chat Completions: a system or developer message, nested tools, `messages`.

export const chat: WireFormat = {
	toolNames: (body) =>
		namesIn(recordsIn(body.tools).map((tool) => (asRecord(tool.function) ?? asRecord(tool.custom))?.name)),
	withTools: (body, tools) => ({ ...body, tools: [...toChatTools(tools), ...listOf(body.tools)] }),
	withPrompt(body, text) {
		const messages = listOf(body.messages);
		const first = messages.findIndex((message) => isSystem(asRecord(message)?.role));
		if (first === -1) return { ...body, messages: [{ role: 'system', content: text }, ...messages] };
		return { ...body, messages: messages.map((each, index) => (index === first ? extended(each, text) : each)) };
	},
	withoutForcedCall: (body) => (isForced(body.tool_choice) ? { ...body, tool_choice: 'auto' } : body),
	withoutCalls: (body) => ({ ...body, tool_choice: 'none' }),
	turnOf(response) {
		const body = asRecord(response) ?? {};
		// Of several choices the conversation goes on with the first.
		const choice = recordsIn(body.choices)[0];
		const message = choice ? asRecord(choice.message) : Array.isArray(body.tool_calls) ? body : null;
		const calls = message ? extractToolCalls({ choices: [{ message }] }) : [];
		return {
			items: recordsIn([withoutParsed(message)]),
			calls,
			hasOtherCalls: listOf(message?.tool_calls).length > calls.length,
			isCutOff: choice?.finish_reason === 'length'
		};
	},
	results: (results) => results.map(({ call, output, isError }) => toToolResult(call, output, isError)),
	append: (body, items) => ({ ...body, messages: [...listOf(body.messages), ...items] })
};

function extended(message: unknown, text: string): Json {
	const { content, ...rest } = asRecord(message) ?? {};
	if (!Array.isArray(content))
		return { ...rest, content: withParagraph(typeof content === 'string' ? content : '', text) };
	const parts = content as unknown[];
	return { ...rest, content: [...parts, { type: 'text', text }] };
}

function isSystem(role: unknown): boolean {
	return role === 'system' || role === 'developer';
}

function isForced(choice: unknown): boolean {
	return choice === 'required' || asRecord(choice)?.type === 'function';
}

// The Responses API: `instructions`, flat tools, `input` items.

/** Calls that wait for an output of the caller, but are no functions. Those of other types were run by the server. */
const OTHER_CALLS = new Set([
	'custom_tool_call',
	'computer_call',
	'local_shell_call',
	'shell_call',
	'apply_patch_call',
	'mcp_approval_request'
]);

export const responses: WireFormat = {
	toolNames: (body) => namesIn(recordsIn(body.tools).map(({ name }) => name)),
	withTools: (body, tools) => ({ ...body, tools: [...tools, ...listOf(body.tools)] }),
	withPrompt: (body, text) => ({
		...body,
		instructions: withParagraph(typeof body.instructions === 'string' ? body.instructions : '', text)
	}),
	withoutForcedCall: (body) => (isForced(body.tool_choice) ? { ...body, tool_choice: 'auto' } : body),
	withoutCalls: (body) => ({ ...body, tool_choice: 'none' }),
	turnOf(response) {
		const { output, status } = asRecord(response) ?? {};
		const items = recordsIn(output);
		return {
			items: recordsIn(withoutParsed(items)),
			calls: extractToolCalls({ output }),
			hasOtherCalls: items.some(({ type }) => OTHER_CALLS.has(String(type))),
			isCutOff: status === 'incomplete'
		};
	},
	results: (results) => results.map(({ call, output, isError }) => toToolResult(call, output, isError)),
	append: (body, items) => ({ ...body, input: [...inputOf(body), ...items] })
};

function inputOf({ input }: Json): unknown[] {
	if (typeof input === 'string') return [{ role: 'user', content: input }];
	return listOf(input);
}

// What a gateway must know of an API: where the prompt, the tools and the turns stand in its bodies (FEATURES B11, D39).

/** What came of one call, in the order of the calls. */
export interface CallResult {
	call: ExtractedCall;
	output: string;
	isError: boolean;
}

/** What the model said, as the next request has to repeat it, and the calls in it. */
export interface ModelTurn {
	/** Items, messages or contents. */
	items: Json[];
	calls: ExtractedCall[];
	/** There are calls that are no functions: only the host can answer them. */
	hasOtherCalls: boolean;
	/** The model was stopped in the middle, so that its last call may be half of one. */
	isCutOff: boolean;
}

/** Bodies are never changed: each function gives a new one. */
export interface WireFormat {
	/** Names of the tools that the host brought. */
	toolNames(body: Json): string[];
	/** These tools, then those of the host (B13). */
	withTools(body: Json, tools: readonly ToolDefinition[]): Json;
	/** The text at the end of the system prompt. */
	withPrompt(body: Json, text: string): Json;
	/** A tool that must be called may be called instead: a forced call in every round would never end. */
	withoutForcedCall(body: Json): Json;
	/** No more calls, with the same tools. */
	withoutCalls(body: Json): Json;
	turnOf(response: unknown): ModelTurn;
	/** What follows the model's turn. */
	results(results: readonly CallResult[], turn: ModelTurn): Json[];
	/** The body of the request that goes on. */
	append(body: Json, items: readonly Json[]): Json;
}

// Reading JSON that somebody else made: never throws, what does not fit is left out.

/** A JSON object. */
export type Json = Record<string, unknown>;

/** The objects of a list; none when it is no list. */
export function recordsIn(value: unknown): Json[] {
	return listOf(value).flatMap((entry) => {
		const record = asRecord(entry);
		return record ? [record] : [];
	});
}

export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The names among some values. */
export function namesIn(values: readonly unknown[]): string[] {
	return values.filter((value) => typeof value === 'string');
}

/** `more` at the end of a text, a paragraph of its own; once only. */
function withParagraph(text: string, more: string): string {
	if (text.includes(more)) return text;
	return text.trim() === '' ? more : `${text}\n\n${more}`;
}

/** Without what OpenAI's own client adds when it reads an answer: its server refuses it in a request. */
function withoutParsed(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutParsed);
	const record = asRecord(value);
	if (!record) return value;
	const own = Object.entries(record).filter(([key]) => key !== 'parsed' && key !== 'parsed_arguments');
	return Object.fromEntries(own.map(([key, each]) => [key, withoutParsed(each)]));
}
