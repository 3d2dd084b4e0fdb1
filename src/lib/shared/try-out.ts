/** Trying skills out: cases that are kept of runs by hand, and evals with and without a skill (FEATURES F6, F16). */
import { z } from 'zod';

/** What a case expects; everything that is given must hold. */
export const caseExpectation = z.strictObject({
	exitCode: z.number().int().min(-1).max(255).optional(),
	/** Each occurs in what it printed or returned. */
	contains: z.array(z.string().min(1).max(10_000)).max(20).optional(),
	/** Each is among the files that it made or changed. */
	files: z.array(z.string().min(1).max(1024)).max(20).optional()
});
export type CaseExpectation = z.infer<typeof caseExpectation>;

/** `POST /api/skills/:id/cases`. */
export const skillCase = z
	.strictObject({
		title: z.string().trim().min(1).max(200),
		script: z.string().min(1).max(1024).optional(),
		args: z.array(z.string().max(100_000)).max(1000).optional(),
		tool: z.string().min(1).max(256).optional(),
		input: z.record(z.string(), z.unknown()).optional(),
		expect: caseExpectation.default({})
	})
	.refine(({ script, tool }) => (script === undefined) !== (tool === undefined), 'must name a script or a tool');

export interface SkillCase {
	id: string;
	/** `source/name`. */
	skillId: string;
	title: string;
	script: string | null;
	args: string[];
	tool: string | null;
	input: Record<string, unknown> | null;
	expect: CaseExpectation;
	/** ISO 8601. */
	createdAt: string;
	/** Of the last run; null before the first. */
	lastRun: { isPassed: boolean; failures: string[]; executionId: string; at: string } | null;
}

/** `POST /api/skills/:id/cases/:case/run`; `approve` as for an execution. */
export const caseStart = z.strictObject({ approve: z.string().max(64).optional() });

/** What comes of it. */
export interface CaseRun {
	isPassed: boolean;
	/** A sentence for each expectation that did not hold. */
	failures: string[];
	execution: SkillExecution;
}

/** `POST /api/skills/:id/evals`: all prompts of `evals/evals.json`, or those of these ids. */
export const evalStart = z.strictObject({
	ids: z
		.array(z.union([z.string().max(200), z.number()]))
		.max(200)
		.optional(),
	/** How often each prompt is asked, with and without the skill. */
	rounds: z.number().int().min(1).max(10).default(1)
});

/** One answer to one prompt. */
export interface EvalAnswer {
	status: 'success' | 'failed' | 'cancelled';
	/** What the model said, at most 20,000 characters. */
	text: string;
	/** Names of the skills that were loaded, in order. */
	loaded: string[];
	/** `tool: what it was asked`, in order. */
	calls: string[];
	durationMs: number;
	/** Of all its model calls; null when none has said. */
	tokens: number | null;
	error: string | null;
	/** One for each expectation; `isMet` is null where only a person can tell. */
	expectations: { text: string; isMet: boolean | null; reason: string }[];
}

export interface EvalResult {
	/** Of the entry in evals.json. */
	id: string;
	prompt: string;
	expected: string | null;
	/** One a round. */
	withSkill: EvalAnswer[];
	withoutSkill: EvalAnswer[];
}

/** A run of a skill's evals; `GET /api/skills/:id/evals` lists the newest first. */
export interface EvalRun {
	id: string;
	skillId: string;
	version: string;
	model: string;
	state: 'running' | 'done' | 'failed' | 'cancelled';
	/** How many answers there are, and will be. */
	progress: { done: number; total: number };
	results: EvalResult[];
	/** Expectations that were met of those that could be told, with and without; null while there are none. */
	passRate: { withSkill: number | null; withoutSkill: number | null };
	error: string | null;
	startedAt: string;
	finishedAt: string | null;
}

/** `GET /api/skills/:id/evals`. */
export interface SkillEvals {
	/** What evals.json holds. */
	cases: { id: string; prompt: string; expected: string | null; files: string[]; expectations: string[] }[];
	/** Why evals.json cannot be used; null where it can, or where there is none. */
	problem: string | null;
	runs: EvalRun[];
}

// Executions of scripts and tools as the REST API has them (FEATURES E10–E13, E29).

/** One execution of a script or tool (FEATURES E13). */
export interface SkillExecution {
	id: string;
	skillId: string;
	skill: string;
	version: string;
	tool: string | null;
	script: string | null;
	argv: string[];
	input: string | null;
	digest: string;
	sandbox: string;
	limits: Record<string, number>;
	status: 'pending' | 'running' | 'success' | 'error' | 'timeout';
	errorType: string | null;
	errorMessage: string | null;
	exitCode: number | null;
	stdoutBytes: number | null;
	stderrBytes: number | null;
	output: string | null;
	durationMs: number | null;
	files: { path: string; bytes: number }[];
	refused: string[];
	conversationId: string | null;
	runId: string | null;
	toolCallId: string | null;
	apiKeyId: string | null;
	sessionId: string | null;
	createdAt: string;
	finishedAt: string | null;
}

/**
 * `POST /api/skills/executions`: a script with arguments, or a tool with its input; a built-in skill is its one tool, and
 * of a skill with one tool, or with one script and no tool, that one is meant where neither is named.
 */
export const adHocExecution = z
	.strictObject({
		skillName: z.string().min(1).max(256),
		script: z.string().min(1).max(1024).optional(),
		args: z
			.union([z.array(z.union([z.string(), z.number(), z.boolean()])).max(1000), z.record(z.string(), z.unknown())])
			.optional(),
		tool: z.string().min(1).max(256).optional(),
		input: z.record(z.string(), z.unknown()).optional(),
		apiKeyId: z.string().min(1).max(256).optional(),
		sessionId: z.string().min(1).max(256).optional(),
		/** Digest of the skill's files, or of the call of a built-in skill: what would be asked about is allowed, this once. */
		approve: z.string().max(64).optional()
	})
	.refine(({ script, tool }) => script === undefined || tool === undefined, 'must name a script or a tool, not both');

export type AdHocExecution = z.infer<typeof adHocExecution>;

/** The query of `GET /api/skills/executions` and of its export (E10, E29). */
export const executionQuery = z.object({
	/** `source/name`, or a name. */
	skill: z.string().min(1).max(256).optional(),
	status: z.enum(['pending', 'running', 'success', 'error', 'timeout']).optional(),
	apiKeyId: z.string().min(1).max(256).optional(),
	conversationId: z.string().min(1).max(128).optional(),
	/** From this time on, and before that one. ISO 8601. */
	since: z.iso.datetime({ offset: true }).optional(),
	until: z.iso.datetime({ offset: true }).optional()
});

export type ExecutionQuery = z.infer<typeof executionQuery>;

/** The query of `GET /api/skills/executions/export` (E29). */
export const executionExportQuery = executionQuery.extend({ format: z.enum(['csv', 'json']).default('json') });

export interface SkillExecutionList {
	data: SkillExecution[];
	total: number;
	page: number;
	limit: number;
	totalPages: number;
}
