/** Tells by `lstat` alone whether a folder is still as it was when its digest was taken: for lists, never for a decision to run. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createPace } from '../skills/slices.ts';

const MAX_ENTRIES = 2000;
const SLICE_MS = 4;
/** What was written within the tick of a slow clock may be written again without a new time. */
const TICK_MS = 2000;

/** Inode, size and times of everything in the folder; null when it cannot be told from something newer, or not at all. */
export async function marksOf(dir: string): Promise<string | null> {
	const now = Date.now();
	const pace = createPace(SLICE_MS);
	const pending = [dir];
	let marks = '';
	let count = 0;
	try {
		for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
			for (const entry of readdirSync(folder, { withFileTypes: true })) {
				await pace();
				if ((count += 1) > MAX_ENTRIES) return null;
				const path = join(folder, entry.name);
				const { dev, ino, size, mtimeMs, ctimeMs } = lstatSync(path);
				if (Math.max(mtimeMs, ctimeMs) > now - TICK_MS) return null;
				marks += `${JSON.stringify(path)} ${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}\n`;
				if (entry.isDirectory()) pending.push(path);
			}
		}
	} catch {
		// What changes while it is looked at is not the same.
		return null;
	}
	return marks;
}
