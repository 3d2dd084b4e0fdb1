/** The built-in responder: drives skills by their words and documented commands, with no key and no network (FEATURES F9). */
import { BUILT_IN_MODEL } from '../../shared/names.ts';
import type { Model, ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { decide, type Decision } from './decide.ts';
import type { FinderName } from './fill.ts';
import { shapeText } from './markdown.ts';

/**
 * A model that is no language model, and says so in each answer. Deterministic and without state: equal requests get
 * equal answers. Text comes a line at a time.
 */
export function createOfflineModel(options: OfflineOptions = {}): Model {
	const without = new Set(options.without);
	return { id: BUILT_IN_MODEL, stream: (request, signal) => stream(request, signal, without) };
}

export interface OfflineOptions {
	/** Ways to find values that are not used: to measure what each is worth. */
	without?: readonly FinderName[];
}

async function* stream(
	request: ModelRequest,
	signal: AbortSignal,
	without: ReadonlySet<FinderName>
): AsyncGenerator<ModelEvent, void> {
	for (const event of respond(request, without)) {
		if (signal.aborted) {
			yield { type: 'failed', error: { code: 'aborted', message: 'The answer was stopped.' }, items: [] };
			return;
		}
		yield event;
		// Lets others run, and an abort arrive, between the pieces.
		await Promise.resolve();
	}
}

function respond(request: ModelRequest, without: ReadonlySet<FinderName>): ModelEvent[] {
	try {
		return eventsOf(decide(request, without), request);
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		const message = `Demo mode couldn't read this request: ${reason}`;
		return [{ type: 'failed', error: { code: 'provider_error', message }, items: [] }];
	}
}

function eventsOf(decision: Decision, request: ModelRequest): ModelEvent[] {
	const said = decision.kind === 'say' ? shapeText(decision.text, request.options) : null;
	const output = decision.kind === 'call' ? decision.call.arguments : (said?.text ?? '');
	const id = idFor(request, output);
	const { events, item } = decision.kind === 'call' ? callEvents(decision.call, id) : textEvents(output, `msg_${id}`);
	const usage = {
		inputTokens: tokensOf(JSON.stringify([request.instructions, request.input, request.tools])),
		outputTokens: tokensOf(output)
	};
	return [...events, { type: 'completed', items: [item], usage, incompleteReason: said?.incompleteReason ?? null }];
}

function textEvents(text: string, id: string): { events: ModelEvent[]; item: ResponseItem } {
	const lines = text.match(/[^\n]*\n+|[^\n]+$/g) ?? [];
	const content = [{ type: 'output_text', text, annotations: [] }];
	return {
		events: lines.map((delta) => ({ type: 'text.delta', key: id, delta })),
		item: { type: 'message', id, role: 'assistant', status: 'completed', content }
	};
}

function callEvents(
	call: { name: string; arguments: string },
	id: string
): { events: ModelEvent[]; item: ResponseItem } {
	const callId = `call_${id}`;
	return {
		events: [
			{ type: 'call.started', callId, name: call.name },
			{ type: 'call.delta', callId, delta: call.arguments },
			{ type: 'call.done', callId, name: call.name, arguments: call.arguments }
		],
		item: {
			type: 'function_call',
			id: `fc_${id}`,
			call_id: callId,
			name: call.name,
			arguments: call.arguments,
			status: 'completed'
		}
	};
}

/** By its place in the conversation; a digest of what led here keeps it apart where a history was shortened. */
function idFor({ input, sessionId }: ModelRequest, output: string): string {
	const calls = input.filter((item) => item.type === 'function_call').length;
	return `${calls + 1}_${digest(JSON.stringify([sessionId, input]) + output)}`;
}

/** FNV-1a, in base 36. */
function digest(text: string): string {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	return (hash >>> 0).toString(36);
}

/** An estimate: four characters are about a token. */
function tokensOf(text: string): number {
	return Math.ceil(text.length / 4);
}
