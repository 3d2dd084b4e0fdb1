import { skillExecution } from '$lib/shared/try-out.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { AppError } from '$lib/shared/errors.ts';

export const GET = endpoint({
	id: 'getExecution',
	tag: 'Runs',
	summary: 'Get a run',
	params: { id: 'ID of the run.' },
	answer: skillExecution.describe('The run.'),
	handler: async ({ app, params }) => {
		const execution = await app.store.skillExecutions.get(params.id);
		if (!execution) throw new AppError('not_found', 'Run not found.');
		return execution;
	}
});

/** The caller gets its result as usual. */
export const DELETE = endpoint({
	id: 'stopExecution',
	tag: 'Runs',
	summary: 'Stop a run',
	params: { id: 'ID of the run.' },
	answer: null,
	handler: ({ app, params }) => {
		if (!app.sandbox.kill(params.id)) throw new AppError('not_found', 'This script isn’t running.');
	}
});
