/** Runs the tool calls of one step in parallel, but those of one lane in order. Each call gets exactly one result. */
import { isNestedDeeperThan, MAX_NESTING } from '../../shared/errors.ts';
import type { RunEvent } from '../../shared/events.ts';
import { isObject } from '../../shared/json.ts';
import { startTimeLimit, type TimeLimit } from './time-limit.ts';
import type { ModelUsage } from './model.ts';
import { type AgentObserver, failure, type PendingCall, type Toolbox, type ToolResult } from './tool.ts';

/** From the 3rd identical call on the result has a warning; after the 6th the run ends. */
const REPEAT_WARN = 3;
export const REPEAT_LIMIT = 6;

/** Counts identical calls of a run. */
export class RepeatGuard {
	#counts = new Map<string, number>();
	/** The highest count of any call. */
	most = 0;

	/** A file that has changed since may be looked at again. */
	count(call: PendingCall, { parts }: Pick<ToolResult, 'parts'> = {}): number {
		const key = `${call.name}\n${call.arguments}\n${JSON.stringify(parts)}`;
		const count = (this.#counts.get(key) ?? 0) + 1;
		this.#counts.set(key, count);
		this.most = Math.max(this.most, count);
		return count;
	}
}

const MAX_PARALLEL = 8;

export interface CallsOptions {
	signal: AbortSignal;
	repeats: RepeatGuard;
	/** Receives each call's result. */
	results: Map<string, ToolResult>;
	/** Per call. */
	timeoutMs: number;
	/** See `ToolContext`. */
	spend(usage: ModelUsage | null): void;
	observer?: AgentObserver | undefined;
}

/** Yields the calls' events as they happen. */
export async function* runCalls(
	calls: readonly PendingCall[],
	toolbox: Toolbox,
	{ signal, repeats, results, timeoutMs, spend, observer }: CallsOptions
): AsyncGenerator<RunEvent> {
	const channel = createChannel<RunEvent>();
	const answer = async (call: PendingCall): Promise<ToolResult> => {
		const args = parseArguments(call.arguments);
		if (typeof args === 'string') return failure('InvalidArgs', args);
		if (signal.aborted) return failure('Cancelled', 'The run was stopped before this call.');
		if (toolbox.kind(call.name) === null) {
			const names = toolbox.definitions().map((tool) => tool.name);
			return failure('UnknownTool', `There is no tool “${call.name}”.`, `Available tools: ${names.join(', ')}`);
		}
		return withTimeout(timeoutMs, signal, ({ signal: within, pause }) => {
			const untimed = async <Result>(work: () => Promise<Result>): Promise<Result> => {
				const resume = pause();
				try {
					return await work();
				} finally {
					resume();
				}
			};
			const context = { toolCallId: call.callId, signal: within, emit: channel.push, spend, untimed };
			return toolbox.call(call.name, args, context);
		});
	};
	const runOne = async (call: PendingCall): Promise<void> => {
		const isKnown = toolbox.kind(call.name) !== null;
		let result = await (observer ? observer.call(call, isKnown, () => answer(call)) : answer(call));
		const count = repeats.count(call, result);
		if (count >= REPEAT_WARN) {
			const note = `This exact call was made ${count} times, and its result won’t change. Do something else or answer.`;
			result = { ...result, output: `${result.output}\n\n${note}` };
		}
		results.set(call.callId, result);
		channel.push(resultEvent(call.callId, result));
	};
	const queue = [...inLanes(calls, toolbox)];
	const work = async (): Promise<void> => {
		for (let lane = queue.shift(); lane; lane = queue.shift()) for (const call of lane) await runOne(call);
	};
	void Promise.all(Array.from({ length: MAX_PARALLEL }, work)).finally(channel.close);
	yield* channel.drain();
}

/** Groups calls that must not run at the same time. */
function inLanes(calls: readonly PendingCall[], toolbox: Toolbox): Iterable<PendingCall[]> {
	const lanes = new Map<unknown, PendingCall[]>();
	for (const call of calls) {
		const args = parseArguments(call.arguments);
		// A call without a lane gets its own.
		const lane = (typeof args === 'string' ? null : toolbox.lane(call.name, args)) ?? call;
		lanes.set(lane, [...(lanes.get(lane) ?? []), call]);
	}
	return lanes.values();
}

/** Grace period for a stopped call; scripts are killed long before. */
const STOP_MS = 10_000;

/** Returns a failure if the tool takes too long: tells it to stop, but doesn't wait for it. */
async function withTimeout(
	timeoutMs: number,
	around: AbortSignal,
	run: (time: TimeLimit) => Promise<ToolResult>
): Promise<ToolResult> {
	const time = startTimeLimit(timeoutMs, around);
	let patience: NodeJS.Timeout | undefined;
	const givenUp = new Promise<ToolResult>((resolve) => {
		const giveUp = () => {
			if (time.isOver) {
				const message = `The tool didn’t respond within ${timeoutMs} ms and was stopped.`;
				return resolve(failure('ExecutionTimeout', message));
			}
			const late = failure('Cancelled', 'The run was stopped before the tool finished.');
			patience = setTimeout(() => resolve(late), STOP_MS);
		};
		time.signal.addEventListener('abort', giveUp, { once: true });
	});
	try {
		return await Promise.race([run(time), givenUp]);
	} catch (error) {
		return failure('ExecutionFailed', String(error));
	} finally {
		time.clear();
		clearTimeout(patience);
	}
}

export function resultEvent(callId: string, { output, isError }: ToolResult): RunEvent {
	return {
		type: 'TOOL_CALL_RESULT',
		messageId: `result_${callId}`,
		toolCallId: callId,
		role: 'tool',
		content: output,
		metadata: isError ? { isError: true } : undefined
	};
}

/** The arguments as an object, or an error message. */
export function parseArguments(text: string): Record<string, unknown> | string {
	if (text.trim() === '') return {};
	try {
		const value: unknown = JSON.parse(text);
		if (isNestedDeeperThan(MAX_NESTING, value)) return `The arguments are nested more than ${MAX_NESTING} levels deep.`;
		return isObject(value) ? value : 'The arguments must be a JSON object.';
	} catch (error) {
		return `The arguments aren’t valid JSON: ${(error as Error).message}`;
	}
}

export interface Channel<Item> {
	push(item: Item): void;
	close(): void;
	/** Yields until closed and empty. Only for one reader. */
	drain(): AsyncGenerator<Item, void, undefined>;
}

/** Has no limit of its own: the output of tools is capped before it gets here. */
function createChannel<Item>(): Channel<Item> {
	let items: Item[] = [];
	let isClosed = false;
	let wake: (() => void) | null = null;
	const notify = () => {
		wake?.();
		wake = null;
	};
	return {
		push(item) {
			items.push(item);
			notify();
		},
		close() {
			isClosed = true;
			notify();
		},
		async *drain() {
			while (true) {
				const ready = items;
				items = [];
				yield* ready;
				if (items.length > 0) continue;
				if (isClosed) return;
				await new Promise<void>((resolve) => (wake = resolve));
			}
		}
	};
}
