import { stagedInstall, installConfirm, installOutcome } from '$lib/shared/install.ts';
import { endpoint } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getStaged',
	tag: 'Install',
	summary: 'Get staged skills',
	params: { id: 'ID of the staged skills.' },
	answer: stagedInstall.describe('The staged skills.'),
	handler: ({ app, params }) => app.installer.staged(params.id)
});

export const POST = endpoint({
	id: 'confirmStaged',
	tag: 'Install',
	summary: 'Install staged skills',
	params: { id: 'ID of the staged skills.' },
	body: installConfirm,
	status: 201,
	answer: installOutcome.describe('What was installed, and what was skipped.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.installer.confirm(params.id, await body())
});

export const DELETE = endpoint({
	id: 'discardStaged',
	tag: 'Install',
	summary: 'Discard staged skills',
	params: { id: 'ID of the staged skills.' },
	answer: null,
	handler: ({ app, params }) => app.installer.discard(params.id)
});
