import { evalGoOn, evalRun } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'getEvals',
	tag: 'Cases and evals',
	summary: 'Get a run of evals',
	params: { ...OF_SKILL, run: 'ID of the run.' },
	answer: evalRun.describe('The run with its answers so far.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => app.evals.get(params.id, params.run)
});

export const DELETE = endpoint({
	id: 'cancelEvals',
	tag: 'Cases and evals',
	summary: 'Stop a run of evals',
	params: { ...OF_SKILL, run: 'ID of the run.' },
	answer: evalRun.describe('The run.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => app.evals.cancel(params.id, params.run)
});

export const POST = endpoint({
	id: 'goOnEvals',
	tag: 'Cases and evals',
	summary: 'Go on with a stopped run of evals',
	params: { ...OF_SKILL, run: 'ID of the run.' },
	body: evalGoOn,
	status: 202,
	answer: evalRun.describe('The run.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.evals.goOn(params.id, params.run, await body())
});
