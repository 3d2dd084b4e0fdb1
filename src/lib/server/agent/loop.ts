/** The agent loop: calls the model, runs its tool calls, and repeats until there is an answer (DESIGN §4). */
import type { Interrupt, RunEvent, RunUsage } from '../../shared/events.ts';
import type { ReachedLimit } from '../../shared/message.ts';
import type { ReasoningEffort, WebTool } from '../../shared/names.ts';
import { parseArguments, REPEAT_LIMIT, RepeatGuard, resultEvent, runCalls } from './calls.ts';
import type {
	FunctionTool,
	Model,
	ModelError,
	ModelEvent,
	ModelOptions,
	ModelRemarks,
	ModelUsage,
	ResponseItem,
	ToolChoice
} from './model.ts';
import {
	type AgentObserver,
	denial,
	denialOf,
	type HeldCall,
	type PendingCall,
	type Toolbox,
	type ToolResult
} from './tool.ts';
import type { TimeLimit } from './time-limit.ts';
import { unrecorded } from './history.ts';

export interface AgentLimits {
	/** Model calls with tools; after them one last call without. */
	maxSteps: number;
	/** USD, as counted by the model's server; null: no limit. */
	maxCostUsd: number | null;
	/** From the start of the turn. Also interrupts a step. */
	maxDurationMs: number;
	/** Per tool call. */
	toolTimeoutMs: number;
}

export interface AgentRun {
	model: Model;
	/** Reasoning effort; null: the model's default. */
	effort: ReasoningEffort | null;
	/** For the first step; default `auto`. `none` applies to all steps. */
	toolChoice?: ToolChoice;
	/** Passed to the model's server. */
	options?: ModelOptions;
	instructions: string;
	/** The conversation so far, including the question. */
	input: readonly ResponseItem[];
	/** Calls of an earlier run that waited for approval, with the decisions. They run first. */
	held: readonly HeldCall[];
	/** Ids of the caller's calls without a result yet. The model isn't called before they have one. */
	handed?: readonly string[];
	toolbox: Toolbox;
	/** See `ModelRequest`. */
	web?: readonly WebTool[];
	threadId: string;
	runId: string;
	/** Of the ids of texts; default: the run's id. */
	prefix?: string;
	limits: AgentLimits;
	/** For `limits.maxDurationMs`. Started with the turn, so preparing it counts too. */
	time: TimeLimit;
	/** Earlier usage of a continued answer; null for a new one. */
	spent: RunUsage | null;
	/** Fits the input into the model's context before each step. */
	fit: FitInput;
	/** Whether to end after the current step, because a new message is waiting. */
	isAskedToYield(): boolean;
	/** Receives the final items of each step, for later turns. */
	record(items: ResponseItem[]): void;
	observer?: AgentObserver | undefined;
}

/** `spend` receives its own usage. */
export type FitInput = (
	input: ResponseItem[],
	tools: readonly FunctionTool[],
	spend: (usage: ModelUsage | null) => void
) => AsyncGenerator<RunEvent, ResponseItem[]>;

const NOTHING = { inputTokens: 0, outputTokens: 0 };

type Outcome = Extract<RunEvent, { type: 'RUN_FINISHED' }>['outcome'];

/** Yields the run's events, ending with exactly one terminal event. Never throws for a model or a tool. */
export async function* runAgent(run: AgentRun): AsyncGenerator<RunEvent> {
	const { model, toolbox, time, threadId, runId, limits } = run;
	const { signal } = time;
	let input = [...run.input];
	const repeats = new RepeatGuard();
	const usage: RunUsage = { ...NOTHING, ...run.spent, model: model.id };
	const pace: Pace = { tokens: 0, ms: 0 };
	const spentBefore = usage.cost ?? 0;
	const finished = (outcome: Outcome, limit?: ReachedLimit): RunEvent => ({
		type: 'RUN_FINISHED',
		threadId,
		runId,
		outcome,
		result: limit && { limit }
	});
	/** Reaching the time limit isn't a failure. */
	const ended = () => (time.isOver ? finished({ type: 'success' }, 'time') : finished({ type: 'cancelled' }));
	const keep = (items: ResponseItem[]) => {
		input.push(...items);
		run.record(items);
	};

	if (run.held.length > 0) {
		const waiting = yield* runStep(run, run.held, repeats, { keep, usage });
		if (signal.aborted) return yield ended();
		if (waiting.length > 0) return yield finished({ type: 'interrupt', interrupts: waiting });
		if (run.handed?.length) return yield finished({ type: 'success', pendingToolCallIds: [...run.handed] });
	}
	for (let step = 1; ; step += 1) {
		const isLast = step > limits.maxSteps;
		const cost = (usage.cost ?? 0) - spentBefore;
		if (limits.maxCostUsd !== null && cost >= limits.maxCostUsd) return yield finished({ type: 'success' }, 'cost');
		if (time.isOver || signal.aborted) return yield ended();

		const stepName = `step ${step}`;
		yield { type: 'STEP_STARTED', stepName };
		const tools = toolbox.definitions();
		input = yield* run.fit(input, tools, (used) => addUsage(usage, used));
		const request = {
			instructions: run.instructions,
			input,
			tools,
			web: run.web,
			toolChoice: isLast ? ('none' as const) : toolChoiceOf(run, step),
			sessionId: threadId,
			effort: run.effort ?? undefined,
			options: run.options
		};
		const answer = yield* timed(readAnswer(model.stream(request, signal), `${run.prefix ?? runId}_${step}`), {
			usage,
			time,
			pace
		});
		addUsage(usage, answer.usage);
		if (answer.answeredBy) usage.answeredBy = answer.answeredBy;
		for (const key of ['leftOut', 'notAsked'] as const)
			if (answer[key]) usage[key] = [...new Set([...(usage[key] ?? []), ...answer[key]])];
		if (answer.usage || answer.leftOut)
			yield { type: 'CUSTOM', name: 'run.usage', value: { ...usage, lastStep: answer.usage ?? usage.lastStep } };
		yield { type: 'STEP_FINISHED', stepName };
		// After the time limit the answer can be continued, so keep its unfinished text.
		keep(time.isOver ? [...answer.items, ...answer.unsaid] : answer.items);

		const isWhole = !answer.error && answer.calls.length === 0;
		if (signal.aborted && !(time.isOver && isWhole)) return yield ended();
		if (answer.error) return yield errorEvent(answer.error);
		if (isWhole) return yield finished({ type: 'success' }, answer.isCut ? 'length' : undefined);
		if (isLast) return yield finished({ type: 'success' }, 'steps');

		const own = answer.calls.filter((call) => toolbox.kind(call.name) !== 'caller');
		const calls = own.map((call): HeldCall => ({ ...call, approval: null }));
		const waiting = yield* runStep(run, calls, repeats, { keep, usage });
		if (signal.aborted) return yield ended();
		if (waiting.length > 0) return yield finished({ type: 'interrupt', interrupts: waiting });
		if (repeats.most >= REPEAT_LIMIT) {
			const message =
				'The model kept making the same call, so the run was stopped. Rephrase your message and try again.';
			return yield { type: 'RUN_ERROR', code: 'repeated_call', message };
		}
		const pendingToolCallIds = answer.calls.filter((call) => !own.includes(call)).map((call) => call.callId);
		pendingToolCallIds.push(...handedBack(answer.items));
		if (pendingToolCallIds.length > 0) return yield finished({ type: 'success', pendingToolCallIds });
		if (run.isAskedToYield()) return yield finished({ type: 'success' });
	}
}

/** Ids of other calls that the program has to answer, like those of its computer. */
function handedBack(items: readonly ResponseItem[]): string[] {
	const answered = new Set(items.flatMap(({ type, call_id }) => (type.endsWith('_output') ? [call_id] : [])));
	return items.flatMap(({ type, call_id: id }) => {
		const isCall = type.endsWith('_call') && type !== 'function_call';
		return isCall && typeof id === 'string' && !answered.has(id) ? [id] : [];
	});
}

/** Forces a call only in the first step: a model forced to call a tool in every step would never answer. */
function toolChoiceOf({ toolChoice = 'auto' }: AgentRun, step: number): ToolChoice {
	return toolChoice === 'none' || step === 1 ? toolChoice : 'auto';
}

/** Runs allowed calls, answers denied ones, and returns the questions of those that need approval. */
async function* runStep(
	{ toolbox, time: { signal }, limits, observer }: AgentRun,
	calls: readonly HeldCall[],
	repeats: RepeatGuard,
	{ keep, usage }: { keep: (items: ResponseItem[]) => void; usage: RunUsage }
): AsyncGenerator<RunEvent, Interrupt[]> {
	const results = new Map<string, ToolResult>();
	const allowed: PendingCall[] = [];
	const interrupts: Interrupt[] = [];
	for (const call of calls) {
		const { decision } = call.approval ?? {};
		if (decision) yield { type: 'CUSTOM', name: 'tool.decision', value: { toolCallId: call.callId, ...decision } };
		const args = parseArguments(call.arguments);
		// Invalid arguments need no approval: the call fails anyway.
		const isDenied = decision?.choice === 'deny';
		const request =
			isDenied || typeof args === 'string' ? null : await toolbox.approval(call.name, args, call.approval);
		if (isDenied) {
			const message = denialOf(decision);
			const result = denial(message);
			if (typeof args !== 'string') await toolbox.denied?.(call, args, message);
			results.set(call.callId, result);
			yield resultEvent(call.callId, result);
		} else if (request) {
			yield { type: 'CUSTOM', name: 'tool.approval', value: { toolCallId: call.callId, ...request } };
			interrupts.push({
				id: request.interruptId,
				reason: 'tool_approval',
				message: request.reason,
				toolCallId: call.callId,
				responseSchema: DECISION_SCHEMA,
				metadata: { skill: request.skill, script: request.script, args: request.args }
			});
		} else allowed.push(call);
	}
	let hasSpent = false;
	const spend = (used: ModelUsage | null) => {
		addUsage(usage, used);
		hasSpent ||= used !== null;
	};
	yield* runCalls(allowed, toolbox, { signal, repeats, results, timeoutMs: limits.toolTimeoutMs, spend, observer });
	if (hasSpent) yield { type: 'CUSTOM', name: 'run.usage', value: { ...usage } };
	// In the order of the calls. Waiting calls get their results in the run that continues this one.
	const answered = calls.filter((call) => results.has(call.callId));
	keep(
		answered.map(({ callId }) => {
			const { output = '', parts = [] } = results.get(callId) ?? {};
			const whole = parts.length === 0 ? output : [{ type: 'input_text', text: output }, ...parts];
			return { type: 'function_call_output', call_id: callId, output: whole };
		})
	);
	return interrupts;
}

/** AG-UI `Interrupt.responseSchema` for an approval. */
const DECISION_SCHEMA = {
	type: 'object',
	properties: {
		choice: { type: 'string', enum: ['once', 'script', 'skill', 'deny'] },
		reason: { type: 'string', description: 'Why not; the model reads it.' }
	},
	required: ['choice']
};

/** What the model wrote while it could be watched. */
interface Pace {
	tokens: number;
	ms: number;
}

const WRITING: ReadonlySet<string> = new Set(['TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT', 'TOOL_CALL_START']);
/** Less says little: a short answer comes in one piece. */
const LEAST_PACE: Pace = { tokens: 20, ms: 200 };

/** Records in `usage` when the first text came, and how fast the model was. */
async function* timed(
	answer: AsyncGenerator<RunEvent, Answer>,
	{ usage, time, pace }: { usage: RunUsage; time: TimeLimit; pace: Pace }
): AsyncGenerator<RunEvent, Answer> {
	const askedAt = time.elapsedMs();
	let since: number | null = null;
	let hasReasoned = false;
	for (;;) {
		const next = await answer.next();
		const now = time.elapsedMs();
		if (next.done) {
			const { outputTokens = 0, reasoningTokens = 0 } = next.value.usage ?? {};
			if (since === null || outputTokens === 0) return next.value;
			// Reasoning that nobody saw was done before the first word.
			pace.tokens += outputTokens - (hasReasoned ? 0 : reasoningTokens);
			pace.ms += now - since;
			if (pace.tokens >= LEAST_PACE.tokens && pace.ms >= LEAST_PACE.ms) {
				usage.tokensPerSecond = Math.round((pace.tokens / pace.ms) * 10_000) / 10;
			}
			return next.value;
		}
		const { type } = next.value;
		if (type === 'TEXT_MESSAGE_CONTENT') usage.firstTextMs ??= Math.round(now);
		if (type === 'REASONING_MESSAGE_CONTENT') hasReasoned = true;
		if (WRITING.has(type)) {
			since ??= now;
			usage.firstTokenMs ??= Math.round(now - askedAt);
		}
		yield next.value;
	}
}

function addUsage(total: RunUsage, usage: ModelUsage | null): void {
	if (!usage) return;
	total.inputTokens += usage.inputTokens;
	total.outputTokens += usage.outputTokens;
	for (const key of ['cachedTokens', 'reasoningTokens', 'cost', 'saved'] as const) {
		const value = usage[key];
		if (value !== undefined) total[key] = (total[key] ?? 0) + value;
	}
}

export interface Answer extends ModelRemarks {
	items: ResponseItem[];
	calls: PendingCall[];
	usage: ModelUsage | null;
	/** The model that answered, if it's another one than was asked. */
	answeredBy: string | undefined;
	/** Whether the server cut it off, e.g. at the maximum length. */
	isCut: boolean;
	/** Shown text that isn't in any item, because the answer broke off. */
	unsaid: ResponseItem[];
	error: ModelError | null;
}

function errorEvent({ code, message, retryAfterMs, fallbacks }: ModelError): RunEvent {
	const event: RunEvent = { type: 'RUN_ERROR', code, message };
	const metadata = { ...(retryAfterMs !== undefined && { retryAfterMs }), ...(fallbacks?.length && { fallbacks }) };
	return Object.keys(metadata).length === 0 ? event : { ...event, metadata };
}

const ENDED_EARLY = { output: 'The model’s server ended before this was done.', isError: true };

/** Converts one answer of the model to events. Closes everything it opens, however the answer ends. */
async function* readAnswer(stream: AsyncIterable<ModelEvent>, prefix: string): AsyncGenerator<RunEvent, Answer> {
	const none = { usage: null, answeredBy: undefined, isCut: false, error: null };
	const answer: Answer = { items: [], calls: [], unsaid: [], ...none };
	const started = new Set<string>();
	const done = new Set<string>();
	/** Calls of the server's own tools that have no result yet. */
	const served = new Set<string>();
	let open: { kind: 'text' | 'reasoning'; key: string; id: string } | null = null;
	let count = 0;
	/** The current or last text. */
	let said = '';
	/** Ids of the texts by key; null for one in several parts, in which places mean nothing. */
	const texts = new Map<string, string | null>();
	const close = function* (): Generator<RunEvent> {
		if (open?.kind === 'text') yield { type: 'TEXT_MESSAGE_END', messageId: open.id };
		if (open?.kind === 'reasoning') {
			yield { type: 'REASONING_MESSAGE_END', messageId: open.id };
			yield { type: 'REASONING_END', messageId: open.id };
		}
		open = null;
	};
	const startCall = function* (callId: string, name: string, headline = ''): Generator<RunEvent> {
		if (started.has(callId)) return;
		started.add(callId);
		yield* close();
		const start: RunEvent = { type: 'TOOL_CALL_START', toolCallId: callId, toolCallName: name };
		yield headline === '' ? start : { ...start, metadata: { headline } };
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
					said = '';
					texts.set(event.key, texts.has(event.key) ? null : open.id);
					yield { type: 'TEXT_MESSAGE_START', messageId: open.id, role: 'assistant' };
				}
				said += event.delta;
				yield { type: 'TEXT_MESSAGE_CONTENT', messageId: open.id, delta: event.delta };
				break;
			case 'text.citation': {
				const messageId = texts.get(event.key);
				if (messageId) yield { type: 'CUSTOM', name: 'text.citation', value: { messageId, ...event.citation } };
				break;
			}
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
				yield* startCall(event.callId, event.name, event.headline);
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
			case 'server.started':
				yield* startCall(event.callId, event.name);
				served.add(event.callId);
				break;
			case 'server.done': {
				const { callId, files } = event.call;
				yield* startCall(callId, event.call.name);
				served.delete(callId);
				done.add(callId);
				yield { type: 'TOOL_CALL_ARGS', toolCallId: callId, delta: event.call.arguments };
				yield { type: 'TOOL_CALL_END', toolCallId: callId };
				if (files) yield { type: 'CUSTOM', name: 'tool.files', value: { toolCallId: callId, files } };
				yield resultEvent(callId, { output: event.call.result, isError: event.call.isError });
				break;
			}
			case 'item':
				break;
			case 'completed':
				answer.items = event.items;
				answer.usage = event.usage;
				answer.answeredBy = event.answeredBy;
				answer.leftOut = event.leftOut;
				answer.notAsked = event.notAsked;
				answer.isCut = event.incompleteReason !== null;
				break;
			case 'failed':
				answer.items = event.items;
				answer.unsaid = open?.kind === 'text' ? unrecorded(said, event.items) : [];
				answer.error = event.error;
				break;
			default:
				event satisfies never;
		}
	}
	yield* close();
	// Close incomplete calls too: in AG-UI, nothing may be open when a run finishes.
	for (const { callId } of answer.calls) done.add(callId);
	for (const toolCallId of started) if (!done.has(toolCallId)) yield { type: 'TOOL_CALL_END', toolCallId };
	// After a stop, they are stopped with it.
	if (answer.error?.code !== 'aborted') for (const callId of served) yield resultEvent(callId, ENDED_EARLY);
	return answer;
}
