import { restoredSkill } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'restoreSkill',
	tag: 'Trash',
	summary: 'Restore a skill',
	params: { id: 'ID of the trashed skill.' },
	answer: restoredSkill.describe('Where the skill is now.'),
	errors: ['conflict'],
	handler: ({ app, params }) => app.installer.restore(params.id)
});

export const DELETE = endpoint({
	id: 'deleteTrashed',
	tag: 'Trash',
	summary: 'Delete a skill for good',
	params: { id: 'ID of the trashed skill.' },
	answer: null,
	handler: ({ app, params }) => app.installer.purge(params.id)
});
