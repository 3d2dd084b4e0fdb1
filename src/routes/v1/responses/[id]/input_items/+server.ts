import { door } from '$lib/server/endpoint.ts';

export const GET = door<'id'>('Responses API', 'read', ({ app, caller, params, url }) =>
	app.responses.inputItems(params.id, caller, url.searchParams)
);
