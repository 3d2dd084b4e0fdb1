import { endpoint, OF_CONVERSATION, events } from '$lib/server/endpoint.ts';
import { eventStream } from '$lib/server/http.ts';

/**
 * Says at once, and whenever something in the conversation has changed, whether it is deleted, no more: whoever hears it
 * reads it again. A deleted one is followed too, for it may be restored.
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
		return eventStream(async function* (signal) {
			const changed = changes.follow(id, signal);
			for (;;) {
				// Listened for before it is read, so that nothing changes unheard between the two.
				const next = changed.next();
				const isDeleted = (await store.conversations.get(id)) === null;
				yield `event: change\ndata: ${JSON.stringify({ isDeleted })}\n\n`;
				if ((await next).done) return;
			}
		});
	}
});
