/** A message's place in the list. The list stays as it is while the message in one place grows. */
import type { Message } from '../shared/message.ts';

export class MessageEntry {
	/** The id that the message had when it came into the list; the server's takes its place later, in the message. */
	readonly key: string;
	message: Message;

	constructor(message: Message) {
		this.key = message.id;
		this.message = $state.raw(message);
	}
}
