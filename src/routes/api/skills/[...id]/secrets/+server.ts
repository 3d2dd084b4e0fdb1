import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { secretsPatch, type SkillNeeds } from '$lib/shared/skills.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api, readJson } from '$lib/server/http.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';
import { changeSecrets } from '$lib/server/trust/vault.ts';
import { skillIdOf } from '$lib/server/skills/run/execution-host.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	return json((await locals.app.preflight.needsOf(skill)) satisfies SkillNeeds);
});

/** Values go in and never come out. */
export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { preflight, vault } = locals.app;
	const skill = requireSkill(locals.app, locals.caller.apiKeyId, params.id);
	const patch = await readJson(request, secretsPatch).catch((error: unknown) => {
		// The parser quotes what it cannot read, which may be a value.
		if (!(error instanceof Error && error.cause instanceof SyntaxError)) throw error;
		throw new AppError('invalid_input', 'The body is not valid JSON.');
	});
	await changeSecrets(vault, skillIdOf(skill), patch, new Date().toISOString());
	return json((await preflight.needsOf(skill)) satisfies SkillNeeds);
});
