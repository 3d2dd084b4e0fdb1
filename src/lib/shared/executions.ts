/** Executions of scripts and tools as the REST API has them (FEATURES E10–E13, E29). */
import { z } from 'zod';

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
