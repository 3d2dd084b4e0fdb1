import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { runOnDisk } from '../../../../tests/support/small-disk.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';

const dir = emptyFolder();

/** Writes three files of 400 KB; returns the result and what's left after the folder is removed. */
const program = () => `
	import { readdirSync } from 'node:fs';
	import { createStagingFolder } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'staging-folder.ts')))};
	let folder;
	const result = { left: null };
	try {
		folder = await createStagingFolder(${JSON.stringify(dir)});
		for (const name of ['a', 'b', 'c']) await folder.add('deep/' + name, Buffer.alloc(400_000));
	} catch ({ code, message }) {
		Object.assign(result, { code, message });
	}
	await folder?.remove();
	result.left = readdirSync(${JSON.stringify(dir)});
	console.log(JSON.stringify(result));
`;

test.skipIf(lacks('bubblewrap'))('E20: a disk that is full is storage_full, and nothing stays on it', async () => {
	expect(JSON.parse(await runOnDisk({ dir, bytes: 1024 * 1024 }, program()))).toEqual({
		code: 'storage_full',
		message: 'The disk is full. Free some space and try again.',
		left: []
	});
});

test.skipIf(lacks('bubblewrap'))('E20: a disk that cannot be written is unavailable', async () => {
	expect(JSON.parse(await runOnDisk({ dir, bytes: 'read-only' }, program()))).toEqual({
		code: 'unavailable',
		message: 'Can’t write to the data folder (EROFS). Check its permissions and try again.',
		left: []
	});
	expect(await readdir(dir)).toEqual([]);
});
