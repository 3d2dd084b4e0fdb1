/** Starting one process with real pipes, limits of time and output, and an end that leaves nothing: what backends build on. */
import type { SandboxResult } from '../sandbox.ts';

/** A command line of the host, with what surrounds it. Plain data: it crosses to the runner process as JSON. */
export interface LaunchSpec {
	/** Absolute path. */
	file: string;
	args: string[];
	/** The whole environment of that program. */
	env: Record<string, string>;
	cwd: string;
	/** What the program finds at file descriptors 3, 4, …, in order. */
	fds?: LaunchFd[];
	/** How it is asked to end before it is ended: see `LaunchEnd`. */
	end: LaunchEnd;
}

export type LaunchFd =
	/** Readable: these bytes. They are in no argument list, so no other user of the machine sees them. */
	| { kind: 'data'; base64: string }
	/** Writable: bubblewrap says there (`--info-fd`) which process is the first inside. */
	| { kind: 'info' };

export type LaunchEnd =
	/** SIGTERM, then SIGKILL, to the group of the program. */
	| { kind: 'group' }
	/** SIGTERM to the group of the process that the info descriptor names; SIGKILL to the program's own group. */
	| { kind: 'inner' }
	/** Command lines of the host that do it, with this environment (a container's client cannot be signalled to the same effect). */
	| { kind: 'commands'; term: string[]; kill: string[]; env?: Record<string, string> };

export interface LaunchLimits {
	timeoutMs: number;
	maxOutputBytes: number;
	maxKeptBytes?: number;
	redact?: readonly string[];
	/** A folder whose size is looked at while the program runs. */
	watch?: { dir: string; maxBytes: number; maxFiles: number };
}

export type LaunchResult = Omit<SandboxResult, 'image'>;

export interface Launched {
	readonly isAlive: boolean;
	/** Starts the clock: from here the limits count. `input` goes to standard input, which is closed after it. */
	begin(
		limits: LaunchLimits,
		input: string | undefined,
		onOutput?: (stream: 'stdout' | 'stderr', text: string) => void
	): Promise<LaunchResult>;
	/** Asks it to end, and ends it 2 s later; `killed` ends it at once. Before `begin` it is ended at once. */
	end(reason: 'aborted' | 'killed'): void;
}

export type LaunchStdin = 'closed' | 'given' | 'open';

export interface Launcher {
	/**
	 * Starts a program. `open`: it waits on standard input until `begin`, which may be much later; `given`: it is started
	 * by `begin`, whose input it finds as a file, so that `/dev/stdin` can be opened again. Never throws: what fails is
	 * the result of `begin`.
	 */
	launch(spec: LaunchSpec, stdin: LaunchStdin): Launched;
	/** Ends every program that runs, and resolves when they are gone. What begins afterwards is `killed` and never runs. */
	close(): Promise<void>;
}
