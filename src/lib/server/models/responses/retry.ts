/** When to ask a server again: back-off with jitter, what the server itself asked for, and a wait that can be stopped. */

/** Longer than this is not waited for: the caller is told how long it would have been. */
export const MAX_RETRY_DELAY_MS = 30_000;

/**
 * Milliseconds before retry number `attempt` (from 1): doubles each time, between half and all of it, at most
 * `MAX_RETRY_DELAY_MS`. `random` is in [0, 1).
 */
export function backoffDelayMs(attempt: number, baseMs: number, random: () => number = Math.random): number {
	const full = Math.min(MAX_RETRY_DELAY_MS, baseMs * 2 ** (attempt - 1));
	return Math.round(full * (0.5 + random() / 2));
}

/** Milliseconds that a `Retry-After` value (seconds, or an HTTP date) asks for; undefined when it says nothing. */
export function parseRetryAfterMs(value: unknown, now = Date.now()): number | undefined {
	if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.ceil(value * 1000) : undefined;
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
	// Dates begin with the name of a day; `Date.parse` alone would read "-5" as a year.
	const date = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Resolves after the delay, or at once when the signal fires; true when the whole delay has passed. */
export function wait(delayMs: number, signal: AbortSignal): Promise<boolean> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve(false);
		const onAbort = () => {
			clearTimeout(timer);
			resolve(false);
		};
		const timer = setTimeout(() => {
			signal.removeEventListener('abort', onAbort);
			resolve(true);
		}, delayMs);
		signal.addEventListener('abort', onAbort, { once: true });
	});
}
