import { expect, test } from 'vitest';
import { describeSandbox } from './skill-words.ts';

const isolated = { files: true, network: true, processes: true, limits: true };

test.each([
	[
		'bubblewrap',
		isolated,
		'Scripts run in bubblewrap: no access to other files, no network but the hosts that you allow.'
	],
	[
		'container',
		{ ...isolated, network: false },
		'Scripts run in container: no access to other files, but the network is open.'
	],
	[
		'process',
		{ ...isolated, files: false, network: false },
		'Scripts run as plain processes: the files of this machine are NOT isolated.'
	]
])('D32: %s says what it keeps scripts from, and what it does not', (name, isolation, sentence) => {
	expect(describeSandbox({ name, isolation })).toBe(sentence);
});
