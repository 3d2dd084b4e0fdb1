import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillCheckRequest, type SkillCheck } from '$lib/shared/skill-files.ts';
import { api, readJson } from '$lib/server/http.ts';
import { checkSkillText } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const { text } = await readJson(request, skillCheckRequest);
	return json(checkSkillText(locals.app, params.id, text) satisfies SkillCheck);
});
