/** Chat Completions: a system or developer message, nested tools, `messages`. */
import { extractToolCalls, toChatTools, toToolResult } from '../adapters.ts';
import { asRecord, listOf, namesIn, recordsIn, withoutParsed, withParagraph, type Json } from './records.ts';
import type { WireFormat } from './wire-format.ts';

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
