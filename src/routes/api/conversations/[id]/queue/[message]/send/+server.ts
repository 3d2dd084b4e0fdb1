import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { api } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, locals }) => {
	await refuseDeleted(locals.app, params.id);
	return json({ runId: await locals.app.outbox.sendNow(params.id, params.message) }, { status: 202 });
});
