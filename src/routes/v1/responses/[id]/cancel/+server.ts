import { door } from '$lib/server/endpoint.ts';

export const POST = door<'id'>('Responses API', 'execute', ({ app, caller, params }) =>
	app.responses.cancel(params.id, caller)
);
