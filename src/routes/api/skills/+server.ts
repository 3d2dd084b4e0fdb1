import { pageQuery } from '$lib/shared/api.ts';
import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { newSkill } from '$lib/shared/skill-files.ts';
import { skillQuery, type SkillDetail, type SkillList } from '$lib/shared/skills.ts';
import { api, readJson, readQuery } from '$lib/server/http.ts';
import { createSkill } from '$lib/server/skill-admin/new-skill.ts';
import { describeSkill } from '$lib/server/skill-admin/skill-details.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { lister, settings, revisions } = locals.app;
	const revision = revisions.current();
	const { page, limit } = readQuery(url, pageQuery);
	const { data, total } = await lister.list(readQuery(url, skillQuery), { page, limit }, locals.caller.apiKeyId);
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
		revision,
		catalog: lister.catalog(revision)
	};
	return json(list);
});

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const wanted = await readJson(request, newSkill);
	await createSkill(locals.app, wanted);
	return json((await describeSkill(locals.app, wanted.name)) satisfies SkillDetail, { status: 201 });
});
