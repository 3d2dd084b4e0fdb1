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
	summary: 'List conversations, pinned and newest first',
	description:
		'`q` finds conversations with it in the title, or with a message that has all its words (the last one may be ' +
		'unfinished). A `snippet` shows the newest message found, with its ID. Deleted conversations aren’t listed.',
	query: conversationQuery.extend(pageQuery.shape),
	answer: conversationList.describe('One page.'),
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
	summary: 'Create a conversation',
	body: conversationCreate,
	example: { title: 'Word counts' },
	status: 201,
	answer: conversationSummary.describe('The conversation.'),
	handler: async ({ app, body }) => {
		const { title } = await body();
		const createdAt = new Date().toISOString();
		const conversation = { id: randomUUID(), title: title ?? UNTITLED, createdAt };
		return app.store.conversations.create(conversation);
	}
});
