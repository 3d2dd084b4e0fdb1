/** REST contracts for trying skills: test cases, evals and executions (E10–E13, E29, F6, F16). Times are ISO 8601. */
import { z } from 'zod';
import { missingNeed } from './skills.ts';

export const caseExpectation = z.strictObject({
	exitCode: z.number().int().min(-1).max(255).optional(),
	/** Texts in its output or result. */
	contains: z.array(z.string().min(1).max(10_000)).max(20).optional(),
	/** Files created or changed. */
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
	createdAt: z.string(),
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

/** An execution of a script or tool (E13). */
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
	files: z.array(z.object({ path: z.string(), bytes: z.number() })),
	refused: z.array(z.string()),
	/** What it lacked, by its own output: a hint. */
	missing: missingNeed.nullable(),
	conversationId: z.string().nullable(),
	runId: z.string().nullable(),
	toolCallId: z.string().nullable(),
	apiKeyId: z.string().nullable(),
	sessionId: z.string().nullable(),
	createdAt: z.string(),
	finishedAt: z.string().nullable()
});
export type SkillExecution = z.infer<typeof skillExecution>;

export const caseRun = z.object({
	isPassed: z.boolean(),
	/** One sentence per unmet expectation. */
	failures: z.array(z.string()),
	execution: skillExecution
});
export type CaseRun = z.infer<typeof caseRun>;

/** `POST /api/skills/:id/evals`. Default: all prompts of `evals/evals.json`. */
export const evalStart = z.strictObject({
	ids: z
		.array(z.union([z.string().max(200), z.number()]))
		.max(200)
		.optional(),
	/** Repetitions of each prompt, with and without the skill. */
	rounds: z.number().int().min(1).max(10).default(1)
});

export const evalAnswer = z.object({
	status: z.enum(['success', 'failed', 'cancelled']),
	/** The answer, at most 20,000 characters. */
	text: z.string(),
	loaded: z.array(z.string()),
	/** `tool: arguments`, in order. */
	calls: z.array(z.string()),
	durationMs: z.number(),
	/** Of all model calls; null if unknown. */
	tokens: z.number().nullable(),
	error: z.string().nullable(),
	/** `isMet` is null if only a person can judge. */
	expectations: z.array(z.object({ text: z.string(), isMet: z.boolean().nullable(), reason: z.string() }))
});
export type EvalAnswer = z.infer<typeof evalAnswer>;

export const evalResult = z.object({
	id: z.string(),
	prompt: z.string(),
	expected: z.string().nullable(),
	/** One per round. */
	withSkill: z.array(evalAnswer),
	withoutSkill: z.array(evalAnswer)
});
export type EvalResult = z.infer<typeof evalResult>;

/** A run of a skill’s evals. */
export const evalRun = z.object({
	id: z.string(),
	skillId: z.string(),
	version: z.string(),
	model: z.string(),
	state: z.enum(['running', 'done', 'failed', 'cancelled']),
	progress: z.object({ done: z.number(), total: z.number() }),
	results: z.array(evalResult),
	/** Share of met expectations among those judged; null without any. */
	passRate: z.object({ withSkill: z.number().nullable(), withoutSkill: z.number().nullable() }),
	error: z.string().nullable(),
	startedAt: z.string(),
	finishedAt: z.string().nullable()
});
export type EvalRun = z.infer<typeof evalRun>;

/** `GET /api/skills/:id/evals`. */
export const skillEvals = z.object({
	cases: z.array(
		z.object({
			id: z.string(),
			prompt: z.string(),
			expected: z.string().nullable(),
			files: z.array(z.string()),
			expectations: z.array(z.string())
		})
	),
	/** Why evals.json can’t be used; null if fine or missing. */
	problem: z.string().nullable(),
	runs: z.array(evalRun)
});
export type SkillEvals = z.infer<typeof skillEvals>;

/**
 * `POST /api/skills/executions`: a script with arguments, or a tool with its input. Both may be omitted for a built-in
 * skill, a skill with one tool, or one with a single script and no tools.
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
		/** Runs among this conversation’s files. */
		conversationId: z.string().min(1).max(256).optional(),
		/** Approves this call once, by the digest of the skill’s files or of the built-in skill’s call. */
		approve: z.string().max(64).optional()
	})
	.refine(({ script, tool }) => script === undefined || tool === undefined, 'must name a script or a tool, not both');
export type AdHocExecution = z.infer<typeof adHocExecution>;

export const adHocResult = z.object({
	execution: skillExecution,
	result: z.object({
		success: z.boolean(),
		stdout: z.string().optional(),
		stderr: z.string().optional(),
		/** -1 if a signal ended the process or it never started. */
		exitCode: z.number().optional(),
		/** A type of FEATURES D13, such as `ExecutionTimeout`. */
		error: z.string().optional(),
		/** A sentence, if `error` is set. */
		message: z.string().optional(),
		hint: z.string().optional(),
		/** What it lacked, by its own output. */
		missing: missingNeed.optional(),
		durationMs: z.number().optional(),
		truncated: z.boolean().optional(),
		files: z.array(z.object({ path: z.string(), bytes: z.number() })).optional(),
		/** Returned by a handler or built-in skill. */
		value: z.unknown().optional(),
		/** Refused connections: `host:port`. */
		refused: z.array(z.string()).optional(),
		/** Id of the longer output (up to 1 MB per stream) kept for a while if it was cut. */
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
	apiKeyId: z.string().min(1).max(256).optional().describe('Only runs of this API key.'),
	conversationId: z.string().min(1).max(128).optional().describe('Only runs of this conversation.'),
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
