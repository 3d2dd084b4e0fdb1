import { door } from '$lib/server/endpoint.ts';

/** Model ids contain slashes. */
export const GET = door<'id'>('Responses API', 'read', ({ app, params, request }) =>
	app.responses.model(params.id, request.signal)
);
