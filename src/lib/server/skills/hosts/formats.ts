/** Detects which of four APIs a request is for: by its shape, never by the model's name (FEATURES B12, D39). */
import { type ToolFormat, extractToolCalls, recordsIn, toGeminiTools, toToolResult } from './adapters.ts';
import { anthropic, chat, type Json, responses, type WireFormat, namesIn } from './wire.ts';
import { asArray, asRecord } from '../../../shared/json.ts';

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
		const parts = asArray(content.parts).map(repeatable);
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
function repeatable(part: unknown): unknown {
	const call = asRecord(asRecord(part)?.functionCall);
	if (!call || call.args === undefined || asRecord(call.args)) return part;
	return { ...asRecord(part), functionCall: { ...call, args: {} } };
}

export const FORMATS: Readonly<Record<ToolFormat, WireFormat>> = { responses, chat, anthropic, gemini };
