import { scoreRequest, skillScoreList } from '$lib/shared/skills.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { scoreSkills } from '$lib/server/skill-admin/skill-list.ts';

export const POST = endpoint({
	id: 'scoreSkills',
	tag: 'Skills',
	summary: 'Explain which skills a text would pick',
	body: scoreRequest,
	example: { text: 'Count the words of “the quick brown fox”' },
	answer: skillScoreList.describe('Scores by signal, best first.'),
	handler: async ({ app, body }) => scoreSkills(app, await body())
});
