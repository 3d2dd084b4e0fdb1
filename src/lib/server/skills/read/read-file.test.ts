import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { putFile, sharedFolder } from '../../../../../tests/support/folder.ts';
import { readSkillFile } from './files.ts';

const folder = sharedFolder();
let dir: string;
beforeAll(async () => {
	dir = join(folder, 'skill');
	await putFile(folder, 'secret.txt', 'TOP SECRET');
	await putFile(dir, 'references/forms.md', 'How to fill a form.');
	await putFile(dir, 'euro.md', '€€€€');
	await putFile(dir, 'image.png', Buffer.from([137, 80, 0, 71]));
	await putFile(dir, 'latin.txt', Buffer.from([0x61, 0xe9, 0x62]));
	await symlink('../secret.txt', join(dir, 'out.txt'));
	await symlink('references/forms.md', join(dir, 'inner.md'));
	await symlink('..', join(dir, 'up'));
	await symlink('up', join(dir, 'again'));
	await symlink('references/round', join(dir, 'chain'));
	await symlink('../again/secret.txt', join(dir, 'references/round'));
	await symlink(folder, join(dir, 'absolute'));
	await symlink('itself', join(dir, 'itself'));
	execFileSync('mkfifo', [join(dir, 'fifo')]);
});

test('C6: a file is read whole, or in pieces that say where to go on', async () => {
	expect(await readSkillFile(dir, 'references/forms.md')).toEqual({
		text: 'How to fill a form.',
		offset: 0,
		nextOffset: null,
		totalBytes: 19
	});
	expect(await readSkillFile(dir, './references/forms.md', { offset: 4, limit: 2 })).toMatchObject({
		text: 'to',
		nextOffset: 6
	});
	expect(await readSkillFile(dir, 'inner.md', { offset: 18 })).toMatchObject({ text: '.', nextOffset: null });
	expect(await readSkillFile(dir, 'inner.md', { offset: 99 })).toMatchObject({ text: '', nextOffset: null });
});

test('C6: pieces put together are the file, whatever their size: no character is cut', async () => {
	for (const limit of [1, 2, 3, 4, 5, 7, 11, 12, 13]) {
		let text = '';
		for (let offset: number | null = 0; offset !== null;) {
			const page: Awaited<ReturnType<typeof readSkillFile>> = await readSkillFile(dir, 'euro.md', { offset, limit });
			text += page.text;
			offset = page.nextOffset;
		}
		if (limit >= 3) expect(text, `${limit} bytes at a time`).toBe('€€€€');
	}
});

test.each([
	'out.txt',
	'up/secret.txt',
	'again/secret.txt',
	'again/skill/../secret.txt',
	'chain',
	'references/round',
	'absolute/secret.txt',
	'itself',
	'up/',
	'.',
	'../secret.txt',
	'/etc/passwd',
	'references/../../secret.txt',
	'..\\secret.txt',
	'a\0b',
	'C:\\x',
	'',
	'fifo',
	'references',
	'image.png'
])('C9: %j is refused', async (path) => {
	await expect(readSkillFile(dir, path)).rejects.toMatchObject({ type: 'ScriptNotAllowed' });
});

test('C15: a missing file names those there are; bytes that are no UTF-8 are shown as such', async () => {
	await expect(readSkillFile(dir, 'forms.md')).rejects.toMatchObject({
		type: 'FileNotFound',
		hint: expect.stringContaining('references/forms.md') as string
	});
	expect((await readSkillFile(dir, 'latin.txt')).text).toBe('a\ufffdb');
	await expect(readSkillFile(join(folder, 'gone'), 'x')).rejects.toMatchObject({ type: 'FileNotFound' });
});

test('C9: no path reaches the file outside, whatever it is made of', async () => {
	const piece = fc.constantFrom(
		'..',
		'.',
		'/',
		'\\',
		'up',
		'out.txt',
		'secret.txt',
		'references',
		'%2e%2e',
		'%2f',
		'\u2024\u2024',
		'\uff0e\uff0e',
		' ',
		'~',
		'\0',
		'C:',
		'SECRET.TXT',
		'again',
		'chain',
		'absolute',
		'round',
		'Up',
		'skill',
		'%252e%252e',
		'%00',
		'%c0%ae%c0%ae',
		'..%5c',
		'\u2215',
		'\u29f5',
		'\ufe52',
		'..\u0000',
		'file://',
		'/proc/self/cwd',
		'secret.txt/',
		'secret\u200b.txt'
	);
	await fc.assert(
		fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 8 }), async (parts) => {
			const text = await readSkillFile(dir, parts.join('')).then(
				(page) => page.text,
				() => ''
			);
			expect(text).not.toContain('SECRET');
		}),
		{ numRuns: 2000 }
	);
});

test('C9: a link that is swapped in while it is read never shows what it leads to', async () => {
	const race = join(dir, 'race.txt');
	let isDone = false;
	const swapping = (async () => {
		while (!isDone) {
			await rm(race, { force: true });
			await writeFile(race, 'mine');
			await rm(race, { force: true });
			await symlink('../secret.txt', race);
		}
	})();
	for (let round = 0; round < 400; round += 1) {
		const text = await readSkillFile(dir, 'race.txt').then(
			(page) => page.text,
			() => ''
		);
		expect(text).not.toContain('SECRET');
	}
	isDone = true;
	await swapping;
});
