/** What is being written: the text and its attachments, kept until they are sent. */
import { Attachment } from './attachment.svelte.ts';
import type { Client } from './client.ts';
import { DraftStore } from './drafts.ts';
import { safeName, uniqueNames } from './files.ts';
import type { FolderFile } from './registry-client.ts';

/** What a message is made of. */
export interface Question {
	text: string;
	attachments: Attachment[];
}

/** The skills that wait to be pinned with the message. */
export interface PinHost {
	readonly pins: string[];
	pinByName: (name: string) => unknown;
}

/** At once: a browser has six connections for a server, and the page needs some for itself. */
const MAX_UPLOADS = 3;
/** The server takes no more of one message. */
const MAX_FILES = 100;

export class Draft {
	readonly #store: DraftStore;
	readonly #conversationId: string;
	readonly #client: Client;
	readonly #pinHost: PinHost | null;
	/** What is in the box was sent under this id, and nobody has heard whether it arrived. */
	#sentAs: string | null;
	/** The id of what was taken last. */
	#lastId: string | null = null;
	#text = $state('');
	attachments = $state.raw<Attachment[]>([]);
	/** Why not all that was chosen is here. */
	problem = $state<string | null>(null);

	constructor(conversationId: string, client: Client, pinHost: PinHost | null = null) {
		this.#store = new DraftStore(conversationId);
		this.#conversationId = conversationId;
		this.#client = client;
		this.#pinHost = pinHost;
		const stored = this.#store.read();
		this.#text = stored.text;
		this.#sentAs = stored.sentAs;
		this.attachments = stored.files.map(({ path, bytes }) => Attachment.stored(path, bytes));
		for (const name of stored.pins) pinHost?.pinByName(name);
	}

	get isEmpty(): boolean {
		return this.#text === '' && this.attachments.length === 0;
	}

	get isUploading(): boolean {
		return this.attachments.some(({ state }) => state === 'uploading');
	}

	get hasFailed(): boolean {
		return this.attachments.some(({ state }) => state === 'failed');
	}

	get text(): string {
		return this.#text;
	}

	set text(text: string) {
		if (text !== this.#text) this.#sentAs = null;
		this.#text = text;
		this.save();
	}

	/**
	 * Starts to upload at once, each file under a name of its own; `taken` are paths that must not be overwritten.
	 * `pastedText`: what they are, where they were pasted as text.
	 */
	attach(files: readonly FolderFile[], taken: Iterable<string>, pastedText: string | null = null): void {
		const chosen = files.slice(0, Math.max(0, MAX_FILES - this.attachments.length));
		this.problem =
			chosen.length < files.length ? `A message takes at most ${MAX_FILES} files: the others were left out.` : null;
		const names = chosen.map(({ path }) => path.split('/').map(safeName).join('/'));
		const paths = uniqueNames(names, [...taken, ...this.attachments.map(({ path }) => path)]);
		this.#sentAs = null;
		const added = chosen.map(({ file }, index) => Attachment.of(file, paths[index] ?? safeName(file.name), pastedText));
		this.attachments = [...this.attachments, ...added];
		for (let count = 0; count < MAX_UPLOADS; count++) void this.#uploadEach(added);
	}

	/** One after the other, leaving out what somebody else has begun or removed. */
	async #uploadEach(waiting: Attachment[]): Promise<void> {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			if (this.attachments.includes(next)) await this.upload(next);
		}
	}

	/** Adds a file that is in the workspace already. */
	mention(path: string, bytes: number): void {
		if (this.attachments.some((attachment) => attachment.path === path)) return;
		this.#sentAs = null;
		this.attachments = [...this.attachments, Attachment.stored(path, bytes)];
		this.save();
	}

	/** Uploads a file, again after a failure. */
	async upload(attachment: Attachment): Promise<void> {
		await attachment.upload(this.#client, this.#conversationId);
		this.save();
	}

	/** Takes a file out of the message; what has been uploaded stays in the workspace. */
	remove(attachment: Attachment): void {
		attachment.dispose();
		this.problem = null;
		this.#sentAs = null;
		this.attachments = this.attachments.filter((other) => other !== attachment);
		this.save();
	}

	/** Empties the box. The stored copy stays until `save`: the message has not arrived yet. */
	take(): Question {
		const question = { text: this.#text.trim(), attachments: this.attachments };
		this.#text = '';
		this.attachments = [];
		this.problem = null;
		this.#sentAs = null;
		return question;
	}

	/** What was taken is on its way: should this page end before it has arrived, the next one finds it under this id. */
	sendingAs(messageId: string): void {
		this.#lastId = messageId;
		this.#store.mark(messageId);
	}

	/** Empties the box of what is among these messages already. True when it was. */
	drop(messageIds: readonly string[]): boolean {
		if (this.#sentAs === null || !messageIds.includes(this.#sentAs)) return false;
		this.sent(this.take());
		return true;
	}

	/** The message has arrived: what is kept of it goes. */
	sent(question: Question): void {
		for (const attachment of question.attachments) attachment.dispose();
		this.save();
	}

	/** Empties the box for good; what was in it can be put back. */
	clear(): Question {
		const question = this.take();
		this.save();
		return question;
	}

	/** Puts a message that could not be sent back, before what has been written since. It may have arrived all the same. */
	restore(question: Question): void {
		this.#sentAs = this.isEmpty ? this.#lastId : null;
		this.attachments = [...question.attachments, ...this.attachments];
		this.#text = this.#text.trim() === '' ? question.text : `${question.text}\n\n${this.#text}`;
		this.save();
	}

	/** Keeps what is in the box now, and nothing else. */
	save(): void {
		const files = this.attachments.filter(({ state }) => state === 'ready').map(({ path, bytes }) => ({ path, bytes }));
		this.#store.write({ text: this.#text, files, pins: this.#pinHost?.pins ?? [], sentAs: this.#sentAs });
	}

	dispose(): void {
		for (const attachment of this.attachments) attachment.dispose();
	}
}
