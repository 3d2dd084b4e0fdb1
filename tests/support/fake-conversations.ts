/** Fake chats: does what the server does, on a list the test can see and change. */
import { ApiError } from '../../src/lib/page/request.ts';
import type { ConversationPatch } from '../../src/lib/page/server.ts';
import type { ConversationsClient } from '../../src/lib/page/sidebar/conversations.svelte.ts';
import type { ConversationSummary } from '../../src/lib/shared/api.ts';

export interface FakeConversations extends ConversationsClient {
	/** As on the server, in its order. */
	all: ConversationSummary[];
	deleted: ConversationSummary[];
	/** Changes as `[method, ...arguments]`, in order. */
	calls: unknown[][];
	/** Each fails one call, searches included; with none left they succeed. */
	failures: ApiError[];
	/** Searches with words wait for this promise. */
	gate: Promise<void> | null;
	searches: string[];
}

export function sampleConversation(id: string, more: Partial<ConversationSummary> = {}): ConversationSummary {
	const time = new Date().toISOString();
	return {
		...{ id, title: `Title of ${id}`, createdAt: time, updatedAt: time, activeRunId: null },
		...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: false },
		...more
	};
}

export function createFakeConversations(all: ConversationSummary[] = []): FakeConversations {
	const fail = (): void => {
		const failure = fake.failures.shift();
		if (failure) throw failure;
	};
	const find = (list: ConversationSummary[], id: string): ConversationSummary => {
		const found = list.find((conversation) => conversation.id === id);
		if (!found) throw new ApiError('not_found', 'Conversation not found.');
		return found;
	};
	const fake: FakeConversations = {
		all,
		deleted: [],
		calls: [],
		failures: [],
		gate: null,
		searches: [],
		searchConversations: async ({ q = '', page = 1, limit = 50, archived = false }, signal) => {
			if (q !== '') {
				fake.searches.push(q);
				await fake.gate;
				if (signal?.aborted) throw signal.reason;
				fail();
			}
			const matching = fake.all.filter(
				({ title, snippet, isArchived }) =>
					isArchived === archived && `${title} ${snippet?.text ?? ''}`.toLowerCase().includes(q.toLowerCase())
			);
			const data = matching.slice((page - 1) * limit, page * limit);
			return { data: q === '' ? data.map((one) => ({ ...one })) : data, total: matching.length, page, limit };
		},
		changeConversation: async (id, patch: ConversationPatch) => {
			fake.calls.push(['patch', id, patch]);
			fail();
			const changed = { ...find(fake.all, id), ...(patch as Partial<ConversationSummary>) };
			fake.all = fake.all.map((conversation) => (conversation.id === id ? changed : conversation));
			return changed;
		},
		startDraft: async () => {
			throw new ApiError('unavailable', 'There is no server here.');
		},
		removeConversation: async (id) => {
			fake.calls.push(['remove', id]);
			fail();
			fake.deleted.push(find(fake.all, id));
			fake.all = fake.all.filter((conversation) => conversation.id !== id);
		},
		restoreConversation: async (id) => {
			fake.calls.push(['restore', id]);
			fail();
			const back = find(fake.deleted, id);
			fake.deleted = fake.deleted.filter((conversation) => conversation.id !== id);
			fake.all = [...fake.all, back];
			return back;
		},
		listDeletedConversations: async ({ page, limit }) => {
			fail();
			const deletedAt = new Date().toISOString();
			const expiresAt = new Date(Date.now() + 30 * 86_400_000).toISOString();
			const data = fake.deleted.map(({ id, title }) => ({ id, title, deletedAt, expiresAt })).reverse();
			return { data: data.slice((page - 1) * limit, page * limit), total: data.length, page, limit };
		},
		deleteTrashedConversation: async (id) => {
			fake.calls.push(['delete for good', id]);
			fail();
			find(fake.deleted, id);
			fake.deleted = fake.deleted.filter((conversation) => conversation.id !== id);
		},
		conversationExportUrl: (id, format) => `/api/conversations/${id}/export?format=${format}`,
		importConversation: async (file) => {
			fake.calls.push(['import', await file.text()]);
			fail();
			const imported = sampleConversation('imported', { title: 'From a file' });
			fake.all = [imported, ...fake.all];
			return imported;
		}
	};
	return fake;
}
