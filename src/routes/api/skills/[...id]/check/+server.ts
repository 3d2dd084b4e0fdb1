import { skillCheckRequest, skillCheck } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { checkSkillText } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const POST = endpoint({
	id: 'checkSkill',
	tag: 'Skills',
	summary: 'Check a draft of SKILL.md',
	description: 'Nothing is saved.',
	params: OF_SKILL,
	body: skillCheckRequest,
	example: { text: '---\nname: my-skill\ndescription: Says hello.\n---\n\nSay hello.' },
	answer: skillCheck.describe('Problems, and the text with each fix.'),
	handler: async ({ app, params, body }) => checkSkillText(app, params.id, (await body()).text)
});
