import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillQuery, type SkillList } from '$lib/shared/skills.ts';
import { api, readPage, readQuery } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { lister, settings, revisions } = locals.app;
	const revision = revisions.current();
	const { page, limit } = readPage(url, 50);
	const { data, total } = await lister.list(readQuery(url, skillQuery), { page, limit });
	const totalPages = Math.max(1, Math.ceil(total / limit));
	const provider = settings.current().skillsProvider;
	const list: SkillList = {
		data,
		skills: data,
		total,
		page,
		limit,
		totalPages,
		provider,
		popularDefaults: [],
		revision
	};
	return json(list);
});
