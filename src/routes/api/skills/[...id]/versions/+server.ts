import { skillVersions, versionSwitch } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'listVersions',
	tag: 'Versions',
	summary: 'List versions',
	params: OF_SKILL,
	answer: skillVersions.describe('Versions, newest first.'),
	errors: ['invalid_input'],
	handler: ({ app, caller, params }) => app.installer.versions(requireSkill(app, caller.apiKeyId, params.id))
});

export const PUT = endpoint({
	id: 'useVersion',
	tag: 'Versions',
	summary: 'Switch to another version',
	params: OF_SKILL,
	body: versionSwitch,
	example: { use: { version: '1.0.0' } },
	answer: skillVersions.describe('The versions.'),
	errors: ['conflict'],
	handler: async ({ app, caller, params, body }) => {
		const { use } = await body();
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		const versions = await app.installer.use(skill, use);
		app.revisions.note();
		return versions;
	}
});
