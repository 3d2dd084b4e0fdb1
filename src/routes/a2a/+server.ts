import { json } from '@sveltejs/kit';
import { version as release } from '$app/environment';
import type { RequestHandler } from './$types';
import { ownOrigin } from '$lib/server/access/door.ts';
import { api, eventStream } from '$lib/server/http.ts';
import { MAX_A2A_BYTES } from '$lib/server/protocols/a2a/a2a.ts';
import { readText } from '$lib/server/read-text.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { a2a, config } = locals.app;
	const leave = new AbortController();
	const answer = await a2a.answer(() => readText(request, MAX_A2A_BYTES), {
		asker: locals.caller,
		origin: ownOrigin(request.headers, config),
		release,
		version: request.headers.get('a2a-version'),
		signal: AbortSignal.any([request.signal, leave.signal])
	});
	if ('json' in answer) return json(answer.json);
	return eventStream((signal) => {
		signal.addEventListener('abort', () => leave.abort(), { once: true });
		return answer.frames;
	});
});
