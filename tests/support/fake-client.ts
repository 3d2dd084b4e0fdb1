/** Fake server in the page: the client component tests give a session, with streams the test writes to. */

import type { Client } from '../../src/lib/page/server.ts';
import { ApiError, unreachable } from '../../src/lib/page/request.ts';
import type { ConversationDetail, MessageList, RunAgentInput } from '../../src/lib/shared/api.ts';
import type { RunEvent } from '../../src/lib/shared/events.ts';
import { sampleList, samplePackages } from './sample-skills.ts';

/** An open stream of a run's events. */
export class FakeSource extends EventTarget {
	readonly runId: string;
	/** The page asked for the events after this one. */
	readonly after: number;
	/** Other runs that it follows. */
	readonly beside: readonly { runId: string; after: number }[];
	readyState = 0;
	onopen: (() => void) | null = null;
	onmessage: ((message: MessageEvent<string>) => void) | null = null;
	onerror: (() => void) | null = null;

	constructor(runId: string, after: number, beside: readonly { runId: string; after: number }[] = []) {
		super();
		this.beside = beside.map((run) => ({ runId: run.runId, after: run.after }));
		this.runId = runId;
		this.after = after;
	}

	/** Numbers the events from `after + 1`, or from `from`. `beside`: they're of this run, which the same stream follows. */
	send(events: RunEvent[], from = this.after + 1, beside?: string): void {
		// A closed source delivers nothing, as in a browser.
		if (this.isClosed) return;
		if (this.readyState === 0) this.onopen?.();
		this.readyState = 1;
		events.forEach((event, index) => {
			if (this.isClosed) return;
			const init = { data: JSON.stringify(event), lastEventId: String(from + index) };
			if (beside === undefined) this.onmessage?.(new MessageEvent('message', init));
			else this.dispatchEvent(new MessageEvent(beside, init));
		});
	}

	/** Breaks the connection. */
	fail(): void {
		this.readyState = 0;
		this.onerror?.();
	}

	close(): void {
		this.readyState = 2;
	}

	get isClosed(): boolean {
		return this.readyState === 2;
	}
}

export interface FakeClient extends Client {
	/** Opened event streams, oldest first. */
	sources: FakeSource[];
	/** Bodies of the requested runs. */
	started: RunAgentInput[];
	stopped: string[];
	uploads: {
		path: string;
		finish: (hint?: string) => void;
		fail: (error: ApiError) => void;
		progress: (share: number) => void;
	}[];
	/** Pictures copied for models. */
	copies: Blob[];
	/** Each fails one `startRun`; with none left it succeeds. */
	startFailures: ApiError[];
	/** Opened change streams, oldest first; see `announce`. */
	watches: FakeSource[];
	/** Requests about the chat besides runs: `[method, ...arguments after the chat's id]`, in order. */
	calls: unknown[][];
	/** Each fails one of these requests; with none left they succeed. */
	callFailures: ApiError[];
	/** How often the chat was read. */
	reads: number;
	/** The response to `listEarlier`. */
	earlier: MessageList;
	/** Tells watchers that the chat changed, e.g. was deleted. */
	announce: (isDeleted?: boolean) => void;
	/** The response to `getConversation`; null if the chat doesn't exist. */
	conversation: ConversationDetail | null;
	/** For `getRun`: does the run exist? */
	hasRun: boolean;
}

export function createFakeClient(): FakeClient {
	const missing = (): never => {
		throw new ApiError('not_found', 'There is no such thing.');
	};
	const record = async <Answer>(answer: Answer, ...call: unknown[]): Promise<Answer> => {
		client.calls.push(call);
		const failure = client.callFailures.shift();
		if (failure) throw failure;
		return answer;
	};
	const summary = (id: string) => {
		const time = new Date(0).toISOString();
		return {
			id,
			title: 'Stored',
			createdAt: time,
			updatedAt: time,
			activeRunId: null,
			isPinned: false,
			isArchived: false,
			isUnread: false,
			isWaiting: false
		};
	};
	const client: FakeClient = {
		// These tests never call the methods that aren't set below.
		...({} as Client),
		sources: [],
		started: [],
		stopped: [],
		uploads: [],
		copies: [],
		startFailures: [],
		watches: [],
		calls: [],
		callFailures: [],
		reads: 0,
		earlier: { messages: [], hasEarlier: false, alternatives: {} },
		announce: (isDeleted = false) => {
			const data = JSON.stringify({ isDeleted });
			for (const watch of client.watches)
				if (!watch.isClosed) watch.dispatchEvent(new MessageEvent('change', { data }));
		},
		conversation: null,
		hasRun: true,
		getConversation: async () => {
			client.reads++;
			return client.conversation ?? missing();
		},
		conversationEvents: (id) => {
			const source = new FakeSource(id, 0);
			client.watches.push(source);
			return source as unknown as EventSource;
		},
		listEarlier: (_id, before) => record(client.earlier, 'listEarlier', before),
		restoreMessage: (_id, messageId) => record(undefined, 'restoreMessage', messageId),
		deleteMessage: (_id, messageId) => record(undefined, 'deleteMessage', messageId),
		showMessage: (id, messageId) => record(summary(id), 'showMessage', messageId),
		dislikeMessage: (_id, messageId, isDisliked) => record(undefined, 'dislikeMessage', messageId, isDisliked),
		forkConversation: (_id, messageId) => record(summary('fork'), 'forkConversation', messageId),
		enqueue: (_id, message) => record({ runId: null }, 'enqueue', message),
		editQueued: (_id, messageId, text) => record(undefined, 'editQueued', messageId, text),
		removeQueued: (_id, messageId) => record(undefined, 'removeQueued', messageId),
		sendQueued: (_id, messageId) => record({ runId: null }, 'sendQueued', messageId),
		decide: (_id, interruptId, decision) => record({ runId: null }, 'decide', interruptId, decision),
		startRun: async (input) => {
			client.started.push(input as RunAgentInput);
			const failure = client.startFailures.shift();
			if (failure) throw failure;
			return { threadId: input.threadId, runId: input.runId };
		},
		getRun: async (id) => {
			if (!client.hasRun) return missing();
			const startedAt = new Date(0).toISOString();
			return { id, conversationId: 'c', state: 'running', model: 'm', lastSeq: 0, startedAt, finishedAt: null };
		},
		stopRun: async (id) => {
			client.stopped.push(id);
		},
		runEvents: (id, after, beside = []) => {
			const source = new FakeSource(id, after.seq, beside);
			client.sources.push(source);
			return source as unknown as EventSource;
		},
		listFiles: async () => [],
		uploadFile: (_conversationId, path, file, { onprogress, signal }) =>
			new Promise((resolve, reject) => {
				signal.addEventListener('abort', () => reject(signal.reason));
				client.uploads.push({
					path,
					finish: (hint) => resolve({ path, bytes: file.size, modifiedAt: new Date(0).toISOString(), hint }),
					fail: reject,
					progress: onprogress
				});
			}),
		uploadCopy: async (_conversationId, path, copy) => {
			client.copies.push(copy);
			return { path, bytes: copy.size, modifiedAt: new Date(0).toISOString() };
		},
		listSkills: async (page, limit) => sampleList([], { page, limit }),
		getSkill: async () => missing(),
		changeSkill: async () => missing(),
		getDiagnosis: async () => missing(),
		fixSkill: async () => missing(),
		skillEvents: () => new FakeSource('skills', 0) as unknown as EventSource,
		saveSecrets: async () => ({ binaries: [], packages: [], hosts: [], variables: [], skills: [] }),
		...samplePackages(),
		getSkillHealth: async () => ({ weeks: [], answers: { count: 0, priced: 0, cost: null } }),
		listExecutions: async ({ page, limit }) => ({ data: [], total: 0, page, limit, totalPages: 1 }),
		runExecution: async () => missing(),
		endExecution: (id) => record(undefined, 'endExecution', id),
		getHealth: async () => {
			throw unreachable();
		}
	};
	return client;
}
