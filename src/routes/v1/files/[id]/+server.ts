import { door } from '$lib/server/endpoint.ts';

export const GET = door<'id'>('Responses API', 'read', ({ app, caller, params }) =>
	app.files.retrieve(params.id, caller)
);

export const DELETE = door<'id'>('Responses API', 'execute', ({ app, caller, params }) =>
	app.files.remove(params.id, caller)
);
