/** REST contracts for trying skills: test cases, evals and executions (E10–E13, E29, F6, F16). Times are ISO 8601. */
import { z } from 'zod';
import { conversationId } from './api.ts';
import { modelId } from './models.ts';
import { MAX_SKILL_FILE_BYTES } from './names.ts';
import { missingNeed } from './skills.ts';

/** Of a picture, `width` and `height` in pixels, and `version`: id of what was made. */
const madeFile = z.object({
	path: z.string(),
	bytes: z.number(),
	width: z.number().optional(),
	height: z.number().optional(),
	version: z.string().optional()
});

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
		/** Paths of files that are kept with it, for each of its runs… */
		files: z.array(z.string().min(1).max(1024)).max(20).default([]),
		/** …and the conversation, or the session, that has them. */
		conversationId: conversationId.optional(),
		expect: caseExpectation.default({})
	})
	.refine(({ files, conversationId }) => files.length === 0 || conversationId !== undefined, 'must say whose files')
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
	/** Kept with it. */
	files: z.array(z.string()),
	expect: caseExpectation,
	createdAt: z.string(),
	lastRun: z
		.object({
			isPassed: z.boolean(),
			failures: z.array(z.string()),
			executionId: z.string(),
			at: z.string(),
			/** SHA-256 of the skill’s files without its evals; missing if they couldn’t be read. */
			digest: z.string().optional(),
			/** They were changed since. */
			isOutdated: z.boolean().optional()
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
	files: z.array(madeFile),
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

/** Models whose answers one run of evals compares. */
export const MOST_EVAL_MODELS = 5;

/** The model of imported results that don’t name one. */
export const UNKNOWN_MODEL = 'unknown';

/** USD; null: no limit. */
const costLimit = z.number().positive().max(10_000).nullable();

/** `POST /api/skills/:id/evals`. Default: all prompts of `evals/evals.json`. */
export const evalStart = z.strictObject({
	ids: z
		.array(z.union([z.string().max(200), z.number()]))
		.max(200)
		.optional(),
	/** Repetitions of each prompt on each side. */
	rounds: z.number().int().min(1).max(10).default(1),
	/** `triggers`: whether the prompts load the skill, among all skills. */
	kind: z.enum(['answers', 'triggers']).default('answers'),
	/** Default: the model of the settings. */
	models: z.array(modelId).min(1).max(MOST_EVAL_MODELS).optional(),
	/** Asks without the skill, too. */
	without: z.boolean().default(true),
	/** Another installed version of the skill to compare with. */
	version: z.string().min(1).max(100).optional(),
	/** USD for the whole run, as far as the model's server tells costs; null: no limit. */
	maxCostUsd: costLimit.default(null),
	/** Asks again what earlier runs have already answered. */
	isFresh: z.boolean().default(false)
});
export type EvalStart = z.output<typeof evalStart>;

/** `POST /api/skills/:id/evals/:run`: goes on with a run that has stopped. */
export const evalGoOn = z.strictObject({
	/** USD for the whole run; default: as before. */
	maxCostUsd: costLimit.optional()
});

export const evalAnswer = z.object({
	/** A side of the run. */
	side: z.string(),
	/** Counted from 1. */
	round: z.number(),
	status: z.enum(['success', 'failed', 'cancelled']),
	/** The answer, at most 20,000 characters. */
	text: z.string(),
	loaded: z.array(z.string()),
	/** `tool: arguments`, in order. */
	calls: z.array(z.string()),
	/** Files created or changed. */
	files: z.array(z.string()),
	/** Calls of the model. */
	steps: z.number(),
	durationMs: z.number(),
	/** Of all model calls; null if unknown. */
	tokens: z.number().nullable(),
	/** USD, without judging; null if unknown. */
	costUsd: z.number().nullable(),
	/** Taken from an earlier run. */
	isCached: z.boolean(),
	error: z.string().nullable(),
	/** `isMet` is null if only a person can judge. */
	expectations: z.array(z.object({ text: z.string(), isMet: z.boolean().nullable(), reason: z.string() }))
});
export type EvalAnswer = z.infer<typeof evalAnswer>;

export const evalResult = z.object({
	id: z.string(),
	prompt: z.string(),
	expected: z.string().nullable(),
	/** Whether the skill should be loaded; null if this isn't asked. */
	shouldTrigger: z.boolean().nullable(),
	/** Of all sides and rounds so far. */
	answers: z.array(evalAnswer)
});
export type EvalResult = z.infer<typeof evalResult>;

/** Over the answers of one side that came. */
export const evalFigures = z.object({
	answers: z.number(),
	failed: z.number(),
	/** Expectations that were met, of those that could be judged. */
	met: z.number(),
	judged: z.number(),
	/** Share of `met`, with its 95 % Wilson interval over the answers; null if nothing was judged. */
	passRate: z.object({ value: z.number(), low: z.number(), high: z.number() }).nullable(),
	/** USD of all; null if unknown. */
	costUsd: z.number().nullable(),
	/** Means per answer; null if unknown. */
	tokens: z.number().nullable(),
	durationMs: z.number().nullable(),
	steps: z.number().nullable(),
	/** Whether the right prompts load the skill; null if this wasn't asked. */
	trigger: z
		.object({
			/** Of the answers that loaded it, those that should. */
			precision: z.number().nullable(),
			/** Of the answers that should load it, those that did. */
			recall: z.number().nullable(),
			/** Answers, and those of them that loaded it. Runs of old versions don’t have it. */
			counts: z
				.object({
					should: z.object({ answers: z.number(), loaded: z.number() }),
					shouldNot: z.object({ answers: z.number(), loaded: z.number() })
				})
				.optional(),
			/** Other skills that were loaded in its place, most frequent first. */
			takenBy: z.array(z.object({ skill: z.string(), count: z.number() }))
		})
		.nullable()
});
export type EvalFigures = z.infer<typeof evalFigures>;

/** What the prompts are asked with. */
export const evalSide = z.object({
	id: z.string(),
	/** `version`: another version of the skill; `library`: the skill among all others. */
	kind: z.enum(['with', 'version', 'without', 'library']),
	/** The skill's; null without it. */
	version: z.string().nullable(),
	/** Of what was offered; null if unknown. */
	digest: z.string().nullable(),
	model: z.string(),
	figures: evalFigures
});
export type EvalSide = z.infer<typeof evalSide>;

/** A run of a skill’s evals. */
export const evalRun = z.object({
	id: z.string(),
	skillId: z.string(),
	version: z.string(),
	kind: z.enum(['answers', 'triggers']),
	/** Only of results from elsewhere: the file or folder they were in. Their `version` is empty. */
	importedFrom: z.string().optional(),
	/** The skill was changed since, apart from its evals; of `triggers`, what the model is told of any skill. */
	isOutdated: z.boolean().optional(),
	/** `limit`: it reached its cost limit. All but `running` can go on while answers are missing or failed. */
	state: z.enum(['running', 'done', 'failed', 'cancelled', 'limit']),
	rounds: z.number(),
	maxCostUsd: z.number().nullable(),
	isFresh: z.boolean(),
	/** Answers. */
	progress: z.object({ done: z.number(), total: z.number() }),
	/** The tested skill first. */
	sides: z.array(evalSide),
	results: z.array(evalResult),
	/** USD, with judging; null if unknown. */
	costUsd: z.number().nullable(),
	error: z.string().nullable(),
	startedAt: z.string(),
	finishedAt: z.string().nullable()
});
export type EvalRun = z.infer<typeof evalRun>;

/** A run in a list. */
export const evalRunSummary = evalRun.omit({ results: true });
export type EvalRunSummary = z.infer<typeof evalRunSummary>;

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
	/** Prompts that should load the skill, and such that shouldn't. */
	triggers: z.array(z.object({ id: z.string(), prompt: z.string(), shouldTrigger: z.boolean() })),
	/** Why the evals can’t be used; null if fine or missing. */
	problem: z.string().nullable(),
	/** Newest first. */
	runs: z.array(evalRunSummary)
});
export type SkillEvals = z.infer<typeof skillEvals>;

/** `POST /api/skills/:id/evals/import`. */
export const evalImport = z.object({
	/** Oldest first. A run that was imported before is the same one again. */
	runs: z.array(evalRunSummary),
	/** A sentence for each file that can’t be used, or that seems to be another skill’s. */
	problems: z.array(z.string())
});
export type EvalImport = z.infer<typeof evalImport>;

/** The query of `GET /api/skills/:id/evals/:run/export`. */
export const evalExportQuery = z.object({
	format: z
		.enum(['json', 'csv', 'junit', 'benchmark', 'grading'])
		.default('json')
		.describe('`benchmark` and `grading` (a zip) as skill-creator reads them.')
});
export type EvalExportFormat = z.infer<typeof evalExportQuery>['format'];

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
		/** Runs among this conversation’s files. The same as `sessionId`: among the files of that session, which can be put and read like those of a conversation. */
		conversationId: z.string().min(1).max(256).optional(),
		/** Approves this call once, by the digest of the skill’s files or of the built-in skill’s call. */
		approve: z.string().max(64).optional(),
		/** In place of the skill’s own files, for this run alone: what is typed and not saved. Only for the server’s admin. */
		files: z
			.array(z.strictObject({ path: z.string().min(1).max(1024), text: z.string().max(MAX_SKILL_FILE_BYTES) }))
			.max(100)
			.optional()
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
		files: z.array(madeFile).optional(),
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
		.enum(['pending', 'running', 'success', 'error', 'timeout', 'failed', 'denied'])
		.optional()
		.describe('Only runs with this status. `denied`: nobody allowed it. `failed`: an `error` that no person caused.'),
	apiKeyId: z.string().min(1).max(256).optional().describe('Only runs of this API key.'),
	conversationId: z.string().min(1).max(128).optional().describe('Only runs of this conversation.'),
	text: z
		.string()
		.min(1)
		.max(200)
		.optional()
		.describe('Only runs with this in the name of their skill, script or tool, in what it was given, or in its error.'),
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
