import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { scoreRequest, type SkillScoreList } from '$lib/shared/skills.ts';
import { api, readJson } from '$lib/server/http.ts';
import { scoreSkills } from '$lib/server/skill-admin/skill-scores.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const asked = await readJson(request, scoreRequest);
	return json((await scoreSkills(locals.app, asked)) satisfies SkillScoreList);
});
