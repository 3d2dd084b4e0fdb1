import { door } from '$lib/server/endpoint.ts';
import { eventStream, readAnyJson, whileConnected } from '$lib/server/http.ts';

/** Files are embedded in the body as base64, which adds a third. */
const MAX_BYTES = 48 * 1024 * 1024;

export const POST = door('Chat Completions', 'execute', async (event) => {
	const { app, caller, request } = event;
	const gone = new AbortController();
	const leaveWith = (signal: AbortSignal) => {
		signal.addEventListener('abort', () => gone.abort(signal.reason), { once: true });
	};
	const body = await readAnyJson(request, { maxBytes: MAX_BYTES });
	leaveWith(request.signal);
	// OpenRouter’s name for it (opencode’s, too), and Open WebUI’s.
	const sessionId = request.headers.get('x-session-id') ?? request.headers.get('x-openwebui-chat-id');
	const answer = await app.chatCompletions.answer(body, caller, { signal: gone.signal, sessionId });
	if (!answer.streams) {
		return whileConnected(event, (left) => {
			leaveWith(left);
			return answer.completion();
		});
	}
	return eventStream(app.log, (signal) => {
		const chunks = answer.chunks();
		leaveWith(signal);
		// Nobody requests the next chunk any more, so end the generator to run its cleanup.
		signal.addEventListener('abort', () => void chunks.return(undefined), { once: true });
		return chunks;
	});
});
