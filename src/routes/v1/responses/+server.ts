import { door } from '$lib/server/endpoint.ts';
import {
	eventStream,
	MAX_BYTES_WITH_FILES,
	readAnyJson,
	responseEventFrames,
	whileConnected
} from '$lib/server/http.ts';
import { collect } from '$lib/server/protocols/responses/responses-api.ts';

export const POST = door('Responses API', 'execute', async (event) => {
	const { app, caller, request } = event;
	const gone = new AbortController();
	const body = await readAnyJson(request, { maxBytes: MAX_BYTES_WITH_FILES });
	request.signal.addEventListener('abort', () => gone.abort(request.signal.reason), { once: true });
	const { streams, events } = await app.responses.respond(body, caller, gone.signal);
	if (!streams) {
		return whileConnected(event, (left) => {
			left.addEventListener('abort', () => gone.abort(left.reason), { once: true });
			return collect(events);
		});
	}
	return eventStream(app.log, (signal) => {
		const leave = () => {
			gone.abort(signal.reason);
			// Nobody requests the next event any more, so end the generator to run its cleanup.
			void events.return(undefined);
		};
		signal.addEventListener('abort', leave, { once: true });
		return responseEventFrames(events);
	});
});
