import { messagePatch } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { markMessage, removeMessage, restoreMessage } from '$lib/server/conversations/conversations.ts';

export const DELETE = endpoint({
	id: 'deleteMessage',
	tag: 'Conversations',
	summary: 'Delete a message and everything after it; it can be restored for an hour',
	params: { ...OF_CONVERSATION, message: 'ID of the message.' },
	answer: null,
	errors: ['conflict'],
	handler: ({ app, params }) => removeMessage(app, params.id, params.message)
});

export const POST = endpoint({
	id: 'restoreMessage',
	tag: 'Conversations',
	summary: 'Restore a deleted message and everything after it',
	params: { ...OF_CONVERSATION, message: 'ID of the deleted message.' },
	answer: null,
	errors: ['conflict'],
	handler: ({ app, params }) => restoreMessage(app, params.id, params.message)
});

export const PATCH = endpoint({
	id: 'changeMessage',
	tag: 'Conversations',
	summary: 'Mark an answer as not good, or take that back',
	description: 'Marked answers are read when a skill that they used is improved.',
	params: { ...OF_CONVERSATION, message: 'ID of the answer.' },
	body: messagePatch,
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, params, body }) => markMessage(app, params.id, params.message, (await body()).isDisliked)
});
