/** What a program's key may see of conversations and runs: those that it began (FEATURES E18). */
import { AppError } from '../../shared/errors.ts';
import type { RunRecord } from '../store/run-row.ts';
import type { Store } from '../store/store.ts';

interface Parts {
	store: Pick<Store, 'conversations' | 'runs'>;
}

/** `apiKeyId` is null for whoever manages the server, and may see all. @throws AppError `not_found` */
export async function requireOwnConversation(parts: Parts, apiKeyId: string | null, id: string): Promise<void> {
	if (apiKeyId === null || (await parts.store.conversations.apiKeyOf(id)) === apiKeyId) return;
	throw new AppError('not_found', 'There is no such conversation.');
}

/** @throws AppError `not_found` */
export async function requireOwnRun(parts: Parts, apiKeyId: string | null, id: string): Promise<RunRecord> {
	const run = await parts.store.runs.get(id);
	const isOwn =
		run && (apiKeyId === null || (await parts.store.conversations.apiKeyOf(run.conversationId)) === apiKeyId);
	if (!run || !isOwn) throw new AppError('not_found', 'There is no such run.');
	return run;
}
