import { queuedMessagePatch } from '$lib/shared/api.ts';
import { endpoint, OF_CONVERSATION } from '$lib/server/endpoint.ts';
import { AppError } from '$lib/shared/errors.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';

const gone = () => new AppError('not_found', 'This message is no longer waiting.');

export const PATCH = endpoint({
	id: 'changeQueuedMessage',
	tag: 'Conversations',
	summary: 'Edit a queued message',
	params: { ...OF_CONVERSATION, message: 'ID of the message.' },
	body: queuedMessagePatch,
	example: { text: 'Count the words of “the quick brown fox”' },
	answer: null,
	handler: async ({ app, params, body }) => {
		const { store, changes } = app;
		const { text } = await body();
		await refuseDeleted(app, params.id);
		if (!(await store.queue.edit(params.id, params.message, text))) throw gone();
		changes.announce(params.id);
	}
});

export const DELETE = endpoint({
	id: 'deleteQueuedMessage',
	tag: 'Conversations',
	summary: 'Delete a queued message',
	params: { ...OF_CONVERSATION, message: 'ID of the message.' },
	answer: null,
	handler: async ({ app, params }) => {
		const { store, changes } = app;
		await refuseDeleted(app, params.id);
		if (!(await store.queue.remove(params.id, params.message))) throw gone();
		changes.announce(params.id);
	}
});
