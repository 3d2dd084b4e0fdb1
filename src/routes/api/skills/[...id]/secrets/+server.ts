import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { secretsPatch, type SkillNeeds } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api, readJson } from '$lib/server/http.ts';
import { changeSecrets } from '$lib/server/secrets/change-secrets.ts';
import { skillIdOf } from '$lib/server/skills/execution-host.ts';
import type { Skill } from '$lib/server/skills/types.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const skill = skillOf(locals.app, params.id);
	return json((await locals.app.preflight.needsOf(skill)) satisfies SkillNeeds);
});

/** Values go in and never come out. */
export const PUT: RequestHandler = api(async ({ params, request, locals }) => {
	const { preflight, vault } = locals.app;
	const skill = skillOf(locals.app, params.id);
	const patch = await readJson(request, secretsPatch).catch((error: unknown) => {
		// The parser quotes what it cannot read, which may be a value.
		if (!(error instanceof Error && error.cause instanceof SyntaxError)) throw error;
		throw new AppError('invalid_input', 'The body is not valid JSON.');
	});
	await changeSecrets(vault, skillIdOf(skill), patch, new Date().toISOString());
	return json((await preflight.needsOf(skill)) satisfies SkillNeeds);
});

/** Exactly the one of this name: a secret must not go to one that is only written alike. */
function skillOf({ skills }: App.Locals['app'], id: string): Skill {
	const { skills: ready, shadowed } = skills.registry.snapshot();
	const skill =
		ready.find(({ name }) => name === id) ??
		[...ready, ...shadowed].find((each) => id === skillIdOf(each) || id === `${skillIdOf(each)}@${each.version}`);
	if (!skill) throw new AppError('not_found', `There is no skill “${id}”.`);
	return skill;
}
