import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { evalStart, type EvalRun, type SkillEvals } from '$lib/shared/try-out.ts';
import { api, readJson } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	return json((await locals.app.evals.list(params.id)) satisfies SkillEvals);
});

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const options = await readJson(request, evalStart);
	return json((await locals.app.evals.start(params.id, options)) satisfies EvalRun, { status: 202 });
});
