import { vi } from 'vitest';

/** The result of `claim` as soon as it holds. Its time is for a machine that does three other things, not a limit that is tested. */
export function eventually<T>(claim: () => T | Promise<T>): Promise<T> {
	return vi.waitFor(claim, { timeout: 20_000, interval: 20 });
}
