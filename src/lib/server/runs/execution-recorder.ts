/** Writes executions down and counts them (FEATURES E13, E29). A record that cannot be written is logged, and spoils no execution. */
import type { Log } from '../log.ts';
import type { ExecutionRecorder } from '../skills/execution-host.ts';
import type { Store } from '../store/store.ts';
import type { SkillUsageCounts } from './skill-usage.ts';

export function createExecutionRecorder(
	{ skillExecutions }: Pick<Store, 'skillExecutions'>,
	log: Log,
	usage?: Pick<SkillUsageCounts, 'count'>
): ExecutionRecorder {
	const underWay = new Map<string, { skillId: string; startedAt: string }>();
	const now = () => new Date().toISOString();
	const write = async (id: string, work: Promise<void>): Promise<void> => {
		await work.catch((error: unknown) =>
			log.error({ execution: id, error: String(error) }, 'an execution could not be recorded')
		);
	};
	return {
		started(execution) {
			const startedAt = now();
			underWay.set(execution.id, { skillId: execution.skillId, startedAt });
			return write(execution.id, skillExecutions.start(execution, startedAt));
		},
		running: (id) => write(id, skillExecutions.setRunning(id)),
		finished(id, end) {
			const execution = underWay.get(id);
			if (execution) {
				const { skillId, startedAt } = execution;
				usage?.count(skillId, { startedAt, hasFailed: end.status !== 'success' });
			}
			underWay.delete(id);
			return write(id, skillExecutions.finish(id, end, now()));
		}
	};
}
