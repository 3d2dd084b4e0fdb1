import type { RequestHandler } from './$types';
import { queuedMessagePatch } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { api, readJson } from '$lib/server/http.ts';

const gone = () => new AppError('not_found', 'This message does not wait any more.');

export const PATCH: RequestHandler = api(async ({ params, request, locals }) => {
	const { store, changes } = locals.app;
	const { text } = await readJson(request, queuedMessagePatch);
	await refuseDeleted(locals.app, params.id);
	if (!(await store.queue.edit(params.id, params.message, text))) throw gone();
	changes.announce(params.id);
	return new Response(null, { status: 204 });
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	const { store, changes } = locals.app;
	await refuseDeleted(locals.app, params.id);
	if (!(await store.queue.remove(params.id, params.message))) throw gone();
	changes.announce(params.id);
	return new Response(null, { status: 204 });
});
