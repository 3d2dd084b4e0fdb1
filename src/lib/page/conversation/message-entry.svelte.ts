/** A message's place in the list. The list stays the same while a message in it grows. */
import type { NumberedEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';

/** What events say about the conversation besides its message. */
interface Received {
	/** Null if unchanged. */
	title: string | null;
	/** The model loaded a skill. */
	hasLoaded: boolean;
	/** A script created or changed files. */
	hasFiles: boolean;
}

export class MessageEntry {
	/** The message's first id. The message itself gets the server's id later. */
	readonly key: string;
	message: Message;

	constructor(message: Message) {
		this.key = message.id;
		this.message = $state.raw(message);
	}
}

/** Applies events to the entry's message in one update. */
export function receiveEvents(entry: MessageEntry, events: readonly NumberedEvent[]): Received {
	const received: Received = { title: null, hasLoaded: false, hasFiles: false };
	let { message } = entry;
	for (const { event } of events) {
		message = foldEvent(message, event);
		if (event.type !== 'CUSTOM') continue;
		if (event.name === 'run.title') received.title = event.value.title;
		if (event.name === 'skill.loaded') received.hasLoaded = true;
		if (event.name === 'skill.finished' && event.value.files.length > 0) received.hasFiles = true;
	}
	entry.message = message;
	return received;
}
