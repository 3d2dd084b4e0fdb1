/** `tasks/*` of 2025-11-25, where clients ask for a task, and the extension of 2026-07-28, where we decide (E15). */
import { randomUUID } from 'node:crypto';
import {
	CLIENT_CAPABILITIES_META_KEY,
	type ElicitRequest,
	MissingRequiredClientCapabilityError,
	ProtocolError,
	ProtocolErrorCode,
	RELATED_TASK_META_KEY,
	type Server,
	type ServerContext
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asObject } from '../../../shared/json.ts';
import { canBeAsked } from './consent.ts';
import { pageOf } from './definitions.ts';
import { MAX_TTL_MS, type McpTask, type McpTasks, type TaskAnswer, type TaskAsker, type TaskEntry } from './tasks.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
const POLL_MS = 500;
const PAGE = 50;

/** How 2025-11-25 writes a task. */
export function toLegacy(entry: TaskEntry) {
	const { ttlMs, ...facts } = entry.facts();
	return { ...facts, ttl: ttlMs, pollInterval: POLL_MS };
}

/** How 2026-07-28 writes one, with what it asks or came to. */
export function toModern(entry: TaskEntry) {
	const { result, error, question } = entry;
	return {
		...{ ...entry.facts(), pollIntervalMs: POLL_MS },
		...(question ? { inputRequests: { [question.key]: question.request } } : {}),
		// As the version wants of every result.
		...(result ? { result: { resultType: 'complete', ...result } } : {}),
		...(error ? { error } : {})
	};
}

/** What a call is answered that became a task. Not a result of the tool, so it is thrown past the SDK’s check of those. */
export class TaskCreated extends Error {
	override readonly name = 'TaskCreated';
	readonly result: Record<string, unknown>;

	constructor(task: McpTask, isModern: boolean) {
		super('The call became a task.');
		const entry = task as TaskEntry;
		this.result = isModern
			? { resultType: 'task', ...entry.facts(), pollIntervalMs: POLL_MS }
			: { task: toLegacy(entry) };
	}
}

/** Whether the client of 2026-07-28 has said that it knows tasks, as each request does anew in what comes with it. */
export function knowsTasks(envelope: unknown): boolean {
	const { extensions } = asObject(asObject(envelope)[CLIENT_CAPABILITIES_META_KEY]);
	return TASKS_EXTENSION in asObject(extensions);
}

export function tasksUnknownToClient(): ProtocolError {
	const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
	return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

const UNKNOWN =
	'Task not found. Its time may be over, or the server was restarted, which ends all tasks. Call the tool again.';

const withId = z.looseObject({ taskId: z.string().max(200) });

/** Answers `tasks/*`. `ownerOf`: whose tasks the caller's are. */
export function serveTasks(
	server: Server,
	tasks: McpTasks,
	{ ownerOf, isModern }: { ownerOf: (handled: ServerContext) => string; isModern: boolean }
): void {
	const find = (handled: ServerContext, taskId: string): TaskEntry => {
		if (isModern && !knowsTasks(handled.mcpReq.envelope)) throw tasksUnknownToClient();
		const entry = tasks.find(ownerOf(handled), taskId);
		if (!entry) throw new ProtocolError(ProtocolErrorCode.InvalidParams, UNKNOWN);
		return entry;
	};
	server.setRequestHandler('tasks/get', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		return isModern ? toModern(entry) : toLegacy(entry);
	});
	server.setRequestHandler('tasks/cancel', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		const wasRunning = entry.cancel('The client cancelled it.');
		if (isModern) return {};
		if (wasRunning) return toLegacy(entry);
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task is over already: it’s ${entry.status}.`);
	});
	if (isModern) {
		server.setRequestHandler('tasks/update', { params: withId }, ({ taskId }, handled) => {
			takeAnswers(find(handled, taskId), handled.mcpReq);
			return {};
		});
		return;
	}
	server.setRequestHandler('tasks/result', { params: withId }, async ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		const { mcpReq } = handled;
		const remove = entry.addAsker(
			createAsker(server, entry.id, () => mcpReq),
			true
		);
		if (!entry.isOver) await entry.ending.wait(mcpReq.signal);
		remove();
		const _meta = { ...entry.result?._meta, [RELATED_TASK_META_KEY]: { taskId } };
		if (entry.result) return { ...entry.result, _meta };
		const { code, message } = entry.error ?? {
			code: ProtocolErrorCode.InvalidRequest,
			message: 'The task was cancelled.'
		};
		throw new ProtocolError(code, message);
	});
	server.setRequestHandler(
		'tasks/list',
		{ params: z.looseObject({ cursor: z.string().optional() }) },
		({ cursor }, handled) => {
			const keyOf = (entry: TaskEntry) => String(entry.sequence).padStart(16, '0');
			const { page, ...more } = pageOf(tasks.list(ownerOf(handled)), keyOf, { cursor, size: PAGE });
			return { tasks: page.map(toLegacy), ...more };
		}
	);
}

const answerShape = z.looseObject({
	action: z.enum(['accept', 'decline', 'cancel']),
	content: z.record(z.string(), z.unknown()).optional()
});

/** From `tasks/update`. Answers to what isn't asked, or not any more, are left out. @throws ProtocolError */
function takeAnswers(
	entry: TaskEntry,
	{ inputResponses, droppedInputResponseKeys = [] }: ServerContext['mcpReq']
): void {
	if (!inputResponses) {
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'inputResponses is missing: an answer for each key.');
	}
	const key = entry.question?.key;
	if (key === undefined || !(key in inputResponses || droppedInputResponseKeys.includes(key))) return;
	const answer = answerShape.safeParse(inputResponses[key]);
	if (!answer.success) {
		const message = `The answer to “${key}” isn’t valid: its action must be accept, decline or cancel.`;
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
	}
	entry.answer(key, answer.data);
}

/**
 * Asks a client of 2025-11-25 over what `wayTo` gives: a `tasks/result` that it waits in, as its version wants, or the stream
 * that it keeps open, where some expect it. Null while there is none.
 */
export function createAsker(
	server: Pick<Server, 'getClientCapabilities'>,
	taskId: string,
	wayTo: () => AskingWay | null
): TaskAsker {
	return {
		canAsk(request) {
			const way = wayTo();
			return way !== null && !way.signal.aborted && canBeAsked(server.getClientCapabilities(), request);
		},
		async ask({ method, params }, signal) {
			const way = wayTo();
			if (!way) throw new Error('The client has left.');
			const _meta = { ...params._meta, [RELATED_TASK_META_KEY]: { taskId } };
			const asked = params.mode === 'url' ? { ...params, elicitationId: randomUUID() } : params;
			const options = { signal: AbortSignal.any([way.signal, signal]), timeout: MAX_TTL_MS };
			try {
				return await way.send({ method, params: { ...asked, _meta } }, options);
			} catch (error) {
				if (way.signal.aborted) throw error;
				// A client that can't answer doesn't allow anything.
				return { action: 'cancel' };
			}
		}
	};
}

interface AskingWay {
	/** Aborts when it ends. */
	signal: AbortSignal;
	send(request: ElicitRequest, options: { signal: AbortSignal; timeout: number }): Promise<TaskAnswer>;
}
