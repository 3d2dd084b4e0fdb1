import { skillCheckRequest, skillCheck } from '$lib/shared/skill-files.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { checkSkillText } from '$lib/server/skill-admin/skill-diagnosis.ts';

export const POST = endpoint({
	id: 'checkSkill',
	tag: 'Skills',
	summary: 'What a text would be as its SKILL.md',
	description: 'Nothing is written.',
	params: OF_SKILL,
	body: skillCheckRequest,
	answer: skillCheck.describe('Issues, and the text with each fix applied.'),
	handler: async ({ app, params, body }) => {
		const { text } = await body();
		return checkSkillText(app, params.id, text);
	}
});
