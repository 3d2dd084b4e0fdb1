/** Messages that wait for the end of a run, and how they are sent (F14). */
import { hash } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent } from '../../shared/events.ts';
import type { Store } from '../store/store.ts';
import type { ConversationChanges } from '../runs/conversation-changes.ts';
import type { NewMessage } from '../turns/run-request.ts';
import type { Runner } from '../runs/runner.ts';

export interface Outbox {
	/** Sends a message when the run that is under way has ended, or at once: then the id of its run is returned. */
	enqueue(conversationId: string, message: NewMessage): Promise<string | null>;
	/**
	 * Sends a message that waits before all others: a run that is under way ends after the step that it is in. Returns the
	 * id of its run, null when that starts later. @throws AppError `not_found` when it waits no more
	 */
	sendNow(conversationId: string, messageId: string): Promise<string | null>;
}

interface Parts {
	store: Store;
	runner: Runner;
	changes: ConversationChanges;
}

/** From here on what waits is sent when a run has ended well. */
export function createOutbox({ store, runner, changes }: Parts): Outbox {
	/** Sends the first message that waits; null when none does, or a run is under way. */
	const sendNext = async (conversationId: string): Promise<string | null> => {
		const [next] = await store.queue.list(conversationId);
		if (!next) return null;
		const { id, text, files } = next;
		const runId = runIdOf(conversationId, id);
		try {
			await runner.start({ kind: 'ask', runId, conversationId, message: { id, text, files }, tools: [] });
			return runId;
		} catch (error) {
			// It goes on waiting: the end of that run sends it.
			if (error instanceof AppError && error.code === 'conflict') return null;
			throw error;
		}
	};
	runner.onEnd(async (conversationId, last) => {
		if (isGood(last)) await sendNext(conversationId);
	});

	return {
		async enqueue(conversationId, message) {
			await store.queue.add(conversationId, { ...message, createdAt: new Date().toISOString() });
			changes.announce(conversationId);
			// Sent before, and told again by somebody who has not heard of it.
			const runId = runIdOf(conversationId, message.id);
			if (await runner.get(runId)) return runId;
			return sendNext(conversationId);
		},

		async sendNow(conversationId, messageId) {
			const isWaiting = await store.queue.moveToFront(conversationId, messageId);
			if (!isWaiting) throw new AppError('not_found', 'This message does not wait any more.');
			changes.announce(conversationId);
			runner.askToYield(conversationId);
			return sendNext(conversationId);
		}
	};
}

/** One id for all who may come to send it; of another conversation's message with the same id, another. */
function runIdOf(conversationId: string, messageId: string): string {
	return `queued-${hash('sha256', `${conversationId}\n${messageId}`).slice(0, 40)}`;
}

/** After such an end the next message may follow without anybody having looked. */
function isGood(last: RunEvent): boolean {
	if (last.type !== 'RUN_FINISHED' || last.outcome?.type !== 'success') return false;
	// A program is at work for this answer: what is said next waits for what that brings.
	return last.result === undefined && !last.outcome.pendingToolCallIds?.length;
}
