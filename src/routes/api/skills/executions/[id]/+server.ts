import { skillExecution } from '$lib/shared/try-out.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { AppError } from '$lib/shared/errors.ts';

export const GET = endpoint({
	id: 'getExecution',
	tag: 'Executions',
	summary: 'Get an execution',
	params: { id: 'ID of the execution.' },
	answer: skillExecution.describe('The execution.'),
	handler: async ({ app, params }) => {
		const execution = await app.store.skillExecutions.get(params.id);
		if (!execution) throw new AppError('not_found', 'Run not found.');
		return execution;
	}
});

/** Ends it; what it was asked by hears of it as of any end. */
export const DELETE = endpoint({
	id: 'stopExecution',
	tag: 'Executions',
	summary: 'Stop an execution',
	params: { id: 'ID of the execution.' },
	answer: null,
	handler: ({ app, params }) => {
		if (!app.sandbox.kill(params.id)) throw new AppError('not_found', 'This script isn’t running.');
	}
});
