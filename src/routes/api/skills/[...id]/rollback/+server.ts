import { skillVersions } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const POST = endpoint({
	id: 'rollBack',
	tag: 'Versions',
	summary: 'Roll back to the previous installation',
	params: OF_SKILL,
	answer: skillVersions.describe('The versions.'),
	errors: ['invalid_input', 'conflict'],
	handler: async ({ app, caller, params }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		const versions = await app.installer.rollback(skill);
		app.revisions.note();
		return versions;
	}
});
