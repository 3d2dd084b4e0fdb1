import { eventsQuery } from '$lib/shared/api.ts';
import { endpoint, events } from '$lib/server/endpoint.ts';
import { eventStream, runEventFrames } from '$lib/server/http.ts';
import { requireOwnRun } from '$lib/server/runs/conversation-changes.ts';

export const GET = endpoint({
	id: 'followRun',
	tag: 'Answers',
	summary: 'Follow an answer from any event',
	scope: 'read',
	params: { id: '`runId` of the answer.' },
	query: eventsQuery,
	answer: events('Events after `after` or the header `last-event-id`.'),
	handler: async ({ app, caller, params, query, request }) => {
		const { runner } = app;
		const run = await requireOwnRun(app, caller.apiKeyId, params.id);
		const given = Number(request.headers.get('last-event-id') ?? query.after ?? 0);
		// An impossible cursor starts over: the fold tolerates repeated events, but not gaps. Nobody continues after the end of
		// a run, so a cursor there belongs to an event that a crash lost, whose number the end has now.
		const last = runner.live(params.id)?.seq ?? run.lastSeq - 1;
		const after = Number.isInteger(given) && given >= 0 && given <= last ? given : 0;
		return eventStream(async function* (signal) {
			const batches = await runner.follow(params.id, after, signal);
			if (batches) yield* runEventFrames(batches);
		});
	}
});
