/** Types of the skills library (A19, A23, D12). */

/** A problem with a skill. `field` is a front-matter key, or `_` for the whole file (A23). */
export interface SkillIssue {
	field: string;
	message: string;
	/** An `error` hides the skill from the model; a `warning` doesn't. */
	severity: 'error' | 'warning';
	/** Path in the skill's folder; SKILL.md by default. */
	file?: string;
	/** Line number, starting at 1. */
	line?: number;
	/** What to write instead. */
	fix?: string;
}

/** A parsed SKILL.md (S3). */
export interface SkillSpec {
	/** 1 to 64 characters: lowercase letters, digits and hyphens. */
	name: string;
	/** 1 to 1024 characters; what the model sees in the catalog. */
	description: string;
	license?: string;
	/** At most 500 characters. */
	compatibility?: string;
	metadata: Readonly<Record<string, string>>;
	/** The raw `allowed-tools` value: a request, never a grant (A14). */
	allowedTools?: string;
	/** Markdown after the front matter, without surrounding blank lines. */
	body: string;
	/** Absolute path of the SKILL.md. */
	path: string;
	/** Absolute path of the skill's folder. */
	dir: string;
	/** Front-matter keys outside the standard, unchanged. */
	extra: Readonly<Record<string, unknown>>;
}

/** A tool from tools.json (S4 §5). */
export interface SkillTool {
	name: string;
	description: string;
	/** Path relative to the skill's folder. Without a script, a call returns the skill's instructions (D18). */
	script?: string;
	/** Name of a registered handler, used instead of a script (D37). */
	handler?: string;
	/** Repeating a call has no further effect, so failed calls are retried (D38). */
	isIdempotent?: boolean;
	/** JSON Schema of an object, built from `parameters` (D16). */
	inputSchema: Record<string, unknown>;
}

/** Descriptions and input schemas of a skill's tools, by name. */
export function toolFactsOf({ tools }: { tools: readonly SkillTool[] }): {
	toolDescriptions: Record<string, string>;
	inputSchemas: Record<string, Record<string, unknown>>;
} {
	return {
		toolDescriptions: Object.fromEntries(tools.map(({ name, description }) => [name, description])),
		inputSchemas: Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
	};
}

/** A skill the model can use. */
export interface Skill extends SkillSpec {
	status: 'ready';
	/** The root it was found in. */
	root: string;
	/** The root's label. `source/name` identifies this skill even if others share its name (A28). */
	source: string;
	/** Visible only to this owner; to everyone if absent (A41). */
	owner?: string;
	/** `MAJOR.MINOR.PATCH`; 1.0.0 by default (A38). */
	version: string;
	author?: string;
	/** Example message that shows what the skill does; the files in `examples/` go with it. */
	example?: string;
	tags: readonly string[];
	/** Phrases that call for this skill (A17). */
	triggers: readonly string[];
	/** First 16 hex digits of the SHA-256 of the SKILL.md. */
	digest: string;
	tools: readonly SkillTool[];
	/** Paths of all files, relative to the folder, sorted; at most 100. */
	files: readonly string[];
	/** More files exist than `files` lists. */
	hasMoreFiles?: boolean;
	/** Files that can be executed. */
	scripts: readonly string[];
	issues: readonly SkillIssue[];
}

/** A skill folder that can't be used. Listed with the reason, never dropped (F1). */
export interface BrokenSkill {
	status: 'broken';
	/** Of its folder, without a version. */
	name: string;
	description: string;
	path: string;
	dir: string;
	root: string;
	source: string;
	issues: readonly SkillIssue[];
}

/** A folder of skills and its label. */
export interface SkillRoot {
	path: string;
	source: string;
	/** Its skills are visible only to this owner; to everyone if absent (A41). */
	owner?: string;
	/** Lists its skills even if an earlier root has an identical copy. */
	listsCopies?: boolean;
}

/** Errors a model can act on (D13). */
export type SkillErrorType =
	| 'SkillNotFound'
	| 'ScriptNotFound'
	| 'ScriptNotAllowed'
	| 'FileNotFound'
	| 'UnsupportedScriptType'
	| 'InvalidArgs'
	| 'InvalidManifest'
	| 'UnknownTool'
	| 'HandlerNotFound'
	| 'SkillDisabled'
	| 'SkillsDisabled'
	| 'NotTrusted'
	| 'ApprovalDenied'
	| 'ExecutionTimeout'
	| 'ExecutionFailed'
	| 'OutputTooLarge'
	| 'MissingDependency'
	| 'MissingSecret'
	| 'MissingPackage'
	| 'MissingCommand'
	| 'MissingVariable'
	| 'HostNotAllowed'
	| 'Cancelled';

/** What a failed script lacked, by its own output: a hint, not proof. */
export type Missing =
	/** `name`: as the ecosystem's index has it; `module`: as the script imports it. */
	| { kind: 'package'; ecosystem: 'python' | 'javascript'; name: string; module: string }
	| { kind: 'command'; name: string }
	/** As it can be granted: `example.org`, `example.org:8443`. */
	| { kind: 'host'; name: string }
	| { kind: 'variable'; name: string };

export interface MadeFile {
	/** Relative to the working directory, with `/`. */
	path: string;
	bytes: number;
	/** Of a picture, in pixels; absent if it doesn't say. */
	width?: number;
	height?: number;
	/** Of a picture: id of the version that was made. */
	version?: string;
}

/** Result of a script (S0, D12). Streams are capped; `[output truncated]` marks the cut. */
export interface SkillExecutionResult {
	success: boolean;
	stdout: string;
	stderr: string;
	/** -1 if the process was killed by a signal or never started. */
	exitCode: number;
	error?: SkillErrorType;
	/** One sentence, present if `error` is set. */
	message?: string;
	hint?: string;
	/** Present if `error` is `MissingPackage`, `MissingCommand`, `MissingVariable` or `HostNotAllowed`. */
	missing?: Missing;
	durationMs: number;
	truncated: boolean;
	/** Files created or changed in the working directory. */
	files: MadeFile[];
	/** The value a tools.json handler returned. */
	value?: unknown;
	/** Blocked connections as `host:port`; absent if there were none. */
	refused?: string[];
	/** Id for `provider.readOutput`, present if a stream or `value` was cut. Keeps up to 1 MB of each for a while. */
	outputId?: string;
}

/** A flat Responses API function tool. */
export interface ToolDefinition {
	type: 'function';
	name: string;
	description: string;
	parameters: Record<string, unknown>;
}

/** Progress of a tool call, in order. */
export type SkillEvent =
	| {
			type: 'loaded';
			skill: string;
			description: string;
			path: string;
			tokens: number;
			/** Skills that it names and that can't be loaded; absent if there are none. */
			lacks?: { name: string; state: 'off' | 'missing' }[];
	  }
	| {
			type: 'started';
			/** Id in the execution record. */
			executionId: string;
			skill: string;
			script: string;
			tool?: string;
			args: string[];
			sandbox: string;
	  }
	/** It has to wait for a worker, or for packages that the worker installs, or doesn't any more. */
	| { type: 'waiting'; isWaiting: boolean; waitsFor?: 'packages' }
	| { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
	| {
			type: 'finished';
			skill: string;
			exitCode: number | null;
			durationMs: number;
			truncated: boolean;
			files: MadeFile[];
			error?: SkillErrorType;
			message?: string;
			missing?: Missing;
			refused?: string[];
	  };

/** An expected failure. It becomes a result for the model, never an exception for the library's caller. */
export class SkillError extends Error {
	override readonly name = 'SkillError';
	readonly type: SkillErrorType;
	readonly hint: string | undefined;
	/** What isn't there, if that's known before anything runs. */
	readonly missing: Missing | undefined;

	constructor(type: SkillErrorType, message: string, hint?: string, missing?: Missing) {
		super(message);
		this.type = type;
		this.hint = hint;
		this.missing = missing;
	}
}

/** Thrown by `parseSkill` in strict mode, and in both modes when there is no readable front matter (A22). */
export class SkillLoadError extends Error {
	override readonly name = 'SkillLoadError';
	readonly issues: readonly SkillIssue[];

	constructor(path: string, issues: readonly SkillIssue[]) {
		super(`SKILL.md at ${path}: ${issues.map((issue) => `${issue.field}: ${issue.message}`).join('; ')}`);
		this.issues = issues;
	}
}
