/** Anthropic Messages: `system`, tools with `input_schema`, content blocks. */
import { extractToolCalls, toAnthropicTools, toToolResult } from '../adapters.ts';
import { asRecord, listOf, namesIn, recordsIn, withParagraph, type Json } from './records.ts';
import type { WireFormat } from './wire-format.ts';

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
