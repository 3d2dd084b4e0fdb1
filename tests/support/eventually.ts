import { vi } from 'vitest';

/** Returns the result of `claim` once it holds. The timeout only allows for a busy machine; it isn't a limit under test. */
export function eventually<T>(claim: () => T | Promise<T>): Promise<T> {
	return vi.waitFor(claim, { timeout: 20_000, interval: 20 });
}
