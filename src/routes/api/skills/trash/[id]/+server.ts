import { restoredSkill } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const POST = endpoint({
	id: 'restoreSkill',
	tag: 'Trash',
	summary: 'Restores it',
	params: { id: 'Of what was removed.' },
	answer: restoredSkill.describe('Where it is.'),
	errors: ['conflict'],
	handler: ({ app, params }) => app.installer.restore(params.id)
});

export const DELETE = endpoint({
	id: 'deleteTrashed',
	tag: 'Trash',
	summary: 'Removes it for good',
	params: { id: 'Of what was removed.' },
	answer: null,
	handler: async ({ app, params }) => {
		await app.installer.purge(params.id);
	}
});
