import { appendFile, chmod, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { exportSkill, folderNameOf } from './publish.ts';
import { createStagingFolder, INSTALL_LIMITS } from './staging-folder.ts';
import { fetchZip } from './sources/upload.ts';

const root = emptyFolder();
let dir: string;
beforeEach(async () => {
	dir = join(root, 'skills/demo');
	await put('SKILL.md', '---\nname: demo\ndescription: x\n---\nBody\n');
	await put('scripts/run.sh', '#!/bin/sh\necho hi\n', 0o755);
	await put('scripts/lib.sh', '#!/bin/sh\n# sourced\n');
	await put('assets/ünïcode name.txt', 'ü\n');
	await put('assets/empty.txt', '');
	await put('assets/large.bin', Buffer.alloc(300_000, 'abcdefg'));
});

async function put(path: string, content: string | Buffer, mode = 0o644): Promise<void> {
	await putFile(dir, path, content);
	await chmod(join(dir, path), mode);
}

async function zipped(limits = INSTALL_LIMITS): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	for await (const chunk of await exportSkill({ name: 'demo', dir }, limits)) chunks.push(chunk);
	return Buffer.concat(chunks);
}

/** Read with the same reader as uploads. */
async function unpacked(zip: Buffer): Promise<string> {
	const into = await createStagingFolder(join(root, 'staging'));
	const body = (async function* () {
		yield zip;
	})();
	const { notes } = await fetchZip(body, into, new AbortController().signal);
	expect(notes).toEqual([]);
	return into.dir;
}

async function treeOf(folder: string): Promise<Record<string, [content: string, isProgram: boolean]>> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
	const read = async (path: string): Promise<[string, [string, boolean]]> => [
		path.slice(folder.length + 1),
		[await readFile(path, 'latin1'), ((await stat(path)).mode & 0o100) !== 0]
	];
	return Object.fromEntries(await Promise.all(files.sort().map(read)));
}

describe('F8: an exported skill', () => {
	test('is installed again as it was: names, bytes, what can be started, under one folder', async () => {
		const back = await unpacked(await zipped());
		expect(await readdir(back)).toEqual(['demo']);
		expect(await treeOf(join(back, 'demo'))).toEqual(await treeOf(dir));
	});

	test('is the same archive for the same files, whenever they were written', async () => {
		const first = await zipped();
		await utimes(join(dir, 'SKILL.md'), 1, 1);
		expect((await zipped()).equals(first)).toBe(true);
	});

	test('has no links, and nothing of version control', async () => {
		await writeFile(join(root, 'secret.txt'), 'secret');
		await symlink(join(root, 'secret.txt'), join(dir, 'way-out.txt'));
		await symlink(root, join(dir, 'up'));
		await put('.git/config', 'x');
		const names = Object.keys(await treeOf(await unpacked(await zipped())));
		expect(names).toHaveLength(6);
		expect((await zipped()).includes('secret')).toBe(false);
	});

	test('that could not be installed again is refused before its first byte', async () => {
		await expect(exportSkill({ name: 'demo', dir }, { ...INSTALL_LIMITS, files: 5 })).rejects.toMatchObject({
			code: 'too_large'
		});
		await expect(exportSkill({ name: 'demo', dir }, { ...INSTALL_LIMITS, fileBytes: 1000 })).rejects.toMatchObject({
			code: 'too_large',
			message: expect.stringContaining('large.bin') as unknown
		});
		await put('assets/aux.txt', 'x');
		await expect(exportSkill({ name: 'demo', dir })).rejects.toMatchObject({
			code: 'invalid_input',
			message: expect.stringContaining('its name is reserved on Windows') as unknown
		});
	});

	test('has of a file that grows meanwhile as much as was counted', async () => {
		const pieces = await exportSkill({ name: 'demo', dir });
		await appendFile(join(dir, 'assets/large.bin'), Buffer.alloc(400_000, 'more'));
		const chunks: Uint8Array[] = [];
		for await (const chunk of pieces) chunks.push(chunk);
		const target = await unpacked(Buffer.concat(chunks));
		expect(await readFile(join(target, 'demo/assets/large.bin'), 'utf8')).toBe(
			'abcdefg'.repeat(42_858).slice(0, 300_000)
		);
	});

	test('of a folder that went away is a conflict', async () => {
		await expect(exportSkill({ name: 'x', dir: join(root, 'gone') })).rejects.toMatchObject({ code: 'conflict' });
	});

	test.each([
		['pdf-tools', 'pdf-tools'],
		['Ünïcode "x"\r\n', 'n-code-x'],
		['..', 'skill'],
		['', 'skill']
	])('named %j is downloaded as %s', (name, expected) => {
		expect(folderNameOf(name)).toBe(expected);
	});
});
