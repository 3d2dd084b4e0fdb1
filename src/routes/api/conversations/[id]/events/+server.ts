import type { RequestHandler } from './$types';
import { api, eventStream } from '$lib/server/http.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';

/** Says that something in the conversation has changed, no more: whoever hears it reads it again. */
export const GET: RequestHandler = api(async ({ params, locals }) => {
	await refuseDeleted(locals.app, params.id);
	return eventStream(async function* (signal) {
		for await (const _change of locals.app.changes.follow(params.id, signal)) yield 'event: change\ndata: {}\n\n';
	});
});
