import { json } from '@sveltejs/kit';
import type { RequestHandler } from './$types';
import { runAgentInput } from '$lib/shared/api.ts';
import { toAnswers, toProps, toRunRequest } from '$lib/server/conversations/agui-input.ts';
import { resumeRun } from '$lib/server/conversations/agui-resume.ts';
import { withSnapshots } from '$lib/server/protocols/agui/output.ts';
import { api, eventStream, readJson, runEventFrames } from '$lib/server/http.ts';

export const POST: RequestHandler = api(async ({ request, locals }) => {
	const { runner } = locals.app;
	const input = await readJson(request, runAgentInput);
	const { threadId, runId, state } = input;
	const { apiKeyId } = locals.caller;
	const { snapshots, cancelOnDisconnect } = toProps(input);
	const answers = toAnswers(input);
	if (answers) await resumeRun(locals.app, locals.caller, input, answers);
	else await runner.start({ ...toRunRequest(input), ...(apiKeyId === null ? {} : { apiKeyId }) });
	if (!request.headers.get('accept')?.includes('text/event-stream')) {
		return json({ threadId, runId }, { status: 202 });
	}
	return eventStream((signal) => {
		// A run that has ended is not running any more: then there is nothing to stop.
		if (cancelOnDisconnect) signal.addEventListener('abort', () => void runner.stop(runId), { once: true });
		return (async function* () {
			const batches = await runner.follow(runId, 0, signal);
			if (!batches) return;
			const whole = snapshots ? withSnapshots(locals.app, threadId, { batches, state }) : batches;
			yield* runEventFrames(whole);
		})();
	});
});
