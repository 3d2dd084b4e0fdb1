/** Files change on disk while they're read; a link's target must never be returned. */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { readSkillFile } from './files.ts';

const folder = emptyFolder();
let dir: string;
let swapper: Worker | undefined;
beforeEach(async () => {
	dir = join(folder, 'skill');
	await mkdir(join(dir, 'docs/deep'), { recursive: true });
	await putFile(dir, 'docs/deep/a.txt', 'mine');
	await putFile(folder, 'outside/deep/a.txt', 'TOP SECRET');
});
afterEach(async () => {
	await swapper?.terminate();
});

/** In its own thread, as fast as it can: swaps `place` between the original and the link. */
function swap(place: string, link: string): void {
	const code = `
		const { renameSync } = require('node:fs');
		const { place, link } = require('node:worker_threads').workerData;
		for (;;) {
			renameSync(place, place + '-kept');
			renameSync(link, place);
			renameSync(place, link);
			renameSync(place + '-kept', place);
		}`;
	swapper = new Worker(code, { eval: true, workerData: { place, link } });
}

test.each([
	['a folder', 'docs', '../outside'],
	['a folder below', 'docs/deep', '../../outside/deep'],
	['a file', 'docs/deep/a.txt', '../../../outside/deep/a.txt'],
	['a folder, for a chain of links,', 'docs', 'chain']
])('C9: %s swapped for a link between the check and the reading gives nothing away', async (_, place, target) => {
	await symlink('../outside', join(dir, 'chain'));
	const beside = place.includes('/') ? join(dir, place, '..', 'link') : join(dir, 'link');
	await symlink(target, beside);
	swap(join(dir, place), beside);
	const texts = new Set<string>();
	for (let round = 0; round < 3000; round += 1) {
		const text = await readSkillFile(dir, 'docs/deep/a.txt').then(
			(page) => page.text,
			() => ''
		);
		texts.add(text);
	}
	expect([...texts].sort()).toEqual(['', 'mine']);
});
