/** Notifies open pages of changes in a conversation: runs, queued messages (F14); and checks API keys' access to them. */
import { AppError } from '../../shared/errors.ts';
import type { Replica } from '../replica.ts';
import type { RunRecord } from '../store/chat/runs.ts';
import type { Store } from '../store/store.ts';

/** Pages at other servers that have the conversation open hear of it, too. */
export function createConversationChanges(replica: Pick<Replica, 'tell' | 'hear'>) {
	const followers = new Map<string, Set<() => void>>();
	const wakeAll = (ids: Iterable<string>): void => {
		for (const id of ids) for (const wake of followers.get(id) ?? []) wake();
	};
	replica.hear('conversation', (ids) => wakeAll(ids.length > 0 ? ids : [...followers.keys()]));
	return {
		announce(conversationId: string): void {
			wakeAll([conversationId]);
			replica.tell('conversation', [conversationId]);
		},
		/** Yields after changes; several changes before the next read count as one. Ends with the signal. */
		async *follow(conversationId: string, signal: AbortSignal): AsyncGenerator<void> {
			const of = followers.get(conversationId) ?? new Set();
			followers.set(conversationId, of);
			let hasChanged = false;
			let resume: (() => void) | undefined;
			const wake = () => {
				hasChanged = true;
				resume?.();
			};
			const onAbort = () => resume?.();
			of.add(wake);
			signal.addEventListener('abort', onAbort, { once: true });
			try {
				while (!signal.aborted) {
					if (!hasChanged) await new Promise<void>((resolve) => (resume = resolve));
					if (signal.aborted) return;
					hasChanged = false;
					yield;
				}
			} finally {
				signal.removeEventListener('abort', onAbort);
				of.delete(wake);
				if (of.size === 0) followers.delete(conversationId);
			}
		}
	};
}

export type ConversationChanges = ReturnType<typeof createConversationChanges>;

interface Parts {
	store: Pick<Store, 'conversations' | 'runs'>;
}

/** A key sees only conversations it created; null, the owner, sees all (E18). @throws AppError `not_found` */
export async function requireOwnConversation(parts: Parts, apiKeyId: string | null, id: string): Promise<void> {
	if (apiKeyId === null || (await parts.store.conversations.apiKeyOf(id)) === apiKeyId) return;
	throw new AppError('not_found', 'Conversation not found.');
}

/** @throws AppError `not_found` */
export async function requireOwnRun(parts: Parts, apiKeyId: string | null, id: string): Promise<RunRecord> {
	const run = await parts.store.runs.get(id);
	if (run && (apiKeyId === null || (await parts.store.conversations.apiKeyOf(run.conversationId)) === apiKeyId))
		return run;
	throw new AppError('not_found', 'Run not found.');
}
