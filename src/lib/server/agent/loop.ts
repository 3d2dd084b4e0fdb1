/** The agent: asks the model, runs the tools it calls, asks again, until there is an answer (DESIGN §4). */
import type { RunEvent, RunUsage } from '../../shared/events.ts';
import { REPEAT_LIMIT, RepeatGuard, runCalls, type PendingCall } from './calls.ts';
import type { Model, ModelEvent, ModelUsage, ResponseItem } from './model.ts';
import type { Toolbox, ToolResult } from './tool.ts';

export interface AgentRun {
	model: Model;
	instructions: string;
	/** The conversation so far, ending in what is to be answered. */
	input: readonly ResponseItem[];
	toolbox: Toolbox;
	threadId: string;
	runId: string;
	maxSteps: number;
	signal: AbortSignal;
	/** Takes the items of each step as they become final, to be sent again in later turns. */
	record(items: ResponseItem[]): void;
}

/** Yields the run's events, from the first step to exactly one terminal event. Never throws for a model or a tool. */
export async function* runAgent(run: AgentRun): AsyncGenerator<RunEvent> {
	const { model, toolbox, signal, threadId, runId, maxSteps } = run;
	const input = [...run.input];
	const repeats = new RepeatGuard();
	const usage: RunUsage = { model: model.id, inputTokens: 0, outputTokens: 0 };
	const finished = (outcome: { type: 'success'; pendingToolCallIds?: string[] } | { type: 'cancelled' }): RunEvent => {
		return { type: 'RUN_FINISHED', threadId, runId, outcome };
	};

	for (let step = 1; ; step += 1) {
		const isLast = step > maxSteps;
		const stepName = `step ${step}`;
		yield { type: 'STEP_STARTED', stepName };
		const request = {
			instructions: run.instructions,
			input,
			tools: toolbox.definitions(),
			toolChoice: isLast ? ('none' as const) : ('auto' as const),
			sessionId: threadId
		};
		const answer = yield* readAnswer(model.stream(request, signal), `${runId}_${step}`);
		addUsage(usage, answer.usage);
		if (answer.usage) yield { type: 'CUSTOM', name: 'run.usage', value: { ...usage } };
		yield { type: 'STEP_FINISHED', stepName };
		input.push(...answer.items);
		run.record(answer.items);

		if (signal.aborted) return yield finished({ type: 'cancelled' });
		if (answer.error) return yield { type: 'RUN_ERROR', ...answer.error };
		if (answer.calls.length === 0 || isLast) return yield finished({ type: 'success' });

		const own = answer.calls.filter((call) => toolbox.kind(call.name) !== 'caller');
		const results = new Map<string, ToolResult>();
		yield* runCalls(own, toolbox, { signal, repeats, results });
		const outputs = own.map((call): ResponseItem => {
			return { type: 'function_call_output', call_id: call.callId, output: results.get(call.callId)?.output ?? '' };
		});
		input.push(...outputs);
		run.record(outputs);

		if (signal.aborted) return yield finished({ type: 'cancelled' });
		if (repeats.most >= REPEAT_LIMIT) {
			const message =
				'The model made the same call again and again, so the run was ended. Say it differently and try again.';
			return yield { type: 'RUN_ERROR', code: 'repeated_call', message };
		}
		const pendingToolCallIds = answer.calls.filter((call) => !own.includes(call)).map((call) => call.callId);
		if (pendingToolCallIds.length > 0) return yield finished({ type: 'success', pendingToolCallIds });
	}
}

interface Answer {
	items: ResponseItem[];
	calls: PendingCall[];
	usage: ModelUsage | null;
	error: { code: string; message: string } | null;
}

/** Turns one answer of the model into events; what was opened is closed, however it ends. */
async function* readAnswer(stream: AsyncIterable<ModelEvent>, prefix: string): AsyncGenerator<RunEvent, Answer> {
	const answer: Answer = { items: [], calls: [], usage: null, error: null };
	const started = new Set<string>();
	let open: { kind: 'text' | 'reasoning'; key: string; id: string } | null = null;
	let count = 0;
	const close = function* (): Generator<RunEvent> {
		if (open?.kind === 'text') yield { type: 'TEXT_MESSAGE_END', messageId: open.id };
		if (open?.kind === 'reasoning') {
			yield { type: 'REASONING_MESSAGE_END', messageId: open.id };
			yield { type: 'REASONING_END', messageId: open.id };
		}
		open = null;
	};
	const startCall = function* (callId: string, name: string): Generator<RunEvent> {
		if (started.has(callId)) return;
		started.add(callId);
		yield* close();
		yield { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name };
	};

	for await (const event of stream) {
		switch (event.type) {
			case 'retrying': {
				const { attempt, delayMs, message } = event;
				yield { type: 'CUSTOM', name: 'run.retry', value: { attempt, delayMs, message } };
				break;
			}
			case 'text.delta':
				if (open?.kind !== 'text' || open.key !== event.key) {
					yield* close();
					open = { kind: 'text', key: event.key, id: `${prefix}_${(count += 1)}` };
					yield { type: 'TEXT_MESSAGE_START', messageId: open.id, role: 'assistant' };
				}
				yield { type: 'TEXT_MESSAGE_CONTENT', messageId: open.id, delta: event.delta };
				break;
			case 'reasoning.delta':
				if (open?.kind !== 'reasoning' || open.key !== event.key) {
					yield* close();
					open = { kind: 'reasoning', key: event.key, id: `${prefix}_${(count += 1)}` };
					yield { type: 'REASONING_START', messageId: open.id };
					yield { type: 'REASONING_MESSAGE_START', messageId: open.id, role: 'reasoning' };
				}
				yield { type: 'REASONING_MESSAGE_CONTENT', messageId: open.id, delta: event.delta };
				break;
			case 'call.started':
				yield* startCall(event.callId, event.name);
				break;
			case 'call.delta':
				yield { type: 'TOOL_CALL_ARGS', toolCallId: event.callId, delta: event.delta };
				break;
			case 'call.done': {
				yield* startCall(event.callId, event.name);
				yield { type: 'TOOL_CALL_END', toolCallId: event.callId };
				const { callId, name, arguments: text } = event;
				answer.calls.push({ callId, name, arguments: text });
				break;
			}
			case 'completed':
				answer.items = event.items;
				answer.usage = event.usage;
				break;
			case 'failed':
				answer.items = event.items;
				answer.error = { code: event.error.code, message: event.error.message };
				break;
			default:
				event satisfies never;
		}
	}
	yield* close();
	return answer;
}

function addUsage(total: RunUsage, usage: ModelUsage | null): void {
	if (!usage) return;
	total.inputTokens += usage.inputTokens;
	total.outputTokens += usage.outputTokens;
	for (const key of ['cachedTokens', 'reasoningTokens', 'cost'] as const) {
		const value = usage[key];
		if (value !== undefined) total[key] = (total[key] ?? 0) + value;
	}
}
