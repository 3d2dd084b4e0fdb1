import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { skillPatch, type SkillDetail } from '$lib/shared/skills.ts';
import type { TrashedSkill } from '$lib/shared/install.ts';
import { api, readJson } from '$lib/server/http.ts';
import { changeSkill, describeSkill, requireListed } from '$lib/server/skill-admin/skill-details.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json((await describeSkill(locals.app, params.id)) satisfies SkillDetail);
});

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const patch = await readJson(request, skillPatch);
	const now = new Date().toISOString();
	const changed: SkillDetail = await changeSkill(locals.app, params.id, patch, now);
	locals.app.revisions.note();
	return json(changed);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	const trashed = await locals.app.installer.remove(requireListed(locals.app, locals.caller.apiKeyId, params.id));
	return json(trashed satisfies TrashedSkill);
});
