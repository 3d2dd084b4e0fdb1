import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { runAgentInput } from '$lib/shared/api.ts';
import { toRunRequest } from '$lib/server/runs/agui-input.ts';
import { api, eventStream, readJson, runEventFrames } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { runner } = locals.app;
	const { runId, conversationId } = await runner.start(toRunRequest(await readJson(request, runAgentInput)));
	if (!request.headers.get('accept')?.includes('text/event-stream')) {
		return json({ threadId: conversationId, runId }, { status: 202 });
	}
	return eventStream(async function* (signal) {
		const batches = await runner.follow(runId, 0, signal);
		if (batches) yield* runEventFrames(batches);
	});
});
