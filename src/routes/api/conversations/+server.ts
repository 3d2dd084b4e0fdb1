import {
	conversationQuery,
	pageQuery,
	conversationList,
	conversationCreate,
	conversationSummary
} from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { randomUUID } from 'node:crypto';
import { UNTITLED } from '$lib/server/runs/runner.ts';

export const GET = endpoint({
	id: 'listConversations',
	tag: 'Conversations',
	summary: 'Lists conversations, pinned ones first, then the latest',
	description:
		'With `q`: those whose title has it, or one of whose messages has all its words, the last of them perhaps only ' +
		'begun. Where a message was found there is a `snippet` of the newest one, with its id. Deleted ones are not listed.',
	query: conversationQuery.extend(pageQuery.shape),
	answer: conversationList.describe('A page of them.'),
	handler: async ({ app, query }) => {
		const { page, limit, q, archived } = query;
		const asked = { page, limit, isArchived: archived === 'true', query: q || undefined };
		const found = await app.store.conversations.list(asked);
		return { ...found, page, limit };
	}
});

export const POST = endpoint({
	id: 'createConversation',
	tag: 'Conversations',
	summary: 'Begins a conversation',
	body: conversationCreate,
	status: 201,
	answer: conversationSummary.describe('The conversation.'),
	handler: async ({ app, body }) => {
		const { title } = await body();
		const createdAt = new Date().toISOString();
		const conversation = { id: randomUUID(), title: title ?? UNTITLED, createdAt };
		return app.store.conversations.create(conversation);
	}
});
