import { version } from '$app/environment';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { api } from '$lib/server/http.ts';
import { createOpenApiDocument } from '$lib/server/api/document.ts';

export const GET: RequestHandler = api(async ({ url }) => {
	return json(createOpenApiDocument(version, url.origin));
});
