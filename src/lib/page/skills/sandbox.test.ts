import { expect, test } from 'vitest';
import { describeSandbox } from './skill-words.ts';

const isolated = { files: true, network: true, processes: true, limits: true };

test.each([
	['bubblewrap', isolated, 'Scripts run in a sandbox. They can’t read other files, and reach only hosts you allow.'],
	[
		'container',
		{ ...isolated, network: false },
		'Scripts run in a sandbox. They can’t read other files, but can use the network.'
	],
	[
		'process',
		{ ...isolated, files: false, network: false },
		'Scripts run as plain processes and can read files on this computer.'
	]
])('D32: %s says what it keeps scripts from, and what it does not', (name, isolation, sentence) => {
	expect(describeSandbox({ name, isolation })).toBe(sentence);
});
