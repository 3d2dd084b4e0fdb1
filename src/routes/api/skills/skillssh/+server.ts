import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { CatalogPage } from '$lib/shared/install.ts';
import { catalogQuery } from '$lib/shared/api.ts';
import { api, readQuery } from '$lib/server/http.ts';

/** As many as skills.sh gives. */
const MAX_FOUND = 100;

export const GET: RequestHandler = api(async ({ url, request, locals }) => {
	const { q = '', limit: asked } = readQuery(url, catalogQuery);
	const limit = Math.min(asked, MAX_FOUND);
	return json((await locals.app.catalogs.searchSkillssh({ q, limit }, request.signal)) satisfies CatalogPage);
});
