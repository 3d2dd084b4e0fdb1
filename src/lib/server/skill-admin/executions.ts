/** Records executions, and exports them as CSV (RFC 4180) or JSON of any length (E13, E29). */
import { isInLibrary, isTest } from '../../shared/names.ts';
import type { ExecutionQuery, SkillExecution } from '../../shared/try-out.ts';
import { csvRow } from '../csv.ts';
import type { Log } from '../log.ts';
import type { ExecutionRecorder } from '../skills/run/execution-host.ts';
import type { ExecutionFilter, SkillExecutions } from '../store/skills/skill-executions.ts';
import type { Store } from '../store/store.ts';
import type { SkillUsageCounts } from './skill-counts.ts';

const SLICE = 200;

const COLUMNS = [
	...(['id', 'createdAt', 'finishedAt', 'status', 'skillId', 'skill', 'version', 'tool', 'script', 'argv'] as const),
	...([
		'input',
		'output',
		'errorType',
		'errorMessage',
		'exitCode',
		'durationMs',
		'stdoutBytes',
		'stderrBytes'
	] as const),
	...(['files', 'refused', 'missing', 'digest', 'sandbox', 'limits', 'conversationId', 'runId', 'toolCallId'] as const),
	...(['apiKeyId', 'sessionId'] as const)
] satisfies (keyof SkillExecution)[];

/** Stored times are in UTC. */
export function toFilter({ since, until, ...query }: ExecutionQuery): ExecutionFilter {
	const inUtc = (time: string | undefined) => (time === undefined ? undefined : new Date(time).toISOString());
	return { ...query, since: inUtc(since), until: inUtc(until) };
}

/** Newest first. */
export async function* exportExecutions(
	executions: Pick<SkillExecutions, 'after'>,
	filter: ExecutionFilter,
	format: 'csv' | 'json'
): AsyncGenerator<string> {
	const isCsv = format === 'csv';
	yield isCsv ? `${COLUMNS.join(',')}\r\n` : '[';
	let last: SkillExecution | null = null;
	do {
		const start: string = last ? ',\n' : '\n';
		const rows: SkillExecution[] = await executions.after(filter, last, SLICE);
		if (rows.length > 0) {
			yield isCsv
				? rows.map((row) => csvRow(COLUMNS.map((column) => row[column]))).join('')
				: start + rows.map((row) => JSON.stringify(row)).join(',\n');
		}
		last = rows.length < SLICE ? null : (rows.at(-1) ?? null);
	} while (last);
	if (!isCsv) yield '\n]\n';
}

/** Also counts executions. `bootId`: the server start whose they are. Logs a record that can’t be written: it must not fail the execution. */
export function createExecutionRecorder(
	{ skillExecutions }: Pick<Store, 'skillExecutions'>,
	log: Log,
	{ usage, bootId }: { usage?: Pick<SkillUsageCounts, 'count'>; bootId?: string } = {}
): ExecutionRecorder {
	const underWay = new Map<string, { skillId: string; isUse: boolean; startedAt: string }>();
	const now = () => new Date().toISOString();
	const write = async (id: string, work: Promise<unknown>): Promise<void> => {
		await work.catch((error: unknown) => log.error({ execution: id, error: String(error) }, 'couldn’t record a run'));
	};
	return {
		started(execution) {
			const startedAt = now();
			const { skillId, caller } = execution;
			const isUse = isInLibrary(skillId) && !isTest(caller.sessionId);
			underWay.set(execution.id, { skillId, isUse, startedAt });
			return write(execution.id, skillExecutions.start(execution, startedAt, bootId));
		},
		running: (id) => write(id, skillExecutions.setRunning(id)),
		finished(id, end) {
			const execution = underWay.get(id);
			if (execution?.isUse && end.errorType !== 'ApprovalDenied') {
				const { skillId, startedAt } = execution;
				usage?.count(skillId, { startedAt, hasFailed: end.status !== 'success' });
			}
			underWay.delete(id);
			return write(id, skillExecutions.finish(id, end, now()));
		}
	};
}
