import { door } from '$lib/server/endpoint.ts';
import { MAX_BYTES_WITH_FILES, readAnyJson } from '$lib/server/http.ts';

export const POST = door('Responses API', 'execute', async ({ app, caller, request }) => {
	const body = await readAnyJson(request, { maxBytes: MAX_BYTES_WITH_FILES });
	return app.responseConversations.create(body, caller, request.signal);
});
