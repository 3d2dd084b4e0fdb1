import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { removeMessage } from '$lib/server/conversations/conversations.ts';

export const DELETE = endpoint({
	id: 'deleteMessage',
	tag: 'Conversations',
	summary: 'Delete a message and everything after it',
	params: { ...OF_CONVERSATION, message: 'ID of the message.' },
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, params }) => {
		await removeMessage(app, params.id, params.message);
	}
});
