/** One process of a skill, started, limited and ended: the interface every backend keeps (FEATURES D10, D11, D14). */

export interface SandboxCommand {
	/** Absolute path of the program; never looked up, never given to a shell. */
	file: string;
	args: string[];
	/** The whole environment; nothing is inherited. */
	env: Record<string, string>;
	/** Absolute path of the working directory. */
	cwd: string;
	/** Text for standard input; without it standard input is closed. */
	input?: string;
	timeoutMs: number;
	/** Bytes kept of each stream. */
	maxOutputBytes: number;
	/** Up to so many bytes of each stream come back as `kept`, beside the shorter `stdout` and `stderr`. */
	maxKeptBytes?: number;
	signal?: AbortSignal;
	/** Live output, decoded, never cut inside a character; joined, it is the text of the result. */
	onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
}

export interface SandboxResult {
	/** Head and tail of the stream around `OUTPUT_TRUNCATED` when it was longer than the cap. */
	stdout: string;
	stderr: string;
	stdoutTruncated: boolean;
	stderrTruncated: boolean;
	/** The streams by the cap `maxKeptBytes`, where that was given. */
	kept?: { stdout: KeptStream; stderr: KeptStream };
	/** null when a signal ended it or it never started. */
	exitCode: number | null;
	signal: string | null;
	durationMs: number;
	/** What ended it early, if anything did. */
	ended: 'exit' | 'timeout' | 'aborted' | 'spawn-failed';
	/** The system's words when it could not be started. */
	spawnError?: string;
}

export interface KeptStream {
	text: string;
	truncated: boolean;
}

/** The marker of S0: stands where output was left out. */
export const OUTPUT_TRUNCATED = '[output truncated]';

export interface Sandbox {
	/** `process`, `bubblewrap` or `container`; shown on every execution. */
	readonly name: string;
	/** Runs one command to its end and leaves none of its processes behind. Never throws. */
	run(command: SandboxCommand): Promise<SandboxResult>;
	/** Starts a program ahead of its use; it waits on standard input. Null where it cannot; a backend may not offer it. */
	prepare?(program: Pick<SandboxCommand, 'file' | 'args' | 'env' | 'cwd'>): PreparedProcess | null;
}

/** A process that waits, to be used once. It does not keep the host alive, and ends with it. */
export interface PreparedProcess {
	readonly isAlive: boolean;
	/** Gives it its input and the limits, as `run` does for a new one; `file`, `args`, `env` and `cwd` are those it has. */
	run(command: SandboxCommand & { input: string }): Promise<SandboxResult>;
	/** Ends it unused. */
	discard(): void;
}
