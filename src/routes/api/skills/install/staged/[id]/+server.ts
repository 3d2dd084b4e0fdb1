import { stagedInstall, installConfirm, installOutcome } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getStaged',
	tag: 'Install',
	summary: 'What waits for a yes',
	params: { id: 'Of what was staged.' },
	answer: stagedInstall.describe('The same as when it was staged.'),
	handler: ({ app, params }) => app.installer.staged(params.id)
});

export const POST = endpoint({
	id: 'confirmStaged',
	tag: 'Install',
	summary: 'Places what was staged',
	params: { id: 'Of what was staged.' },
	body: installConfirm,
	status: 201,
	answer: installOutcome.describe('What was installed, and what was left out.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => {
		const choice = await body();
		return app.installer.confirm(params.id, choice);
	}
});

export const DELETE = endpoint({
	id: 'discardStaged',
	tag: 'Install',
	summary: 'Throws away what was staged',
	params: { id: 'Of what was staged.' },
	answer: null,
	handler: async ({ app, params }) => {
		await app.installer.discard(params.id);
	}
});
