import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { SkillVersions } from '$lib/shared/install.ts';
import { api } from '$lib/server/http.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const POST: RequestHandler = api(async ({ params, locals }) => {
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	const versions: SkillVersions = await locals.app.installer.rollback(skill);
	locals.app.revisions.note();
	return json(versions);
});
