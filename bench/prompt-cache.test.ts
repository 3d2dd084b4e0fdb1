import { expect, test } from 'vitest';
import { GOAL, playConversation } from './prompt-cache.ts';

test('F7: in ten turns with new files, loaded skills and 1,000 skills in the library, each request begins with the one before; only new tools and a compaction end that', async () => {
	const sent = await playConversation();
	expect(new Set(sent.map(({ turn }) => turn)).size).toBe(10);
	const missed = sent.filter(({ share }) => share !== null && share < GOAL);
	expect(missed.map(({ why }) => why)).toEqual([
		'now offered: file_write',
		'now offered: http_request',
		'old results were left out',
		'the summary stands for the beginning'
	]);
	for (const { share } of sent.filter((each) => !missed.includes(each)).slice(1)) expect(share).toBeGreaterThan(0.999);
});
