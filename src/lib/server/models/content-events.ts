/** The events that show something of a turn, and how neighbours among them become one. */
import type { ModelEvent } from '../agent/model.ts';

export type ContentEvent = Exclude<ModelEvent, { type: 'retrying' | 'completed' | 'failed' }>;

/** Appends an event; a delta that continues the last one is added to it instead. Changes only the array and its end. */
export function appendEvent(events: ContentEvent[], event: ContentEvent): void {
	const last = events.at(-1);
	if (last && 'delta' in last && 'delta' in event && last.type === event.type && keyOf(last) === keyOf(event)) {
		events[events.length - 1] = { ...last, delta: last.delta + event.delta };
	} else {
		events.push(event);
	}
}

function keyOf(event: ContentEvent): string {
	return 'key' in event ? event.key : event.callId;
}
