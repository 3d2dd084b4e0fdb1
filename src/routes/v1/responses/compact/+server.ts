import { door } from '$lib/server/endpoint.ts';
import { MAX_BYTES_WITH_FILES, readAnyJson, whileConnected } from '$lib/server/http.ts';

export const POST = door('Responses API', 'execute', async (event) => {
	const { app, caller } = event;
	const body = await readAnyJson(event.request, { maxBytes: MAX_BYTES_WITH_FILES });
	return whileConnected(event, (signal) => app.responses.compact(body, caller, signal));
});
