/** A conversation as a whole: its messages, its run under way, its files. */
import type { ConversationDetail } from '../../shared/api.ts';
import { AppError } from '../../shared/errors.ts';
import type { Store } from '../store/store.ts';
import type { Runner } from './runner.ts';
import type { Workspaces } from './workspaces.ts';

interface Parts {
	store: Store;
	runner: Runner;
	workspaces: Workspaces;
}

/** The conversation with its live answer as far as it has come. @throws AppError not_found */
export async function readConversation({ store, runner }: Parts, id: string): Promise<ConversationDetail> {
	const messages = await store.messages.list(id);
	const conversation = await store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'There is no such conversation.');
	// Memory is ahead of the database: message and cursor are taken together, after the reads.
	const live = conversation.activeRunId === null ? null : runner.live(conversation.activeRunId);
	if (!live) return { ...conversation, messages, cursor: 0 };
	const isKnown = messages.some((message) => message.id === live.message.id);
	const current = isKnown
		? messages.map((message) => (message.id === live.message.id ? live.message : message))
		: [...(await store.messages.list(id)).filter((message) => message.id !== live.message.id), live.message];
	return { ...conversation, messages: current, cursor: live.seq };
}

/** Stops its run, then removes messages and files. @throws AppError not_found */
export async function removeConversation({ store, runner, workspaces }: Parts, id: string): Promise<void> {
	const conversation = await store.conversations.get(id);
	if (!conversation) throw new AppError('not_found', 'There is no such conversation.');
	if (conversation.activeRunId) await runner.stop(conversation.activeRunId);
	await store.conversations.remove(id);
	await workspaces.removeAll(id);
}
