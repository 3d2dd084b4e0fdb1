/** A time limit as a signal, measured with a monotonic clock. */

/** Starts now; `maxMs` may be 0. */
export function startTimeLimit(maxMs: number, around: AbortSignal) {
	let spentMs = 0;
	/** Null during a pause. */
	let runningSince: number | null = performance.now();
	let pauses = 0;
	const elapsedMs = () => spentMs + (runningSince === null ? 0 : performance.now() - runningSince);
	// By hand: what AbortSignal.any makes can be collected, and then never aborts.
	const controller = new AbortController();
	const onAbort = () => controller.abort(around.reason);
	if (around.aborted) onAbort();
	around.addEventListener('abort', onAbort, { once: true });
	let hasFired = false;
	const start = () =>
		setTimeout(() => {
			hasFired = !controller.signal.aborted;
			controller.abort(new DOMException('The time limit was reached.', 'TimeoutError'));
		}, maxMs - elapsedMs());
	let timer: NodeJS.Timeout | undefined = start();
	let isCleared = false;
	return {
		/** Aborts when the time is over, with a `TimeoutError`, or the outer signal aborts. */
		signal: controller.signal,
		/** Whether the time ran out, before the outer signal aborted. */
		get isOver() {
			// Checks the clock as well, because timers can be late.
			return hasFired || (!controller.signal.aborted && elapsedMs() >= maxMs);
		},
		/** Without pauses. */
		elapsedMs,
		/** Stops the clock until what it returns is called; pauses may overlap. */
		pause(): () => void {
			pauses += 1;
			if (pauses === 1) {
				clearTimeout(timer);
				[spentMs, runningSince] = [elapsedMs(), null];
			}
			let isPaused = true;
			return () => {
				if (!isPaused) return;
				isPaused = false;
				pauses -= 1;
				if (pauses > 0) return;
				runningSince = performance.now();
				if (!isCleared) timer = start();
			};
		},
		/** Clears the timer; always call it. The signal doesn't abort after that. */
		clear(): void {
			isCleared = true;
			clearTimeout(timer);
			around.removeEventListener('abort', onAbort);
		}
	};
}

export type TimeLimit = ReturnType<typeof startTimeLimit>;
