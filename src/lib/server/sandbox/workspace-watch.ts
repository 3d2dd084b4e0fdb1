/** The size of a folder while a program works in it (FEATURES D33): a bounded walk that follows no link. */
import { lstat } from 'node:fs/promises';
import { MAX_DEPTH, walkFolder } from '../foreign-folders.ts';
import type { LaunchLimits } from './launcher.ts';

const EVERY_MS = 500;
/** Looking may take this part of the time: a slow walk is made less often. */
const SHARE = 10;

/**
 * Calls `onOver` once when the folder holds more than it may, or folders nested too deep to be looked at; stop it with
 * the function that is returned. It never ends what runs for a look that failed: it looks again.
 */
export function watchFolder(limits: NonNullable<LaunchLimits['watch']>, onOver: () => void): () => void {
	let isStopped = false;
	let timer: NodeJS.Timeout;
	const look = async () => {
		const startedAt = performance.now();
		const isOver = await isOverfull(limits, () => isStopped).catch(() => false);
		if (isStopped) return;
		if (isOver) onOver();
		else timer = setTimeout(look, Math.max(EVERY_MS, SHARE * (performance.now() - startedAt)));
	};
	timer = setTimeout(look, EVERY_MS);
	return () => {
		isStopped = true;
		clearTimeout(timer);
	};
}

/** True as soon as it has seen too much; what disappears while it looks, or is closed to this user, is not counted. */
async function isOverfull(
	{ dir, maxBytes, maxFiles }: NonNullable<LaunchLimits['watch']>,
	isStopped: () => boolean
): Promise<boolean> {
	let bytes = 0;
	let entries = 0;
	for await (const step of walkFolder(dir)) {
		if (isStopped()) return false;
		entries += step.length;
		const isTooDeep = step.some(({ kind, names }) => kind === 'folder' && names.length > MAX_DEPTH);
		if (isTooDeep || entries > maxFiles) return true;
		const files = step.filter(({ kind }) => kind !== 'folder');
		for (const size of await Promise.all(files.map(({ at }) => sizeOf(at)))) bytes += size;
		if (bytes > maxBytes) return true;
	}
	return false;
}

/** What it takes up on the disk, so that a file with holes counts for what is in it. */
function sizeOf(at: Buffer): Promise<number> {
	return lstat(at).then(
		({ blocks }) => blocks * 512,
		() => 0
	);
}
