import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { openBelow } from '../../../../../tests/support/open-files.ts';
import { readSafely, readSkillText } from './safe-read.ts';

const folder = emptyFolder();
let path: string;
beforeEach(() => {
	path = join(folder, 'file');
});

test.each<[string, () => void, string]>([
	['a folder', () => mkdirSync(path), 'isn’t a regular file'],
	['a FIFO that nobody writes to', () => execFileSync('mkfifo', [path]), 'isn’t a regular file'],
	['a device', () => (path = '/dev/zero'), 'isn’t a regular file'],
	['one byte more than 2 MiB', () => writeFileSync(path, 'x'.repeat(2 * 1024 * 1024 + 1)), 'is larger than 2 MiB'],
	['a binary file', () => writeFileSync(path, 'a\0b'), 'is a binary file']
])('A24: %s is refused at once, by what it is, and stays open nowhere', (_what, make, message) => {
	make();
	for (const read of [readSafely, ...(message.includes('2 MiB') ? [] : [readSkillText])])
		expect(() => read(path, false)).toThrow(message);
	expect(openBelow(path)).toEqual([]);
});

test('A24: of a larger SKILL.md the beginning is read, up to a whole character, and an issue says so', () => {
	writeFileSync(path, `--${'€'.repeat(1_000_000)}`);
	const { text, issues } = readSkillText(path, false);
	expect(text).toBe(`--${'€'.repeat(text.length - 2)}`);
	expect(text.length).toBeGreaterThan(699_000);
	expect(issues).toMatchObject([
		{ severity: 'warning', message: expect.stringContaining('only its beginning') as string }
	]);
});

test('A24: a file of 2 MiB is read whole', () => {
	writeFileSync(path, 'x'.repeat(2 * 1024 * 1024));
	expect(readSafely(path, false)).toHaveLength(2 * 1024 * 1024);
});

test('A24: a link is followed within its folder, and refused when it leaves it', () => {
	const skill = join(folder, 'skill');
	mkdirSync(skill);
	writeFileSync(join(skill, 'text'), 'inside');
	writeFileSync(join(folder, 'secret'), 'outside');
	symlinkSync('text', join(skill, 'in'));
	symlinkSync('../secret', join(skill, 'out'));
	symlinkSync('out', join(skill, 'in-to-out'));
	expect(readSafely(join(skill, 'in'), true).toString()).toBe('inside');
	for (const name of ['out', 'in-to-out']) {
		expect(() => readSkillText(join(skill, name), true), name).toThrow('is a link to a file outside the skill');
	}
});

test.skipIf(process.platform === 'win32')('A24: what became a link since it was listed is not followed', () => {
	writeFileSync(join(folder, 'secret'), 'outside');
	symlinkSync('secret', path);
	expect(() => readSafely(path, false)).toThrow('ELOOP');
});

test('A24: a byte that is no UTF-8 is shown in a SKILL.md, with the line of the first; elsewhere the file is refused', () => {
	const bytes = Buffer.concat([
		Buffer.from('é\n\nb\nc '),
		Buffer.from([0xff]),
		Buffer.from('\nd '),
		Buffer.from([0xfe])
	]);
	writeFileSync(path, bytes);
	expect(readSkillText(path, false)).toEqual({
		bytes,
		text: 'é\n\nb\nc \uFFFD\nd \uFFFD',
		issues: [
			{
				field: '_',
				severity: 'warning',
				line: 4,
				message: 'isn’t UTF-8 text, so unreadable bytes are shown as \uFFFD',
				fix: 'save the file as UTF-8'
			}
		]
	});
	expect(() => readSafely(path, false)).toThrow('isn’t UTF-8 text');
	writeFileSync(path, Buffer.from([0xff]));
	expect(readSkillText(path, false).issues).toMatchObject([{ line: 1 }]);
	writeFileSync(path, 'all of it\n');
	expect(readSkillText(path, false)).toMatchObject({ text: 'all of it\n', issues: [] });
});

test('A24: of a file that grows while it is read no more is taken than it had', () => {
	// Its size is 0 but reading it returns bytes, like a file that grew in between.
	const path = '/proc/sys/kernel/ostype';
	expect([statSync(path).size, readFileSync(path, 'utf8')]).toEqual([0, 'Linux\n']);
	expect(readSafely(path, false)).toHaveLength(0);
	expect(readSkillText(path, false)).toMatchObject({ text: '', issues: [] });
});
