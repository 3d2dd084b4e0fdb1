import { skillDiagnosis, diagnosisFix } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { diagnoseSkill, fixSkill } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const GET = endpoint({
	id: 'diagnoseSkill',
	tag: 'Skills',
	summary: 'What is wrong with its SKILL.md, and what can be fixed',
	params: OF_SKILL,
	answer: skillDiagnosis.describe('Issues, and the file with all fixes applied.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => diagnoseSkill(app, params.id)
});

export const POST = endpoint({
	id: 'fixSkill',
	tag: 'Skills',
	summary: 'Applies fixes; the old file is kept beside it',
	params: OF_SKILL,
	body: diagnosisFix,
	answer: skillDiagnosis.describe('What is left.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const wanted = await body();
		return fixSkill(app, params.id, wanted);
	}
});
