import { door } from '$lib/server/endpoint.ts';
import { fileResponse } from '$lib/server/conversations/file-headers.ts';

export const GET = door<'id'>('Responses API', 'read', async ({ app, caller, params }) => {
	const { filename, ...opened } = await app.files.open(params.id, caller);
	return fileResponse(opened, { path: filename, view: null, range: null });
});
