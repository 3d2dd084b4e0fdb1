import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { approvalDecision } from '$lib/shared/api.ts';
import { withoutUndefined } from '$lib/server/runs/agui-input.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const decision = withoutUndefined(await readJson(request, approvalDecision));
	return json({ runId: await locals.app.runner.decide(params.id, params.interrupt, decision) }, { status: 202 });
});
