import { skillEditChanges, skillReturned } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { changesOfReturn, returnToEdit } from '$lib/server/skill-admin/skill-editor.ts';

const OF_EDIT = { ...OF_SKILL, edit: 'ID of the edit.' };

export const GET = endpoint({
	id: 'compareSkillEdit',
	tag: 'Versions',
	summary: 'Compare a skill with what it was before an edit',
	params: OF_EDIT,
	answer: skillEditChanges.describe('What going back changes, by file.'),
	errors: ['invalid_input', 'too_large', 'conflict'],
	handler: async ({ app, params }) => ({ changes: await changesOfReturn(app, params.id, params.edit) })
});

export const POST = endpoint({
	id: 'returnToSkillEdit',
	tag: 'Versions',
	summary: 'Go back to what a skill was before an edit',
	description: 'What its files are now is kept, too, so you can go forth again.',
	params: OF_EDIT,
	answer: skillReturned.describe('The skill.'),
	errors: ['invalid_input', 'conflict', 'too_large'],
	handler: async ({ app, params }) => ({ skill: await returnToEdit(app, params.id, params.edit) })
});
