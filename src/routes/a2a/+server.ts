import { door } from '$lib/server/endpoint.ts';
import { version as release } from '$app/environment';
import { ownOrigin } from '$lib/server/access/door.ts';
import { eventStream } from '$lib/server/http.ts';
import { MAX_A2A_BYTES } from '$lib/server/protocols/a2a/a2a.ts';
import { readText } from '$lib/server/read-text.ts';

export const POST = door('A2A', 'execute', async ({ app, caller, request }) => {
	const { a2a, config } = app;
	const leave = new AbortController();
	const answer = await a2a.answer(() => readText(request, MAX_A2A_BYTES), {
		asker: caller,
		origin: ownOrigin(request.headers, config),
		release,
		version: request.headers.get('a2a-version'),
		signal: AbortSignal.any([request.signal, leave.signal])
	});
	if ('json' in answer) return answer.json;
	return eventStream(app.log, (signal) => {
		signal.addEventListener('abort', () => leave.abort(), { once: true });
		return answer.frames;
	});
});
