import { expect, test, vi } from 'vitest';
import { createKeyTotals } from './responses.ts';

test('F12: what a key has stored is added up once a minute, and before it is refused more; what other servers store counts, too', async () => {
	vi.useFakeTimers({ toFake: ['performance'] });
	try {
		let stored = 10;
		const measure = vi.fn(async () => stored);
		const totals = createKeyTotals(measure);
		expect(await totals.hasRoom('key_1', 90, 100)).toBe(true);
		totals.add('key_1', 40);
		expect(await totals.hasRoom('key_1', 50, 100)).toBe(true);
		expect(measure).toHaveBeenCalledTimes(1);
		// 40 were deleted.
		expect(await totals.hasRoom('key_1', 90, 100)).toBe(true);
		expect(measure).toHaveBeenCalledTimes(2);

		stored = 95;
		expect(await totals.hasRoom('key_1', 10, 100)).toBe(true);
		vi.advanceTimersByTime(60_000);
		expect(await totals.hasRoom('key_1', 10, 100)).toBe(false);
	} finally {
		vi.useRealTimers();
	}
});
