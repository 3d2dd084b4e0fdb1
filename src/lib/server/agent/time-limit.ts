/** A limit of time that holds in the middle of a wait too: a signal that fires when the time is over, by a clock that nobody sets. */

export interface TimeLimit {
	/** Fires when the time is over, and when the signal around it does. */
	readonly signal: AbortSignal;
	/** It was the time that ended it, not the signal around it. */
	readonly isOver: boolean;
	/** Milliseconds since it began. */
	elapsedMs(): number;
	/** Lets go of the timer. To be called whatever happened; the signal never fires after it. */
	clear(): void;
}

/** Begins now; `maxMs` may be 0. */
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
		controller.abort(new Error('the time was over'));
	}, maxMs);
	return {
		signal: controller.signal,
		get isOver() {
			// A timer can be late: what is looked at between two waits is the clock.
			return hasFired || (!controller.signal.aborted && elapsedMs() >= maxMs);
		},
		elapsedMs,
		clear() {
			clearTimeout(timer);
			around.removeEventListener('abort', onAbort);
		}
	};
}
