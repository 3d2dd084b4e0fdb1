/** Which of the four APIs a request is for: by its shape, never by the name of its model (FEATURES B12, D39). */
import type { ToolFormat } from './adapters.ts';
import { anthropic, chat, type Json, listOf, recordsIn, responses, type WireFormat } from './wire.ts';
import { gemini } from './wire-gemini.ts';
import { asRecord } from '../../../shared/json.ts';

export const FORMATS: Readonly<Record<ToolFormat, WireFormat>> = { responses, chat, anthropic, gemini };

/** @throws Error when the body is of none of them, or of two alike */
export function formatOf(body: Json): ToolFormat {
	if ('contents' in body) return 'gemini';
	if (!Array.isArray(body.messages)) {
		if ('input' in body || 'previous_response_id' in body) return 'responses';
		throw new Error(`A request body has messages, input or contents; this one has: ${Object.keys(body).join(', ')}`);
	}
	if (isAnthropic(body)) return 'anthropic';
	// Anthropic's requests must say how much the model may write; Chat's may.
	if (!('max_tokens' in body) || isChat(body)) return 'chat';
	throw new Error('This body can be one of Chat Completions or of Anthropic Messages: say which with `format`.');
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
				['system', 'developer', 'tool'].includes(String(role)) || listOf(calls).length > 0
		)
	);
}
