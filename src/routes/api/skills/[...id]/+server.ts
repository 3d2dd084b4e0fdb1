import { skillDetail, skillPatch } from '$lib/shared/skills.ts';
import { trashedSkill } from '$lib/shared/install.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { changeSkill, describeSkill, requireListed } from '$lib/server/skill-admin/skill-details.ts';

export const GET = endpoint({
	id: 'getSkill',
	tag: 'Skills',
	summary: 'Get a skill',
	params: OF_SKILL,
	answer: skillDetail.describe('The skill with files, security findings, requirements and tool schemas.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => describeSkill(app, params.id)
});

export const PUT = endpoint({
	id: 'changeSkill',
	tag: 'Skills',
	summary: 'Change mode, trust or network access',
	description: '`enabled` restores the previous mode. If both are given, `mode` wins.',
	params: OF_SKILL,
	body: skillPatch,
	example: { mode: 'auto' },
	answer: skillDetail.describe('The changed skill.'),
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
	summary: 'Move a skill to the trash',
	params: OF_SKILL,
	answer: trashedSkill.describe('The trashed skill.'),
	errors: ['invalid_input', 'conflict'],
	handler: ({ app, caller, params }) => app.installer.remove(requireListed(app, caller.apiKeyId, params.id))
});
