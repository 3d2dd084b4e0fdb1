/** Calls as tasks: `tasks/*` of 2025-11-25, where clients ask for one, and the extension of 2026-07-28, where we decide (E15). */
import { randomUUID } from 'node:crypto';
import {
	type CallToolResult,
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
import { plainLine } from '../../../shared/characters.ts';
import { asObject } from '../../../shared/json.ts';
import type { SkillEvent } from '../../skills/types.ts';
import { canBeAsked, CONSENT_KEY } from './consent.ts';
import { pageOf } from './definitions.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Tasks kept per owner; the oldest that has ended makes room. */
const MAX_PER_OWNER = 32;
/** Tasks kept in all. */
const MAX_TASKS = 512;
/** From its creation. A task that runs longer is ended. */
const TTL_MS = 60 * 60_000;
const MAX_TTL_MS = 24 * TTL_MS;
/** Shorter ones would be gone before a client asks. */
const MIN_TTL_MS = 1000;
const POLL_MS = 500;
const MAX_STATUS = 200;
const PAGE = 50;

type Status = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Kept in memory, so a restart ends all. */
export interface McpTask {
	readonly id: string;
	readonly signal: AbortSignal;
	readonly isOver: boolean;
	/** The last line of output becomes the status message. */
	note(event: SkillEvent): void;
	/** Waits for an answer of the client's user. Rejects if the task ends before. */
	ask(request: ElicitRequest): Promise<TaskAnswer>;
	/** Ends the task with what the call comes to. */
	follow(call: Promise<CallToolResult>): void;
	/** Removes it, as if it had never been. */
	discard(): void;
}

export interface TaskEntry extends McpTask {
	readonly owner: string;
	readonly sequence: number;
	readonly expiresAt: number;
	status: Status;
	/** Counts the changes of its status. */
	revision: number;
	result: CallToolResult | null;
	error: { code: number; message: string } | null;
	/** While it is `input_required`. */
	question: TaskQuestion | null;
	/** Resolves with the next change, also of who asks the question. */
	readonly changed: Promise<void>;
	/** Whether it was still running. */
	cancel(why: string): boolean;
	/** Takes the question on, unless it has been. It is put back with `release` if nobody could answer. */
	takeQuestion(): TaskQuestion | null;
	release(question: TaskQuestion): void;
	/** Goes on. Without effect if the question isn't open, or not any more. */
	answer(key: string, answer: TaskAnswer): void;
	facts(): TaskFacts;
}

interface TaskQuestion {
	/** Used once in a task. */
	readonly key: string;
	readonly request: ElicitRequest;
	/** By a `tasks/result`, which puts it to its client. */
	isTaken: boolean;
}

const answerShape = z.looseObject({ action: z.enum(['accept', 'decline', 'cancel']), content: z.unknown().optional() });
type TaskAnswer = z.infer<typeof answerShape>;

interface TaskFacts {
	taskId: string;
	status: Status;
	statusMessage?: string;
	/** ISO 8601. */
	createdAt: string;
	lastUpdatedAt: string;
	ttlMs: number;
}

export interface McpTasks {
	/** `controller` ends the call; null if there is no room. `ttlMs`: from now, within our bounds. */
	create(owner: string, controller: AbortController, ttlMs?: number): McpTask | null;
	/** null for an id that isn't this owner's */
	find(owner: string, taskId: string): TaskEntry | null;
	list(owner: string): TaskEntry[];
	/** Ends and forgets the owner's tasks. */
	leave(owner: string): void;
	/** Ends and forgets those whose time is over. */
	sweep(): void;
	close(): void;
}

/** `now`: monotonic clock, in milliseconds. `onStatus`: after each change of a task's status. */
export function createTasks(now: () => number, onStatus: (task: TaskEntry) => void): McpTasks {
	const tasks = new Map<string, TaskEntry>();
	let sequence = 0;
	const forget = (entry: TaskEntry, why: string): void => {
		tasks.delete(entry.id);
		entry.cancel(why);
	};
	const sweep = (): void => {
		for (const entry of tasks.values()) if (entry.expiresAt <= now()) forget(entry, 'Its time is over.');
	};
	const list = (owner: string): TaskEntry[] => [...tasks.values()].filter((entry) => entry.owner === owner);
	const hasRoom = (owner: string): boolean => {
		sweep();
		const own = list(owner);
		if (own.length < MAX_PER_OWNER && tasks.size < MAX_TASKS) return true;
		const oldest = own.find(({ isOver }) => isOver);
		if (oldest) forget(oldest, '');
		return oldest !== undefined;
	};
	return {
		create(owner, controller, ttlMs = TTL_MS) {
			if (!hasRoom(owner)) return null;
			const ttl = Math.round(Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS));
			sequence += 1;
			const parts = { owner, controller, ttlMs: ttl, expiresAt: now() + ttl, sequence };
			const entry = createEntry(parts, { onStatus, onDiscard: () => tasks.delete(entry.id) });
			tasks.set(entry.id, entry);
			return entry;
		},
		find(owner, taskId) {
			sweep();
			const entry = tasks.get(taskId);
			// Don't reveal another owner's task.
			return entry?.owner === owner ? entry : null;
		},
		list(owner) {
			sweep();
			return list(owner);
		},
		leave(owner) {
			for (const entry of list(owner)) forget(entry, 'Its session ended.');
		},
		sweep,
		close() {
			for (const entry of tasks.values()) forget(entry, 'The server is stopping.');
		}
	};
}

interface EntryParts extends Pick<TaskEntry, 'owner' | 'sequence' | 'expiresAt'> {
	controller: AbortController;
	ttlMs: number;
}

interface EntryEvents {
	onStatus(entry: TaskEntry): void;
	onDiscard(): void;
}

function createEntry({ controller, ttlMs, ...parts }: EntryParts, { onStatus, onDiscard }: EntryEvents): TaskEntry {
	const id = randomUUID();
	const createdAt = new Date().toISOString();
	let lastUpdatedAt = createdAt;
	let message = '';
	let questions = 0;
	let change = Promise.withResolvers<void>();
	let waiting = Promise.withResolvers<TaskAnswer>();
	const tell = (): void => {
		const { resolve } = change;
		change = Promise.withResolvers<void>();
		resolve();
	};
	const become = (status: Status, why: string, more: Partial<TaskEntry> = {}): void => {
		Object.assign(entry, { question: null, ...more, status });
		message = why;
		lastUpdatedAt = new Date().toISOString();
		entry.revision += 1;
		tell();
		onStatus(entry);
	};
	/** False if it's over already, which nothing changes. */
	const end = (status: Status, why: string, outcome: Partial<TaskEntry> = {}): boolean => {
		if (entry.isOver) return false;
		waiting.reject(new Error(why));
		become(status, why, outcome);
		return true;
	};
	const entry: TaskEntry = {
		...parts,
		id,
		signal: controller.signal,
		status: 'working',
		revision: 0,
		result: null,
		error: null,
		question: null,
		get changed() {
			return change.promise;
		},
		get isOver() {
			return entry.status !== 'working' && entry.status !== 'input_required';
		},
		note(event) {
			if (event.type !== 'output' || entry.status !== 'working') return;
			const line = event.text.trimEnd().split('\n').at(-1) ?? '';
			message = plainLine(line.slice(0, MAX_STATUS)).toWellFormed();
			lastUpdatedAt = new Date().toISOString();
		},
		ask(request) {
			if (entry.isOver) return Promise.reject(new Error('The task is over.'));
			questions += 1;
			waiting = Promise.withResolvers<TaskAnswer>();
			const question = { key: `${CONSENT_KEY}-${questions}`, request, isTaken: false };
			become('input_required', 'It waits for an answer.', { question });
			return waiting.promise;
		},
		takeQuestion() {
			const { question } = entry;
			if (!question || question.isTaken) return null;
			question.isTaken = true;
			return question;
		},
		release(question) {
			question.isTaken = false;
			tell();
		},
		answer(key, answer) {
			if (entry.question?.key !== key) return;
			become('working', '');
			waiting.resolve(answer);
		},
		follow(call) {
			call.then(
				(result) => end('completed', result.isError ? 'The tool reported an error.' : '', { result }),
				(error: unknown) => {
					const { code, message: why } = error instanceof ProtocolError ? error : INTERNAL;
					end('failed', why, { error: { code, message: why } });
				}
			);
		},
		cancel(why) {
			if (!end('cancelled', why)) return false;
			controller.abort(new Error(why));
			return true;
		},
		discard: onDiscard,
		facts: () => ({
			...{ taskId: id, status: entry.status, createdAt, lastUpdatedAt, ttlMs },
			...(message === '' ? {} : { statusMessage: message })
		})
	};
	// Nobody may be waiting for an answer when the task ends.
	waiting.promise.catch(() => undefined);
	return entry;
}

const INTERNAL = { code: ProtocolErrorCode.InternalError, message: 'The call failed on the server. See its log.' };

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
		...(result ? { result } : {}),
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
		const { signal } = handled.mcpReq;
		const gone = aborted(signal);
		while (!entry.isOver && !signal.aborted) {
			const { changed } = entry;
			if (!(await askThrough(server, entry, handled))) await Promise.race([changed, gone]);
		}
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
 * Puts the task's question to a client of 2025-11-25 that waits in `tasks/result`, as its version wants. If it leaves, the next
 * one that waits is asked. False if there is nothing to ask, or not this client.
 */
async function askThrough(server: Server, entry: TaskEntry, { mcpReq }: ServerContext): Promise<boolean> {
	if (!entry.question || !canBeAsked(server.getClientCapabilities(), entry.question.request)) return false;
	const question = entry.takeQuestion();
	if (!question) return false;
	const { method, params } = question.request;
	const _meta = { ...params._meta, [RELATED_TASK_META_KEY]: { taskId: entry.id } };
	const asked = params.mode === 'url' ? { ...params, elicitationId: randomUUID() } : params;
	const signal = AbortSignal.any([mcpReq.signal, entry.signal]);
	try {
		const answer = await mcpReq.send({ method, params: { ...asked, _meta } }, { signal, timeout: MAX_TTL_MS });
		entry.answer(question.key, answer);
	} catch {
		// A client that can't answer doesn't allow anything.
		if (mcpReq.signal.aborted) entry.release(question);
		else entry.answer(question.key, { action: 'cancel' });
	}
	return true;
}

function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
