import type { RequestHandler } from './$types';
import { api, eventStream } from '$lib/server/http.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return eventStream((signal) => locals.app.revisions.follow(signal));
});
