/**
 * Spawns programs with real pipes for their output. Node’s are socket pairs, which can’t be reopened: `echo x > /dev/stderr`
 * fails with ENXIO. A deleted FIFO is as good as a pipe.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { access, mkdtemp, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { LaunchFd, LaunchSpec } from './launcher.ts';

/** File descriptors of both ends. Whoever takes a pipe must close them. */
export interface Pipe {
	read: number;
	write: number;
	close(): void;
}

export interface PipePool {
	/** null if the system can’t create any. */
	take(count: number): Promise<Pipe[] | null>;
	close(): void;
}

/** Created by one `mkfifo`; enough for 8 programs. */
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
			// No mkfifo, no descriptors or no space left: callers use Node’s pipes.
			return false;
		} finally {
			making = null;
		}
	};
	return {
		async take(count) {
			while (free.length < count) if (!(await (making ??= make()))) return null;
			const taken = free.splice(0, count);
			// Creates the next ones ahead of time.
			if (free.length < BATCH / 2) making ??= make();
			return taken;
		},
		close() {
			isClosed = true;
			closeAll(free.splice(0));
		}
	};
}

/** Uses a private folder, and deletes the names before anything is written. */
async function makePipes(count: number): Promise<Pipe[]> {
	const program = await firstExecutable(PROGRAMS);
	if (program === undefined) throw new Error('There is no mkfifo.');
	const folder = await mkdtemp(join(tmpdir(), 'pipes-'));
	try {
		const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)));
		// A script that runs as another user may reopen its own output.
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

/** The first of these paths that is an executable file. */
export async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
	for (const path of paths) {
		try {
			await access(path, constants.X_OK);
			if ((await stat(path)).isFile()) return path;
		} catch {
			continue;
		}
	}
	return undefined;
}

/** The capacity of a pipe. */
const READ_BYTES = 64 * 1024;

/** A program, whose `child` emits `error` if it couldn’t be started. */
export interface StartedProgram {
	child: ChildProcess;
	stdout: ProgramOutput;
	stderr: ProgramOutput;
	/** The process reported by the info descriptor; null without one, or if it ended before. Never rejects. */
	innerPid: Promise<number | null>;
}

export interface ProgramOutput {
	stream: Readable;
	/** Starts reading. Chunks share one buffer. */
	read(onChunk: (chunk: Buffer) => void): void;
}

/** `stdin`: null is closed, `pipe` is written later. Throws if the system refuses at once. */
export function startProgram(
	spec: LaunchSpec,
	stdin: null | 'pipe' | { text: string },
	pipes: Pipe[] | null
): StartedProgram {
	// Closed once the program has them.
	const theirs = (pipes ?? []).map(({ write }) => write);
	try {
		const give = (bytes: Buffer | string) => {
			const fd = openData(bytes);
			theirs.push(fd);
			return fd;
		};
		const [out = 'pipe', err = 'pipe'] = theirs;
		const input = stdin === null ? 'ignore' : stdin === 'pipe' ? stdin : give(stdin.text);
		const more = (spec.fds ?? []).map((fd) => (fd.kind === 'data' ? give(Buffer.from(fd.base64, 'base64')) : 'pipe'));
		const child = spawn(spec.file, spec.args, {
			cwd: spec.cwd,
			env: spec.env,
			detached: true,
			shell: false,
			windowsHide: true,
			stdio: [input, out, err, ...more]
		});
		// A script may end without reading its input.
		child.stdin?.on('error', () => child.stdin?.destroy());
		const [stdout, stderr] = pipes
			? pipes.map(({ read }) => readFrom(read))
			: [child.stdout, child.stderr].map((stream) => stream && fromStream(stream));
		if (!stdout || !stderr) throw new Error('The program has no output.');
		return { child, stdout, stderr, innerPid: readInnerPid(child, spec.fds ?? []) };
	} catch (error) {
		for (const { read } of pipes ?? []) closeSync(read);
		throw error;
	} finally {
		for (const fd of theirs) closeSync(fd);
	}
}

/** A waiting program must not keep the host alive. */
export function keepHost({ child, stdout, stderr }: StartedProgram, doesKeep: boolean): void {
	const handles = [
		child,
		stdout.stream,
		stderr.stream,
		...child.stdio.slice(3),
		child.stdin
	] as (Partial<NodeJS.RefCounted> | null)[];
	for (const handle of handles) {
		if (doesKeep) handle?.ref?.();
		else handle?.unref?.();
	}
}

/** Resolves when both streams have ended, or after `ms`. */
export function drained({ stdout, stderr }: StartedProgram, ms: number): Promise<void> {
	return new Promise((resolve) => {
		const timer = setTimeout(resolve, ms);
		const isDone = [stdout, stderr].map(({ stream }) => new Promise<void>((end) => finished(stream, () => end())));
		void Promise.all(isDone).then(() => {
			clearTimeout(timer);
			resolve();
		});
	});
}

export function closeStreams({ child, stdout, stderr }: StartedProgram): void {
	for (const stream of [stdout.stream, stderr.stream, ...child.stdio]) stream?.destroy();
}

/** Reads into one buffer: a new one per read would cost 64 KB each until collected, 100 MB for 1 GB of output. */
function readFrom(fd: number): ProgramOutput {
	let take = (_chunk: Buffer): void => undefined;
	const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
	const onread = {
		buffer,
		callback(bytes: number) {
			take(buffer.subarray(0, bytes));
			return true;
		}
	};
	const options = { fd, readable: true, writable: false, onread, manualStart: true };
	const stream = new Socket(options);
	stream.on('error', () => stream.destroy());
	return {
		stream,
		read(onChunk) {
			take = onChunk;
			stream.read(0);
		}
	};
}

function fromStream(stream: Readable): ProgramOutput {
	return { stream, read: (onChunk) => void stream.on('data', onChunk) };
}

function readInnerPid(child: ChildProcess, fds: LaunchFd[]): Promise<number | null> {
	const index = fds.findIndex(({ kind }) => kind === 'info');
	const info = index < 0 ? null : (child.stdio[index + 3] as Readable | null | undefined);
	if (!info) return Promise.resolve(null);
	return new Promise((resolve) => {
		let text = '';
		info.on('data', (chunk: Buffer) => {
			if (text.length < 4096) text += chunk.toString();
			const pid = Number(/"child-pid"\s*:\s*(\d+)/.exec(text)?.[1]);
			if (pid > 1) resolve(pid);
		});
		info.on('error', () => info.destroy());
		info.on('close', () => resolve(null));
	});
}

/**
 * Opens a deleted file with these bytes for reading, so that no secret is in an argument list (SECURITY). Unlike a pipe it
 * can be reopened (`/dev/stdin`), also by another user. The caller closes it.
 */
function openData(bytes: Buffer | string): number {
	const folder = mkdtempSync(join(tmpdir(), 'data-'));
	const path = join(folder, 'data');
	try {
		const write = openSync(path, 'wx');
		try {
			fchmodSync(write, 0o644);
			const all = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
			for (let done = 0; done < all.length;) done += writeSync(write, all, done);
			return openSync(path, constants.O_RDONLY);
		} finally {
			closeSync(write);
			unlinkSync(path);
		}
	} finally {
		rmdirSync(folder);
	}
}
