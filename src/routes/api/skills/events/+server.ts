import type { RequestHandler } from './$types';
import { api, eventStream } from '$lib/server/http.ts';
import { followRevisions } from '$lib/server/runs/skill-revisions.ts';

export const GET: RequestHandler = api(async ({ locals }) => {
	return eventStream((signal) => followRevisions(locals.app.skills.registry, signal));
});
