import { skillEditChanges } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'compareVersion',
	tag: 'Versions',
	summary: 'Compare the version in use with another one',
	params: { ...OF_SKILL, version: 'A version, or the ID of an installation.' },
	answer: skillEditChanges.describe('What using it would change, by file.'),
	errors: ['invalid_input', 'unavailable'],
	handler: async ({ app, caller, params }) => ({
		changes: await app.installer.compare(requireSkill(app, caller.apiKeyId, params.id), params.version)
	})
});
