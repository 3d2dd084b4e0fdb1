/** A model, usually demo mode, as a Responses API server that third-party clients can use. */
import type { FunctionTool, Model, ResponseItem } from '../../src/lib/server/agent/model.ts';
import { createOfflineModel } from '../../src/lib/server/offline/offline.ts';
import { startModelServer, type Exchange, type ModelServer } from './model-server.ts';

/** The model's text or call. */
type Answer = string | { name: string; arguments: string; callId: string };

/** More than any test sends. */
const MOST_REQUESTS = 100;

export function startOfflineServer(model: Model = createOfflineModel()): Promise<ModelServer> {
	return startModelServer(Array.from({ length: MOST_REQUESTS }, () => (exchange) => answer(model, exchange)));
}

async function answer(model: Model, exchange: Exchange): Promise<void> {
	const { body } = exchange.request;
	const outputs: Answer[] = [];
	let text = '';
	const request = {
		instructions: typeof body.instructions === 'string' ? body.instructions : '',
		input: inputItems(body.input),
		tools: (Array.isArray(body.tools) ? body.tools : []) as FunctionTool[],
		toolChoice: 'auto' as const,
		sessionId: 'sdk'
	};
	for await (const event of model.stream(request, new AbortController().signal)) {
		if (event.type === 'text.delta') text += event.delta;
		if (event.type === 'call.done') {
			outputs.push({ name: event.name, arguments: event.arguments, callId: event.callId });
		}
	}
	if (text !== '') outputs.unshift(text);
	const items = outputs.map((output) => itemOf(output, exchange.nextId));
	const whole = wholeResponse(items, typeof body.model === 'string' ? body.model : 'offline', exchange.nextId('resp'));
	if (body.stream !== true) {
		exchange.begin(200, { 'content-type': 'application/json' });
		return exchange.end(JSON.stringify(whole));
	}
	exchange.begin();
	let sequence = 0;
	for (const frame of frames(whole, items)) {
		await exchange.write(
			`event: ${String(frame.type)}\ndata: ${JSON.stringify({ ...frame, sequence_number: sequence++ })}\n\n`
		);
	}
	exchange.end('data: [DONE]\n\n');
}

/** The SDKs check every event against their schemas, so each has all fields. */
function* frames(whole: Record<string, unknown>, items: readonly Item[]): Generator<Record<string, unknown>> {
	const begun = { ...whole, status: 'in_progress', completed_at: null, output: [], usage: null };
	yield { type: 'response.created', response: begun };
	yield { type: 'response.in_progress', response: begun };
	for (const [index, item] of items.entries()) {
		const place = { output_index: index, item_id: item.id };
		if (item.type === 'function_call') {
			yield {
				type: 'response.output_item.added',
				output_index: index,
				item: { ...item, arguments: '', status: 'in_progress' }
			};
			yield { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments };
			yield { type: 'response.function_call_arguments.done', ...place, name: item.name, arguments: item.arguments };
		} else {
			const [part] = item.content;
			const inPart = { ...place, content_index: 0 };
			yield {
				type: 'response.output_item.added',
				output_index: index,
				item: { ...item, content: [], status: 'in_progress' }
			};
			yield { type: 'response.content_part.added', ...inPart, part: { ...part, text: '' } };
			for (const delta of part.text.match(/.{1,40}/gs) ?? []) {
				yield { type: 'response.output_text.delta', ...inPart, delta, logprobs: [] };
			}
			yield { type: 'response.output_text.done', ...inPart, text: part.text, logprobs: [] };
			yield { type: 'response.content_part.done', ...inPart, part };
		}
		yield { type: 'response.output_item.done', output_index: index, item };
	}
	yield { type: 'response.completed', response: whole };
}

type Item =
	| { type: 'function_call'; id: string; call_id: string; name: string; arguments: string; status: 'completed' }
	| {
			type: 'message';
			id: string;
			role: 'assistant';
			status: 'completed';
			content: [{ type: 'output_text'; text: string; annotations: [] }];
	  };

function itemOf(output: Answer, nextId: (kind: string) => string): Item {
	if (typeof output === 'string') {
		const content: [{ type: 'output_text'; text: string; annotations: [] }] = [
			{ type: 'output_text', text: output, annotations: [] }
		];
		return { type: 'message', id: nextId('msg'), role: 'assistant', status: 'completed', content };
	}
	const { name, arguments: text, callId } = output;
	return { type: 'function_call', id: nextId('fc'), call_id: callId, name, arguments: text, status: 'completed' };
}

/** A string, or messages with string content, as clients send them. */
function inputItems(input: unknown): ResponseItem[] {
	const items: unknown[] =
		typeof input === 'string' ? [{ role: 'user', content: input }] : Array.isArray(input) ? input : [];
	return (items as Record<string, unknown>[]).map((item) => {
		const content = typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content;
		return { ...item, type: typeof item.type === 'string' ? item.type : 'message', ...(content ? { content } : {}) };
	});
}

function wholeResponse(output: readonly Item[], model: string, id: string): Record<string, unknown> {
	return {
		id,
		object: 'response',
		created_at: 1,
		completed_at: 1,
		status: 'completed',
		model,
		output,
		error: null,
		incomplete_details: null,
		instructions: null,
		metadata: {},
		parallel_tool_calls: true,
		temperature: null,
		tool_choice: 'auto',
		tools: [],
		top_p: null,
		presence_penalty: 0,
		frequency_penalty: 0,
		usage: {
			input_tokens: 1,
			input_tokens_details: { cached_tokens: 0 },
			output_tokens: 1,
			output_tokens_details: { reasoning_tokens: 0 },
			total_tokens: 2
		}
	};
}
