import { catalogQuery } from '$lib/shared/api.ts';
import { catalogPage } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

/** The limit of skills.sh. */
const MAX_FOUND = 100;

export const GET = endpoint({
	id: 'searchSkillsSh',
	tag: 'Install',
	summary: 'Search skills.sh',
	query: catalogQuery.omit({ page: true }),
	answer: catalogPage.describe('The best matches.'),
	errors: ['unavailable', 'conflict'],
	handler: async ({ app, query, request }) => {
		const { q = '', limit: asked } = query;
		const limit = Math.min(asked, MAX_FOUND);
		return app.catalogs.searchSkillssh({ q, limit }, request.signal);
	}
});
