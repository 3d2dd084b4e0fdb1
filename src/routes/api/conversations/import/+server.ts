import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { MAX_FILE_BYTES } from '$lib/shared/conversation-file.ts';
import { importConversation } from '$lib/server/conversations/import.ts';
import { api, readAnyJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const problem = 'This is not a conversation that can be imported: choose a file that was exported as JSON.';
	const body = await readAnyJson(request, { maxBytes: MAX_FILE_BYTES, problem });
	return json(await importConversation(locals.app.store, body), { status: 201 });
});
