import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { zipOf } from '../../../../../tests/support/zip-writer.ts';
import { findSkillFolders } from '../inspection.ts';
import { createStagingFolder, INSTALL_LIMITS, type StagingFolder } from '../staging-folder.ts';
import { fetchFolder, fetchInline, fetchZip, type UploadedFile } from './upload.ts';

const signal = new AbortController().signal;
const home = emptyFolder();
let folder: StagingFolder;

beforeEach(async () => {
	folder = await createStagingFolder(home, { ...INSTALL_LIMITS, packedBytes: 2000 });
});

async function* streamed(bytes: Uint8Array, size = 10): AsyncGenerator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function* files(list: Record<string, string>): AsyncGenerator<UploadedFile> {
	for (const [path, text] of Object.entries(list)) yield await Promise.resolve({ path, content: Buffer.from(text) });
}

describe('E20: an uploaded archive', () => {
	test('over the limit is refused while it comes, and nothing of it stays', async () => {
		let taken = 0;
		async function* endless(): AsyncGenerator<Uint8Array> {
			for (; ; taken += 1) yield await Promise.resolve(Buffer.alloc(100));
		}
		await expect(fetchZip(endless(), folder, signal)).rejects.toMatchObject({ code: 'too_large' });
		expect(taken).toBe(20);
		await folder.remove();
		expect(await readdir(home)).toEqual([]);
	});
	test('that is none is refused, and nothing of it stays', async () => {
		await expect(fetchZip(streamed(Buffer.from('no archive')), folder, signal)).rejects.toMatchObject({
			code: 'invalid_input'
		});
		await folder.remove();
		expect(await readdir(home)).toEqual([]);
	});
	test('whose sender goes away leaves nothing', async () => {
		async function* broken(): AsyncGenerator<Uint8Array> {
			yield* streamed(zipOf([{ name: 'SKILL.md', content: 'x' }]).subarray(0, 40));
			throw new Error('aborted');
		}
		await expect(fetchZip(broken(), folder, signal)).rejects.toThrow('aborted');
		await folder.remove();
		expect(await readdir(home)).toEqual([]);
	});
	test('that is given up leaves nothing', async () => {
		const control = new AbortController();
		async function* body(): AsyncGenerator<Uint8Array> {
			yield await Promise.resolve(Buffer.alloc(10));
			control.abort(new DOMException('stopped', 'AbortError'));
			yield Buffer.alloc(10);
		}
		await expect(fetchZip(body(), folder, control.signal)).rejects.toThrow('stopped');
		await folder.remove();
		expect(await readdir(home)).toEqual([]);
	});
	test('is unpacked, with its skills to be looked for', async () => {
		const bytes = zipOf([
			{ name: 'a/SKILL.md', content: 'text' },
			{ name: 'a/.DS_Store', content: 'x' }
		]);
		const fetched = await fetchZip(streamed(bytes), folder, signal, 'tools.zip');
		expect(fetched.folders).toBeNull();
		expect(fetched.notes).toEqual(['Skipped “a/.DS_Store”, which aren’t part of a skill.']);
		expect(fetched.originOf('a')).toEqual({
			provider: 'zip',
			source: null,
			url: null,
			file: 'tools.zip',
			commit: null,
			path: 'a',
			revision: null
		});
		expect(await findSkillFolders(folder.dir)).toEqual(['a']);
		expect(await readdir(home)).toHaveLength(1);
	});
});

describe('E20: an uploaded folder', () => {
	test.each(['../x', '/etc/passwd', 'a\\..\\b', '.git/../../x', ''])('with a file %j is refused', async (path) => {
		await expect(fetchFolder(files({ 'SKILL.md': 's', [path]: 'x' }), folder, signal)).rejects.toMatchObject({
			code: 'invalid_input'
		});
	});
	test('keeps its files, knows scripts by “#!”, leaves out what is no part of it', async () => {
		const leftOut = streamed(Buffer.from('x'.repeat(50)));
		async function* all(): AsyncGenerator<UploadedFile> {
			yield* files({ 'a/SKILL.md': 'text' });
			yield { path: 'a/.git/config', content: leftOut };
			yield { path: 'a/scripts/run', content: streamed(Buffer.from('#!/bin/sh\n'), 1) };
		}
		const { notes, originOf } = await fetchFolder(all(), folder, signal);
		expect(notes).toEqual(['Skipped “a/.git/config”, which aren’t part of a skill.']);
		expect(originOf('a')).toMatchObject({ provider: 'folder', source: null, path: 'a' });
		expect(await readFile(join(folder.dir, 'a/SKILL.md'), 'utf8')).toBe('text');
		expect((await stat(join(folder.dir, 'a/scripts/run'))).mode & 0o777).toBe(0o700);
		expect(folder.files).toBe(2);
		// Read to its end: in a stream, the next file comes only after it.
		expect(await leftOut.next()).toMatchObject({ done: true });
	});
});

test('E22: the text of a SKILL.md is a skill at the top', async () => {
	const fetched = await fetchInline('---\nname: ü\n---\n', folder);
	expect(fetched).toMatchObject({ folders: [''], notes: [] });
	expect(fetched.originOf('')).toMatchObject({ provider: 'inline', source: null });
	expect(await readFile(join(folder.dir, 'SKILL.md'), 'utf8')).toBe('---\nname: ü\n---\n');
});
