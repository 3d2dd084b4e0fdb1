import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillPatch, type SkillDetail } from '$lib/shared/api.ts';
import { api, readJson } from '$lib/server/http.ts';
import { changeSkill, describeSkill } from '$lib/server/runs/skill-details.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json((await describeSkill(locals.app, params.id)) satisfies SkillDetail);
});

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const patch = await readJson(request, skillPatch);
	const now = new Date().toISOString();
	return json((await changeSkill(locals.app, params.id, patch, now)) satisfies SkillDetail);
});
