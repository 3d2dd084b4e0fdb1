import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { AppError } from '$lib/shared/errors.ts';
import { readEarlier } from '$lib/server/runs/conversations.ts';
import { api } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, url, locals }) => {
	const before = url.searchParams.get('before');
	if (before === null) throw new AppError('invalid_input', 'before: must be the id of a message');
	return json(await readEarlier(locals.app, params.id, before));
});
