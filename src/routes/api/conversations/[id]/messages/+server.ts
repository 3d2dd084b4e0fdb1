import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { earlierQuery } from '$lib/shared/api.ts';
import { readEarlier } from '$lib/server/conversations/conversations.ts';
import { api, readQuery } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ params, url, locals }) => {
	const { before } = readQuery(url, earlierQuery);
	return json(await readEarlier(locals.app, params.id, before));
});
