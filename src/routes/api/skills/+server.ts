import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { SkillList } from '$lib/shared/api.ts';
import { api, readPage } from '$lib/server/http.ts';
import { listSkills, summariseSkills } from '$lib/server/runs/skill-summaries.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { page, limit } = readPage(url, 50);
	const snapshot = locals.app.skills.registry.snapshot();
	const found = listSkills(snapshot, url.searchParams.get('q') ?? '');
	const data = await summariseSkills(found.slice((page - 1) * limit, page * limit), locals.app);
	return json({ data, total: found.length, page, limit, revision: snapshot.revision } satisfies SkillList);
});
