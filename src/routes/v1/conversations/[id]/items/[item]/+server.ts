import { door } from '$lib/server/endpoint.ts';

export const GET = door<'id' | 'item'>('Responses API', 'read', ({ app, caller, params }) =>
	app.responseConversations.item(params.id, params.item, caller)
);

export const DELETE = door<'id' | 'item'>('Responses API', 'execute', ({ app, caller, params }) =>
	app.responseConversations.removeItem(params.id, params.item, caller)
);
