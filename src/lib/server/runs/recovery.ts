/** Ends a run that nobody writes any more: what was shown is kept, and no tool of it is run again (FEATURES F14). */
import { usageSince, type RunEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { RunRecord } from '../store/run-row.ts';
import type { Store } from '../store/store.ts';

export const INTERRUPTED: RunEvent = {
	type: 'RUN_ERROR',
	code: 'interrupted',
	message: 'The server was stopped while this answer was written. What was shown is kept.'
};

const PAGE = { limit: 1000, maxBytes: 1024 * 1024 };

/** The stored message is as it was before the run: its events say what came since. */
export async function endOrphan(store: Store, run: RunRecord): Promise<void> {
	const { id, conversationId, messageId, lastSeq, startedAt } = run;
	let message: Message | null = await store.messages.get(conversationId, messageId);
	const before = message?.usage ?? null;
	for (let after = 0; message && after < lastSeq;) {
		const events = await store.runs.readEvents(id, { after, ...PAGE });
		for (const { data } of events) message = foldEvent(message, JSON.parse(data) as RunEvent);
		const last = events.at(-1);
		if (!last) break;
		after = last.seq;
	}
	const now = new Date().toISOString();
	await store.runs.finish(id, {
		state: 'interrupted',
		errorCode: 'interrupted',
		// Nobody measured how long it took, and the clock may have been set back since.
		finishedAt: now < startedAt ? startedAt : now,
		events: [{ seq: lastSeq + 1, data: JSON.stringify(INTERRUPTED) }],
		...(message ? { message: { conversationId, message: foldEvent(message, INTERRUPTED) } } : {}),
		...(message?.usage ? { used: usageSince(before, message.usage) } : {})
	});
}
