/**
 * One exchange, "think, say 'Let me look.', load two skills", as different servers stream it. They differ in what
 * they leave out: indexes, ids, names, sequence numbers, the blank line at the end.
 */

export const REASONING = 'The user wants weather.';
export const TEXT = 'Let me lóok 🌤.';
export const CALLS = [
	{ callId: 'call_a', name: 'load_skill', arguments: '{"name":"weather"}' },
	{ callId: 'call_b', name: 'load_skill', arguments: '{"name":"csv"}' }
];

const usage = {
	input_tokens: 812,
	input_tokens_details: { cached_tokens: 640 },
	output_tokens: 57,
	output_tokens_details: { reasoning_tokens: 12 },
	total_tokens: 869
};

const reasoningItem = {
	type: 'reasoning',
	id: 'rs_1',
	summary: [],
	content: [{ type: 'reasoning_text', text: REASONING }]
};
const messageItem = {
	type: 'message',
	id: 'msg_1',
	role: 'assistant',
	status: 'completed',
	content: [{ type: 'output_text', text: TEXT, annotations: [] }]
};
const callItems = CALLS.map(({ callId, name, arguments: args }) => ({
	type: 'function_call',
	id: `fc_${callId}`,
	call_id: callId,
	name,
	arguments: args,
	status: 'completed'
}));

function halves(text: string): [string, string] {
	return [text.slice(0, 7), text.slice(7)];
}

/** `data:` lines with an `event:` field, as OpenAI and llama.cpp send them. */
function namedFrames(events: { type: string }[]): string {
	return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function dataFrames(events: object[]): string {
	return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}

/** Keep-alive comments, encrypted reasoning with a signature, a cost, `[DONE]`. */
function openrouter(): { stream: string; items: object[] } {
	const thought = { ...reasoningItem, encrypted_content: 'gAAA', signature: 'sig', format: 'anthropic-claude-v1' };
	const items = [thought, messageItem, ...callItems];
	let sequence_number = 0;
	const numbered = (event: object) => ({ ...event, sequence_number: sequence_number++ });
	const events = [
		{ type: 'response.created', response: { id: 'gen-1', status: 'in_progress', output: [], error: null } },
		{ type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
		...halves(REASONING).map((delta) => ({
			type: 'response.reasoning_text.delta',
			output_index: 0,
			item_id: 'rs_1',
			content_index: 0,
			delta
		})),
		{ type: 'response.output_item.done', output_index: 0, item: thought },
		{ type: 'response.output_item.added', output_index: 1, item: { ...messageItem, id: 'msg_tmp', content: [] } },
		...halves(TEXT).map((delta) => ({
			type: 'response.output_text.delta',
			output_index: 1,
			item_id: 'msg_tmp',
			content_index: 0,
			delta,
			logprobs: []
		})),
		{ type: 'response.output_text.done', output_index: 1, item_id: 'msg_tmp', content_index: 0, text: TEXT },
		{ type: 'response.output_item.done', output_index: 1, item: messageItem },
		...callItems.flatMap((item, index) => callEvents(item, { output_index: index + 2, item_id: item.id }, item.name)),
		{
			type: 'response.completed',
			response: { id: 'gen-1', status: 'completed', output: items, usage: { ...usage, cost: 0.0021 } }
		}
	].map(numbered);
	const stream = `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${dataFrames(events)}data: [DONE]\n\n`;
	return { stream, items };
}

/** Summaries instead of content, many unneeded event types, calls whose deltas interleave. */
function openai(): { stream: string; items: object[] } {
	const thought = {
		type: 'reasoning',
		id: 'rs_1',
		summary: [{ type: 'summary_text', text: REASONING }],
		encrypted_content: 'gAAA'
	};
	const items = [thought, messageItem, ...callItems];
	const places = callItems.map((item, index) => ({ output_index: index + 2, item_id: item.id }));
	const events = [
		{ type: 'response.created', response: { status: 'in_progress', error: null } },
		{ type: 'response.in_progress', response: { status: 'in_progress', error: null } },
		{ type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
		{ type: 'response.reasoning_summary_part.added', output_index: 0, item_id: 'rs_1', summary_index: 0 },
		...halves(REASONING).map((delta) => ({
			type: 'response.reasoning_summary_text.delta',
			output_index: 0,
			item_id: 'rs_1',
			summary_index: 0,
			delta,
			obfuscation: 'xyz'
		})),
		{ type: 'response.reasoning_summary_text.done', output_index: 0, item_id: 'rs_1', text: REASONING },
		{ type: 'response.output_item.done', output_index: 0, item: thought },
		{ type: 'response.output_item.added', output_index: 1, item: { ...messageItem, content: [] } },
		{ type: 'response.content_part.added', output_index: 1, item_id: 'msg_1', part: { type: 'output_text', text: '' } },
		...halves(TEXT).map((delta) => ({ type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', delta })),
		{
			type: 'response.content_part.done',
			output_index: 1,
			item_id: 'msg_1',
			part: { type: 'output_text', text: TEXT }
		},
		{ type: 'response.output_item.done', output_index: 1, item: messageItem },
		...callItems.map((item, index) => ({
			type: 'response.output_item.added',
			output_index: index + 2,
			item: { ...item, arguments: '' }
		})),
		...[0, 1].flatMap((half) =>
			callItems.map((item, index) => ({
				type: 'response.function_call_arguments.delta',
				...places[index],
				delta: halves(item.arguments)[half]
			}))
		),
		...callItems.flatMap((item, index) => [
			{ type: 'response.function_call_arguments.done', ...places[index], arguments: item.arguments },
			{ type: 'response.output_item.done', output_index: index + 2, item }
		]),
		{ type: 'response.completed', response: { status: 'completed', output: items, usage } }
	];
	return { stream: namedFrames(events), items };
}

/** No name in `arguments.done`, arguments in one piece, some CRLF line ends. */
function ollama(): { stream: string; items: object[] } {
	const items = [reasoningItem, messageItem, ...callItems];
	const events = [
		{ type: 'response.created', sequence_number: 0, response: { status: 'in_progress' } },
		...halves(REASONING).map((delta) => ({
			type: 'response.reasoning.delta',
			output_index: 0,
			item_id: 'rs_1',
			delta
		})),
		{ type: 'response.output_item.done', output_index: 0, item: reasoningItem },
		...halves(TEXT).map((delta) => ({ type: 'response.output_text.delta', output_index: 1, item_id: 'msg_1', delta })),
		{ type: 'response.output_item.done', output_index: 1, item: messageItem },
		...callItems.flatMap((item, index) => [
			{ type: 'response.output_item.added', output_index: index + 2, item: { ...item, arguments: '' } },
			{
				type: 'response.function_call_arguments.delta',
				output_index: index + 2,
				item_id: item.id,
				delta: item.arguments
			},
			{
				type: 'response.function_call_arguments.done',
				output_index: index + 2,
				item_id: item.id,
				arguments: item.arguments
			},
			{ type: 'response.output_item.done', output_index: index + 2, item }
		]),
		{ type: 'response.completed', response: { status: 'completed', output: items, usage } }
	];
	return { stream: namedFrames(events).replaceAll('\n', '\r\n'), items };
}

/** No `sequence_number` or `output_index`; calls have no id of their own, their `item_id` is "fc_" plus the call's id. */
function llamaCpp(): { stream: string; items: object[] } {
	const calls = callItems.map(({ id: _id, ...item }) => item);
	const items = [reasoningItem, messageItem, ...calls];
	const events = [
		{ type: 'response.created', response: { status: 'in_progress' } },
		{ type: 'response.output_item.added', item: { ...reasoningItem, content: [] } },
		...halves(REASONING).map((delta) => ({ type: 'response.reasoning_text.delta', item_id: 'rs_1', delta })),
		{ type: 'response.output_item.added', item: { ...messageItem, content: [] } },
		...halves(TEXT).map((delta) => ({ type: 'response.output_text.delta', item_id: 'msg_1', delta })),
		...calls.flatMap((item) => [
			{ type: 'response.output_item.added', item: { ...item, arguments: '', status: 'in_progress' } },
			...halves(item.arguments).map((delta) => ({
				type: 'response.function_call_arguments.delta',
				item_id: `fc_${item.call_id}`,
				delta
			}))
		]),
		{ type: 'response.output_item.done', item: reasoningItem },
		{ type: 'response.output_item.done', item: messageItem },
		...calls.map((item) => ({ type: 'response.output_item.done', item })),
		{ type: 'response.completed', response: { status: 'completed', output: items, usage } }
	];
	// Its last event has no blank line after it.
	return { stream: namedFrames(events).trimEnd(), items };
}

/** Event names of earlier drafts: `content_part.delta`, `reasoning.delta`, `response.done`. */
function older(): { stream: string; items: object[] } {
	const items = [reasoningItem, messageItem, ...callItems];
	const events = [
		...halves(REASONING).map((delta) => ({ type: 'response.reasoning.delta', item_id: 'rs_1', delta })),
		...halves(TEXT).map((delta) => ({ type: 'response.content_part.delta', item_id: 'msg_1', delta })),
		...callItems.flatMap((item) => callEvents(item, { item_id: item.id })),
		{ type: 'response.done', response: { status: 'completed', output: items, usage } }
	];
	return { stream: `${dataFrames(events)}data: [DONE]\n\n`, items };
}

function callEvents(item: (typeof callItems)[number], place: object, name?: string): object[] {
	return [
		{ type: 'response.output_item.added', ...place, item: { ...item, arguments: '', status: 'in_progress' } },
		...halves(item.arguments).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
		{ type: 'response.function_call_arguments.done', ...place, name, arguments: item.arguments },
		{ type: 'response.output_item.done', ...place, item }
	];
}

/** Each server's stream, and the items a client must have received. */
export const DIALECTS: Record<string, { stream: string; items: object[] }> = {
	OpenRouter: openrouter(),
	OpenAI: openai(),
	Ollama: ollama(),
	'llama.cpp': llamaCpp(),
	'older names': older()
};
