/** A time limit as a signal, measured with a monotonic clock. */

export interface TimeLimit {
	/** Aborts when the time is over, with a `TimeoutError`, or the outer signal aborts. */
	readonly signal: AbortSignal;
	/** Whether the time ran out, before the outer signal aborted. */
	readonly isOver: boolean;
	elapsedMs(): number;
	/** Clears the timer; always call it. The signal doesn't abort after that. */
	clear(): void;
}

/** Starts now; `maxMs` may be 0. */
export function startTimeLimit(maxMs: number, around: AbortSignal): TimeLimit {
	const startedAt = performance.now();
	const elapsedMs = () => performance.now() - startedAt;
	// By hand: what AbortSignal.any makes can be collected, and then never aborts.
	const controller = new AbortController();
	const onAbort = () => controller.abort(around.reason);
	if (around.aborted) onAbort();
	around.addEventListener('abort', onAbort, { once: true });
	let hasFired = false;
	const timer = setTimeout(() => {
		hasFired = !controller.signal.aborted;
		controller.abort(new DOMException('The time limit was reached.', 'TimeoutError'));
	}, maxMs);
	return {
		signal: controller.signal,
		get isOver() {
			// Checks the clock as well, because timers can be late.
			return hasFired || (!controller.signal.aborted && elapsedMs() >= maxMs);
		},
		elapsedMs,
		clear() {
			clearTimeout(timer);
			around.removeEventListener('abort', onAbort);
		}
	};
}
