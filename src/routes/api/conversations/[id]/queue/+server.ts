import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { queuedMessageCreate } from '$lib/shared/api.ts';
import { checkedMessage } from '$lib/server/conversations/agui-input.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const message = checkedMessage(await readJson(request, queuedMessageCreate));
	return json({ runId: await locals.app.outbox.enqueue(params.id, message) }, { status: 202 });
});
