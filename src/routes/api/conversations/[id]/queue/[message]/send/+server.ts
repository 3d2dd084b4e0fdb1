import { runStarted } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';

export const POST = endpoint({
	id: 'sendQueuedMessage',
	tag: 'Conversations',
	summary: 'Send a queued message now',
	params: { ...OF_CONVERSATION, message: 'ID of the message.' },
	status: 202,
	answer: runStarted.describe('The answer that has begun, or null.'),
	errors: ['conflict'],
	handler: async ({ app, params }) => {
		await refuseDeleted(app, params.id);
		return { runId: await app.outbox.sendNow(params.id, params.message) };
	}
});
