/** The nouns of the skills library (FEATURES A19, A23, D12). */

/** One thing wrong with a skill. `field` is a front-matter key, or `_` for the whole file (A23). */
export interface SkillIssue {
	field: string;
	message: string;
	/** An `error` keeps the skill from the model; a `warning` does not. */
	severity: 'error' | 'warning';
	/** The file that it is about, from the skill's folder; the SKILL.md without it. */
	file?: string;
	/** Line of the file, from 1. */
	line?: number;
	/** What to write instead. */
	fix?: string;
}

/** A parsed SKILL.md (S3). */
export interface SkillSpec {
	/** 1 to 64 characters, lower-case letters, digits and hyphens. */
	name: string;
	/** 1 to 1024 characters; what the model sees in the catalog. */
	description: string;
	license?: string;
	/** At most 500 characters. */
	compatibility?: string;
	metadata: Readonly<Record<string, string>>;
	/** The raw `allowed-tools` value: a wish, never a grant (A14). */
	allowedTools?: string;
	/** Markdown after the front matter, without blank lines before and after it. */
	body: string;
	/** Absolute path of the SKILL.md. */
	path: string;
	/** Absolute path of the skill's folder. */
	dir: string;
	/** Front-matter keys that the standard does not know, verbatim. */
	extra: Readonly<Record<string, unknown>>;
}

/** A callable tool of a tools.json (S4 §5). */
export interface SkillTool {
	name: string;
	description: string;
	/** Path relative to the skill's folder; without it a call returns the skill's instructions (D18). */
	script?: string;
	/** Instead of a script: the name of a handler that the host has registered (D37). */
	handler?: string;
	/** Calling it again does no more than calling it once: a call that fails is tried again (D38). */
	isIdempotent?: boolean;
	/** JSON Schema of an object, made from `parameters` (D16). */
	inputSchema: Record<string, unknown>;
}

/** What the tools of a skill do and take, by their names. */
export function toolFactsOf({ tools }: { tools: readonly SkillTool[] }): {
	toolDescriptions: Record<string, string>;
	inputSchemas: Record<string, Record<string, unknown>>;
} {
	return {
		toolDescriptions: Object.fromEntries(tools.map(({ name, description }) => [name, description])),
		inputSchemas: Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
	};
}

/** A skill that the model may use. */
export interface Skill extends SkillSpec {
	status: 'ready';
	/** The root that it was found in. */
	root: string;
	/** The root's label: `source/name` names this skill whatever else bears its name (A28). */
	source: string;
	/** Who alone sees it (A41); everybody without it. */
	owner?: string;
	/** `MAJOR.MINOR.PATCH`; 1.0.0 when the skill states none (A38). */
	version: string;
	author?: string;
	/** A message that shows what it does, for people to send as it is; the files in `examples/` go with it. */
	example?: string;
	tags: readonly string[];
	/** Phrases that ask for it (A17). */
	triggers: readonly string[];
	/** First 16 hex digits of the SHA-256 of the SKILL.md. */
	digest: string;
	tools: readonly SkillTool[];
	/** Every file, relative to the folder, sorted; at most 100. */
	files: readonly string[];
	/** There are files that `files` has no room for. */
	hasMoreFiles?: boolean;
	/** The files that can be run. */
	scripts: readonly string[];
	issues: readonly SkillIssue[];
}

/** A folder with a SKILL.md that cannot be used; listed with the reason, never dropped (F1). */
export interface BrokenSkill {
	status: 'broken';
	name: string;
	description: string;
	path: string;
	dir: string;
	root: string;
	/** The root's label. */
	source: string;
	issues: readonly SkillIssue[];
}

/** A folder of skills; its label is made from its path where none is given. */
export interface SkillRoot {
	path: string;
	source: string;
	/** Who alone sees the skills in it (A41); everybody without it. */
	owner?: string;
	/** A skill in it is listed though one that comes before it has the same text. */
	listsCopies?: boolean;
}

/** Types of failure that a model can act on (D13). */
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
	| 'Cancelled';

/** What a script did (S0, D12). Streams are capped, with `[output truncated]` where something was left out. */
export interface SkillExecutionResult {
	success: boolean;
	stdout: string;
	stderr: string;
	/** -1 when the process was ended by a signal or never started. */
	exitCode: number;
	error?: SkillErrorType;
	/** What happened, in a sentence, when `error` is set. */
	message?: string;
	hint?: string;
	durationMs: number;
	truncated: boolean;
	/** Files created or changed in the working directory. */
	files: { path: string; bytes: number }[];
	/** The value a tools.json handler returned. */
	value?: unknown;
	/** Connections that were refused, `host:port`; left out when there were none. */
	refused?: string[];
	/** Where up to 1 MB of each stream is kept for a while when one was cut, or of a long `value`: `provider.readOutput`. */
	outputId?: string;
}

/** A flat Responses API function tool. */
export interface ToolDefinition {
	type: 'function';
	name: string;
	description: string;
	parameters: Record<string, unknown>;
}

/** What happens while a tool works, in order. */
export type SkillEvent =
	| { type: 'loaded'; skill: string; description: string; path: string; tokens: number }
	| {
			type: 'started';
			/** Names it in the record of executions. */
			executionId: string;
			skill: string;
			script: string;
			tool?: string;
			args: string[];
			sandbox: string;
	  }
	| { type: 'output'; stream: 'stdout' | 'stderr'; text: string }
	| {
			type: 'finished';
			skill: string;
			exitCode: number | null;
			durationMs: number;
			truncated: boolean;
			files: { path: string; bytes: number }[];
			error?: SkillErrorType;
			message?: string;
			refused?: string[];
	  };

/** An expected failure inside the library; becomes a result that the model reads, never an exception to the caller. */
export class SkillError extends Error {
	override readonly name = 'SkillError';
	readonly type: SkillErrorType;
	readonly hint: string | undefined;

	constructor(type: SkillErrorType, message: string, hint?: string) {
		super(message);
		this.type = type;
		this.hint = hint;
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
