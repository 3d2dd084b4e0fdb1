/** The messages that wait for the end of a run (F14). They are the server's: every tab shows the same ones. */
import type { QueuedMessage } from '../shared/api.ts';
import { newId, timestamp } from './ids.ts';
import type { SessionHost } from './session-host.ts';

export class MessageQueue {
	readonly #host: SessionHost;
	/** First the one that is sent next. */
	items = $state.raw<QueuedMessage[]>([]);
	/** The one that is being edited. */
	editedId = $state<string | null>(null);
	/** Not answered: it may have arrived, so it keeps its id when it is sent again. */
	#unconfirmed: QueuedMessage | null = null;

	constructor(host: SessionHost) {
		this.#host = host;
	}

	/** True when the server has taken the message. `isUrgent`: it is to be sent as `sendNow` does. */
	async add(text: string, files: string[], isUrgent = false): Promise<boolean> {
		const message = this.#messageOf(text, files);
		this.#unconfirmed = message;
		this.#host.draft.sendingAs(message.id);
		this.items = [...this.items, message];
		let isWaiting = false;
		const isTaken = await this.#host.attempt(async () => {
			const { runId } = await this.#host.client.enqueue(this.#host.id, { id: message.id, text, files });
			isWaiting = runId === null;
		});
		if (isTaken) this.#unconfirmed = null;
		else this.#drop(message.id);
		// Whatever becomes of this, the message is in the queue, for everybody to see.
		if (isUrgent && isWaiting) await this.sendNow(message.id);
		return isTaken;
	}

	/** Begins to edit the last one; false where none waits. */
	editLast(): boolean {
		const last = this.items.at(-1);
		if (last) this.editedId = last.id;
		return last !== undefined;
	}

	edit(id: string, text: string): Promise<boolean> {
		return this.#host.attempt(async () => {
			await this.#host.client.editQueued(this.#host.id, id, text);
			this.items = this.items.map((message) => (message.id === id ? { ...message, text } : message));
		});
	}

	remove(id: string): Promise<boolean> {
		return this.#host.attempt(async () => {
			await this.#host.client.removeQueued(this.#host.id, id);
			this.#drop(id);
		});
	}

	/** Sends it as soon as the step that is under way is over. */
	sendNow(id: string): Promise<boolean> {
		return this.#host.attempt(() => this.#host.client.sendQueued(this.#host.id, id));
	}

	#drop(id: string): void {
		this.items = this.items.filter((message) => message.id !== id);
	}

	#messageOf(text: string, files: string[]): QueuedMessage {
		const last = this.#unconfirmed;
		const isSame = last?.text === text && JSON.stringify(last.files) === JSON.stringify(files);
		return isSame ? last : { id: newId(), text, files, createdAt: timestamp() };
	}
}
