import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { runAgentInput } from '$lib/shared/api.ts';
import { AppError } from '$lib/shared/errors.ts';
import { toAnswers, toRunRequest } from '$lib/server/runs/agui-input.ts';
import { requireOwnConversation } from '$lib/server/runs/ownership.ts';
import { decide } from '$lib/server/runs/consent.ts';
import { api, eventStream, readJson, runEventFrames } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { runner } = locals.app;
	const input = await readJson(request, runAgentInput);
	const { threadId, runId } = input;
	const { apiKeyId } = locals.caller;
	const answers = toAnswers(input);
	if (answers) {
		await requireOwnConversation(locals.app, apiKeyId, threadId);
		let started: string | null = null;
		for (const [interruptId, decision] of answers) {
			started = await decide(locals.app, { conversationId: threadId, interruptId, decision, runId });
		}
		if (started === null)
			throw new AppError('conflict', 'Other questions of this run are still open; answer all of them.');
	} else await runner.start({ ...toRunRequest(input), ...(apiKeyId === null ? {} : { apiKeyId }) });
	if (!request.headers.get('accept')?.includes('text/event-stream')) {
		return json({ threadId, runId }, { status: 202 });
	}
	return eventStream(async function* (signal) {
		const batches = await runner.follow(runId, 0, signal);
		if (batches) yield* runEventFrames(batches);
	});
});
