/** What a host decides about executions, and learns of them; the library alone has none of it (FEATURES F3, F4, D35, E13). */
import type { SandboxLimits } from '../../sandbox/sandbox.ts';
import type { Skill, SkillErrorType, SkillEvent } from '../types.ts';

export interface ExecutionHost {
	/** SHA-256 of the skill's files, for the record of a native handler; null where it cannot be told. */
	digestOf?(skill: Skill): Promise<string | null>;
	/** Variables for this skill's processes alone, beside those of the provider's `env`; their values are redacted from its output. */
	secretsOf?(skill: Skill): Promise<Record<string, string>>;
	/** Opens a way out for one execution; null for none. */
	openNetwork?(skill: Skill, executionId: string): Promise<NetworkSession | null>;
	/** Which files' commands (``!`command` `` in the instructions) run when the skill is loaded; null, or without it, they are text (D45). */
	mayRunInline?(skill: Skill): Promise<AllowedFiles | null>;
	/** Told of every execution. Never throws. */
	recorder?: ExecutionRecorder;
}

/** What may run of a skill. */
export interface AllowedFiles {
	/** SHA-256 of the files that somebody has looked at; null for a place that is trusted, whose files run as they are. */
	digest: string | null;
}

/** The proxy of one execution. */
export interface NetworkSession {
	/** Path of its unix socket. */
	socket: string;
	/** Connections that were refused so far: `host:port`, in order, each once, at most 100. */
	refused(): string[];
	close(): Promise<void>;
}

/** Who asked for an execution; what is not known is left out. */
export interface ExecutionCaller {
	conversationId?: string;
	runId?: string;
	toolCallId?: string;
	apiKeyId?: string;
	sessionId?: string;
}

/** An execution at its start. */
export interface ExecutionStart {
	id: string;
	/** `source/name` of the skill, or `builtin/name`. */
	skillId: string;
	skill: string;
	version: string;
	/** Name of the tools.json tool or built-in skill, when it is one. */
	tool?: string;
	/** Script path relative to the skill's folder. */
	script?: string;
	argv: string[];
	/** The arguments of a tool, as JSON text. */
	input?: string;
	/** SHA-256 of the files that it ran from; of a native handler's skill else the 16 hex digits of its SKILL.md; empty for a built-in skill. */
	digest: string;
	/** Name of the backend; `direct` for what runs in the server itself. */
	sandbox: string;
	limits: Partial<SandboxLimits> & { timeoutMs: number };
	caller: ExecutionCaller;
}

/** An execution at its end. */
export interface ExecutionEnd {
	status: 'success' | 'error' | 'timeout';
	errorType?: SkillErrorType;
	message?: string;
	/** null when it was ended by a signal or never started. */
	exitCode: number | null;
	durationMs: number;
	stdoutBytes: number;
	stderrBytes: number;
	/** What the model was shown, at most 20,000 characters. */
	output: string;
	files: { path: string; bytes: number }[];
	/** Connections that were refused. */
	refused: string[];
}

export interface ExecutionRecorder {
	started(execution: ExecutionStart): Promise<void>;
	/** Its process is being started. */
	running(id: string): Promise<void>;
	finished(id: string, end: ExecutionEnd): Promise<void>;
}

/** The id by which trust, secrets, grants and executions name a skill: it stays the same over versions and reloads. */
export function skillIdOf({ source, name }: Pick<Skill, 'source' | 'name'>): string {
	return `${source}/${name}`;
}

export interface ExecutionContext {
	/** Absolute working directory; made when it is not there. */
	cwd: string;
	signal?: AbortSignal;
	onEvent?: (event: SkillEvent) => void;
	/** Instead of the skill's or the host's limit, up to 300,000 (D10). */
	timeoutMs?: number;
	/** Digest of the skill's files that may run, and no others; without it those that are there. */
	allowed?: string;
	/** Who asked, for the record. */
	caller?: ExecutionCaller;
}
