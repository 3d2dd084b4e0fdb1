import { door } from '$lib/server/endpoint.ts';
import { readFields } from '$lib/server/install/sources/upload.ts';
import { json } from '@sveltejs/kit';

export const POST = door('Responses API', 'execute', async ({ app, caller, request }) => {
	const form = await readFields(request.body, request.headers.get('content-type') ?? '');
	return json(await app.files.create(form, caller));
});

export const GET = door('Responses API', 'read', async ({ app, caller, url }) => {
	return json(await app.files.list(caller, url.searchParams));
});
