import { door } from '$lib/server/endpoint.ts';
import { eventStream, responseEventFrames } from '$lib/server/http.ts';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params, url: { searchParams } }) => {
	if (searchParams.get('stream') === 'true') {
		const follow = await app.responses.follow(params.id, caller, searchParams.get('starting_after'));
		return eventStream(app.log, (signal) => responseEventFrames(follow(signal)));
	}
	const shows = [...searchParams.getAll('include'), ...searchParams.getAll('include[]')];
	return app.responses.retrieve(params.id, caller, shows);
});

export const DELETE = door<'id'>('Responses API', 'execute', ({ app, caller, params }) =>
	app.responses.remove(params.id, caller)
);
