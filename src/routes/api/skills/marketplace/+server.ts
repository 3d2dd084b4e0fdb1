import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { CatalogPage } from '$lib/shared/install.ts';
import { catalogQuery } from '$lib/shared/api.ts';
import { api, readQuery } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ url, request, locals }) => {
	const { q = '', ...page } = readQuery(url, catalogQuery);
	return json((await locals.app.catalogs.searchSkillsmp({ q, ...page }, request.signal)) satisfies CatalogPage);
});
