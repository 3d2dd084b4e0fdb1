import { expect, test } from 'vitest';
import { onceForAll } from './in-turn.ts';

test('work that many ask for is done once for those that come before it begins, and never twice at once', async () => {
	const begun: PromiseWithResolvers<void>[] = [];
	const ask = onceForAll(() => {
		const work = Promise.withResolvers<void>();
		begun.push(work);
		return work.promise;
	});
	const first = [ask(), ask()];
	await expect.poll(() => begun.length).toBe(1);
	const later = [ask(), ask(), ask()];
	begun[0]?.reject(new Error('failed'));
	for (const each of first) await expect(each).rejects.toThrow('failed');
	await expect.poll(() => begun.length).toBe(2);
	begun[1]?.resolve();
	await Promise.all(later);
	expect(begun).toHaveLength(2);
});
