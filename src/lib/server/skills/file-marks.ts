/** Tells by `stat` alone whether a file or folder is the one that was read (FEATURES A32). */
import { statSync, type Stats } from 'node:fs';

/**
 * What a later look is compared with, as five numbers each; several lie in one list, which takes a third of the memory
 * of as many lists.
 */
export type FileMarks = readonly number[];
const NUMBERS = 5;

/**
 * A clock of a file system may tick this slowly: what was changed within one tick of being read may change again
 * without a new time. Most tick every 1 to 10 ms; a time of whole seconds comes from one that has no more than those.
 */
const TICK_MS = 50;
const COARSE_TICK_MS = 2000;

/**
 * Adds the mark of what stands at `path`; false for what could not be told from something newer. To be taken before the
 * reading: a change in between shows as one later.
 */
export function addMark(marks: number[], path: string): boolean {
	const now = Date.now();
	const stats = statSync(path, { throwIfNoEntry: false });
	if (!stats) return false;
	const { mtimeMs, ctimeMs } = stats;
	const tickMs = mtimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS;
	if (Math.max(mtimeMs, ctimeMs) > now - tickMs) return false;
	pushMark(marks, stats);
	return true;
}

/** The same of what this process has just written itself and nobody else should write: it is new, and no doubt for that. */
export function addOwnMark(marks: number[], path: string): void {
	pushMark(marks, statSync(path));
}

function pushMark(marks: number[], { dev, ino, size, mtimeMs, ctimeMs }: Stats): void {
	marks.push(dev, ino, size, mtimeMs, ctimeMs);
}

/** Is what stands at `path` now what the mark at `index` was taken of, unchanged? */
export function isUnchanged(path: string, marks: FileMarks, index: number): boolean {
	const stats = statSync(path, { throwIfNoEntry: false });
	const at = index * NUMBERS;
	return (
		stats !== undefined &&
		stats.ctimeMs === marks[at + 4] &&
		stats.mtimeMs === marks[at + 3] &&
		stats.size === marks[at + 2] &&
		stats.ino === marks[at + 1] &&
		stats.dev === marks[at]
	);
}
