import { stagedInstall } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { requireSkill } from '$lib/server/skill-admin/skill-details.ts';

export const POST = endpoint({
	id: 'stageUpdate',
	tag: 'Versions',
	summary: 'Fetches it anew from where it came, and places nothing',
	params: OF_SKILL,
	status: 201,
	answer: stagedInstall.describe('What was staged.'),
	errors: ['invalid_input', 'conflict', 'too_large'],
	handler: async ({ app, caller, params, request }) => {
		const skill = requireSkill(app, caller.apiKeyId, params.id);
		const staged = await app.installer.stageUpdate(skill, request.signal);
		return staged;
	}
});
