import { skillNeeds, secretsPatch } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';
import { changeSecrets } from '$lib/server/trust/vault.ts';
import { skillIdOf } from '$lib/server/skills/run/execution-host.ts';

export const GET = endpoint({
	id: 'getSecrets',
	tag: 'Skills',
	summary: 'List the variables a skill needs, and which are set',
	params: OF_SKILL,
	answer: skillNeeds.describe('Names only, never values.'),
	errors: ['invalid_input'],
	handler: ({ app, caller, params }) => app.preflight.needsOf(requireSkill(app, caller.apiKeyId, params.id))
});

/** Values can be set but never read. */
export const PUT = endpoint({
	id: 'changeSecrets',
	tag: 'Skills',
	summary: 'Set or remove variables',
	params: OF_SKILL,
	body: secretsPatch,
	answer: skillNeeds.describe('Names only, never values.'),
	handler: async ({ app, caller, params, body }) => {
		const { preflight, vault } = app;
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		const patch = await body();
		await changeSecrets(vault, skillIdOf(skill), patch, new Date().toISOString());
		return preflight.needsOf(skill);
	}
});
