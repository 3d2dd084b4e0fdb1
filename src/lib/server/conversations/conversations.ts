/** Conversations as a whole: messages, active run, files, and the outbox of queued messages. */
import { randomUUID, hash } from 'node:crypto';
import type { z } from 'zod';
import type { ConversationDetail, conversationPatch, ConversationSummary, MessageList } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../log.ts';
import type { Message, Part } from '../../shared/message.ts';
import type { Store } from '../store/store.ts';
import { waitingIds } from '../trust/approval-policy.ts';
import { requireOwnConversation, type ConversationChanges } from '../runs/conversation-changes.ts';
import { type LiveAnswer, mayGoOn } from '../runs/run-log.ts';
import type { Runner } from '../runs/runner.ts';
import type { Workspaces } from '../workspaces.ts';
import type { NewMessage } from '../turns/run-request.ts';

interface Parts {
	store: Store;
	runner: Runner;
	workspaces: Workspaces;
	changes: ConversationChanges;
}

/** Messages in the first page, enough for a tall screen, and in each earlier one. */
const FIRST_PAGE = 12;
const PAGE = 40;

/** The conversation, including the live reply so far. @throws AppError not_found */
export async function readConversation({ store, runner }: Parts, id: string): Promise<ConversationDetail> {
	// In this order, a message sent meanwhile appears twice rather than not at all.
	const queued = await store.queue.list(id);
	let page = await store.messages.page(id, { limit: FIRST_PAGE });
	const usage = await store.conversations.usage(id);
	const choice = await store.runs.choiceOf(id);
	const conversation = await store.conversations.get(id);
	if (!conversation) {
		await refuseDeleted({ store }, id);
		throw new AppError('not_found', 'Conversation not found.');
	}
	let compared = await readCompared({ store }, id);
	// Memory is ahead of the database: take message and cursor together, after the reads.
	const live = conversation.activeRunId === null ? null : runner.live(conversation.activeRunId);
	// A run that began between the reads is in the second one.
	const isRead = ({ id: known }: Pick<Message, 'id'>) => known === live?.message.id;
	if (live && !page.messages.some(isRead) && !compared.some(({ message }) => isRead(message))) {
		page = await store.messages.page(id, { limit: FIRST_PAGE });
		compared = await readCompared({ store }, id);
	}
	const queue = queued.filter((waiting) => !page.messages.some((message) => message.id === waiting.id));
	const current = (message: Message) => {
		const own = message.runId === null ? null : runner.live(message.runId);
		return own?.message.id === message.id
			? { message: withElapsed(own), cursor: own.seq, epoch: own.epoch }
			: { message, cursor: 0 };
	};
	const messages = (await withDecisions(store, id, page.messages)).map((message) => current(message).message);
	return {
		...conversation,
		...choice,
		...page,
		messages,
		compared:
			compared.length === 0 ? undefined : compared.map(({ model, message }) => ({ model, ...current(message) })),
		queue,
		usage,
		cursor: live?.seq ?? 0,
		epoch: live?.epoch
	};
}

/** Two or more answers, or none: one alone is an answer like any other. */
async function readCompared({ store }: Pick<Parts, 'store'>, id: string) {
	const answers = await store.messages.compared(id);
	if (answers.length < 2) return [];
	const messages = await withDecisions(
		store,
		id,
		await store.messages.read(
			id,
			answers.map((answer) => answer.id)
		)
	);
	return messages.map((message) => ({ message, model: answers.find((each) => each.id === message.id)?.model ?? '' }));
}

/** For a page opened later: its clock may differ, and it hasn't seen the calls start. */
function withElapsed({ message, callsBegunAt }: LiveAnswer): Message {
	const now = performance.now();
	const parts = message.parts.map((part): Part => {
		const begunAt = part.type === 'tool' ? callsBegunAt.get(part.id) : undefined;
		const isOpen = part.type === 'tool' && (part.status === 'preparing' || part.status === 'running');
		return isOpen && begunAt !== undefined ? { ...part, elapsedMs: now - begunAt } : part;
	});
	return { ...message, parts };
}

/** Adds decisions already made about calls while others are pending. */
export async function withDecisions(store: Store, id: string, messages: readonly Message[]): Promise<Message[]> {
	const decisions = await store.approvals.decisions(id, messages.flatMap(waitingIds));
	if (decisions.size === 0) return [...messages];
	const decided = (part: Part): Part => {
		const decision = part.type === 'tool' && part.approval ? decisions.get(part.approval.interruptId) : undefined;
		return part.type === 'tool' && part.approval && decision
			? { ...part, approval: { ...part.approval, decision } }
			: part;
	};
	return messages.map((message) =>
		message.status === 'waiting' ? { ...message, parts: message.parts.map(decided) } : message
	);
}

/** The messages before this one. @throws AppError not_found */
export async function readEarlier({ store }: Parts, id: string, before: string): Promise<MessageList> {
	await refuseDeleted({ store }, id);
	return store.messages.page(id, { before, limit: PAGE });
}

/** Renames, marks, or switches the branch. @throws AppError not_found | conflict for another branch during a run */
export async function changeConversation(
	parts: Parts,
	id: string,
	{ title, show, ...marks }: z.infer<typeof conversationPatch>
): Promise<ConversationSummary> {
	const { conversations } = parts.store;
	const now = new Date().toISOString();
	if (show !== undefined) await showBranch(parts, id, show);
	if (title !== undefined) await conversations.rename(id, title, now);
	await conversations.change(id, marks, now);
	const conversation = await conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'Conversation not found.');
	parts.changes.announce(id);
	return conversation;
}

/** For what may exist without its conversation, such as files. @throws AppError `not_found` if it was deleted */
export async function refuseDeleted({ store }: Pick<Parts, 'store'>, id: string): Promise<void> {
	if (!(await store.conversations.isDeleted(id))) return;
	const details = { isDeleted: true };
	throw new AppError('not_found', 'This conversation was deleted.', { hint: 'Restore it to continue.', details });
}

/**
 * Puts something into a conversation's workspace and creates the conversation if it doesn't exist.
 * @throws AppError `not_found` if it's deleted or belongs to another key; also what `work` throws
 */
export async function putInto<Result>(
	{ store }: Pick<Parts, 'store'>,
	{ id, apiKeyId }: { id: string; apiKeyId: string | null },
	work: () => Promise<Result>
): Promise<Result> {
	const isNew = !(await store.conversations.get(id)) && !(await store.conversations.isDeleted(id));
	if (!isNew) await requireOwnConversation({ store }, apiKeyId, id);
	await refuseDeleted({ store }, id);
	const result = await work();
	if (isNew) {
		const createdAt = new Date().toISOString();
		// Without a title, it isn't listed before its first message.
		const created = store.conversations.create({ id, title: '', createdAt, apiKeyId: apiKeyId ?? undefined });
		await created.catch(async (error: unknown) => {
			// Several files of a new chat arrive at the same time.
			if (!(await store.conversations.get(id))) throw error;
			await requireOwnConversation({ store }, apiKeyId, id);
		});
	}
	return result;
}

/** Removes a message and everything after it, which can be undone for an hour. @throws AppError not_found | conflict during a run */
export async function removeMessage(parts: Parts, id: string, messageId: string): Promise<void> {
	await requireIdle(parts, id);
	const isRemoved = await parts.store.removedMessages.remove(id, messageId, new Date().toISOString());
	if (!isRemoved) throw new AppError('not_found', 'Message not found.');
	parts.changes.announce(id);
}

/** Puts back what `removeMessage` took. @throws AppError not_found after an hour | conflict during a run */
export async function restoreMessage(parts: Parts, id: string, messageId: string): Promise<void> {
	await requireIdle(parts, id);
	if (!(await parts.store.removedMessages.restore(id, messageId))) {
		const hint = 'A deleted message is kept for an hour. If the one before it was deleted later, restore that first.';
		throw new AppError('not_found', 'This message can’t be restored.', { hint });
	}
	parts.changes.announce(id);
}

/** Marks an answer as not good, or takes that back. @throws AppError not_found | conflict during a run */
export async function markMessage(parts: Parts, id: string, messageId: string, isDisliked: boolean): Promise<void> {
	await requireIdle(parts, id);
	const message = await parts.store.messages.get(id, messageId);
	if (message?.role !== 'assistant') throw new AppError('not_found', 'Message not found.');
	await parts.store.messages.update(id, { ...message, isDisliked: isDisliked || undefined });
	parts.changes.announce(id);
}

/** Switches to a message's branch. @throws AppError not_found | conflict during a run */
export async function showBranch(parts: Parts, id: string, messageId: string): Promise<void> {
	await requireIdle(parts, id);
	if (!(await parts.store.messages.show(id, messageId))) throw new AppError('not_found', 'Message not found.');
	parts.changes.announce(id);
}

const BRANCH = 'Branch of ';

/** Copies everything up to a message, and the files, into a new conversation. @throws AppError not_found */
export async function forkConversation(
	{ store, workspaces }: Parts,
	id: string,
	messageId: string
): Promise<ConversationSummary> {
	const conversation = await store.conversations.get(id);
	const message = await store.messages.get(id, messageId);
	if (!conversation || !message) throw new AppError('not_found', 'Message not found.');
	if (message.status === 'running' || message.status === 'waiting') {
		throw new AppError('conflict', 'This reply isn’t finished. Fork from an earlier message.');
	}
	const fork = await store.conversations.create({
		id: randomUUID(),
		title: branchTitle(conversation.title),
		summary: conversation.summary,
		createdAt: new Date().toISOString()
	});
	await store.messages.copy(id, messageId, fork.id);
	await store.conversationSkills.copy(id, fork.id);
	await store.conversations.change(fork.id, await store.runs.choiceOf(id), fork.createdAt);
	try {
		await workspaces.copyAll(id, fork.id, messageId);
	} catch (error) {
		// A copy without its files is useless.
		await store.conversations.remove(fork.id);
		throw error;
	}
	return fork;
}

/** A branch of a branch is one, too. */
function branchTitle(title: string): string {
	return title.startsWith(BRANCH) ? title : `${BRANCH}${title}`;
}

async function requireIdle({ store }: Parts, id: string): Promise<void> {
	const conversation = await store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'Conversation not found.');
	if (conversation.activeRunId === null) return;
	throw new AppError('conflict', 'A reply is being written. Stop it or wait until it’s done.');
}

/** Messages queued for the end of a run (F14). */
export interface Outbox {
	/** Sends a message after the current run; or at once if none and nothing is compared, and returns the id of its run. */
	enqueue(conversationId: string, message: NewMessage): Promise<string | null>;
	/**
	 * Sends a queued message before all others, ending the current run after its step. Returns the id of its run, or null if
	 * that starts later. @throws AppError `not_found` if it's no longer queued
	 */
	sendNow(conversationId: string, messageId: string): Promise<string | null>;
	/** Sends what a server that stopped between a run's end and the next message has left, now and from time to time. */
	start(): void;
	/** Before its runner is closed. */
	close(): Promise<void>;
}

/** How often the outbox looks for what another server has left. */
const LOOK_EVERY_MS = 2000;

/** Sends queued messages after each successful run. */
export function createOutbox({ store, runner, changes, log }: Omit<Parts, 'workspaces'> & { log: Log }): Outbox {
	/** Sends the first queued message; null if there is none, or a run is under way. */
	const sendNext = async (conversationId: string): Promise<string | null> => {
		const [next] = await store.queue.list(conversationId);
		if (!next) return null;
		const { id, text, files } = next;
		const runId = runIdOf(conversationId, id);
		try {
			await runner.start({ kind: 'ask', runId, conversationId, message: { id, text, files }, tools: [] });
			return runId;
		} catch (error) {
			// It stays queued: the end of that run sends it.
			if (error instanceof AppError && error.code === 'conflict') return null;
			throw error;
		}
	};
	/** What waits follows the answer that somebody chooses. */
	const isComparing = async (conversationId: string) => (await store.messages.compared(conversationId)).length > 0;
	runner.onEnd(async (conversationId, last) => {
		if (mayGoOn(last) && !(await isComparing(conversationId))) await sendNext(conversationId);
	});

	let timer: NodeJS.Timeout | undefined;
	let looking: Promise<void> | null = null;
	let isAway = false;
	const sendDue = async (conversationId: string): Promise<void> => {
		try {
			if ((await sendNext(conversationId)) !== null)
				log.info({ conversationId }, 'sent a message that was left waiting');
		} catch (error) {
			if (error instanceof AppError && error.code === 'unavailable') return;
			log.error({ conversationId, error: String(error) }, 'couldn’t send a message that was left waiting');
			// Nobody tries it again and again: it waits for a person.
			await store.queue.notDue(conversationId);
		}
	};
	const look = async (): Promise<void> => {
		try {
			for (const id of await store.queue.listDue()) await sendDue(id);
			isAway = false;
		} catch (error) {
			// Once for each time that the database is away.
			if (!isAway) log.error({ reason: String(error) }, 'couldn’t look for messages that were left waiting');
			isAway = true;
		}
	};
	const lookAgain = (): void => {
		looking ??= look().finally(() => (looking = null));
	};

	return {
		start() {
			timer = setInterval(lookAgain, LOOK_EVERY_MS);
			// Don't keep an otherwise idle process alive.
			timer.unref();
			lookAgain();
		},

		async close() {
			clearInterval(timer);
			await looking;
		},

		async enqueue(conversationId, message) {
			await store.queue.add(conversationId, { ...message, createdAt: new Date().toISOString() });
			changes.announce(conversationId);
			// Already sent, and repeated by a client that doesn't know.
			const runId = runIdOf(conversationId, message.id);
			if (await runner.get(runId)) return runId;
			if (await isComparing(conversationId)) return null;
			// The end of a run may have sent it first.
			return (await sendNext(conversationId)) ?? ((await runner.get(runId)) ? runId : null);
		},

		async sendNow(conversationId, messageId) {
			const isWaiting = await store.queue.moveToFront(conversationId, messageId);
			if (!isWaiting) throw new AppError('not_found', 'This message is no longer waiting.');
			changes.announce(conversationId);
			await runner.askToYield(conversationId);
			return sendNext(conversationId);
		}
	};
}

/** The same id for everyone who might send it; unique across conversations. */
function runIdOf(conversationId: string, messageId: string): string {
	return `queued-${hash('sha256', `${conversationId}\n${messageId}`).slice(0, 40)}`;
}
