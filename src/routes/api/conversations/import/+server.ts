import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { MAX_FILE_BYTES } from '$lib/shared/conversation-file.ts';
import { importConversation } from '$lib/server/runs/conversation-import.ts';
import { api, readAnyJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const body = await readAnyJson(request, MAX_FILE_BYTES);
	return json(await importConversation(locals.app.store, body), { status: 201 });
});
