import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { RunState } from '$lib/shared/api.ts';
import { api } from '$lib/server/http.ts';
import { requireOwnRun } from '$lib/server/runs/conversation-changes.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const run = await requireOwnRun(locals.app, locals.caller.apiKeyId, params.id);
	const { id, conversationId, state, model, lastSeq, startedAt, finishedAt } = run;
	return json({ id, conversationId, state, model, lastSeq, startedAt, finishedAt } satisfies RunState);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	// One that is being stored at this moment is stopped as well: it is known afterwards.
	if (locals.caller.apiKeyId !== null || !(await locals.app.runner.stop(params.id))) {
		await requireOwnRun(locals.app, locals.caller.apiKeyId, params.id);
		await locals.app.runner.stop(params.id);
	}
	return new Response(null, { status: 204 });
});
