/** Reads and changes bodies of four APIs, told apart by their shape, never by the model's name (B11, B12, D39). */
import type { ToolDefinition } from '../types.ts';
import {
	type ExtractedCall,
	extractToolCalls,
	recordsIn,
	toAnthropicTools,
	toChatTools,
	toGeminiTools,
	type ToolFormat,
	toToolResult
} from './adapters.ts';
import { asArray, asRecord, asText } from '../../../shared/json.ts';

const anthropic: WireFormat = {
	toolNames: (body) => namesIn(recordsIn(body.tools).map(({ name }) => name)),
	withTools: (body, tools) => ({ ...body, tools: [...toAnthropicTools(tools), ...asArray(body.tools)] }),
	withPrompt: (body, text) => ({ ...body, system: withText(body.system, text) }),
	withoutForcedCall(body) {
		const choice = asRecord(body.tool_choice);
		if (choice?.type !== 'any' && choice?.type !== 'tool') return body;
		const { name: _name, ...rest } = choice;
		return { ...body, tool_choice: { ...rest, type: 'auto' } };
	},
	withoutCalls: (body) => ({ ...body, tool_choice: { type: 'none' } }),
	turnOf(response) {
		const { content, stop_reason: reason } = asRecord(response) ?? {};
		// Calls of Anthropic's own toolsets belong to the host, whatever their names.
		const blocks = recordsIn(content);
		const own = blocks.filter((block) => !isOfToolset(block));
		return {
			items: Array.isArray(content) ? [{ role: 'assistant', content: content.map(repeatable) }] : [],
			calls: extractToolCalls({ content: own }),
			hasOtherCalls: own.length < blocks.length,
			isCutOff: reason === 'max_tokens' || reason === 'model_context_window_exceeded'
		};
	},
	// All results of a turn must be in one message, or the request is refused.
	results(results) {
		const content = results.map(({ call, output, isError }) => toToolResult(call, output, isError));
		return content.length > 0 ? [{ role: 'user', content }] : [];
	},
	append: (body, items) => ({ ...body, messages: [...asArray(body.messages), ...items] })
};

/** Makes a block valid in a request: the input of a call must be an object, whatever the model wrote. */
function repeatable(block: unknown): unknown {
	const record = asRecord(block);
	return record?.type === 'tool_use' && !asRecord(record.input) ? { ...record, input: {} } : block;
}

function isOfToolset({ type, toolset_name: toolset }: Json): boolean {
	return type === 'tool_use' && typeof toolset === 'string';
}

/** What OpenAI’s two APIs say alike. */
const openai: Pick<WireFormat, 'withoutForcedCall' | 'withoutCalls' | 'results'> = {
	withoutForcedCall: (body) => (isForced(body.tool_choice) ? { ...body, tool_choice: 'auto' } : body),
	withoutCalls: (body) => ({ ...body, tool_choice: 'none' }),
	results: (results) => results.map(({ call, output, isError }) => toToolResult(call, output, isError))
};

function isForced(choice: unknown): boolean {
	return choice === 'required' || asRecord(choice)?.type === 'function';
}

// Chat Completions: a system or developer message, nested tools, `messages`.

const chat: WireFormat = {
	...openai,
	toolNames: (body) =>
		namesIn(recordsIn(body.tools).map((tool) => (asRecord(tool.function) ?? asRecord(tool.custom))?.name)),
	withTools: (body, tools) => ({ ...body, tools: [...toChatTools(tools), ...asArray(body.tools)] }),
	withPrompt(body, text) {
		const messages = asArray(body.messages);
		const first = messages.findIndex((message) => isSystem(asRecord(message)?.role));
		if (first === -1) return { ...body, messages: [{ role: 'system', content: text }, ...messages] };
		return { ...body, messages: messages.map((each, index) => (index === first ? extended(each, text) : each)) };
	},
	turnOf(response) {
		const body = asRecord(response) ?? {};
		// With several choices the conversation continues with the first.
		const choice = recordsIn(body.choices)[0];
		const message = choice ? asRecord(choice.message) : Array.isArray(body.tool_calls) ? body : null;
		const calls = message ? extractToolCalls({ choices: [{ message }] }) : [];
		return {
			items: recordsIn([withoutParsed(message)]),
			calls,
			hasOtherCalls: asArray(message?.tool_calls).length > calls.length,
			isCutOff: choice?.finish_reason === 'length'
		};
	},
	append: (body, items) => ({ ...body, messages: [...asArray(body.messages), ...items] })
};

function extended(message: unknown, text: string): Json {
	const { content, ...rest } = asRecord(message) ?? {};
	return { ...rest, content: withText(content, text) };
}

function isSystem(role: unknown): boolean {
	return role === 'system' || role === 'developer';
}

// The Responses API: `instructions`, flat tools, `input` items.

/** Calls that need the caller's output but aren't functions. Those of other types were run by the server. */
const OTHER_CALLS = new Set([
	'custom_tool_call',
	'computer_call',
	'local_shell_call',
	'shell_call',
	'apply_patch_call',
	'mcp_approval_request'
]);

const responses: WireFormat = {
	...openai,
	toolNames: (body) => namesIn(recordsIn(body.tools).map(({ name }) => name)),
	withTools: (body, tools) => ({ ...body, tools: [...tools, ...asArray(body.tools)] }),
	withPrompt: (body, text) => ({ ...body, instructions: withText(asText(body.instructions), text) }),
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
	append: (body, items) => ({ ...body, input: [...inputOf(body), ...items] })
};

function inputOf({ input }: Json): unknown[] {
	return typeof input === 'string' ? [{ role: 'user', content: input }] : asArray(input);
}

// What a gateway needs to know about an API: where prompt, tools and turns are in its bodies (B11, D39).

/** The result of one call. */
export interface CallResult {
	call: ExtractedCall;
	output: string;
	isError: boolean;
}

/** The model's turn as the next request must repeat it, and the calls in it. */
export interface ModelTurn {
	/** Items, messages or contents. */
	items: Json[];
	calls: ExtractedCall[];
	/** Some calls aren't functions, so only the host can answer them. */
	hasOtherCalls: boolean;
	/** The model was cut off, so its last call may be incomplete. */
	isCutOff: boolean;
}

/** Functions return new bodies and never change the given one. */
export interface WireFormat {
	/** Names of the host's tools. */
	toolNames(body: Json): string[];
	/** Puts these tools before the host's (B13). */
	withTools(body: Json, tools: readonly ToolDefinition[]): Json;
	/** Appends the text to the system prompt. */
	withPrompt(body: Json, text: string): Json;
	/** Makes a forced call optional: one in every round would never end. */
	withoutForcedCall(body: Json): Json;
	/** Forbids calls but keeps the tools. */
	withoutCalls(body: Json): Json;
	turnOf(response: unknown): ModelTurn;
	/** Items that follow the model's turn. */
	results(results: readonly CallResult[], turn: ModelTurn): Json[];
	/** Body of the next request. */
	append(body: Json, items: readonly Json[]): Json;
}

// Reads foreign JSON: never throws, skips whatever doesn't fit.

/** A JSON object. */
export type Json = Record<string, unknown>;

/** The strings among some values. */
function namesIn(values: readonly unknown[]): string[] {
	return values.filter((value) => typeof value === 'string');
}

/** Appends `more`: as a block to a list, as a paragraph to a text, there only once. */
function withText(content: unknown, more: string): unknown {
	if (Array.isArray(content)) return [...(content as unknown[]), { type: 'text', text: more }];
	const text = typeof content === 'string' ? content : '';
	if (text.includes(more)) return text;
	return text.trim() === '' ? more : `${text}\n\n${more}`;
}

/** Removes what OpenAI's client adds to responses, because its server refuses it in requests. */
function withoutParsed(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutParsed);
	const record = asRecord(value);
	if (!record) return value;
	const own = Object.entries(record).filter(([key]) => key !== 'parsed' && key !== 'parsed_arguments');
	return Object.fromEntries(own.map(([key, each]) => [key, withoutParsed(each)]));
}

/** @throws Error if the body fits none or two of them */
export function formatOf(body: Json): ToolFormat {
	if ('contents' in body) return 'gemini';
	if (!Array.isArray(body.messages)) {
		if ('input' in body || 'previous_response_id' in body) return 'responses';
		throw new Error(
			`The request body needs messages, input or contents. This one has: ${Object.keys(body).join(', ')}`
		);
	}
	if (isAnthropic(body)) return 'anthropic';
	// Anthropic requires `max_tokens`; for Chat it's optional.
	if (!('max_tokens' in body) || isChat(body)) return 'chat';
	throw new Error('This body could be Chat Completions or Anthropic Messages. Choose one with `format`.');
}

function isAnthropic(body: Json): boolean {
	return (
		['system', 'anthropic_version', 'stop_sequences', 'top_k', 'thinking'].some((key) => key in body) ||
		recordsIn(body.tools).some((tool) => 'input_schema' in tool) ||
		recordsIn(body.messages).some(({ content }) =>
			recordsIn(content).some(({ type }) => type === 'tool_use' || type === 'tool_result')
		)
	);
}

function isChat(body: Json): boolean {
	return (
		recordsIn(body.tools).some((tool) => asRecord(tool.function)) ||
		recordsIn(body.messages).some(
			({ role, tool_calls: calls }) =>
				['system', 'developer', 'tool'].includes(String(role)) || asArray(calls).length > 0
		)
	);
}

// Gemini `generateContent`, on the wire or in the official client's form (settings under `config`).

const gemini: WireFormat = {
	toolNames: (body) =>
		recordsIn(settingsOf(body).tools).flatMap((entry) => namesIn(declarationsOf(entry).map(({ name }) => name))),
	withTools(body, tools) {
		// Declare all functions in one entry: some models accept only one.
		const given = asArray(settingsOf(body).tools);
		const declared = given.findIndex((entry) => declarationsOf(entry).length > 0);
		const functionDeclarations = toGeminiTools(tools).flatMap((entry) => entry.functionDeclarations as Json[]);
		if (declared === -1) return withSettings(body, { tools: [{ functionDeclarations }, ...given] });
		const { functionDeclarations: _own, function_declarations: _same, ...rest } = asRecord(given[declared]) ?? {};
		const merged = { ...rest, functionDeclarations: [...functionDeclarations, ...declarationsOf(given[declared])] };
		return withSettings(body, { tools: given.map((entry, index) => (index === declared ? merged : entry)) });
	},
	withPrompt(body, text) {
		const { system_instruction: snake, systemInstruction: camel, ...rest } = settingsOf(body);
		const given = camel ?? snake;
		const own = asRecord(given)?.parts === undefined ? partsOf(given) : asArray(asRecord(given)?.parts);
		const systemInstruction = {
			...(asRecord(given)?.role ? { role: asRecord(given)?.role } : {}),
			parts: [...own, { text }]
		};
		return replaceSettings(body, { ...rest, systemInstruction });
	},
	withoutForcedCall(body) {
		const config = asRecord(toolConfigOf(body)?.functionCallingConfig ?? toolConfigOf(body)?.function_calling_config);
		return config?.mode === 'ANY' || config?.mode === 'any' ? withCallingMode(body, 'AUTO') : body;
	},
	withoutCalls: (body) => withCallingMode(body, 'NONE'),
	turnOf(response) {
		// With several candidates the conversation continues with the first.
		const candidate = recordsIn(asRecord(response)?.candidates)[0];
		const content = asRecord(candidate?.content);
		const isCutOff = candidate?.finishReason === 'MAX_TOKENS';
		if (!content) return { items: [], calls: [], hasOtherCalls: false, isCutOff };
		const calls = extractToolCalls({ candidates: [{ content }] });
		const parts = asArray(content.parts).map(repeatablePart);
		return { items: [{ ...content, parts }], calls, hasOtherCalls: false, isCutOff };
	},
	results(results, { items }) {
		const calls = items.flatMap(({ parts }) => recordsIn(recordsIn(parts).map((part) => part.functionCall)));
		const ids = new Set(calls.map(({ id }) => id));
		const parts = results.map(({ call, output, isError }) => {
			const part = toToolResult(call, output, isError);
			if (ids.has(call.id)) return part;
			// The call came without an id, so its result has none.
			const { id: _made, ...functionResponse } = asRecord(part.functionResponse) ?? {};
			return { functionResponse };
		});
		return parts.length > 0 ? [{ role: 'user', parts }] : [];
	},
	append: (body, items) => ({ ...body, contents: [...contentsOf(body), ...items] })
};

/** True for the official client's form: settings under `config`, the model in the body. */
function isClientForm(body: Json): boolean {
	if (asRecord(body.config)) return true;
	const wireKeys = ['tools', 'systemInstruction', 'system_instruction', 'generationConfig', 'toolConfig'];
	return typeof body.model === 'string' && !wireKeys.some((key) => key in body);
}

function settingsOf(body: Json): Json {
	return isClientForm(body) ? (asRecord(body.config) ?? {}) : body;
}

function replaceSettings(body: Json, settings: Json): Json {
	return isClientForm(body) ? { ...body, config: settings } : settings;
}

function withSettings(body: Json, settings: Json): Json {
	return replaceSettings(body, { ...settingsOf(body), ...settings });
}

function toolConfigOf(body: Json): Json | null {
	const { toolConfig, tool_config: snake } = settingsOf(body);
	return asRecord(toolConfig ?? snake);
}

function withCallingMode(body: Json, mode: string): Json {
	const { tool_config: _snake, toolConfig: _camel, ...rest } = settingsOf(body);
	const { functionCallingConfig: _own, function_calling_config: _same, ...more } = toolConfigOf(body) ?? {};
	return replaceSettings(body, { ...rest, toolConfig: { ...more, functionCallingConfig: { mode } } });
}

function declarationsOf(entry: unknown): Json[] {
	const record = asRecord(entry);
	return recordsIn(record?.functionDeclarations ?? record?.function_declarations);
}

/** The client also accepts a text, a part or a list of them as the user's message. */
function contentsOf({ contents }: Json): unknown[] {
	const isContent = (value: unknown) => Array.isArray(asRecord(value)?.parts);
	if (isContent(contents)) return [contents];
	if (Array.isArray(contents) && contents.some(isContent)) return contents as unknown[];
	const parts = partsOf(contents);
	return parts.length > 0 ? [{ role: 'user', parts }] : [];
}

function partsOf(value: unknown): unknown[] {
	const list = Array.isArray(value) ? (value as unknown[]) : value === undefined || value === null ? [] : [value];
	return list.map((part) => (typeof part === 'string' ? { text: part } : part));
}

/** Makes a part valid in a request: arguments must be an object, whatever the model wrote. */
function repeatablePart(part: unknown): unknown {
	const call = asRecord(asRecord(part)?.functionCall);
	if (!call || call.args === undefined || asRecord(call.args)) return part;
	return { ...asRecord(part), functionCall: { ...call, args: {} } };
}

export const FORMATS: Readonly<Record<ToolFormat, WireFormat>> = { responses, chat, anthropic, gemini };
