/** Limits how many tasks run at once: callers take turns, and tasks in one lane run one after another (D43). */
import type { ExecutionCaller } from './run/execution-host.ts';
import { SkillError } from './types.ts';

export interface Turns {
	/**
	 * Waits for its turn, then runs the task.
	 * @throws TooManyCalls if the caller has too many running or waiting; the signal's reason if aborted while waiting
	 */
	run<Result>(turn: Turn, task: () => Promise<Result>): Promise<Result>;
	readonly state: TurnsState;
}

export interface Turn {
	/** Callers share fairly: one caller's queue doesn't delay another's. */
	caller: string;
	/** Tasks in the same lane run one after another; null runs beside anything. */
	lane: string | null;
	signal?: AbortSignal | undefined;
	/** True for tasks in this process, which may make calls themselves: counted, but without waiting or taking a slot. */
	isWithoutPlace?: boolean;
}

export interface TurnsState {
	running: number;
	waiting: number;
	/** Milliseconds the longest-waiting task has waited; 0 if none waits. */
	longestWaitMs: number;
}

export interface TurnsOptions {
	/** Tasks at once across all callers; unlimited by default. */
	atOnce?: number;
	/** Running and waiting tasks per caller; 256 by default. */
	perCaller?: number;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

interface Waiter {
	since: number;
	begin(): void;
}

const PER_CALLER = 256;

export class TooManyCalls extends SkillError {
	constructor(most: number) {
		super('ExecutionFailed', `More than ${most} calls are running or waiting. Wait for their results first.`);
	}
}

export function createTurns({
	atOnce = Infinity,
	perCaller = PER_CALLER,
	now = () => performance.now()
}: TurnsOptions = {}): Turns {
	const counts = new Map<string, number>();
	const tails = new Map<string, Promise<void>>();
	/** By caller; the next in turn comes first. */
	const waiting = new Map<string, Waiter[]>();
	let running = 0;

	const inLane = async <Result>(key: string, signal: AbortSignal | undefined, task: () => Promise<Result>) => {
		const before = tails.get(key) ?? Promise.resolve();
		let end = () => {};
		const ended = new Promise<void>((resolve) => (end = resolve));
		const tail = before.then(() => ended);
		tails.set(key, tail);
		try {
			await unlessAborted(before, signal);
			return await task();
		} finally {
			end();
			if (tails.get(key) === tail) tails.delete(key);
		}
	};
	/** Starts a task of the next caller, who then goes to the end. */
	const beginNext = () => {
		if (running >= atOnce) return;
		const [next] = waiting;
		if (!next) return;
		const [caller, [first, ...others]] = next;
		waiting.delete(caller);
		if (others.length > 0) waiting.set(caller, others);
		running += 1;
		first?.begin();
	};
	const leave = (caller: string, waiter: Waiter) => {
		const left = (waiting.get(caller) ?? []).filter((each) => each !== waiter);
		if (left.length > 0) waiting.set(caller, left);
		else waiting.delete(caller);
	};
	const atItsTurn = async <Result>({ caller, signal }: Turn, task: () => Promise<Result>): Promise<Result> => {
		let isBegun = false;
		let begin = () => {};
		const begun = new Promise<void>((resolve) => (begin = resolve));
		const waiter: Waiter = {
			since: now(),
			begin() {
				isBegun = true;
				begin();
			}
		};
		waiting.set(caller, [...(waiting.get(caller) ?? []), waiter]);
		beginNext();
		try {
			await unlessAborted(begun, signal);
			return await task();
		} finally {
			if (isBegun) running -= 1;
			else leave(caller, waiter);
			beginNext();
		}
	};

	return {
		async run(turn, task) {
			const { caller, lane, signal, isWithoutPlace = false } = turn;
			const count = counts.get(caller) ?? 0;
			if (count >= perCaller) throw new TooManyCalls(perCaller);
			counts.set(caller, count + 1);
			const begin = () => (isWithoutPlace ? task() : atItsTurn(turn, task));
			try {
				signal?.throwIfAborted();
				return await (lane === null ? begin() : inLane(`${caller}\n${lane}`, signal, begin));
			} finally {
				const left = (counts.get(caller) ?? 1) - 1;
				if (left === 0) counts.delete(caller);
				else counts.set(caller, left);
			}
		},
		get state() {
			const all = [...waiting.values()].flat();
			const first = Math.min(...all.map(({ since }) => since));
			return { running, waiting: all.length, longestWaitMs: all.length === 0 ? 0 : Math.round(now() - first) };
		}
	};
}

/** @throws the signal's reason if it aborts first */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
	if (!signal) return work;
	let onAbort = () => {};
	const aborted = new Promise<never>((_, reject) => (onAbort = () => reject(signal.reason as Error)));
	signal.addEventListener('abort', onAbort, { once: true });
	if (signal.aborted) onAbort();
	try {
		const result = await Promise.race([work, aborted]);
		signal.throwIfAborted();
		return result;
	} finally {
		signal.removeEventListener('abort', onAbort);
	}
}

/** Identifies a caller: an API key across everything it runs, else a conversation or session. */
export function callerKey({ apiKeyId, conversationId, sessionId }: ExecutionCaller = {}): string {
	return JSON.stringify(apiKeyId === undefined ? [conversationId ?? sessionId ?? null] : { apiKeyId });
}
