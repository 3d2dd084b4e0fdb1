import { runState } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { requireOwnRun } from '$lib/server/runs/conversation-changes.ts';

export const GET = endpoint({
	id: 'getRun',
	tag: 'Answers',
	summary: 'Get the state of an answer',
	scope: 'read',
	params: { id: '`runId` of the answer.' },
	answer: runState.describe('Its state.'),
	handler: async ({ app, caller, params }) => {
		const run = await requireOwnRun(app, caller.apiKeyId, params.id);
		const { id, conversationId, state, model, lastSeq, startedAt, finishedAt } = run;
		return { id, conversationId, state, model, lastSeq, startedAt, finishedAt };
	}
});

export const DELETE = endpoint({
	id: 'stopRun',
	tag: 'Answers',
	summary: 'Stop an answer',
	scope: 'execute',
	params: { id: '`runId` of the answer.' },
	answer: null,
	handler: async ({ app, caller, params }) => {
		// A run that is just being stored can be stopped too: it exists afterwards.
		if (caller.apiKeyId !== null || !(await app.runner.stop(params.id))) {
			await requireOwnRun(app, caller.apiKeyId, params.id);
			await app.runner.stop(params.id);
		}
	}
});
