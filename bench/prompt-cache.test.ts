import { expect, test } from 'vitest';
import { GOAL, playConversation } from './prompt-cache.ts';

test('F7: in ten turns with new files, loaded skills and 1,000 skills in the library, each request begins with the one before; a compaction ends that once, and keeps instructions and tools', async () => {
	const sent = await playConversation();
	expect(new Set(sent.map(({ turn }) => turn)).size).toBe(10);
	const [, ...pairs] = sent;
	expect(pairs.filter(({ share }) => share! < GOAL).map(({ isCompacted }) => isCompacted)).toEqual([true]);
	for (const { fixedShare } of pairs) expect(fixedShare).toBe(1);
	const [summary] = pairs.filter(({ about }) => about === 'the summary is asked for');
	for (const { share } of pairs.filter((each) => each !== summary && !each.isCompacted))
		expect(share).toBeGreaterThan(0.999);
});
