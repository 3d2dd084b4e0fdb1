import { queuedMessageCreate, runStarted } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { checkedMessage } from '$lib/server/conversations/agui-input.ts';

export const POST = endpoint({
	id: 'queueMessage',
	tag: 'Conversations',
	summary: 'Queue a message',
	params: OF_CONVERSATION,
	body: queuedMessageCreate,
	example: { id: 'message-2', text: 'Count the words of “the quick brown fox”' },
	status: 202,
	answer: runStarted.describe('The answer that has begun, or null.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const message = checkedMessage(await body());
		return { runId: await app.outbox.enqueue(params.id, message) };
	}
});
