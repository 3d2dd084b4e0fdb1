/** The interface for starting processes, with real pipes, limits of time and output, and a complete end. */
import type { SandboxResult } from '../sandbox.ts';

/** A command line of the host. Plain data, because it is sent to the runner process. */
export interface LaunchSpec {
	file: string;
	args: string[];
	env: Record<string, string>;
	cwd: string;
	/** File descriptors 3, 4, …, in order. */
	fds?: LaunchFd[];
	end: LaunchEnd;
}

export type LaunchFd =
	/** Readable bytes, which unlike arguments no other user of the computer can see. */
	| { kind: 'data'; base64: string }
	/** Writable: bubblewrap reports its first inner process there (`--info-fd`). */
	| { kind: 'info' };

export type LaunchEnd =
	/** SIGTERM, then SIGKILL, to the program’s group. */
	| { kind: 'group' }
	/** SIGTERM to the group of the process reported by the info descriptor; SIGKILL to the program’s own group. */
	| { kind: 'inner' }
	/** Runs these host commands, because signals to a container’s client don’t have the same effect. */
	| { kind: 'commands'; term: string[]; kill: string[]; env?: Record<string, string> };

export interface LaunchLimits {
	timeoutMs: number;
	maxOutputBytes: number;
	maxKeptBytes?: number;
	redact?: readonly string[];
	/** A folder whose size is limited while the program runs. */
	watch?: { dir: string; maxBytes: number; maxFiles: number };
}

export type LaunchResult = Omit<SandboxResult, 'image'>;

export interface Launched {
	readonly isAlive: boolean;
	/** Starts the clock of the limits. Writes `input` to standard input and closes it. */
	begin(
		limits: LaunchLimits,
		input: string | undefined,
		onOutput?: (stream: 'stdout' | 'stderr', text: string) => void
	): Promise<LaunchResult>;
	/** Sends SIGTERM, and SIGKILL 2 s later. `killed`, or a call before `begin`, ends it at once. */
	end(reason: 'aborted' | 'killed'): void;
}

export type LaunchStdin = 'closed' | 'given' | 'open';

export interface Launcher {
	/**
	 * Starts a program. `open`: it waits on standard input until `begin`. `given`: `begin` starts it with its input as a
	 * file, so that `/dev/stdin` can be reopened. Never throws: errors are the result of `begin`.
	 */
	launch(spec: LaunchSpec, stdin: LaunchStdin): Launched;
	/** Ends all programs; resolves when they are gone. Later ones are `killed` without running. */
	close(): Promise<void>;
}

export function createDeferred<Value>() {
	let resolve: (value: Value) => void = () => undefined;
	const promise = new Promise<Value>((settle) => (resolve = settle));
	return { promise, resolve };
}
