import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';
import { readAnyJson, whileConnected } from '$lib/server/http.ts';

/** Files are embedded in the body as base64, which adds a third. */
const MAX_BYTES = 48 * 1024 * 1024;

export const POST = door('Responses API', 'execute', async (event) => {
	const { app, caller } = event;
	const body = await readAnyJson(event.request, { maxBytes: MAX_BYTES });
	return json(await whileConnected(event, (signal) => app.responses.compact(body, caller, signal)));
});
