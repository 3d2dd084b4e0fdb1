import { door } from '$lib/server/endpoint.ts';
import { MAX_BYTES_WITH_FILES, readAnyJson } from '$lib/server/http.ts';

export const GET = door<'id'>('Responses API', 'read', ({ app, caller, params, url }) =>
	app.responseConversations.items(params.id, caller, url.searchParams)
);

export const POST = door<'id'>('Responses API', 'execute', async ({ app, caller, params, request }) => {
	const body = await readAnyJson(request, { maxBytes: MAX_BYTES_WITH_FILES });
	return app.responseConversations.addItems(params.id, body, caller, request.signal);
});
