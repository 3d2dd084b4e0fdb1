/** A vendor's whole reply as the server-sent events it's streamed in. */
type Json = Record<string, unknown>;

/** Texts and arguments come in two pieces, since they can be cut anywhere. */
export function streamed(vendor: string, answer: Json): string {
	if (vendor === 'chat') return [...chatChunks(answer), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
	// Gemini's chunks are whole answers; one is enough.
	if (vendor === 'gemini') return `data: ${JSON.stringify(answer)}\n\n`;
	const events = vendor === 'anthropic' ? anthropicEvents(answer) : responseEvents(answer);
	return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function responseEvents(answer: Json): Json[] {
	const items = answer.output as Json[];
	const events = [
		{ type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
		...items.flatMap((item, index): Json[] => [
			{ type: 'response.output_item.added', output_index: index, item },
			{ type: 'response.output_item.done', output_index: index, item }
		]),
		{ type: 'response.completed', response: answer }
	];
	return events.map((event, index) => ({ ...event, sequence_number: index }));
}

function chatChunks(answer: Json): string[] {
	const [{ message, finish_reason: finish }] = answer.choices as [{ message: Json; finish_reason: string }];
	const calls = (message.tool_calls ?? []) as {
		id: string;
		type: string;
		function: { name: string; arguments: string };
	}[];
	const deltas: Json[] = [
		{ role: 'assistant', content: '' },
		...halves(String(message.content ?? '')).map((content) => ({ content })),
		...calls.flatMap(({ id, type, function: called }, index) => [
			{ tool_calls: [{ index, id, type, function: { name: called.name, arguments: '' } }] },
			...halves(called.arguments).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }))
		])
	];
	const chunk = (delta: Json, reason: string | null) =>
		JSON.stringify({
			...{ ...answer, object: 'chat.completion.chunk' },
			choices: [{ index: 0, delta, finish_reason: reason }]
		});
	return [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish)];
}

function anthropicEvents(answer: Json): Json[] {
	const { content, stop_reason: reason, ...message } = answer;
	const blocks = (content as Json[]).flatMap((block, index): Json[] => [
		{ type: 'content_block_start', index, content_block: begun(block) },
		...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
		{ type: 'content_block_stop', index }
	]);
	return [
		{ type: 'message_start', message: { ...message, content: [], stop_reason: null } },
		...blocks,
		{ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } },
		{ type: 'message_stop' }
	];
}

function begun(block: Json): Json {
	if (block.type === 'text') return { ...block, text: '' };
	return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} };
}

function deltasOf({ type, text, thinking, signature, input }: Json): Json[] {
	if (type === 'text') return halves(String(text)).map((piece) => ({ type: 'text_delta', text: piece }));
	if (type === 'thinking') {
		return [
			{ type: 'thinking_delta', thinking },
			{ type: 'signature_delta', signature }
		];
	}
	return halves(JSON.stringify(input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
}

function halves(text: string): string[] {
	const middle = Math.ceil(text.length / 2);
	return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}
