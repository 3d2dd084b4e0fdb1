import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { AppError } from '$lib/shared/errors.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, locals }) => {
	const execution = await locals.app.store.skillExecutions.get(params.id);
	if (!execution) throw new AppError('not_found', 'There is no such execution.');
	return json(execution);
});

/** Ends it; what it was asked by hears of it as of any end. */
export const DELETE: RequestHandler = api(async ({ params, locals }) => {
	if (!locals.app.sandbox.kill(params.id)) throw new AppError('not_found', 'This execution is not running.');
	return new Response(null, { status: 204 });
});
