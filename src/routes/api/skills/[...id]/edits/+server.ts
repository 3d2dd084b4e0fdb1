import { skillEdits } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { listEdits } from '$lib/server/skill-admin/skill-editor.ts';

export const GET = endpoint({
	id: 'listSkillEdits',
	tag: 'Versions',
	summary: 'List the edits of a skill',
	description:
		'What a file said is kept before each write and removal of it. Writes of one file within ten seconds are one edit.',
	params: OF_SKILL,
	answer: skillEdits.describe('Edits, newest first.'),
	errors: ['invalid_input'],
	handler: async ({ app, params }) => ({ edits: await listEdits(app, params.id) })
});
