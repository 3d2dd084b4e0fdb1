import { describe, expect, test } from 'vitest';
import { parseRetryAfterMs } from '../../../shared/errors.ts';
import { backoffDelayMs, MAX_RETRY_DELAY_MS, wait } from './faults.ts';

describe('back-off', () => {
	test('doubles, with jitter between half and all of it, up to the cap', () => {
		expect([1, 2, 3].map((attempt) => backoffDelayMs(attempt, 500, () => 0))).toEqual([250, 500, 1000]);
		expect([1, 2, 3].map((attempt) => backoffDelayMs(attempt, 500, () => 1))).toEqual([500, 1000, 2000]);
		expect(backoffDelayMs(40, 500, () => 1)).toBe(MAX_RETRY_DELAY_MS);
	});

	test('Retry-After is read as seconds and as an HTTP date; anything else says nothing', () => {
		const now = Date.parse('Wed, 21 Oct 2026 07:28:00 GMT');
		expect(parseRetryAfterMs('7', now)).toBe(7_000);
		expect(parseRetryAfterMs(1.5, now)).toBe(1_500);
		expect(parseRetryAfterMs('Wed, 21 Oct 2026 07:28:09 GMT', now)).toBe(9_000);
		expect(parseRetryAfterMs('Wed, 21 Oct 2026 07:00:00 GMT', now)).toBe(0);
		for (const value of ['', 'soon', '-5', null, undefined, Number.NaN, -1, {}]) {
			expect(parseRetryAfterMs(value, now)).toBeUndefined();
		}
	});

	test('a wait ends when its time has come, or at once when the signal fires', async () => {
		expect(await wait(1, new AbortController().signal)).toBe(true);
		expect(await wait(600_000, AbortSignal.abort())).toBe(false);
		const controller = new AbortController();
		const waiting = wait(600_000, controller.signal);
		controller.abort();
		expect(await waiting).toBe(false);
	});
});
