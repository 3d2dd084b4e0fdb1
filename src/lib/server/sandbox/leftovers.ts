/** Processes that outlived their server or left their group, found by a variable of their environment (FEATURES D10, D33). */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { MARKER } from './running.ts';

/** One that starts others while it is ended is looked for again, so many times. */
const PASSES = 5;

/** First part of the markers of one start of a server with this data folder; `startId` is letters, digits, hyphens. */
export function ownerOf(dataDir: string, startId: string): string {
	return `${folderKey(dataDir)}-${startId}`;
}

/**
 * Ends what an earlier start of a server with this data folder left running, and says how many processes that were.
 * Only of this user, and only where /proc tells of them (Linux); elsewhere none are found.
 */
export async function sweepLeftovers(options: { dataDir: string; startId: string }): Promise<number> {
	const key = folderKey(options.dataDir);
	const own = ownerOf(options.dataDir, options.startId);
	return endMarked((marker) => marker.startsWith(`${key}-`) && !marker.startsWith(`${own}.`));
}

/** Ends every process of this user whose marker is one of those; returns how many there were. */
export async function endMarked(isMarked: (marker: string) => boolean): Promise<number> {
	const ended = new Set<number>();
	for (let pass = 0; pass < PASSES; pass += 1) {
		const found = await findMarked(isMarked);
		for (const pid of found) end(pid);
		const fresh = found.filter((pid) => !ended.has(pid));
		for (const pid of fresh) ended.add(pid);
		if (fresh.length === 0) break;
	}
	return ended.size;
}

async function findMarked(isMarked: (marker: string) => boolean): Promise<number[]> {
	const uid = process.getuid?.();
	const found: number[] = [];
	for (const name of await readdir('/proc').catch(() => [])) {
		const pid = Number(name);
		if (!Number.isInteger(pid) || pid === process.pid) continue;
		try {
			const path = `/proc/${name}`;
			if ((await stat(path)).uid !== uid) continue;
			const entry = (await readFile(`${path}/environ`, 'latin1'))
				.split('\0')
				.find((line) => line.startsWith(`${MARKER}=`));
			if (entry && isMarked(entry.slice(MARKER.length + 1))) found.push(pid);
		} catch {
			// It has ended meanwhile, or is not ours to look into.
			continue;
		}
	}
	return found;
}

function end(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}

function folderKey(dataDir: string): string {
	return createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 16);
}
