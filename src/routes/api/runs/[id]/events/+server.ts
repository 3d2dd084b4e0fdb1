import { eventsQuery } from '$lib/shared/api.ts';
import { placeOfEvent } from '$lib/shared/events.ts';
import { endpoint, events } from '$lib/server/endpoint.ts';
import { eventStream, inTurns, runEventFrames } from '$lib/server/http.ts';
import { requireOwnRun } from '$lib/server/runs/conversation-changes.ts';

export const GET = endpoint({
	id: 'followRun',
	tag: 'Answers',
	summary: 'Follow an answer from any event',
	scope: 'read',
	params: { id: '`runId` of the answer.' },
	query: eventsQuery,
	answer: events('Events after `after` or the header `last-event-id`, until all of these answers have ended.'),
	handler: async ({ app, caller, params, query, request }) => {
		const { runner } = app;
		const asked = (query.beside ?? '').split(',').filter(Boolean);
		const beside = asked.map((each) => each.split(':')).map(([id = '', given = '']) => ({ id, given }));
		const given = request.headers.get('last-event-id') ?? query.after ?? '0';
		const runs = await Promise.all(
			[{ id: params.id, given }, ...beside].map(async ({ id, given: known }) => {
				const run = await requireOwnRun(app, caller.apiKeyId, id);
				const place = placeOfEvent(known);
				return { id, epoch: place.epoch, after: await runner.cursorFor(run, place) };
			})
		);
		return eventStream(app.log, async function* (signal) {
			const followed = await Promise.all(runs.map(({ id, after, epoch }) => runner.follow(id, after, signal, epoch)));
			yield* inTurns(
				followed.map((batches, index) => runEventFrames(batches ?? [], index === 0 ? undefined : runs[index]?.id))
			);
		});
	}
});
