/** Lists the tasks that a caller may read, the ones whose status changed last first (A2A §3.1.4; FEATURES E16). */
import { type ListTasksRequest, type ListTasksResponse, type Task, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';
import type { MessageStatus } from '../../../shared/message.ts';
import type { TaskPlace } from '../../store/chat/tasks.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { STATES } from './render-task.ts';
import { type CallParts, readTask, type TaskSource } from './task-calls.ts';

const DEFAULT_PAGE = 50;

/** `render` makes a task of what was read. @throws A2AError for a page token that isn't ours */
export async function listTasks(
	parts: CallParts,
	asker: Asker,
	request: ListTasksRequest,
	render: (source: TaskSource) => Promise<Task>
): Promise<ListTasksResponse> {
	const { contextId, status, statusTimestampAfter, pageToken } = request;
	const pageSize = request.pageSize ?? DEFAULT_PAGE;
	const { data, total } = await parts.store.tasks.list({
		apiKeyId: asker.apiKeyId,
		contextId: contextId || undefined,
		statuses: status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : statusesOf(status),
		since: statusTimestampAfter ? new Date(statusTimestampAfter).toISOString() : undefined,
		after: pageToken === '' ? undefined : readToken(pageToken),
		// One more, to see whether there is a next page.
		limit: pageSize + 1
	});
	const page = data.slice(0, pageSize);
	const tasks: Task[] = [];
	for (const { taskId } of page) {
		const source = await readTask(parts, asker, taskId).catch((error: unknown) => {
			// Deleted meanwhile.
			if (error instanceof AppError && error.code === 'not_found') return null;
			throw error;
		});
		if (source) tasks.push(await render(source));
	}
	const last = data.length > pageSize ? page.at(-1) : undefined;
	return { tasks, pageSize, totalSize: total, nextPageToken: last ? tokenOf(last) : '' };
}

function statusesOf(state: TaskState): MessageStatus[] {
	return (Object.keys(STATES) as MessageStatus[]).filter((status) => STATES[status] === state);
}

function tokenOf({ at, runId }: TaskPlace): string {
	return Buffer.from(JSON.stringify([at, runId])).toString('base64url');
}

const token = z.tuple([z.iso.datetime(), z.string().max(1024)]);

function readToken(text: string): TaskPlace {
	try {
		const [at, runId] = token.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
		if (!runId.includes('\0')) return { at, runId };
	} catch {
		// Another server's, or none.
	}
	throw new RequestMalformedError('params.pageToken isn’t one of this list. Start again without it.');
}
