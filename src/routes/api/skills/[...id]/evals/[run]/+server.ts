import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import type { EvalRun } from '$lib/shared/try-out.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json((await locals.app.evals.get(params.id, params.run)) satisfies EvalRun);
});

export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	return json((await locals.app.evals.cancel(params.id, params.run)) satisfies EvalRun);
});
