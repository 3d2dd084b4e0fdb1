/** Tells by `stat` alone whether a file or folder is the one that was read (FEATURES A32). */
import { statSync } from 'node:fs';

/** What a later look is compared with; null for what cannot be told apart, and is read again each time. */
export type FileMark = readonly [dev: number, inode: number, bytes: number, modifiedMs: number, changedMs: number];

/**
 * A clock of a file system may tick this slowly: what was changed within one tick of being read may change again
 * without a new time. Most tick every 1 to 10 ms; a time of whole seconds comes from one that has no more than those.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2000;

/** To be taken before the reading: a change in between shows as one later. */
export function markOf(path: string): FileMark | null {
	const now = Date.now();
	const stats = statSync(path, { throwIfNoEntry: false });
	if (!stats) return null;
	const { dev, ino, size, mtimeMs, ctimeMs } = stats;
	const tickMs = mtimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS;
	if (Math.max(mtimeMs, ctimeMs) > now - tickMs) return null;
	return [dev, ino, size, mtimeMs, ctimeMs];
}

/** Is what stands at `path` now what `mark` was taken of, unchanged? */
export function isUnchanged(path: string, [dev, inode, bytes, modifiedMs, changedMs]: FileMark): boolean {
	const stats = statSync(path, { throwIfNoEntry: false });
	return (
		stats !== undefined &&
		stats.ctimeMs === changedMs &&
		stats.mtimeMs === modifiedMs &&
		stats.size === bytes &&
		stats.ino === inode &&
		stats.dev === dev
	);
}
