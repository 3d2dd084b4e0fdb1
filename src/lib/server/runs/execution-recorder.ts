/** Writes executions down (FEATURES E13, E29). A record that cannot be written is logged, and spoils no execution. */
import type { Log } from '../log.ts';
import type { ExecutionRecorder } from '../skills/execution-host.ts';
import type { Store } from '../store/store.ts';

export function createExecutionRecorder(
	{ skillExecutions }: Pick<Store, 'skillExecutions'>,
	log: Log
): ExecutionRecorder {
	const now = () => new Date().toISOString();
	const write = async (id: string, work: Promise<void>): Promise<void> => {
		await work.catch((error: unknown) =>
			log.error({ execution: id, error: String(error) }, 'an execution could not be recorded')
		);
	};
	return {
		started: (execution) => write(execution.id, skillExecutions.start(execution, now())),
		running: (id) => write(id, skillExecutions.setRunning(id)),
		finished: (id, end) => write(id, skillExecutions.finish(id, end, now()))
	};
}
