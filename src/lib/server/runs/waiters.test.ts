import { expect, test, vi } from 'vitest';
import { Waiters } from '../../shared/in-turn.ts';

test('a wait ends with the next wake, or with its signal, and leaves no listener', async () => {
	const waiters = new Waiters();
	const [stays, leaves] = [new AbortController(), new AbortController()];
	const left = vi.spyOn(stays.signal, 'removeEventListener');
	for (let round = 0; round < 3; round += 1) {
		const wait = waiters.wait(stays.signal);
		waiters.wake();
		await wait;
	}
	expect(left).toHaveBeenCalledTimes(3);
	const waits = [waiters.wait(leaves.signal), waiters.wait(stays.signal)];
	leaves.abort();
	await waits[0];
	await waiters.wait(leaves.signal);
	waiters.wake();
	await waits[1];
	expect(left).toHaveBeenCalledTimes(4);
});
