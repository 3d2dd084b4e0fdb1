/** The newest messages of one session, so that a client whose connection broke can go on (Streamable HTTP, resumability). */
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

const MAX_EVENTS = 256;
const MAX_BYTES = 512 * 1024;

interface StoredEvent {
	id: string;
	streamId: string;
	message: JSONRPCMessage;
	bytes: number;
}

/** Keeps 256 messages of together half a megabyte, and always the newest; an id that it has no more is answered with 400. */
export function createEventStore(limits = { events: MAX_EVENTS, bytes: MAX_BYTES }): EventStore {
	const events: StoredEvent[] = [];
	let stored = 0;
	let bytes = 0;
	return {
		async storeEvent(streamId, message) {
			const event = { id: `${(stored += 1)}`, streamId, message, bytes: JSON.stringify(message).length };
			events.push(event);
			bytes += event.bytes;
			while (events.length > 1 && (events.length > limits.events || bytes > limits.bytes)) {
				bytes -= events.shift()?.bytes ?? 0;
			}
			return event.id;
		},
		async getStreamIdForEventId(id) {
			return events.find((event) => event.id === id)?.streamId;
		},
		async replayEventsAfter(lastId, { send }) {
			const start = events.findIndex(({ id }) => id === lastId);
			const last = events[start];
			if (!last) throw new Error('The event is not kept any more.');
			// The event that opens a stream is empty: it only gave the client an id.
			const missed = events.slice(start + 1).filter(({ streamId, message }) => {
				return streamId === last.streamId && 'jsonrpc' in message;
			});
			for (const { id, message } of missed) await send(id, message);
			return last.streamId;
		}
	};
}
