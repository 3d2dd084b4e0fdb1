import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { readFolder } from './folder.ts';
import { openBelow } from '../../../../tests/support/open-files.ts';
import { scanFiles } from './scan/scan.ts';

const folder = emptyFolder();
beforeEach(() => {
	put('SKILL.md', 'text');
});

function put(path: string, content: string | Buffer): void {
	mkdirSync(dirname(join(folder, path)), { recursive: true });
	writeFileSync(join(folder, path), content);
}
const digest = async () => (await readFolder(folder)).digest;

describe('F4: the digest of a folder', () => {
	test('is the same for the same files, wherever they lie', async () => {
		const before = await digest();
		expect(before).toMatch(/^[0-9a-f]{64}$/);
		put('a/x.sh', '1');
		put('b.sh', '2');
		const both = await digest();
		rmSync(join(folder, 'a'), { recursive: true });
		unlinkSync(join(folder, 'b.sh'));
		expect(await digest()).toBe(before);
		put('b.sh', '2');
		put('a/x.sh', '1');
		expect(await digest()).toBe(both);
	});

	test.each([
		['a hidden file', () => put('.hidden', '')],
		['a file in a hidden folder', () => put('.git/hooks/post-checkout', 'x')],
		['compiled Python', () => put('lib/__pycache__/x.cpython-312.pyc', Buffer.from([0, 1, 2]))],
		['a package', () => put('node_modules/x/index.js', 'x')],
		['a file ten folders deep', () => put('a/b/c/d/e/f/g/h/i/j.sh', 'x')],
		['an empty folder', () => mkdirSync(join(folder, 'empty'))],
		['a link', () => symlinkSync('SKILL.md', join(folder, 'link.md'))],
		['a link to nothing', () => symlinkSync('/nowhere/at/all', join(folder, 'link.md'))],
		['a FIFO', () => execFileSync('mkfifo', [join(folder, 'pipe')])],
		['one byte', () => put('SKILL.md', 'texT')]
	])('changes with %s', async (_what, change) => {
		const before = await digest();
		change();
		const after = await digest();
		expect(after).toMatch(/^[0-9a-f]{64}$/);
		expect(after).not.toBe(before);
	});

	test('changes with the hundred-and-first file', async () => {
		for (let count = 0; count < 150; count += 1) put(`many/${String(count).padStart(3, '0')}.txt`, 'x');
		const before = await digest();
		put('many/149.txt', 'y');
		expect(await digest()).not.toBe(before);
	});

	test('is another when a link leads elsewhere, or becomes the file that it led to', async () => {
		symlinkSync('SKILL.md', join(folder, 'link'));
		const first = await digest();
		unlinkSync(join(folder, 'link'));
		symlinkSync('/etc/hostname', join(folder, 'link'));
		const second = await digest();
		unlinkSync(join(folder, 'link'));
		put('link', 'SKILL.md');
		expect(new Set([first, second, await digest()]).size).toBe(3);
	});

	test('is another when a link leads to another name that is no text', async () => {
		const digests = new Set<string | null>();
		for (const byte of [0xfe, 0xff]) {
			symlinkSync(Buffer.from([byte]), join(folder, 'link'));
			digests.add(await digest());
			unlinkSync(join(folder, 'link'));
		}
		expect(digests.size).toBe(2);
		expect(digests).not.toContain(null);
	});

	test('cannot be forged by a file that looks like two', async () => {
		put('a', 'x\0b\0y\0');
		const one = await digest();
		unlinkSync(join(folder, 'a'));
		put('a', 'x');
		put('b', 'y');
		expect(await digest()).not.toBe(one);
		const odd = `c"\nfile ${'0'.repeat(64)} "d`;
		put(odd, '');
		expect((await readFolder(folder)).files.map(({ path }) => path)).toContain(odd);
	});
});

describe('F4: a folder that cannot be looked at as a whole has no digest, and says why', () => {
	test('too many files', async () => {
		for (let count = 0; count < 2000; count += 1) writeFileSync(join(folder, `${count}`), '');
		const { digest, problem, files } = await readFolder(folder);
		expect(digest).toBeNull();
		expect(problem).toBe('The folder has more than 2000 files and folders, too many to check.');
		expect(files.length).toBeLessThanOrEqual(2000);
		expect(files.map(({ path }) => path)).toEqual(files.map(({ path }) => path).toSorted());
	});

	test('too many folders, with the files', async () => {
		for (let count = 0; count < 1000; count += 1) {
			mkdirSync(join(folder, `d${count}`));
			if (count < 999) writeFileSync(join(folder, `f${count}`), '');
		}
		expect((await readFolder(folder)).problem).toBeNull();
		put('one.more', '');
		expect(await readFolder(folder)).toMatchObject({
			digest: null,
			problem: expect.stringContaining('more than 2000')
		});
	});

	test('too many bytes, in one file or in several; to the byte', async () => {
		const most = 200 * 1024 * 1024 - 'text'.length;
		put('one.bin', '');
		truncateSync(join(folder, 'one.bin'), most);
		expect((await readFolder(folder)).digest).not.toBeNull();
		truncateSync(join(folder, 'one.bin'), most + 1);
		const { digest, problem } = await readFolder(folder);
		expect(digest).toBeNull();
		expect(problem).toContain('more than 200 MB');
		truncateSync(join(folder, 'one.bin'), most - 1000);
		put('two.bin', Buffer.alloc(1001));
		expect((await readFolder(folder)).digest).toBeNull();
	});

	test('a file that no memory could hold is not read', async () => {
		put('huge.bin', '');
		truncateSync(join(folder, 'huge.bin'), 2 ** 40);
		expect((await readFolder(folder)).problem).toContain('more than 200 MB');
	});

	test('of many texts only the first eight million characters are kept', async () => {
		for (const name of 'abcdefghi') put(`${name}.txt`, 'x'.repeat(1024 * 1024));
		const { files, digest } = await readFolder(folder);
		expect(digest).not.toBeNull();
		expect(files.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)).toBe(8 * 1024 * 1024);
		expect(
			files.filter(({ text }) => text?.length !== 1024 * 1024).every(({ path, isCut }) => isCut || path === 'SKILL.md')
		).toBe(true);
	});

	test('but of long texts only the beginning is kept, and the digest is of all', async () => {
		put('long.md', 'fine \n'.repeat(349_526));
		const { digest, files } = await readFolder(folder);
		expect(files.at(-1)).toMatchObject({ path: 'long.md', bytes: 2097156, isCut: true });
		expect(files.at(-1)?.text).toHaveLength(1048576);
		put('long.md', `${'fine \n'.repeat(349_525)}other\n`);
		expect((await readFolder(folder)).digest).not.toBe(digest);
		expect((await scanFiles(await readFolder(folder))).map(({ kind }) => kind)).toContain('not-scanned');
	});

	test('a name that is no text: what it holds would not be in the digest', async () => {
		writeFileSync(Buffer.concat([Buffer.from(`${folder}/x`), Buffer.from([0xff])]), 'hidden');
		const { digest, problem } = await readFolder(folder);
		expect(digest).toBeNull();
		expect(problem).toMatch(/^Couldn’t read the file “x\ufffd”: ENOENT\.$/);
	});

	test('a folder that is gone', async () => {
		rmSync(folder, { recursive: true });
		expect(await readFolder(folder)).toEqual({
			digest: null,
			files: [],
			problem: 'Couldn’t read the folder “.”: ENOENT.'
		});
	});
});

test('F4: files are told apart: text, link, special, machine code, other bytes', async () => {
	put('scripts/x.sh', 'echo é\n');
	put('bin/tool', Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(20)]));
	put('logo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1]));
	symlinkSync('/etc/passwd', join(folder, 'link'));
	execFileSync('mkfifo', [join(folder, 'pipe')]);
	const { files } = await readFolder(folder);
	expect(files.map(({ path, kind, bytes, text, isProgram }) => [path, kind, bytes, text, isProgram])).toEqual([
		['SKILL.md', 'file', 4, 'text', false],
		['bin/tool', 'file', 24, null, true],
		['link', 'link', 0, '/etc/passwd', false],
		['logo.png', 'file', 6, null, false],
		['pipe', 'special', 0, null, false],
		['scripts/x.sh', 'file', 8, 'echo é\n', false]
	]);
});

test.each([
	['of Linux', '7f454c46 02010100', true],
	['of Windows', '4d5a9000 03000000', true],
	['WebAssembly', '0061736d 01000000', true],
	['Java', 'cafebabe 00000041', true],
	...['feedface', 'feedfacf', 'cefaedfe', 'cffaedfe'].map((magic): [string, string, boolean] => {
		return [`of macOS (${magic})`, `${magic} 00000001`, true];
	}),
	['Python bytecode', 'a70d0d0a 00000000 00000000 00000000', true],
	['too short for Python bytecode', 'a70d0d0a 00000000 00000000 000000', false],
	['other bytes, as many', 'a70d0a0d 00000000 00000000 00000000', false],
	['other bytes with the sign of a program in their middle', '0102 4d5a 00000000', false],
	['a text that begins like one', Buffer.from('MZ is a name').toString('hex'), false]
])('F4: a program is known by its first bytes: %s', async (_what, hex, isProgram) => {
	put('x', Buffer.from(hex.replaceAll(' ', ''), 'hex'));
	expect((await readFolder(folder)).files.at(-1)).toMatchObject({ path: 'x', isProgram });
});

test('F4: whatever became of it, no file stays open', async () => {
	put('read.txt', 'x');
	put('huge.bin', '');
	truncateSync(join(folder, 'huge.bin'), 2 ** 40);
	await readFolder(folder);
	expect(openBelow(folder)).toEqual([]);
});

test('F4: a file that grows while it is read gives no digest of what it was', async () => {
	// Their size is 0 but reading them returns bytes, like files that grew in between.
	const { digest: none, problem } = await readFolder('/proc/sys/kernel/random');
	expect(none).toBeNull();
	expect(problem).toMatch(/^Couldn’t read the file “\w+”: it changed while it was being read\.$/);
});
