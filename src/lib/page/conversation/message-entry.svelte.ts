/** A message's place in the list. The list stays as it is while the message in one place grows. */
import type { NumberedEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';

/** What the events say of the conversation besides its message. */
interface Received {
	/** Null where it got none. */
	title: string | null;
	/** The model has loaded a skill. */
	hasLoaded: boolean;
	/** A script has made or changed files. */
	hasFiles: boolean;
}

export class MessageEntry {
	/** The id that the message had when it came into the list; the server's takes its place later, in the message. */
	readonly key: string;
	message: Message;

	constructor(message: Message) {
		this.key = message.id;
		this.message = $state.raw(message);
	}
}

/** One change of the message, however many events came. */
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
