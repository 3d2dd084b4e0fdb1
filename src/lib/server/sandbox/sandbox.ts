/** One process of a skill, started, limited and ended: the interface every backend keeps (FEATURES D10, D11, D14, D33). */

/** What a process may use; each is within the host's maximum. */
export interface SandboxLimits {
	/** Bytes of memory that it may write to (RLIMIT_DATA, or the container's memory). */
	memoryBytes: number;
	/** Processes and threads at once. */
	processes: number;
	/** Bytes of one file. */
	fileBytes: number;
	openFiles: number;
	/** Seconds of processor time. */
	cpuSeconds: number;
	/** Bytes of the workspace as a whole, what was there before included; looked at while it runs. */
	workspaceBytes: number;
	/** Files of the workspace. */
	workspaceFiles: number;
}

export const DEFAULT_LIMITS: SandboxLimits = {
	memoryBytes: 512 * 1024 * 1024,
	processes: 64,
	fileBytes: 64 * 1024 * 1024,
	openFiles: 256,
	cpuSeconds: 60,
	workspaceBytes: 1024 * 1024 * 1024,
	workspaceFiles: 20_000
};

/** The folders that a skill's process is to see, by absolute real paths of the host. */
export interface SandboxFolders {
	/** Read-only where the backend can. */
	skill?: string;
	/** Read and write. */
	workspace: string;
}

/** A program as it is started, before anybody knows for which call. */
export interface SandboxProgram {
	/** Absolute path of the program as the process sees it; never looked up, never given to a shell. */
	file: string;
	args: string[];
	/** The whole environment; nothing is inherited. */
	env: Record<string, string>;
	/** Absolute path of the working directory as the process sees it: see `Sandbox.locate`. */
	cwd: string;
	/** Without them only the system is there, where the backend isolates files. */
	folders?: SandboxFolders;
	/** Host folders and files that the program itself is made of (an interpreter and its library); read-only, at the same path. */
	runtime?: readonly string[];
	limits?: Partial<SandboxLimits>;
	/** Path of the unix socket of a proxy: the only way out. Without it there is no network, where the backend can see to that. */
	proxySocket?: string;
}

export interface SandboxCommand extends SandboxProgram {
	/** Name for `kill` and `isRunning`; letters, digits, hyphens. One is made where it is missing. */
	id?: string;
	/** Text for standard input; without it standard input is closed. */
	input?: string;
	timeoutMs: number;
	/** Bytes kept of each stream. */
	maxOutputBytes: number;
	/** Up to so many bytes of each stream come back as `kept`, beside the shorter `stdout` and `stderr`. */
	maxKeptBytes?: number;
	/** Texts that must not come out: each stands as `REDACTED` in the output, also split over chunks or in base64 (F3). */
	redact?: readonly string[];
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
	/** Bytes that the process wrote, kept or not. */
	stdoutBytes: number;
	stderrBytes: number;
	/** The streams by the cap `maxKeptBytes`, where that was given. */
	kept?: { stdout: KeptStream; stderr: KeptStream };
	/** null when a signal ended it or it never started. */
	exitCode: number | null;
	signal: string | null;
	durationMs: number;
	/** What ended it early, if anything did: `killed` is `Sandbox.kill`, `quota` the size of the workspace. */
	ended: 'exit' | 'timeout' | 'aborted' | 'killed' | 'quota' | 'spawn-failed';
	/** The system's words when it could not be started. */
	spawnError?: string;
	/** The container's image, where there is one (D12). */
	image?: string;
}

export interface KeptStream {
	text: string;
	truncated: boolean;
}

/** The marker of S0: stands where output was left out. */
export const OUTPUT_TRUNCATED = '[output truncated]';
/** Stands where a secret was. */
export const REDACTED = '[redacted]';

export type SandboxName = 'process' | 'bubblewrap' | 'container';

/** What a backend keeps a process from, as found by trying; shown wherever the backend is named. */
export interface SandboxIsolation {
	/** Files of the host that are neither the system's, the skill's nor the workspace's are out of reach. */
	files: boolean;
	/** No network but through the proxy. */
	network: boolean;
	/** Other processes are out of reach, and daemons end with the call. */
	processes: boolean;
	/** The limits hold; without it those of memory and processes may not. */
	limits: boolean;
}

/** Programs that a backend brings itself, instead of the host's. */
export interface SandboxPrograms {
	node: string;
	python: string;
	shell: string;
}

export interface Sandbox {
	/** Shown on every execution. */
	readonly name: SandboxName;
	readonly isolation: SandboxIsolation;
	/** Where there are some, the host's interpreters are not used. */
	readonly programs?: SandboxPrograms;
	/** The paths by which a process sees its folders. */
	locate(folders: SandboxFolders): SandboxFolders;
	/** Runs one command to its end and leaves none of its processes behind. Never throws. */
	run(command: SandboxCommand): Promise<SandboxResult>;
	/** Starts a program ahead of its use; it waits on standard input. Null where it cannot; a backend may not offer it. */
	prepare?(program: SandboxProgram): PreparedProcess | null;
	/** Ends what runs under this id at once, `ended: 'killed'`; false when nothing does. */
	kill(id: string): boolean;
	/** Ends all of them and resolves when they are gone. */
	killAll(): Promise<void>;
	isRunning(id: string): boolean;
	/** How many commands run; what only waits to be used is not counted. */
	readonly runningCount: number;
	/** Ends everything, what waits as well. */
	close(): Promise<void>;
}

/** A process that waits, to be used once. It does not keep the host alive, and ends with it. */
export interface PreparedProcess {
	readonly isAlive: boolean;
	/** Gives it its input and the limits of time and output, as `run` does for a new one; the program is the one it has. */
	run(command: SandboxCommand & { input: string }): Promise<SandboxResult>;
	/** Ends it unused. */
	discard(): void;
}
