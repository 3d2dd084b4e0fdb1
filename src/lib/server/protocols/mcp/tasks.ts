/** Calls that go on as tasks: what is kept of them, whom they ask, and how they end (E15). */
import { randomUUID } from 'node:crypto';
import {
	type CallToolResult,
	type ElicitRequest,
	type ElicitResult,
	ProtocolError,
	ProtocolErrorCode
} from '@modelcontextprotocol/server';
import { plainLine } from '../../../shared/characters.ts';
import { Waiters } from '../../../shared/in-turn.ts';
import type { SkillEvent } from '../../skills/types.ts';
import { CONSENT_KEY } from './consent.ts';

/** Tasks kept per owner; the oldest that has ended makes room. */
const MAX_PER_OWNER = 32;
/** Tasks kept in all. */
const MAX_TASKS = 512;
/** From its creation. A task that runs longer is ended. */
const TTL_MS = 60 * 60_000;
export const MAX_TTL_MS = 24 * TTL_MS;
/** Shorter ones would be gone before a client asks. */
const MIN_TTL_MS = 1000;
const MAX_STATUS = 200;

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
	/** Has a client asked by this one from now on, before others if it `isFirst`, until it's removed. */
	addAsker(asker: TaskAsker, isFirst?: boolean): () => void;
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
	/** For its end. */
	readonly ending: Waiters;
	/** Whether it was still running. */
	cancel(why: string): boolean;
	/** Puts an open question to the first client that can be asked now, if none is. */
	offerQuestion(): void;
	/** Goes on. Without effect if the question isn't open, or not any more. */
	answer(key: string, answer: TaskAnswer): void;
	facts(): TaskFacts;
}

interface TaskQuestion {
	/** Used once in a task. */
	readonly key: string;
	readonly request: ElicitRequest;
	/** An asker has put it to its client. */
	isTaken: boolean;
}

/** A way to a client of 2025-11-25. Clients of 2026-07-28 find the question and answer it by themselves. */
export interface TaskAsker {
	/** Whether its client is there. If it has left, `ask` rejects after this is false. */
	canAsk(request: ElicitRequest): boolean;
	/** Rejects if the client leaves before it answers. */
	ask(request: ElicitRequest, signal: AbortSignal): Promise<TaskAnswer>;
}

/** Of the client's user. */
export interface TaskAnswer extends Pick<ElicitResult, 'action'> {
	content?: Record<string, unknown> | undefined;
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

/** `now`: monotonic clock, in milliseconds. `onStatus`: after each change of a task's status. */
export function createTasks(now: () => number, onStatus: (task: TaskEntry) => void) {
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
		/** `controller` ends the call; null if there is no room. `ttlMs`: from now, within our bounds. */
		create(owner: string, controller: AbortController, ttlMs: number = TTL_MS): McpTask | null {
			if (!hasRoom(owner)) return null;
			const ttl = Math.round(Math.min(Math.max(ttlMs, MIN_TTL_MS), MAX_TTL_MS));
			sequence += 1;
			const parts = { owner, controller, ttlMs: ttl, expiresAt: now() + ttl, sequence };
			const entry = createEntry(parts, { onStatus, onDiscard: () => tasks.delete(entry.id) });
			tasks.set(entry.id, entry);
			return entry;
		},
		/** null for an id that isn't this owner's */
		find(owner: string, taskId: string): TaskEntry | null {
			sweep();
			const entry = tasks.get(taskId);
			// Don't reveal another owner's task.
			return entry?.owner === owner ? entry : null;
		},
		list(owner: string): TaskEntry[] {
			sweep();
			return list(owner);
		},
		/** Ends and forgets the owner's tasks. */
		leave(owner: string): void {
			for (const entry of list(owner)) forget(entry, 'Its session ended.');
		},
		/** Ends and forgets those whose time is over. */
		sweep,
		close(): void {
			for (const entry of tasks.values()) forget(entry, 'The server is stopping.');
		}
	};
}

export type McpTasks = ReturnType<typeof createTasks>;

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
	let waiting = Promise.withResolvers<TaskAnswer>();
	let askers: readonly TaskAsker[] = [];
	const ending = new Waiters();
	const become = (status: Status, why: string, more: Partial<TaskEntry> = {}): void => {
		Object.assign(entry, { question: null, ...more, status });
		message = why;
		lastUpdatedAt = new Date().toISOString();
		entry.revision += 1;
		onStatus(entry);
	};
	/** False if it's over already, which nothing changes. */
	const end = (status: Status, why: string, outcome: Partial<TaskEntry> = {}): boolean => {
		if (entry.isOver) return false;
		waiting.reject(new Error(why));
		become(status, why, outcome);
		askers = [];
		ending.wake();
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
		ending,
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
			entry.offerQuestion();
			return waiting.promise;
		},
		addAsker(asker, isFirst = false) {
			askers = isFirst ? [asker, ...askers] : [...askers, asker];
			entry.offerQuestion();
			return () => void (askers = askers.filter((each) => each !== asker));
		},
		offerQuestion() {
			const { question } = entry;
			if (!question || question.isTaken) return;
			const asker = askers.find((each) => each.canAsk(question.request));
			if (!asker) return;
			question.isTaken = true;
			const putBack = () => {
				question.isTaken = false;
				entry.offerQuestion();
			};
			asker.ask(question.request, controller.signal).then((answer) => entry.answer(question.key, answer), putBack);
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
