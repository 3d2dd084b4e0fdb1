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
export const skillCaseCreate = z
	.strictObject({
		title: z.string().trim().min(1).max(200),
		script: z.string().min(1).max(1024).optional(),
		args: z.array(z.string().max(100_000)).max(1000).optional(),
		tool: z.string().min(1).max(256).optional(),
		input: z.record(z.string(), z.unknown()).optional(),
		expect: caseExpectation.default({})
	})
	.refine(({ script, tool }) => (script === undefined) !== (tool === undefined), 'must name a script or a tool');

export const skillCase = z.object({
	id: z.string(),
	/** `source/name`. */
	skillId: z.string(),
	title: z.string(),
	script: z.string().nullable(),
	args: z.array(z.string()),
	tool: z.string().nullable(),
	input: z.record(z.string(), z.unknown()).nullable(),
	expect: caseExpectation,
	/** ISO 8601. */
	createdAt: z.string(),
	/** Of the last run; null before the first. */
	lastRun: z
		.object({
			isPassed: z.boolean(),
			failures: z.array(z.string()),
			executionId: z.string(),
			at: z.string()
		})
		.nullable()
});
export type SkillCase = z.infer<typeof skillCase>;

/** `POST /api/skills/:id/cases/:case/run`; `approve` as for an execution. */
export const caseStart = z.strictObject({ approve: z.string().max(64).optional() });

// Executions of scripts and tools as the REST API has them (FEATURES E10–E13, E29).
/** One execution of a script or tool (FEATURES E13). */
export const skillExecution = z.object({
	id: z.string(),
	skillId: z.string(),
	skill: z.string(),
	version: z.string(),
	tool: z.string().nullable(),
	script: z.string().nullable(),
	argv: z.array(z.string()),
	input: z.string().nullable(),
	digest: z.string(),
	sandbox: z.string(),
	limits: z.record(z.string(), z.number()),
	status: z.enum(['pending', 'running', 'success', 'error', 'timeout']),
	errorType: z.string().nullable(),
	errorMessage: z.string().nullable(),
	exitCode: z.number().nullable(),
	stdoutBytes: z.number().nullable(),
	stderrBytes: z.number().nullable(),
	output: z.string().nullable(),
	durationMs: z.number().nullable(),
	files: z.array(
		z.object({
			path: z.string(),
			bytes: z.number()
		})
	),
	refused: z.array(z.string()),
	conversationId: z.string().nullable(),
	runId: z.string().nullable(),
	toolCallId: z.string().nullable(),
	apiKeyId: z.string().nullable(),
	sessionId: z.string().nullable(),
	createdAt: z.string(),
	finishedAt: z.string().nullable()
});
export type SkillExecution = z.infer<typeof skillExecution>;

/** What comes of it. */
export const caseRun = z.object({
	isPassed: z.boolean(),
	/** A sentence for each expectation that did not hold. */
	failures: z.array(z.string()),
	execution: skillExecution
});
export type CaseRun = z.infer<typeof caseRun>;

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
export const evalAnswer = z.object({
	status: z.enum(['success', 'failed', 'cancelled']),
	/** What the model said, at most 20,000 characters. */
	text: z.string(),
	/** Names of the skills that were loaded, in order. */
	loaded: z.array(z.string()),
	/** `tool: what it was asked`, in order. */
	calls: z.array(z.string()),
	durationMs: z.number(),
	/** Of all its model calls; null when none has said. */
	tokens: z.number().nullable(),
	error: z.string().nullable(),
	/** One for each expectation; `isMet` is null where only a person can tell. */
	expectations: z.array(
		z.object({
			text: z.string(),
			isMet: z.boolean().nullable(),
			reason: z.string()
		})
	)
});
export type EvalAnswer = z.infer<typeof evalAnswer>;

export const evalResult = z.object({
	/** Of the entry in evals.json. */
	id: z.string(),
	prompt: z.string(),
	expected: z.string().nullable(),
	/** One a round. */
	withSkill: z.array(evalAnswer),
	withoutSkill: z.array(evalAnswer)
});
export type EvalResult = z.infer<typeof evalResult>;

/** A run of a skill's evals; `GET /api/skills/:id/evals` lists the newest first. */
export const evalRun = z.object({
	id: z.string(),
	skillId: z.string(),
	version: z.string(),
	model: z.string(),
	state: z.enum(['running', 'done', 'failed', 'cancelled']),
	/** How many answers there are, and will be. */
	progress: z.object({
		done: z.number(),
		total: z.number()
	}),
	results: z.array(evalResult),
	/** Expectations that were met of those that could be told, with and without; null while there are none. */
	passRate: z.object({
		withSkill: z.number().nullable(),
		withoutSkill: z.number().nullable()
	}),
	error: z.string().nullable(),
	startedAt: z.string(),
	finishedAt: z.string().nullable()
});
export type EvalRun = z.infer<typeof evalRun>;

/** `GET /api/skills/:id/evals`. */
export const skillEvals = z.object({
	/** What evals.json holds. */
	cases: z.array(
		z.object({
			id: z.string(),
			prompt: z.string(),
			expected: z.string().nullable(),
			files: z.array(z.string()),
			expectations: z.array(z.string())
		})
	),
	/** Why evals.json cannot be used; null where it can, or where there is none. */
	problem: z.string().nullable(),
	runs: z.array(evalRun)
});
export type SkillEvals = z.infer<typeof skillEvals>;

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

/** What a script or tool did, or what a built-in skill answers, and its record. */
export const adHocResult = z.object({
	execution: skillExecution,
	result: z.object({
		success: z.boolean(),
		stdout: z.string().optional(),
		stderr: z.string().optional(),
		/** -1 when the process was ended by a signal or never started. */
		exitCode: z.number().optional(),
		/** A type of FEATURES D13, e.g. `ExecutionTimeout`. */
		error: z.string().optional(),
		/** What happened, in a sentence, when `error` is set. */
		message: z.string().optional(),
		hint: z.string().optional(),
		durationMs: z.number().optional(),
		truncated: z.boolean().optional(),
		files: z.array(z.object({ path: z.string(), bytes: z.number() })).optional(),
		/** The value that a handler or a built-in skill returned. */
		value: z.unknown().optional(),
		/** Connections that were refused, `host:port`. */
		refused: z.array(z.string()).optional(),
		/** Where up to 1 MB of each stream is kept for a while when one was cut. */
		outputId: z.string().optional()
	})
});

/** The query of `GET /api/skills/executions` and of its export (E10, E29). */
export const executionQuery = z.object({
	skill: z.string().min(1).max(256).optional().describe('`name` or `source/name`.'),
	status: z
		.enum(['pending', 'running', 'success', 'error', 'timeout'])
		.optional()
		.describe('Only skills with this status.'),
	apiKeyId: z.string().min(1).max(256).optional().describe('Only executions of this API key.'),
	conversationId: z.string().min(1).max(128).optional().describe('Only executions of this conversation.'),
	since: z.iso.datetime({ offset: true }).optional().describe('At or after this time.'),
	until: z.iso.datetime({ offset: true }).optional().describe('Before this time.')
});

export type ExecutionQuery = z.infer<typeof executionQuery>;

/** The query of `GET /api/skills/executions/export` (E29). */
export const executionExportQuery = executionQuery.extend({
	format: z.enum(['csv', 'json']).default('json').describe('File format.')
});

export const skillExecutionList = z.object({
	data: z.array(skillExecution),
	total: z.number(),
	page: z.number(),
	limit: z.number(),
	totalPages: z.number()
});
export type SkillExecutionList = z.infer<typeof skillExecutionList>;

export const skillCaseList = z.object({ data: z.array(skillCase) });
