/** Deleted conversations: restorable for a while, then deleted permanently with their files. */
import type { ConversationSummary, DeletedConversation } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { ConversationChanges } from '../runs/conversation-changes.ts';
import type { Runner } from '../runs/runner.ts';
import type { Workspaces } from '../workspaces.ts';

/** As long as a removed skill. */
const KEEP_MS = 30 * 24 * 60 * 60_000;
/** As long as a deleted file of a conversation. */
const KEEP_MESSAGES_MS = 60 * 60_000;
const PURGE_EVERY_MS = 60_000;

interface Parts {
	store: Store;
	runner: Pick<Runner, 'stop'>;
	workspaces: Pick<Workspaces, 'removeAll'>;
	changes: ConversationChanges;
	/** This server, among others. */
	replica: { readonly id: string };
	log: Log;
	/** Called for each that is gone for good, or couldn’t be deleted. */
	onPurged?: (outcome: 'success' | 'error') => void;
	/** Milliseconds since 1970. */
	now?: () => number;
}

/** Purges at once what is left from an earlier start, then every minute. */
export function openConversationTrash(parts: Parts) {
	const { store, runner, workspaces, changes, replica, log, onPurged, now = Date.now } = parts;
	const { conversations } = store;
	let isClosed = false;
	let purging = Promise.resolve();
	/** Runs being stopped, which still write files. */
	const stopping = new Map<string, Promise<unknown>>();

	/** Files before rows: if it fails in between, the row still says what to delete. */
	const removeForGood = async (id: string): Promise<void> => {
		try {
			await stopping.get(id);
			await workspaces.removeAll(id);
			await conversations.remove(id);
			onPurged?.('success');
		} catch (error) {
			log.error({ conversationId: id, error: String(error) }, 'couldn’t permanently delete a conversation');
			onPurged?.('error');
		}
	};
	const purgeNow = async (): Promise<void> => {
		try {
			await store.removedMessages.forget(new Date(now() - KEEP_MESSAGES_MS).toISOString());
			const until = new Date(now() - KEEP_MS).toISOString();
			const claimed = await conversations.claimDeleted(until, replica.id);
			if (claimed.length > 0) log.info({ conversations: claimed.length }, 'permanently deleting old conversations');
			for (const id of claimed) {
				if (isClosed) return;
				await removeForGood(id);
			}
		} catch (error) {
			log.error({ error: String(error) }, 'couldn’t permanently delete old conversations');
		}
	};
	const purge = (): Promise<void> => (purging = purging.then(() => (isClosed ? undefined : purgeNow())));
	const timer = setInterval(() => void purge(), PURGE_EVERY_MS);
	// Don't keep an otherwise idle process alive.
	timer.unref();
	void purge();

	return {
		/** Blocks new runs, then stops the current one. @throws AppError not_found */
		async remove(id: string): Promise<void> {
			const marked = await conversations.markDeleted(id, new Date(now()).toISOString());
			if (!marked) throw new AppError('not_found', 'Conversation not found.');
			// Before the run ends: listeners to that end would read what is gone.
			changes.announce(id);
			const stop = Promise.all(marked.runIds.map((runId) => runner.stop(runId)));
			stopping.set(id, stop);
			await stop.finally(() => stopping.delete(id));
		},

		/** Restorable conversations, last deleted first. `total` counts all. */
		async list(page: { page: number; limit: number }): Promise<{ data: DeletedConversation[]; total: number }> {
			const { data, total } = await conversations.listDeleted(page);
			const expiresAt = (deletedAt: string) => new Date(Date.parse(deletedAt) + KEEP_MS).toISOString();
			return { data: data.map((each) => ({ ...each, expiresAt: expiresAt(each.deletedAt) })), total };
		},

		/** Deletes it permanently now. @throws AppError `not_found` if it's gone or was restored */
		async removeForGood(id: string): Promise<void> {
			const [claimed] = await conversations.claimDeleted(new Date(now()).toISOString(), replica.id, id);
			if (claimed === undefined) {
				throw new AppError(
					'not_found',
					'This chat isn’t in the trash any more. It was restored or deleted permanently.'
				);
			}
			// After a purge under way, which may be deleting the same one.
			await (purging = purging.then(() => removeForGood(id)));
		},

		/** Also accepts one that isn't deleted. @throws AppError `not_found` if it's gone for good */
		async restore(id: string): Promise<ConversationSummary> {
			const conversation = (await conversations.restore(id)) ? await conversations.get(id) : null;
			if (!conversation) {
				throw new AppError('not_found', 'This chat can’t be restored: it was deleted permanently.');
			}
			changes.announce(id);
			return conversation;
		},

		/** Permanently deletes conversations deleted 30 days ago, and messages deleted an hour ago. Never rejects: errors are logged and retried next time. */
		purge,

		/** Stops the timer and waits for a purge under way. */
		async close(): Promise<void> {
			isClosed = true;
			clearInterval(timer);
			await purging;
		}
	};
}

export type ConversationTrash = ReturnType<typeof openConversationTrash>;
