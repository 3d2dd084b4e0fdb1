/**
 * Real pipes for a program's output. Node's own are socket pairs, which cannot be opened again: `echo x > /dev/stderr`
 * fails with ENXIO. A FIFO without a name is as good as a pipe.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Both ends, as file descriptors; who takes a pipe closes them, together with `close` or one by one. */
export interface Pipe {
	read: number;
	write: number;
	close(): void;
}

export interface PipePool {
	/** So many new pipes; null where the system has none to give. */
	take(count: number): Promise<Pipe[] | null>;
	close(): void;
}

/** Made by one `mkfifo`; enough for eight programs. */
const BATCH = 16;
const PROGRAMS = ['/usr/bin/mkfifo', '/bin/mkfifo'];

export function createPipePool(): PipePool {
	const free: Pipe[] = [];
	let making: Promise<boolean> | null = null;
	let isClosed = false;

	const make = async (): Promise<boolean> => {
		try {
			const made = await makePipes(BATCH);
			if (isClosed) closeAll(made);
			else free.push(...made);
			return !isClosed;
		} catch {
			// No program, no handles left, no room: plain pipes are what remains.
			return false;
		} finally {
			making = null;
		}
	};
	return {
		async take(count) {
			while (free.length < count) if (!(await (making ??= make()))) return null;
			const taken = free.splice(0, count);
			// The next ones are made while these are in use, so that nobody has to wait for them.
			if (free.length < BATCH / 2) making ??= make();
			return taken;
		},
		close() {
			isClosed = true;
			closeAll(free.splice(0));
		}
	};
}

/** In a folder that only this user may enter; the names are gone before anything is written. */
async function makePipes(count: number): Promise<Pipe[]> {
	const program = await firstThere(PROGRAMS);
	const folder = await mkdtemp(join(tmpdir(), 'pipes-'));
	try {
		const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)));
		// A script that runs as another user may open its own output again.
		await promisify(execFile)(program, ['-m', '666', ...paths], { env: {} });
		return openAll(paths);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

function openAll(paths: string[]): Pipe[] {
	const opened: Pipe[] = [];
	try {
		for (const path of paths) {
			const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
			try {
				opened.push(pipeOf(read, openSync(path, constants.O_WRONLY)));
			} catch (error) {
				closeSync(read);
				throw error;
			}
		}
		return opened;
	} catch (error) {
		closeAll(opened);
		throw error;
	}
}

function pipeOf(read: number, write: number): Pipe {
	return {
		read,
		write,
		close() {
			closeSync(read);
			closeSync(write);
		}
	};
}

function closeAll(pipes: Pipe[]): void {
	for (const pipe of pipes) pipe.close();
}

async function firstThere(paths: string[]): Promise<string> {
	for (const path of paths) {
		const isThere = await access(path, constants.X_OK).then(
			() => true,
			() => false
		);
		if (isThere) return path;
	}
	throw new Error('There is no mkfifo.');
}
