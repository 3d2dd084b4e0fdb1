import { skillEvals, evalStart, evalRun } from '$lib/shared/try-out.ts';
import { endpoint, OF_SKILL } from '$lib/server/endpoint.ts';

export const GET = endpoint({
	id: 'listEvals',
	tag: 'Cases and evals',
	summary: 'List evals and their runs',
	params: OF_SKILL,
	answer: skillEvals.describe('Evals and runs.'),
	errors: ['invalid_input'],
	handler: ({ app, params }) => app.evals.list(params.id)
});

export const POST = endpoint({
	id: 'startEvals',
	tag: 'Cases and evals',
	summary: 'Run evals on several sides',
	params: OF_SKILL,
	body: evalStart,
	status: 202,
	answer: evalRun.describe('The run.'),
	errors: ['conflict'],
	handler: async ({ app, params, body }) => app.evals.start(params.id, await body())
});
