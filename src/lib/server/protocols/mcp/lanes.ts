/** Calls of one lane run one after the other; a bound on how many of one client run or wait (FEATURES D43). */

export interface Lanes {
	/** @throws Error when too many wait already, or the signal's reason when it is aborted while it waits */
	run<Result>(call: LaneCall, task: () => Promise<Result>): Promise<Result>;
}

export interface LaneCall {
	/** The key and the session that it is called in. */
	client: string;
	/** null for what may run beside anything. */
	lane: string | null;
	signal: AbortSignal;
}

const MAX_CALLS = 64;

/** Sessions of one key share its workspace, as its conversations do, and do not wait for each other. */
export function clientOf({ apiKeyId }: { apiKeyId: string | null }, sessionId: string): string {
	return `${apiKeyId ?? ''} ${sessionId}`;
}

export class TooManyCalls extends Error {
	override readonly name = 'TooManyCalls';
	constructor() {
		super(`More than ${MAX_CALLS} calls run or wait already. Wait for their results first.`);
	}
}

export function createLanes(): Lanes {
	const counts = new Map<string, number>();
	const tails = new Map<string, Promise<void>>();

	const inLane = async <Result>(key: string, signal: AbortSignal, task: () => Promise<Result>): Promise<Result> => {
		const before = tails.get(key) ?? Promise.resolve();
		const { promise: ended, resolve: end } = Promise.withResolvers<void>();
		const tail = before.then(() => ended);
		tails.set(key, tail);
		try {
			await Promise.race([before, aborted(signal)]);
			signal.throwIfAborted();
			return await task();
		} finally {
			end();
			if (tails.get(key) === tail) tails.delete(key);
		}
	};

	return {
		async run({ client, lane, signal }, task) {
			const count = counts.get(client) ?? 0;
			if (count >= MAX_CALLS) throw new TooManyCalls();
			counts.set(client, count + 1);
			try {
				signal.throwIfAborted();
				return await (lane === null ? task() : inLane(`${client}\n${lane}`, signal, task));
			} finally {
				const left = (counts.get(client) ?? 1) - 1;
				if (left === 0) counts.delete(client);
				else counts.set(client, left);
			}
		}
	};
}

/** Ends the wait, never the race’s winner: it resolves, and the signal is asked. */
function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
