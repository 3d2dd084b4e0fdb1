import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { checkConversationId } from '$lib/server/runs/agui-input.ts';
import { UNTITLED } from '$lib/server/runs/runner.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api } from '$lib/server/http.ts';
import { contentType } from '$lib/server/runs/content-type.ts';

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { store, workspaces } = locals.app;
	const id = checkConversationId(params.id);
	// Kit drops the body of a request that names no type; an empty file in its place would be a loss in silence.
	if (request.body === null && Number(request.headers.get('content-length') ?? 0) > 0)
		throw new AppError('unsupported_media_type', 'Send the file with a content-type header.');
	const file = await workspaces.write(id, params.path, request.body);
	if (!(await store.conversations.get(id))) {
		await store.conversations.create({ id, title: UNTITLED, createdAt: new Date().toISOString() });
	}
	return json(file, { status: 201 });
});

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const { file, bytes } = await locals.app.workspaces.read(checkConversationId(params.id), params.path);
	const name = encodeURIComponent(params.path.split('/').at(-1) ?? 'file');
	return new Response(file.readableWebStream({ autoClose: true }) as ReadableStream<Uint8Array>, {
		headers: {
			'content-type': contentType(params.path),
			'content-length': String(bytes),
			'content-disposition': `attachment; filename*=UTF-8''${name}`,
			// A file that a script made must never act as a page of ours.
			'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'",
			'x-content-type-options': 'nosniff',
			'cache-control': 'no-cache'
		}
	});
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	await locals.app.workspaces.remove(checkConversationId(params.id), params.path);
	return new Response(null, { status: 204 });
});
