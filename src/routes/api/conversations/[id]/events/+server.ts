import { endpoint, OF_CONVERSATION, events } from '$lib/server/endpoint.ts';
import { eventStream } from '$lib/server/http.ts';

/**
 * Sends whether the conversation is deleted, at once and after each change; listeners then read it again. Deleted ones can be
 * followed too, since they may be restored.
 */
export const GET = endpoint({
	id: 'followConversation',
	tag: 'Conversations',
	summary: 'Follow changes to a conversation',
	description: 'Works for deleted conversations, too: they may be restored.',
	params: OF_CONVERSATION,
	answer: events('A `change` event at once and after each change, with `isDeleted`.'),
	handler: ({ app, params: { id } }) => {
		const { changes, store } = app;
		return eventStream(app.log, async function* (signal) {
			const changed = changes.follow(id, signal);
			for (;;) {
				// Subscribe before reading, so that no change is missed in between.
				const next = changed.next();
				const isDeleted = (await store.conversations.get(id)) === null;
				yield `event: change\ndata: ${JSON.stringify({ isDeleted })}\n\n`;
				if ((await next).done) return;
			}
		});
	}
});
