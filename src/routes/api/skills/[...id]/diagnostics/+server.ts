import { skillDiagnosis, diagnosisFix } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { diagnoseSkill, fixSkill } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const GET = endpoint({
	id: 'diagnoseSkill',
	tag: 'Skills',
	summary: 'List problems in SKILL.md, and their fixes',
	params: OF_SKILL,
	answer: skillDiagnosis.describe('Problems, and the file with all fixes.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => diagnoseSkill(app, params.id)
});

export const POST = endpoint({
	id: 'fixSkill',
	tag: 'Skills',
	summary: 'Fix problems in SKILL.md; the old text is kept as an edit',
	params: OF_SKILL,
	body: diagnosisFix,
	answer: skillDiagnosis.describe('The remaining problems.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => fixSkill(app, params.id, await body())
});
