import { runAgentInput, runNamed } from '$lib/shared/api.ts';
import { endpoint, events } from '$lib/server/endpoint.ts';
import { toAnswers, toProps, toRunRequests } from '$lib/server/conversations/agui-input.ts';
import { resumeRun } from '$lib/server/conversations/consent.ts';
import { receiveFiles, withSnapshots } from '$lib/server/protocols/agui/agui.ts';
import { eventStream, runEventFrames } from '$lib/server/http.ts';

export const POST = endpoint({
	id: 'chat',
	tag: 'Answers',
	summary: 'Send a message, or answer a question (AG-UI `RunAgentInput`)',
	description:
		'Sends the newest user message. Tool messages at the end are results of your own `tools`, and the reply continues ' +
		'with them. `resume` answers questions that ended an answer. The model also gets system and developer messages and ' +
		'`context`. `forwardedProps.snapshots` adds STATE_SNAPSHOT and MESSAGES_SNAPSHOT; ' +
		'`forwardedProps.cancelOnDisconnect` ends the answer with the connection. ' +
		'With `forwardedProps.compare`, several models answer side by side: the first one’s `runId` is yours, the others’ end in ' +
		'`-2` and `-3`. The conversation lists them in `compared`, and `PATCH` with `show` chooses one. ' +
		'With `accept: text/event-stream` you get the answer’s events, otherwise its IDs at once.',
	scope: 'execute',
	body: runAgentInput,
	example: {
		threadId: 'my-chat',
		runId: 'run-1',
		messages: [{ id: 'message-1', role: 'user', content: 'Count the words of “the quick brown fox”' }]
	},
	status: 202,
	answer: [events('The answer’s events (AG-UI 1.0).'), runNamed.describe('The answer that has begun.')],
	errors: ['not_found', 'conflict'],
	handler: async ({ app, caller, request, body }) => {
		const { runner } = app;
		const input = await body();
		const { threadId, runId, state } = input;
		const { apiKeyId } = caller;
		const { snapshots, cancelOnDisconnect } = toProps(input);
		const answers = toAnswers(input);
		const requests = answers ? [] : toRunRequests(await receiveFiles(app, input, apiKeyId));
		if (answers) await resumeRun(app, caller, input, answers);
		for (const each of requests) await runner.start({ ...each, apiKeyId: apiKeyId ?? undefined });
		if (!request.headers.get('accept')?.includes('text/event-stream')) {
			return { threadId, runId };
		}
		return eventStream(app.log, (signal) => {
			// After the run has ended there is nothing to stop.
			const stop = () => [{ runId }, ...requests].map((each) => void runner.stop(each.runId));
			if (cancelOnDisconnect) signal.addEventListener('abort', stop, { once: true });
			return (async function* () {
				const batches = await runner.follow(runId, 0, signal);
				if (!batches) return;
				const whole = snapshots ? withSnapshots(app, threadId, { batches, state }) : batches;
				yield* runEventFrames(whole);
			})();
		});
	}
});
