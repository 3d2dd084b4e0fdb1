/** Reads what a task consists of from the store: a run, its answer, and the question before it. */
import { conversationId } from '../../../shared/api.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Message } from '../../../shared/message.ts';
import { withDecisions } from '../../conversations/conversations.ts';
import { requireOwnRun } from '../../runs/conversation-changes.ts';
import type { Runner } from '../../runs/runner.ts';
import { mayAnswer, type Asker } from '../../turns/toolbox.ts';
import type { RunRecord } from '../../store/chat/runs.ts';
import type { Store } from '../../store/store.ts';

export interface TaskSource {
	/** Id of the run that started the answer. Stays the same when another run continues it after a decision. */
	taskId: string;
	contextId: string;
	answer: Message;
	/** The latest run of this answer. */
	run: RunRecord;
	/** Last event of that run included in `answer`, while it is running. */
	seq: number;
	/** null if it was deleted. */
	question: Message | null;
	/** Whether the reader may allow what the task asks for. */
	mayAnswer: boolean;
}

interface Parts {
	store: Store;
	runner: Pick<Runner, 'get' | 'live'>;
}

/** @throws AppError `not_found`, also for another key's task */
export async function readTask(parts: Parts, asker: Asker, taskId: string): Promise<TaskSource> {
	const { store, runner } = parts;
	if (!conversationId.safeParse(taskId).success) throw noTask();
	const first = await requireOwnRun(parts, asker.apiKeyId, taskId).catch((error: unknown) => {
		throw error instanceof AppError && error.code === 'not_found' ? noTask() : error;
	});
	const { conversationId: contextId, messageId } = first;
	let answer = await store.messages.get(contextId, messageId);
	let live = answer?.runId ? runner.live(answer.runId) : null;
	// The run ended between the two reads.
	if (answer?.status === 'running' && !live) {
		answer = await store.messages.get(contextId, messageId);
		live = answer?.runId ? runner.live(answer.runId) : null;
	}
	if (!answer) throw noTask();
	if (answer.status === 'waiting') [answer = answer] = await withDecisions(store, contextId, [answer]);
	const run = answer.runId === null || answer.runId === first.id ? first : await runner.get(answer.runId);
	const question = answer.parentId === null ? null : await store.messages.get(contextId, answer.parentId);
	return {
		taskId,
		contextId,
		question,
		mayAnswer: mayAnswer(asker),
		answer: live?.message ?? answer,
		run: run ?? first,
		seq: live?.seq ?? 0
	};
}

function noTask(): AppError {
	return new AppError('not_found', 'Task not found.');
}
