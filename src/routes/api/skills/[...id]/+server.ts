import { skillDetail, skillPatch } from '$lib/shared/skills.ts';
import { trashedSkill } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { changeSkill, describeSkill, requireListed } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'getSkill',
	tag: 'Skills',
	summary: 'Everything of one skill',
	params: OF_SKILL,
	answer: skillDetail.describe('Files, findings, needs, and the schemas of its tools.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => describeSkill(app, params.id)
});

export const PUT = endpoint({
	id: 'changeSkill',
	tag: 'Skills',
	summary: 'Changes its mode, trust or network',
	description: '`enabled` brings back the mode before; where both are named, `mode` wins.',
	params: OF_SKILL,
	body: skillPatch,
	answer: skillDetail.describe('The skill as it is now.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const patch = await body();
		const now = new Date().toISOString();
		const changed = await changeSkill(app, params.id, patch, now);
		app.revisions.note();
		return changed;
	}
});

export const DELETE = endpoint({
	id: 'deleteSkill',
	tag: 'Skills',
	summary: 'Moves it to the trash',
	params: OF_SKILL,
	answer: trashedSkill.describe('What can be restored.'),
	errors: ['invalid_input', 'conflict'],
	handler: ({ app, caller, params }) => app.installer.remove(requireListed(app, caller.apiKeyId, params.id))
});
