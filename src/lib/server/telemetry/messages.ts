/** What was said, as the conventions for generative AI write it in a span. Only if the operator wants it there. */
import type { Attributes } from '@opentelemetry/api';
import { isObject, parseJson } from '../../shared/json.ts';
import type { ModelRequest, ResponseItem } from '../agent/model.ts';

export function inputMessages({ instructions, input }: Pick<ModelRequest, 'instructions' | 'input'>): Attributes {
	return {
		'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: instructions }]),
		'gen_ai.input.messages': JSON.stringify(input.flatMap(toMessage))
	};
}

export function outputMessages(items: readonly ResponseItem[]): Attributes {
	return { 'gen_ai.output.messages': JSON.stringify(items.flatMap(toMessage)) };
}

function toMessage(item: ResponseItem): object[] {
	switch (item.type) {
		case 'message':
			return [{ role: item.role ?? 'user', parts: toParts(item.content) }];
		case 'function_call': {
			const args = parseJson(String(item.arguments)) ?? item.arguments;
			const part = { type: 'tool_call', id: item.call_id, name: item.name, arguments: args };
			return [{ role: 'assistant', parts: [part] }];
		}
		case 'function_call_output': {
			const part = { type: 'tool_call_response', id: item.call_id, response: textOf(item.output) };
			return [{ role: 'tool', parts: [part] }];
		}
		default:
			return [];
	}
}

/** Files and pictures are only named: they would fill the span. */
function toParts(content: unknown): object[] {
	if (typeof content === 'string') return [{ type: 'text', content }];
	const parts = Array.isArray(content) ? content.filter(isObject) : [];
	return parts.map((part) =>
		typeof part.text === 'string' ? { type: 'text', content: part.text } : { type: String(part.type) }
	);
}

function textOf(output: unknown): string {
	if (typeof output === 'string') return output;
	const parts = Array.isArray(output) ? output.filter(isObject) : [];
	return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}
