/** The interface of sandbox backends, which start, limit and end the processes of skills (D10, D11, D14, D33). */

export interface SandboxLimits {
	/** Writable memory in bytes (RLIMIT_DATA, or the container’s memory). */
	memoryBytes: number;
	processes: number;
	fileBytes: number;
	openFiles: number;
	cpuSeconds: number;
	/** Maximum size of the whole workspace in bytes, checked while the process runs. */
	workspaceBytes: number;
	workspaceFiles: number;
	/** Address space in bytes, for programs that reserve far more than they use (browsers). Default: by the memory. */
	virtualBytes?: number;
}

export const DEFAULT_LIMITS = {
	memoryBytes: 512 * 1024 * 1024,
	processes: 64,
	fileBytes: 64 * 1024 * 1024,
	openFiles: 256,
	cpuSeconds: 60,
	workspaceBytes: 1024 * 1024 * 1024,
	workspaceFiles: 20_000
} satisfies SandboxLimits;

/** Size of /dev/shm where it is the sandbox’s own: browsers keep pages there, and it takes memory. */
export function sharedMemoryBytes({ memoryBytes }: Pick<SandboxLimits, 'memoryBytes'>): number {
	return Math.floor(memoryBytes / 2);
}

/** Folders shared with the process, by absolute real paths of the host. */
export interface SandboxFolders {
	/** Read-only, if the backend supports it. */
	skill?: string;
	workspace: string;
	/** Installed packages; read-only, if the backend supports it. */
	packages?: string;
}

export interface SandboxProgram {
	/** Absolute path as the process sees it; no PATH lookup, no shell. */
	file: string;
	args: string[];
	/** The complete environment; nothing is inherited. */
	env: Record<string, string>;
	/** Absolute path of the working directory as the process sees it (`Sandbox.locate`). */
	cwd: string;
	/** Without them, a backend that isolates files shows only the system. */
	folders?: SandboxFolders;
	/** Files and folders of the program itself, such as an interpreter and its library; read-only, at the same path. */
	runtime?: readonly string[];
	limits?: Partial<SandboxLimits>;
	/** Unix socket of the proxy that is the only network access. Without it there is none, if the backend isolates the network. */
	proxySocket?: string;
}

export interface SandboxCommand extends SandboxProgram {
	/** Id for `kill` and `isRunning`: letters, digits, hyphens. Default: a random one. */
	id?: string;
	/** Standard input; closed if absent. */
	input?: string;
	timeoutMs: number;
	/** Maximum bytes kept per stream. */
	maxOutputBytes: number;
	/** If set, up to this many bytes per stream are returned as `kept`, beside the shorter `stdout` and `stderr`. */
	maxKeptBytes?: number;
	/** Secrets to replace by `REDACTED` in the output, also across chunks or in base64 (F3). */
	redact?: readonly string[];
	signal?: AbortSignal;
	/** Receives output as decoded text. Joined, the texts equal the result’s. */
	onOutput?: (stream: 'stdout' | 'stderr', text: string) => void;
	/** Who asked, for a backend with a queue: callers take turns. `runId`: ends with that run. */
	caller?: { key: string; runId?: string | undefined };
	/** A backend with a queue says when it has to wait (`true`) and for what, and when it begins, waited or not. */
	onWait?: (isWaiting: boolean, waitsFor?: 'packages') => void;
}

export interface SandboxResult {
	/** If longer than the cap: head and tail around `OUTPUT_TRUNCATED`. */
	stdout: string;
	stderr: string;
	stdoutTruncated: boolean;
	stderrTruncated: boolean;
	stdoutBytes: number;
	stderrBytes: number;
	/** The streams capped by `maxKeptBytes`, if set. */
	kept?: { stdout: KeptStream; stderr: KeptStream };
	/** null if a signal ended it or it never started. */
	exitCode: number | null;
	signal: string | null;
	durationMs: number;
	/**
	 * `killed` is by `Sandbox.kill`; `quota` means that the workspace is too large; `lost` that the machine it ran on has
	 * stopped: whether it has finished isn’t known.
	 */
	ended: 'exit' | 'timeout' | 'aborted' | 'killed' | 'quota' | 'lost' | 'spawn-failed';
	/** The system’s error message if it couldn’t be started. */
	spawnError?: string;
	/** The container’s image, if any (D12). */
	image?: string;
}

export interface KeptStream {
	text: string;
	truncated: boolean;
}

/** Replaces omitted output (S0). */
export const OUTPUT_TRUNCATED = '[output truncated]';
export const REDACTED = '[redacted]';

export type SandboxName = 'process' | 'bubblewrap' | 'container';

/** What a backend isolates, found by testing; shown wherever the backend is named. */
export interface SandboxIsolation {
	/** No access to host files except the system, the skill and the workspace. */
	files: boolean;
	/** No network except through the proxy. */
	network: boolean;
	/** No access to other processes; daemons end with the call. */
	processes: boolean;
	/** All limits hold. If false, those of memory and processes may not. */
	limits: boolean;
}

export interface SandboxPrograms {
	node: string;
	python: string;
	shell: string;
}

export interface Sandbox {
	/** Shown on every execution. */
	readonly name: SandboxName;
	readonly isolation: SandboxIsolation;
	/** If set, they replace the host’s interpreters. */
	readonly programs?: SandboxPrograms;
	/** Commands may have to wait: see `SandboxCommand.onWait`. */
	readonly hasQueue?: boolean;
	/** For folders of temporary files that a process gets. Default: the system’s. */
	readonly temporaryFolder?: string;
	/** Paths of the folders as a process sees them. */
	locate(folders: SandboxFolders): SandboxFolders;
	/** Runs a command to its end and leaves no process behind. Never throws. */
	run(command: SandboxCommand): Promise<SandboxResult>;
	/** Starts a program ahead of time; it waits on standard input. Returns null if it can’t. */
	prepare?(program: SandboxProgram): PreparedProcess | null;
	/** Ends a command at once (`ended: 'killed'`). Returns false if none has this id. */
	kill(id: string): boolean;
	/** Ends all commands; resolves when they are gone. */
	killAll(): Promise<void>;
	isRunning(id: string): boolean;
	/** Running commands, without prepared processes. */
	readonly runningCount: number;
	/** Ends everything, including prepared processes. */
	close(): Promise<void>;
}

/** A waiting process, usable once. It doesn’t keep the host alive, and ends with it. */
export interface PreparedProcess {
	readonly isAlive: boolean;
	/** Sends the input and applies the limits of the command, like `Sandbox.run`. */
	run(command: SandboxCommand & { input: string }): Promise<SandboxResult>;
	discard(): void;
}
