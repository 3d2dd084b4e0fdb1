/** Retry delays: backoff with jitter, `Retry-After`, and an abortable wait. */
import { setTimeout as delay } from 'node:timers/promises';

/** We don't wait longer than this; the person learns how long it would take. */
export const MAX_RETRY_DELAY_MS = 30_000;

/**
 * Delay before retry number `attempt` (from 1): doubles each time up to `MAX_RETRY_DELAY_MS`, with a random factor
 * between 0.5 and 1. `random` returns [0, 1).
 */
export function backoffDelayMs(attempt: number, baseMs: number, random: () => number = Math.random): number {
	const full = Math.min(MAX_RETRY_DELAY_MS, baseMs * 2 ** (attempt - 1));
	return Math.round(full * (0.5 + random() / 2));
}

/** Parses a `Retry-After` value (seconds or an HTTP date); undefined if invalid. */
export function parseRetryAfterMs(value: unknown, now = Date.now()): number | undefined {
	if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.ceil(value * 1000) : undefined;
	if (typeof value !== 'string') return undefined;
	const text = value.trim();
	if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
	// HTTP dates start with a weekday; `Date.parse` would read "-5" as a year.
	const date = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
	return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** True after the delay; false at once if the signal aborts. */
export function wait(delayMs: number, signal: AbortSignal): Promise<boolean> {
	return delay(delayMs, true, { signal }).catch(() => false);
}
