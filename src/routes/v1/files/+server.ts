import { door } from '$lib/server/endpoint.ts';
import { readFields } from '$lib/server/install/sources/upload.ts';

export const POST = door('Responses API', 'execute', async ({ app, caller, request }) => {
	const form = await readFields(request.body, request.headers.get('content-type') ?? '');
	return app.files.create(form, caller);
});

export const GET = door('Responses API', 'read', ({ app, caller, url }) => app.files.list(caller, url.searchParams));
