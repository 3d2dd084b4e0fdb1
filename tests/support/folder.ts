/** Folders and files of tests. Make a folder before other hooks: those then still find it. */
import { mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach } from 'vitest';

/** One folder for all tests of the file or `describe`. */
export function sharedFolder(): string {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), 'test-')));
	afterAll(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/**
 * A folder that is empty at the start of each test. Its path stays: where it would be remembered (a module that is imported),
 * or an earlier test may still write, make a new one.
 */
export function emptyFolder(): string {
	const folder = sharedFolder();
	afterEach(async () => {
		await rm(folder, { recursive: true, force: true });
		await mkdir(folder, { mode: 0o700 });
	});
	return folder;
}

/** Writes a file, with the folders it's in. */
export async function putFile(folder: string, path: string, content: string | Uint8Array, mode = 0o666): Promise<void> {
	const target = join(folder, path);
	await mkdir(dirname(target), { recursive: true });
	await writeFile(target, content, { mode });
}

/** Writes files by their paths. */
export async function putFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
	for (const [path, content] of Object.entries(files)) await putFile(folder, path, content);
}
