/** Frames of a Responses API reply, as OpenRouter and OpenAI send them. */
import type { Gate } from './gate.ts';

export interface TextOutput {
	kind: 'text' | 'reasoning';
	chunks: (string | Gate)[];
	/** Of the text: each has its own event when complete, and is in the item too. */
	annotations?: object[];
}

/** An item made by the server's own tools: added, then done. */
export interface ItemOutput {
	kind: 'item';
	item: { type: string } & Record<string, unknown>;
}

export interface CallOutput {
	kind: 'call';
	name: string;
	/** JSON text, or what a confused model sends instead. */
	arguments: string;
	/** Default: the server's next id. */
	callId?: string;
}

export type Output = TextOutput | CallOutput | ItemOutput;

type Frame = { type: string } & Record<string, unknown>;

/** Frames and gates in sending order; the last is the terminal event. */
export function* responseFrames(
	outputs: Output[],
	nextId: (kind: string) => string,
	ending: { usage?: unknown; incomplete?: string; model?: string }
): Generator<Frame | Gate> {
	let sequence = 0;
	const id = nextId('resp');
	const frame = (type: string, fields: Record<string, unknown>): Frame => ({
		type: `response.${type}`,
		sequence_number: sequence++,
		...fields
	});

	yield frame('created', { response: { id, object: 'response', status: 'in_progress', output: [], error: null } });
	const items: unknown[] = [];
	for (const [index, output] of outputs.entries()) {
		const item =
			output.kind === 'item'
				? yield* itemFrames(output.item, index, frame)
				: output.kind === 'call'
					? yield* callFrames({ ...output, callId: output.callId ?? nextId('call') }, index, nextId('fc'), frame)
					: yield* textFrames(output, index, nextId(output.kind === 'text' ? 'msg' : 'rs'), frame);
		items.push(item);
	}
	const status = ending.incomplete === undefined ? 'completed' : 'incomplete';
	yield frame(status, {
		response: {
			id,
			object: 'response',
			status,
			...(ending.model && { model: ending.model }),
			output: items,
			error: null,
			incomplete_details: ending.incomplete === undefined ? null : { reason: ending.incomplete },
			usage: ending.usage ?? {
				input_tokens: 100,
				input_tokens_details: { cached_tokens: 0 },
				output_tokens: 20,
				output_tokens_details: { reasoning_tokens: 0 },
				total_tokens: 120,
				cost: 0.0001
			}
		}
	});
}

type MakeFrame = (type: string, fields: Record<string, unknown>) => Frame;

function* textFrames(
	output: TextOutput,
	index: number,
	id: string,
	frame: MakeFrame
): Generator<Frame | Gate, unknown> {
	const isReasoning = output.kind === 'reasoning';
	const place = { output_index: index, item_id: id, content_index: 0 };
	const name = isReasoning ? 'reasoning_text' : 'output_text';
	const base = isReasoning
		? { type: 'reasoning', id, summary: [] }
		: { type: 'message', id, role: 'assistant', status: 'in_progress', content: [] };
	yield frame('output_item.added', { output_index: index, item: base });
	let whole = '';
	for (const chunk of output.chunks) {
		if (typeof chunk === 'object') yield chunk;
		else yield frame(`${name}.delta`, { ...place, delta: chunk });
		if (typeof chunk === 'string') whole += chunk;
	}
	const { annotations = [] } = output;
	for (const [annotation_index, annotation] of annotations.entries())
		yield frame('output_text.annotation.added', { ...place, annotation_index, annotation });
	yield frame(`${name}.done`, { ...place, text: whole });
	const item = isReasoning
		? { ...base, content: [{ type: 'reasoning_text', text: whole }], signature: `signed-${id}` }
		: { ...base, status: 'completed', content: [{ type: 'output_text', text: whole, annotations }] };
	yield frame('output_item.done', { output_index: index, item });
	return item;
}

function* itemFrames(item: ItemOutput['item'], output_index: number, frame: MakeFrame): Generator<Frame, unknown> {
	yield frame('output_item.added', { output_index, item: { type: item.type, id: item.id, status: 'in_progress' } });
	yield frame('output_item.done', { output_index, item });
	return item;
}

function* callFrames(output: CallOutput, index: number, id: string, frame: MakeFrame): Generator<Frame, unknown> {
	const base = {
		type: 'function_call',
		id,
		call_id: output.callId,
		name: output.name,
		arguments: '',
		status: 'in_progress'
	};
	const place = { output_index: index, item_id: id };
	const half = Math.ceil(output.arguments.length / 2);
	yield frame('output_item.added', { output_index: index, item: base });
	for (const delta of [output.arguments.slice(0, half), output.arguments.slice(half)]) {
		if (delta !== '') yield frame('function_call_arguments.delta', { ...place, delta });
	}
	yield frame('function_call_arguments.done', { ...place, name: output.name, arguments: output.arguments });
	const item = { ...base, arguments: output.arguments, status: 'completed' };
	yield frame('output_item.done', { output_index: index, item });
	return item;
}
