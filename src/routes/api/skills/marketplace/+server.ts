import { catalogQuery } from '$lib/shared/api.ts';
import { catalogPage } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'searchMarketplace',
	tag: 'Install',
	summary: 'Search SkillsMP',
	query: catalogQuery,
	answer: catalogPage.describe('One page.'),
	errors: ['unavailable', 'conflict'],
	handler: async ({ app, query, request }) => {
		const { q = '', ...page } = query;
		return app.catalogs.searchSkillsmp({ q, ...page }, request.signal);
	}
});
