import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { removeMessage } from '$lib/server/conversations/conversations.ts';

export const DELETE = endpoint({
	id: 'deleteMessage',
	tag: 'Conversations',
	summary: 'Deletes a message and what follows it',
	params: { ...OF_CONVERSATION, message: 'Of a message.' },
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, params }) => {
		await removeMessage(app, params.id, params.message);
	}
});
