import fc from 'fast-check';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { HOSTILE_ARCHIVES } from '../../../../../tests/support/hostile-archives.ts';
import { descriptorOf, unicodePath, zipOf, type ZipPart } from '../../../../../tests/support/zip-writer.ts';
import { AppError } from '../../../shared/errors.ts';
import { createStagingFolder, INSTALL_LIMITS, type StagingFolder } from '../staging-folder.ts';
import { readZip } from './archive-zip.ts';

const signal = new AbortController().signal;
const home = emptyFolder();
let parent: string;
let folder: StagingFolder;

beforeEach(async () => {
	parent = join(home, 'staging');
	folder = await createStagingFolder(parent);
});

async function unpack(bytes: Buffer): Promise<{ notes: string[] }> {
	const path = join(home, 'upload.zip');
	await writeFile(path, bytes);
	return readZip(path, folder, signal);
}

/** The folder's files: names and contents. */
async function unpacked(): Promise<Record<string, string>> {
	const entries = await readdir(folder.dir, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	const pairs = files.map(async (path) => [path.slice(folder.dir.length + 1), await readFile(path, 'utf8')] as const);
	return Object.fromEntries(await Promise.all(pairs));
}

describe('SECURITY Archives: refused with the entry named, nothing left on disk', () => {
	test.each(HOSTILE_ARCHIVES)('$name', async ({ bytes, says, code = 'invalid_input' }) => {
		const error: unknown = await unpack(bytes()).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(AppError);
		expect(error).toMatchObject({ code, message: expect.stringMatching(says) as string });
		expect((error as AppError).message).not.toMatch(/[\p{Cc}\u202e]/u);
		expect((error as AppError).message.length).toBeLessThan(400);
		await folder.remove();
		expect(await readdir(parent)).toEqual([]);
		expect((await readdir(home)).sort()).toEqual(['staging', 'upload.zip']);
	});

	test('an archive cut off anywhere', async () => {
		const whole = zipOf([
			{ name: 'SKILL.md', content: 'a'.repeat(500) },
			{ name: 'scripts/', content: '' },
			{ name: 'scripts/run.py', content: 'print(1)\n'.repeat(20) }
		]);
		for (let length = 0; length < whole.length; length += 7) {
			await expect(unpack(whole.subarray(0, length))).rejects.toMatchObject({ code: 'invalid_input' });
		}
		expect(folder.files).toBe(0);
	});

	test('what a good archive shares with bad ones is written only once all of it is checked', async () => {
		const archive = zipOf([
			{ name: 'SKILL.md', content: 'good' },
			{ name: 'a', content: 'x', local: { name: 'b' } }
		]);
		await expect(unpack(archive)).rejects.toThrow('don’t match (names)');
		expect(await unpacked()).toEqual({});
	});

	test('an archive over the limit of what is packed', async () => {
		folder = await createStagingFolder(parent, { ...INSTALL_LIMITS, packedBytes: 100 });
		await expect(unpack(zipOf([{ name: 'a', content: 'x' }]))).rejects.toMatchObject({ code: 'too_large' });
	});

	test('a bomb takes no more memory than one file may', async () => {
		const bomb = HOSTILE_ARCHIVES.find(({ name }) => name.includes('4 GB'))?.bytes() ?? Buffer.alloc(0);
		const before = process.resourceUsage().maxRSS;
		await expect(unpack(bomb)).rejects.toMatchObject({ code: 'invalid_input' });
		expect(process.resourceUsage().maxRSS - before).toBeLessThan(100 * 1024);
	});

	test('one that is given up', async () => {
		const stopped = AbortSignal.abort(new DOMException('stopped', 'AbortError'));
		const path = join(home, 'a.zip');
		await writeFile(path, zipOf([{ name: 'a', content: 'x' }]));
		await expect(readZip(path, folder, stopped)).rejects.toThrow('stopped');
		expect(await unpacked()).toEqual({});
	});
});

describe('E20: what good archives may have', () => {
	const content = 'abc'.repeat(50);
	const packed = deflateRawSync(content);

	test.each<[string, ZipPart]>([
		['stored data', { name: 'a', content, method: 0 }],
		['a name in UTF-8', { name: 'ü/日本.md', content }],
		['a name in UTF-8 that a Unix did not say', { name: 'ü', flags: 0, content }],
		['a name that an extra field says again', { name: 'ü', content, extra: unicodePath(Buffer.from('ü'), 'ü') }],
		['no permissions, from DOS', { name: 'a', host: 0, attributes: 0x20, content }],
		['a comment', { name: 'a', comment: Buffer.from('of the file'), content }],
		['zip64 sizes', { name: 'a', zip64: true, content }],
		['an empty file', { name: 'a', content: '' }]
	])('%s', async (_, part) => {
		await unpack(zipOf([part]));
		expect(await unpacked()).toEqual({ [String(part.name)]: part.content });
	});

	test.each([
		[{ isSigned: true, isLarge: false }],
		[{ isSigned: false, isLarge: false }],
		[{ isSigned: true, isLarge: true }],
		[{ isSigned: false, isLarge: true }]
	])('sizes after the data: %j', async (options) => {
		const local = { crc: 0, size: 0, packedSize: 0 };
		const descriptor = descriptorOf(Buffer.from(content), packed, options);
		const part = { name: 'a', content, packed, flags: 0x808, local, descriptor };
		await unpack(zipOf([part, { name: 'b', content: 'next' }]));
		expect(await unpacked()).toEqual({ a: content, b: 'next' });
	});

	test.each([
		['a comment of the archive, as GitHub has it', { comment: Buffer.from('0a1b2c3d'.repeat(5)) }],
		['a zip64 end', { zip64: true as const }],
		['a zip64 end that nobody needs', { zip64: { keepsEnd: true } }]
	])('%s', async (_, end) => {
		await unpack(zipOf([{ name: 'a', content }], end));
		expect(await unpacked()).toEqual({ a: content });
	});

	test('an archive in the archive stays one', async () => {
		const inner = zipOf([{ name: '../x', content: 'x' }]);
		await unpack(zipOf([{ name: 'inner.zip', content: inner, method: 0 }]));
		expect(await readFile(join(folder.dir, 'inner.zip'))).toEqual(inner);
	});

	test('no entry at all', async () => {
		await unpack(zipOf([]));
		expect(folder.files).toBe(0);
	});

	test('permissions: executable by mode; without modes by “#!”; nothing else of them', async () => {
		const script = '#!/bin/sh\n';
		await unpack(
			zipOf([
				{ name: 'by-mode', mode: 0o104755, content: 'x' },
				{ name: 'plain', mode: 0o100600, content: script },
				{ name: 'by-start', host: 0, attributes: 0, content: script }
			])
		);
		const modes = ['by-mode', 'plain', 'by-start'].map(
			async (name) => (await stat(join(folder.dir, name))).mode & 0o7777
		);
		expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o700]);
	});

	test('what the Finder and version control add is left out, and said', async () => {
		const { notes } = await unpack(
			zipOf([
				{ name: 'a/SKILL.md', content: 's' },
				{ name: 'a/.DS_Store', content: 'x' },
				{ name: '__MACOSX/a/._SKILL.md', content: 'x' },
				...Array.from({ length: 1500 }, (_, i) => ({ name: `a/.git/objects/${i}`, content: 'x' }))
			])
		);
		expect(await unpacked()).toEqual({ 'a/SKILL.md': 's' });
		expect(notes).toEqual(['Skipped 1502 files such as “a/.DS_Store”, which aren’t part of a skill.']);
	});
});

const archives = join(import.meta.dirname, '../../../../../tests/fixtures/archives');

describe('E20: archives of other programs unpack byte for byte', () => {
	test.each([
		['info-zip', 'Info-ZIP 3.0 on Linux, whose names are UTF-8 without saying so', ''],
		['info-zip-streamed', 'Info-ZIP into a pipe: sizes after the data', ''],
		['python', 'Python’s shutil.make_archive: with folders', ''],
		['python-streamed', 'Python into a pipe', ''],
		['python-zip64', 'Python with zip64 sizes before the data', ''],
		['java', 'jar: with no permissions, and a mark of its own', ''],
		['perl', 'Perl’s IO::Compress', ''],
		['git-archive', 'git archive: one folder around everything, and a comment', 'packed-main']
	])('%s: %s', async (name, _, top) => {
		expect(await readZip(join(archives, `${name}.zip`), folder, signal)).toEqual({ notes: [] });
		const dir = join(folder.dir, top);
		const entries = await readdir(dir, { recursive: true, withFileTypes: true });
		expect(entries.filter((entry) => entry.isFile()).map((entry) => entry.name)).toHaveLength(5);
		expect(await readFile(join(dir, 'SKILL.md'), 'utf8')).toMatch(/^---\nname: packed\n[^]*# Packed\n$/);
		expect(await readFile(join(dir, 'references/über uns.md'), 'utf8')).toBe('Grüße\n'.repeat(200));
		expect(await readFile(join(dir, 'assets/bytes.bin'))).toEqual(
			Buffer.from(Array.from({ length: 2048 }, (_none, index) => index % 256))
		);
		expect(await readFile(join(dir, 'assets/empty.txt'), 'utf8')).toBe('');
		expect((await stat(join(dir, 'scripts/run.sh'))).mode & 0o777).toBe(0o700);
		expect((await stat(join(dir, 'SKILL.md'))).mode & 0o777).toBe(0o600);
	});
});

describe('SECURITY Archives: whatever the bytes are, files inside or an AppError', () => {
	const seed = zipOf([
		{ name: 'SKILL.md', content: 'a'.repeat(100) },
		{ name: 'scripts/', content: '' },
		{ name: 'scripts/run.py', content: 'print(1)', method: 0 }
	]);

	async function holds(bytes: Buffer): Promise<void> {
		const folder = await createStagingFolder(parent);
		const path = join(home, 'upload.zip');
		await writeFile(path, bytes);
		const error: unknown = await readZip(path, folder, signal).catch((thrown: unknown) => thrown);
		if (error instanceof Error) expect(error).toBeInstanceOf(AppError);
		expect((await readdir(home)).sort()).toEqual(['staging', 'upload.zip']);
		await folder.remove();
	}

	test('random bytes', async () => {
		await fc.assert(
			fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), (bytes) => holds(Buffer.from(bytes))),
			{ numRuns: 100 }
		);
	});

	test('a good archive with some bytes changed', async () => {
		const change = fc.tuple(fc.nat(seed.length - 1), fc.oneof(fc.nat(255), fc.constantFrom(0, 0x2e, 0x2f, 0x5c, 0xff)));
		await fc.assert(
			fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
				const bytes = Buffer.from(seed);
				for (const [at, value] of changes) bytes[at] = value;
				await holds(bytes);
			}),
			{ numRuns: 250 }
		);
	});
});
