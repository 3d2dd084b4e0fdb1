/** Builds the app: `npm run build` in any case, `server.js` where the sources are newer. Several at once build it once. */

import { readdirSync, statSync } from 'node:fs';
import { mkdir, open, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { root, runTool } from './run-tool.ts';

const SOURCES = ['src', 'static', 'package.json', 'svelte.config.js', 'vite.config.ts'];
/** Written last: a build that was broken off has none. */
const BUILT = join(root, 'build/.built');
const LOCK = join(root, 'node_modules/.cache/building');
const LOOK_AGAIN_MS = 200;
/** Whoever builds gives a sign of life that often; after this long without one it has ended. */
const BEAT_MS = 1_000;
const DEAD_MS = 10_000;

export interface BuildOptions {
	isStale: () => Promise<boolean>;
	build: () => Promise<void>;
	/** There while somebody builds, with the id of that process; touched again and again. */
	lock: string;
	/** Somebody else builds: called once. */
	onwait?: () => void;
}

/** Ends the process when the app cannot be built. */
export async function buildIfStale(): Promise<void> {
	const announced = (): Promise<void> => {
		console.log('Building the app. This takes about 30 seconds, and only after an update …');
		return build();
	};
	const onwait = (): void => console.log('Another process is building the app. Waiting …');
	await buildOnce({ isStale, build: announced, lock: LOCK, onwait }).catch((error: Error) => {
		console.error(error.message);
		process.exit(1);
	});
}

/** Builds the app whatever there is. Rejects with what the bundler said. */
export async function buildAnew(): Promise<void> {
	await rm(BUILT, { force: true });
	await buildOnce({ isStale, build, lock: LOCK });
}

/** Returns when the build is fresh and nobody is at it. Rejects as `build` does. */
export async function buildOnce({ isStale, build, lock, onwait }: BuildOptions): Promise<void> {
	let isWaiting = false;
	for (;;) {
		if (await isHeld(lock)) {
			if (!isWaiting) onwait?.();
			isWaiting = true;
			await wait(LOOK_AGAIN_MS);
		} else if (!(await isStale())) return;
		else if (await take(lock)) {
			const beat = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), BEAT_MS);
			try {
				// Somebody else may have built it between the look and the lock.
				if (await isStale()) await build();
				return;
			} finally {
				clearInterval(beat);
				await rm(lock, { force: true });
			}
		}
	}
}

/** By a process that is alive; what another has left is removed. In a container its id may be somebody else's by now. */
async function isHeld(lock: string): Promise<boolean> {
	const [owner, entry] = await Promise.all([readFile(lock, 'utf8'), stat(lock)]).catch(() => []);
	if (owner === undefined || entry === undefined) return false;
	// Without an id it is being written this moment.
	const isOwned = owner === '' || isAlive(Number(owner));
	if (isOwned && Date.now() - entry.mtimeMs < DEAD_MS) return true;
	await rm(lock, { force: true });
	return false;
}

async function take(lock: string): Promise<boolean> {
	await mkdir(dirname(lock), { recursive: true });
	try {
		const file = await open(lock, 'wx');
		await file.writeFile(String(process.pid));
		await file.close();
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
		return false;
	}
}

function isAlive(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === 'EPERM';
	}
}

async function isStale(): Promise<boolean> {
	const built = await stat(BUILT).catch(() => null);
	if (!built) return true;
	return SOURCES.some((source) => isNewer(join(root, source), built.mtimeMs));
}

/** Of more than a thousand files, at each start: one after the other takes a fifth of what as many promises take. */
function isNewer(path: string, time: number): boolean {
	const entry = statSync(path);
	if (!entry.isDirectory()) return entry.mtimeMs > time;
	return readdirSync(path).some((name) => isNewer(join(path, name), time));
}

/** Bundlers talk a lot; a newcomer has to read it only when the build failed. */
async function build(): Promise<void> {
	const startedAt = new Date();
	const { exitCode, output } = await runTool('vite', ['build']);
	if (exitCode !== 0) throw new Error(`${output}\nThe app could not be built; the lines above say why.`);
	await writeFile(BUILT, '');
	// What was changed meanwhile is not in it.
	await utimes(BUILT, startedAt, startedAt);
}

if (import.meta.main) await buildAnew();
