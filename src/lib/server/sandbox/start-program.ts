/** One spawn: what a program finds at its descriptors, and our ends of them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { finished, type Readable } from 'node:stream';
import { openData } from './data-file.ts';
import type { LaunchFd, LaunchSpec } from './launcher.ts';
import type { Pipe } from './pipes.ts';

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
