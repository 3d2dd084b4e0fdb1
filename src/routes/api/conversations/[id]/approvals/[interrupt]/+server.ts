import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { approvalDecision } from '$lib/shared/api.ts';
import { withoutUndefined } from '$lib/server/conversations/agui-input.ts';
import { decide } from '$lib/server/conversations/consent.ts';
import { api, readJson } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ params, request, locals }) => {
	const decision = withoutUndefined(await readJson(request, approvalDecision));
	const { id: conversationId, interrupt: interruptId } = params;
	const runId = await decide(locals.app, { by: locals.caller, conversationId, interruptId, decision });
	return json({ runId }, { status: 202 });
});
