/** A message's place in the list. The list stays as it is while the message in one place grows. */
import type { Message } from '../shared/message.ts';

export class MessageEntry {
	/** The same for a message that is being written and for the stored one it becomes. */
	readonly key: string;
	message: Message;

	constructor(message: Message) {
		this.key = entryKey(message);
		this.message = $state.raw(message);
	}
}

export function entryKey(message: Message): string {
	return message.role === 'assistant' && message.runId !== null ? `run:${message.runId}` : message.id;
}
