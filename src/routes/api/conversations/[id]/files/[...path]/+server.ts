import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { checkConversationId } from '$lib/server/conversations/agui-input.ts';
import { refuseDeleted } from '$lib/server/conversations/conversations.ts';
import { requireOwnConversation } from '$lib/server/runs/conversation-changes.ts';
import { UNTITLED } from '$lib/server/runs/runner.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api } from '$lib/server/http.ts';
import { fileHeaders } from '$lib/server/workspaces.ts';

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { store, workspaces } = locals.app;
	const id = checkConversationId(params.id);
	const { apiKeyId } = locals.caller;
	const isNew = !(await store.conversations.get(id)) && !(await store.conversations.isDeleted(id));
	if (!isNew) await requireOwnConversation(locals.app, apiKeyId, id);
	await refuseDeleted(locals.app, id);
	// Kit drops the body of a request that names no type; an empty file in its place would be a loss in silence.
	if (request.body === null && Number(request.headers.get('content-length') ?? 0) > 0)
		throw new AppError('unsupported_media_type', 'Send the file with a content-type header.');
	const file = await workspaces.write(id, params.path, request.body);
	if (isNew) {
		const createdAt = new Date().toISOString();
		await store.conversations.create({ id, title: UNTITLED, createdAt, ...(apiKeyId === null ? {} : { apiKeyId }) });
	}
	return json(file, { status: 201 });
});

export const GET: RequestHandler = api(async ({ params, url, locals }) => {
	const id = checkConversationId(params.id);
	await requireOwnConversation(locals.app, locals.caller.apiKeyId, id);
	await refuseDeleted(locals.app, id);
	const { file, bytes } = await locals.app.workspaces.read(id, params.path);
	return new Response(file.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array>, {
		headers: fileHeaders(params.path, bytes, url.searchParams.has('view'))
	});
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	const id = checkConversationId(params.id);
	await requireOwnConversation(locals.app, locals.caller.apiKeyId, id);
	await refuseDeleted(locals.app, id);
	await locals.app.workspaces.remove(id, params.path);
	return new Response(null, { status: 204 });
});
