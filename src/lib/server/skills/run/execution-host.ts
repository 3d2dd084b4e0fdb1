/** The host's part in executions: secrets, network, approvals, records; all optional (F3, F4, D35, E13). */
import type { SandboxLimits } from '../../sandbox/sandbox.ts';
import type { MadeFile, Missing, Skill, SkillErrorType, SkillEvent } from '../types.ts';

export interface ExecutionHost {
	/** SHA-256 of the skill's files, for a native handler's record; null if unknown. */
	digestOf?(skill: Skill): Promise<string | null>;
	/** Extra variables for this skill's processes only; their values are redacted from its output. */
	secretsOf?(skill: Skill): Promise<Record<string, string>>;
	/** Opens network access for one execution; null for none. */
	openNetwork?(skill: Skill, executionId: string): Promise<NetworkSession | null>;
	/** Files whose inline commands (``!`command` ``) may run when the skill is loaded; null leaves them as text (D45). */
	mayRunInline?(skill: Skill): Promise<AllowedFiles | null>;
	/** Packages that were installed for this skill; null for none. */
	packagesOf?(skill: Skill): Promise<SkillPackages | null>;
	/** Records every execution. Never throws. */
	recorder?: ExecutionRecorder;
}

/** Installed packages, by absolute paths of the host; scripts see the folder where `Sandbox.locate` says. */
export interface SkillPackages {
	folder: string;
	/** First on the PATH. */
	bin: string[];
	/** For PYTHONPATH, after the skill's folder; null without Python packages. */
	python: string | null;
	/** A file that Node requires at its start, so that scripts find the JavaScript packages; null without any. */
	register: string | null;
}

/** Files of a skill that may run. */
export interface AllowedFiles {
	/** SHA-256 of files that somebody has checked; null for any, in a trusted place. */
	digest: string | null;
}

/** The proxy of one execution. */
export interface NetworkSession {
	/** Path of its unix socket. */
	socket: string;
	/** Connections blocked so far, as `host:port`, in order and without duplicates; at most 100. */
	refused(): string[];
	/** Allowed hosts that the server couldn’t reach, as `host:port`. */
	unreached?(): string[];
	close(): Promise<void>;
}

/** Who requested an execution; unknown fields are absent. */
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
	/** Name of the tool or built-in skill, if it is one. */
	tool?: string;
	/** Script path relative to the skill's folder. */
	script?: string;
	argv: string[];
	/** The arguments of a tool, as JSON text. */
	input?: string;
	/** SHA-256 of its files; for a native handler perhaps just 16 digits, of the SKILL.md; empty for a built-in skill. */
	digest: string;
	/** Name of the backend; `direct` for anything in the server itself. */
	sandbox: string;
	limits: Partial<SandboxLimits> & { timeoutMs: number };
	caller: ExecutionCaller;
}

/** An execution at its end. */
export interface ExecutionEnd {
	status: 'success' | 'error' | 'timeout';
	errorType?: SkillErrorType;
	message?: string;
	/** null if it was killed by a signal or never started. */
	exitCode: number | null;
	durationMs: number;
	stdoutBytes: number;
	stderrBytes: number;
	/** Output shown to the model, at most 20,000 characters. */
	output: string;
	files: MadeFile[];
	/** Blocked connections, as `host:port`. */
	refused: string[];
	/** What it lacked, by its own output. */
	missing?: Missing | undefined;
}

export interface ExecutionRecorder {
	started(execution: ExecutionStart): Promise<void>;
	/** Called when its process starts. */
	running(id: string): Promise<void>;
	finished(id: string, end: ExecutionEnd): Promise<void>;
}

/** Id of a skill for trust, secrets, approvals and executions; the same across versions and reloads. */
export function skillIdOf({ source, name }: Pick<Skill, 'source' | 'name'>): string {
	return `${source}/${name}`;
}

export interface ExecutionContext {
	/** Absolute working directory; created if missing. */
	cwd: string;
	signal?: AbortSignal;
	onEvent?: (event: SkillEvent) => void;
	/** Overrides the skill's and the host's timeout; up to 300,000 (D10). */
	timeoutMs?: number;
	/** Digest of the only files that may run; by default the current ones. */
	allowed?: string;
	/** Who asked, for the record. */
	caller?: ExecutionCaller;
}
