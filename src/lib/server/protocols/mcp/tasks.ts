/** Calls as tasks: `tasks/*` of 2025-11-25, where clients ask for one, and the extension of 2026-07-28, where we decide (E15). */
import { randomUUID } from 'node:crypto';
import {
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
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
import { Waiters } from '../../runs/waiters.ts';
import type { SkillEvent } from '../../skills/types.ts';
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

type Status = 'working' | 'completed' | 'failed' | 'cancelled';

/** Kept in memory, so a restart ends all. */
export interface McpTask {
	readonly id: string;
	readonly signal: AbortSignal;
	readonly isOver: boolean;
	/** The last line of output becomes the status message. */
	note(event: SkillEvent): void;
	/** Ends the task with what the call comes to. */
	follow(call: Promise<CallToolResult>): void;
	/** Removes it, as if it had never been. */
	discard(): void;
}

interface Entry extends McpTask {
	owner: string;
	sequence: number;
	expiresAt: number;
	status: Status;
	result: CallToolResult | null;
	error: { code: number; message: string } | null;
	/** For its end. */
	waiting: Waiters;
	/** Whether it was still running. */
	cancel(why: string): boolean;
	facts(): TaskFacts;
}

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
	/** @throws ProtocolError for an id that isn't this owner's */
	find(owner: string, taskId: string): Entry;
	list(owner: string): Entry[];
	/** Ends and forgets the owner's tasks. */
	leave(owner: string): void;
	/** Ends and forgets those whose time is over. */
	sweep(): void;
	close(): void;
}

const UNKNOWN =
	'Task not found. Its time may be over, or the server was restarted, which ends all tasks. Call the tool again.';

/** `now`: monotonic clock, in milliseconds. */
export function createTasks(now: () => number): McpTasks {
	const tasks = new Map<string, Entry>();
	let sequence = 0;
	const forget = (entry: Entry, why: string): void => {
		tasks.delete(entry.id);
		entry.cancel(why);
	};
	const sweep = (): void => {
		for (const entry of tasks.values()) if (entry.expiresAt <= now()) forget(entry, 'Its time is over.');
	};
	const list = (owner: string): Entry[] => [...tasks.values()].filter((entry) => entry.owner === owner);
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
			const entry = createEntry({ owner, controller, ttlMs: ttl, expiresAt: now() + ttl, sequence }, () =>
				tasks.delete(entry.id)
			);
			tasks.set(entry.id, entry);
			return entry;
		},
		find(owner, taskId) {
			sweep();
			const entry = tasks.get(taskId);
			// Don't reveal another owner's task.
			if (entry?.owner !== owner) throw new ProtocolError(ProtocolErrorCode.InvalidParams, UNKNOWN);
			return entry;
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

interface EntryParts extends Pick<Entry, 'owner' | 'sequence' | 'expiresAt'> {
	controller: AbortController;
	ttlMs: number;
}

function createEntry({ controller, ttlMs, ...parts }: EntryParts, onDiscard: () => void): Entry {
	const id = randomUUID();
	const createdAt = new Date().toISOString();
	let lastUpdatedAt = createdAt;
	let message = '';
	const waiting = new Waiters();
	const entry: Entry = {
		...parts,
		id,
		signal: controller.signal,
		status: 'working',
		result: null,
		error: null,
		waiting,
		get isOver() {
			return entry.status !== 'working';
		},
		note(event) {
			if (event.type !== 'output' || entry.isOver) return;
			const line = event.text.trimEnd().split('\n').at(-1) ?? '';
			message = plainLine(line.slice(0, MAX_STATUS)).toWellFormed();
			lastUpdatedAt = new Date().toISOString();
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
	/** False if it's over already, which nothing changes. */
	const end = (status: Status, why: string, outcome: Partial<Pick<Entry, 'result' | 'error'>> = {}): boolean => {
		if (entry.isOver) return false;
		Object.assign(entry, { status, ...outcome });
		message = why;
		lastUpdatedAt = new Date().toISOString();
		waiting.wake();
		return true;
	};
	return entry;
}

const INTERNAL = { code: ProtocolErrorCode.InternalError, message: 'The call failed on the server. See its log.' };

/** How 2025-11-25 writes a task. */
function toLegacy({ ttlMs, ...facts }: TaskFacts) {
	return { ...facts, ttl: ttlMs, pollInterval: POLL_MS };
}

/** How 2026-07-28 writes one, with what it came to. */
function toModern(entry: Entry) {
	const { result, error } = entry;
	return { ...entry.facts(), pollIntervalMs: POLL_MS, ...(result ? { result } : {}), ...(error ? { error } : {}) };
}

/** What a call is answered that became a task. Not a result of the tool, so it is thrown past the SDK’s check of those. */
export class TaskCreated extends Error {
	override readonly name = 'TaskCreated';
	readonly result: Record<string, unknown>;

	constructor(task: McpTask, isModern: boolean) {
		super('The call became a task.');
		const entry = task as Entry;
		this.result = isModern
			? { resultType: 'task', ...entry.facts(), pollIntervalMs: POLL_MS }
			: { task: toLegacy(entry.facts()) };
	}
}

/** Whether the client of 2026-07-28 has said that it knows tasks, as each request does anew. */
export function knowsTasks({ mcpReq }: ServerContext): boolean {
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const { extensions } = asObject(envelope[CLIENT_CAPABILITIES_META_KEY]);
	return TASKS_EXTENSION in asObject(extensions);
}

const withId = z.looseObject({ taskId: z.string().max(200) });

/** Answers `tasks/*`. `ownerOf`: whose tasks the caller's are. */
export function serveTasks(
	server: Server,
	tasks: McpTasks,
	{ ownerOf, isModern }: { ownerOf: (handled: ServerContext) => string; isModern: boolean }
): void {
	const find = (handled: ServerContext, taskId: string): Entry => {
		if (isModern && !knowsTasks(handled)) {
			const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
			throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
		}
		return tasks.find(ownerOf(handled), taskId);
	};
	server.setRequestHandler('tasks/get', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		return isModern ? toModern(entry) : toLegacy(entry.facts());
	});
	server.setRequestHandler('tasks/cancel', { params: withId }, ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		const wasRunning = entry.cancel('The client cancelled it.');
		if (isModern) return {};
		if (wasRunning) return toLegacy(entry.facts());
		throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The task is over already: it’s ${entry.status}.`);
	});
	if (isModern) {
		// Nobody is asked by a task, so there is nothing to take in.
		server.setRequestHandler('tasks/update', { params: withId }, ({ taskId }, handled) => {
			find(handled, taskId);
			return {};
		});
		return;
	}
	server.setRequestHandler('tasks/result', { params: withId }, async ({ taskId }, handled) => {
		const entry = find(handled, taskId);
		if (!entry.isOver) await entry.waiting.wait(handled.mcpReq.signal);
		if (entry.result) {
			const _meta = { ...entry.result._meta, [RELATED_TASK_META_KEY]: { taskId } };
			return { ...entry.result, _meta };
		}
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
			const keyOf = (entry: Entry) => String(entry.sequence).padStart(16, '0');
			const { page, ...more } = pageOf(tasks.list(ownerOf(handled)), keyOf, { cursor, size: PAGE });
			return { tasks: page.map((entry) => toLegacy(entry.facts())), ...more };
		}
	);
}
