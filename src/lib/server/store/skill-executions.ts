/** Every run of a script or tool: who asked, what ran, what came of it (FEATURES E10, E12, E13). */
import type { Kysely, Selectable, SelectQueryBuilder } from 'kysely';
import type { SkillExecution } from '../../shared/api.ts';
import type { ExecutionEnd, ExecutionStart } from '../skills/execution-host.ts';
import type { Database, SkillExecutionsTable } from './schema.ts';

export interface ExecutionFilter {
	/** `source/name`, or a skill's name. */
	skill?: string;
	status?: SkillExecution['status'];
	apiKeyId?: string;
	conversationId?: string;
}

export interface SkillExecutions {
	/** A row that is `pending` until the process runs. */
	start(execution: ExecutionStart, now: string): Promise<void>;
	setRunning(id: string): Promise<void>;
	/** Does nothing to one that has ended. */
	finish(id: string, end: ExecutionEnd, now: string): Promise<void>;
	get(id: string): Promise<SkillExecution | null>;
	/** Newest first. `page` from 1. */
	list(
		filter: ExecutionFilter,
		page: { page: number; limit: number }
	): Promise<{ data: SkillExecution[]; total: number }>;
	/** Ends the rows that an earlier server left unfinished, as errors; says how many. */
	endUnfinished(message: string, now: string): Promise<number>;
}

export function createSkillExecutions(db: Kysely<Database>): SkillExecutions {
	return {
		async start(execution, now) {
			const { caller } = execution;
			await db
				.insertInto('skill_executions')
				.values({
					id: execution.id,
					skill_id: execution.skillId,
					skill: execution.skill,
					version: execution.version,
					tool: execution.tool ?? null,
					script: execution.script ?? null,
					argv: JSON.stringify(execution.argv),
					input: execution.input ?? null,
					digest: execution.digest,
					sandbox: execution.sandbox,
					limits: JSON.stringify(execution.limits),
					status: 'pending',
					conversation_id: caller.conversationId ?? null,
					run_id: caller.runId ?? null,
					tool_call_id: caller.toolCallId ?? null,
					api_key_id: caller.apiKeyId ?? null,
					session_id: caller.sessionId ?? null,
					created_at: now
				})
				.execute();
		},

		async setRunning(id) {
			await db
				.updateTable('skill_executions')
				.set({ status: 'running' })
				.where('id', '=', id)
				.where('status', '=', 'pending')
				.execute();
		},

		async finish(id, end, now) {
			await db
				.updateTable('skill_executions')
				.set({
					status: end.status,
					error_type: end.errorType ?? null,
					error_message: end.message ?? null,
					exit_code: end.exitCode,
					stdout_bytes: end.stdoutBytes,
					stderr_bytes: end.stderrBytes,
					output: end.output,
					duration_ms: Math.round(end.durationMs),
					files: JSON.stringify(end.files),
					refused: JSON.stringify(end.refused),
					finished_at: now
				})
				.where('id', '=', id)
				.where('status', 'in', ['pending', 'running'])
				.execute();
		},

		async get(id) {
			const row = await db.selectFrom('skill_executions').selectAll().where('id', '=', id).executeTakeFirst();
			return row ? toExecution(row) : null;
		},

		async list(filter, { page, limit }) {
			const matching = () => narrow(db.selectFrom('skill_executions'), filter);
			const { total } = await matching()
				.select(({ fn }) => fn.countAll<number | string>().as('total'))
				.executeTakeFirstOrThrow();
			const rows = await matching()
				.selectAll()
				.orderBy('created_at', 'desc')
				.orderBy('id')
				.limit(limit)
				.offset((page - 1) * limit)
				.execute();
			return { data: rows.map(toExecution), total: Number(total) };
		},

		async endUnfinished(message, now) {
			const { numUpdatedRows } = await db
				.updateTable('skill_executions')
				.set({ status: 'error', error_type: 'Cancelled', error_message: message, finished_at: now })
				.where('status', 'in', ['pending', 'running'])
				.executeTakeFirst();
			return Number(numUpdatedRows);
		}
	};
}

function narrow<Selected>(
	query: SelectQueryBuilder<Database, 'skill_executions', Selected>,
	{ skill, status, apiKeyId, conversationId }: ExecutionFilter
) {
	let found = query;
	if (skill !== undefined)
		found = found.where(({ or, eb }) => or([eb('skill_id', '=', skill), eb('skill', '=', skill)]));
	if (status !== undefined) found = found.where('status', '=', status);
	if (apiKeyId !== undefined) found = found.where('api_key_id', '=', apiKeyId);
	if (conversationId !== undefined) found = found.where('conversation_id', '=', conversationId);
	return found;
}

function toExecution(row: Selectable<SkillExecutionsTable>): SkillExecution {
	return {
		id: row.id,
		skillId: row.skill_id,
		skill: row.skill,
		version: row.version,
		tool: row.tool,
		script: row.script,
		argv: JSON.parse(row.argv) as string[],
		input: row.input,
		digest: row.digest,
		sandbox: row.sandbox,
		limits: JSON.parse(row.limits) as Record<string, number>,
		status: row.status,
		errorType: row.error_type,
		errorMessage: row.error_message,
		exitCode: row.exit_code,
		stdoutBytes: row.stdout_bytes,
		stderrBytes: row.stderr_bytes,
		output: row.output,
		durationMs: row.duration_ms,
		files: row.files ? (JSON.parse(row.files) as SkillExecution['files']) : [],
		refused: row.refused ? (JSON.parse(row.refused) as string[]) : [],
		conversationId: row.conversation_id,
		runId: row.run_id,
		toolCallId: row.tool_call_id,
		apiKeyId: row.api_key_id,
		sessionId: row.session_id,
		createdAt: row.created_at,
		finishedAt: row.finished_at
	};
}
