import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { RunState } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const run = await locals.app.runner.get(params.id);
	if (!run) throw new AppError('not_found', 'There is no such run.');
	const { id, conversationId, state, model, lastSeq, startedAt, finishedAt } = run;
	return json({ id, conversationId, state, model, lastSeq, startedAt, finishedAt } satisfies RunState);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	const { runner } = locals.app;
	if (!(await runner.stop(params.id)) && !(await runner.get(params.id))) {
		throw new AppError('not_found', 'There is no such run.');
	}
	return new Response(null, { status: 204 });
});
