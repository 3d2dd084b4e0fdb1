/**
 * Real pipes for a program's output. Node's own are socket pairs, which cannot be opened again: `echo x > /dev/stderr`
 * fails with ENXIO. A FIFO without a name is as good as a pipe.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, constants, fchmodSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { LaunchFd, LaunchSpec } from './launcher.ts';

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

// One spawn: what a program finds at its descriptors, and our ends of them.

/** Of one read; what a pipe holds. */
const READ_BYTES = 64 * 1024;

/** A program that was started, or could not be: `child` says so with an `error` event. */
export interface StartedProgram {
	child: ChildProcess;
	stdout: ProgramOutput;
	stderr: ProgramOutput;
	/** The process that the info descriptor names; null where there is none, or it ended before it said. Never rejects. */
	innerPid: Promise<number | null>;
}

export interface ProgramOutput {
	stream: Readable;
	/** Begins to read. What a chunk holds is written over by the next. */
	read(onChunk: (chunk: Buffer) => void): void;
}

/** `null` is a closed input, `pipe` one that is written later. Throws where the system refuses at once. */
export function startProgram(
	spec: LaunchSpec,
	stdin: null | 'pipe' | { text: string },
	pipes: Pipe[] | null
): StartedProgram {
	// Ours only until the program has them.
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
		// A script that ends without reading its input breaks the pipe; its exit code tells the story.
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

/** A program that merely waits must not keep the host alive. */
export function keepHost({ child, stdout, stderr }: StartedProgram, doesKeep: boolean): void {
	const handles = [
		child,
		stdout.stream,
		stderr.stream,
		...child.stdio.slice(3),
		child.stdin
	] as (Partial<NodeJS.RefCounted> | null)[];
	for (const handle of handles)
		if (doesKeep) handle?.ref?.();
		else handle?.unref?.();
}

/** Resolves when both streams have ended, but after `ms` at the latest. */
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

/** Into one buffer: each read into one of its own would leave 64 KB for the collector, a hundred megabytes of a gigabyte. */
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

// Bytes for a program to read, as an open file without a name (SECURITY: nothing secret in an argument list).

/**
 * A file descriptor for reading, at the start of the bytes; who asks for it closes it. Unlike a pipe it can be opened
 * again (`/dev/stdin`), also by a program that runs as another user.
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
