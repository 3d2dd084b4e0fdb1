import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { diagnosisFix, type SkillDiagnosis } from '$lib/shared/skills.ts';
import { api, readJson } from '$lib/server/http.ts';
import { diagnoseSkill, fixSkill } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json((await diagnoseSkill(locals.app, params.id)) satisfies SkillDiagnosis);
});

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const wanted = await readJson(request, diagnosisFix);
	return json((await fixSkill(locals.app, params.id, wanted)) satisfies SkillDiagnosis);
});
