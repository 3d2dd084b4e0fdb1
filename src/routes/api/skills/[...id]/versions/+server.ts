import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { versionSwitch, type SkillVersions } from '$lib/shared/install.ts';
import { api, readJson } from '$lib/server/http.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	return json((await locals.app.installer.versions(skill)) satisfies SkillVersions);
});

export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { use } = await readJson(request, versionSwitch);
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	const versions: SkillVersions = await locals.app.installer.use(skill, use);
	locals.app.revisions.note();
	return json(versions);
});
