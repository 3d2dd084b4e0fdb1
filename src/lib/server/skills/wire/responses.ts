/** The Responses API: `instructions`, flat tools, `input` items. */
import { extractToolCalls, toToolResult } from '../adapters.ts';
import { asRecord, listOf, namesIn, recordsIn, withoutParsed, withParagraph, type Json } from './records.ts';
import type { WireFormat } from './wire-format.ts';

/** Calls that wait for an output of the caller, but are no functions. Those of other types were run by the server. */
const OTHER_CALLS = new Set([
	...['custom_tool_call', 'computer_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
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

function isForced(choice: unknown): boolean {
	return choice === 'required' || asRecord(choice)?.type === 'function';
}
