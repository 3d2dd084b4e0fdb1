import { readFileSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readSafely, readSkillText } from './safe-read.ts';

test('A24: of a file that grows while it is read no more is taken than it had', () => {
	// It says that it has no bytes, and has some when it is read: as one that grew meanwhile.
	const path = '/proc/sys/kernel/ostype';
	expect([statSync(path).size, readFileSync(path, 'utf8')]).toEqual([0, 'Linux\n']);
	expect(readSafely(path, false)).toHaveLength(0);
	expect(readSkillText(path, false)).toMatchObject({ text: '', issues: [] });
});
