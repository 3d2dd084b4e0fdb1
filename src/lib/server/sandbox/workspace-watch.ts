/** The size of a folder while a program works in it (FEATURES D33): a bounded walk that follows no link. */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchLimits } from './launcher.ts';

const EVERY_MS = 500;
/** Looking may take this part of the time: a slow walk is made less often. */
const SHARE = 10;

/** Calls `onOver` once when the folder holds more than it may; stop it with the function that is returned. */
export function watchFolder(limits: NonNullable<LaunchLimits['watch']>, onOver: () => void): () => void {
	let isStopped = false;
	let timer: NodeJS.Timeout;
	const look = async () => {
		const startedAt = performance.now();
		const isOver = await isOverfull(limits, () => isStopped);
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

/** True as soon as it has seen too much; what disappears while it looks is not counted. */
async function isOverfull(
	{ dir, maxBytes, maxFiles }: NonNullable<LaunchLimits['watch']>,
	isStopped: () => boolean = () => false
): Promise<boolean> {
	const folders = [dir];
	let bytes = 0;
	let entries = 0;
	for (let folder = folders.pop(); folder !== undefined && !isStopped(); folder = folders.pop()) {
		try {
			for await (const entry of await opendir(folder)) {
				entries += 1;
				if (entries > maxFiles) return true;
				const path = join(folder, entry.name);
				if (entry.isDirectory()) folders.push(path);
				else bytes += await sizeOf(path);
				if (bytes > maxBytes) return true;
				if (isStopped()) return false;
			}
		} catch (error) {
			if (!isGone(error)) throw error;
		}
	}
	return false;
}

/** What it takes up on the disk, so that a file with holes counts for what is in it. */
async function sizeOf(path: string): Promise<number> {
	try {
		return (await lstat(path)).blocks * 512;
	} catch (error) {
		if (isGone(error)) return 0;
		throw error;
	}
}

function isGone(error: unknown): boolean {
	return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
}
