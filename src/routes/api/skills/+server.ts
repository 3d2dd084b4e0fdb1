import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { SkillList } from '$lib/shared/api.ts';
import { api, readPage } from '$lib/server/http.ts';
import { listSkills, summariseSkills } from '$lib/server/runs/skill-summaries.ts';

export const GET: RequestHandler = api(async ({ url, locals }) => {
	const { app } = locals;
	const { page, limit } = readPage(url, 50);
	const snapshot = app.skills.registry.snapshot();
	const found = listSkills(snapshot, app.builtins.builtins, url.searchParams.get('q') ?? '');
	const data = await summariseSkills(found, app, { start: (page - 1) * limit, end: page * limit });
	const total = found.folders.length + found.builtins.length;
	return json({ data, total, page, limit, revision: snapshot.revision } satisfies SkillList);
});
