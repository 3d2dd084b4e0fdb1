import { stagedInstall } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const POST = endpoint({
	id: 'stageUpdate',
	tag: 'Versions',
	summary: 'Fetch an update without installing',
	params: OF_SKILL,
	status: 201,
	answer: stagedInstall.describe('The staged update.'),
	errors: ['invalid_input', 'conflict', 'too_large'],
	handler: async ({ app, caller, params, request }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		const staged = await app.installer.stageUpdate(skill, request.signal);
		return staged;
	}
});
