import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { StagedInstall } from '$lib/shared/install.ts';
import { api } from '$lib/server/http.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	const staged = await locals.app.installer.stageUpdate(skill, request.signal);
	return json(staged satisfies StagedInstall, { status: 201 });
});
