import { content, endpoint } from '$lib/server/endpoint.ts';
import { readPublished } from '$lib/server/install/publish.ts';
import { AppError } from '$lib/shared/errors.ts';

/** Public, like the pages of a site: only what the operator has published (SKILLS_PUBLISHED). */
export const GET = endpoint({
	protocol: 'Agent Skills discovery',
	params: { path: 'index.json, or what it names.' },
	answer: content('application/json', 'The index, a SKILL.md or an archive.'),
	handler: async ({ app, params }) => {
		const { publishedDir } = app.config;
		const file = publishedDir === null ? null : await readPublished(publishedDir, params.path);
		if (!file) throw new AppError('not_found', 'Nothing is published here.');
		const headers = { 'content-type': file.type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
		return new Response(file.content, { headers });
	}
});
