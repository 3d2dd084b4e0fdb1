/** Who may run now: a bound on what runs at once, in which callers take turns, and one after the other in a lane (FEATURES D43). */
import type { ExecutionCaller } from './run/execution-host.ts';
import { SkillError } from './types.ts';

export interface Turns {
	/**
	 * Waits for its turn, then does the task.
	 * @throws TooManyCalls when too many of the caller run or wait already, or the signal's reason when it is aborted while it waits
	 */
	run<Result>(turn: Turn, task: () => Promise<Result>): Promise<Result>;
	readonly state: TurnsState;
}

export interface Turn {
	/** Each has its share: what waits of one does not keep others waiting. */
	caller: string;
	/** What has the same one runs one after the other; null for what may run beside anything. */
	lane: string | null;
	signal?: AbortSignal | undefined;
	/**
	 * True for what runs in this process and may call something itself: it counts among the caller's, and neither waits nor
	 * takes the place of what it calls.
	 */
	isWithoutPlace?: boolean;
}

export interface TurnsState {
	running: number;
	waiting: number;
	/** Milliseconds that the one has waited which has waited longest; 0 when none waits. */
	longestWaitMs: number;
}

export interface TurnsOptions {
	/** Of all callers; no bound without it. */
	atOnce?: number;
	/** What of one caller runs or waits. */
	perCaller?: number;
	/** Milliseconds, of a clock that nobody sets. */
	now?: () => number;
}

interface Waiter {
	since: number;
	begin(): void;
}

const PER_CALLER = 256;

export class TooManyCalls extends SkillError {
	constructor(most: number) {
		const message = `More than ${most} calls are running or waiting.`;
		super('ExecutionFailed', `${message} Wait for their results first.`);
	}
}

export function createTurns({
	atOnce = Infinity,
	perCaller = PER_CALLER,
	now = () => performance.now()
}: TurnsOptions = {}): Turns {
	const counts = new Map<string, number>();
	const tails = new Map<string, Promise<void>>();
	/** By caller; whose turn is next comes first. */
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
	/** One of the next caller, who then stands last. */
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

/** @throws the signal's reason, when it is aborted before the other thing has happened */
async function unlessAborted(happening: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
	if (!signal) return happening;
	signal.throwIfAborted();
	let onAbort = () => {};
	const aborted = new Promise<void>((resolve) => (onAbort = resolve));
	const listener = () => onAbort();
	signal.addEventListener('abort', listener, { once: true });
	try {
		await Promise.race([happening, aborted]);
	} finally {
		signal.removeEventListener('abort', listener);
	}
	signal.throwIfAborted();
}

/** In a queue for all of the server: a key is one caller, whatever it runs; so is a conversation, or a session. */
export function callerKey({ apiKeyId, conversationId, sessionId }: ExecutionCaller = {}): string {
	return JSON.stringify(apiKeyId === undefined ? [conversationId ?? sessionId ?? null] : { apiKeyId });
}
