import { skillEditChanges, skillEditQuery, skillReturned } from '$lib/shared/skills.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';
import { changesOfEdit, changesOfReturn, returnToEdit } from '$lib/server/skill-admin/skill-editor.ts';

const OF_EDIT = { ...OF_SKILL, edit: 'ID of the edit.' };

export const GET = endpoint({
	id: 'compareSkillEdit',
	tag: 'Versions',
	summary: 'Show what an edit changed',
	params: OF_EDIT,
	query: skillEditQuery,
	answer: skillEditChanges.describe('The changes, by file.'),
	errors: ['invalid_input', 'too_large', 'conflict'],
	handler: async ({ app, params, query }) => {
		const read = query.of === 'edit' ? changesOfEdit : changesOfReturn;
		return { changes: await read(app, params.id, params.edit) };
	}
});

export const POST = endpoint({
	id: 'returnToSkillEdit',
	tag: 'Versions',
	summary: 'Go back to before an edit',
	description:
		'Takes back this edit and all newer ones. Going back is an edit, too: go back to before it, and they are there again.',
	params: OF_EDIT,
	answer: skillReturned.describe('The skill.'),
	errors: ['invalid_input', 'conflict', 'too_large'],
	handler: async ({ app, params }) => ({ skill: await returnToEdit(app, params.id, params.edit) })
});
