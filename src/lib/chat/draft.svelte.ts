/** What is being written: the text and its attachments, kept over reloads of the page. */
import type { Client } from './client.ts';
import { Attachment } from './attachment.svelte.ts';
import { safeName, uniqueNames } from './files.ts';
import { readStored, writeStored } from './stored.ts';

/** What a message is made of. */
export interface Question {
	text: string;
	attachments: Attachment[];
}

interface StoredDraft {
	text: string;
	files: { path: string; bytes: number }[];
}

export class Draft {
	readonly #key: string;
	readonly #conversationId: string;
	readonly #client: Client;
	#text = $state('');
	attachments = $state.raw<Attachment[]>([]);

	constructor(conversationId: string, client: Client) {
		this.#key = `draft:${conversationId}`;
		this.#conversationId = conversationId;
		this.#client = client;
		const stored = parseDraft(readStored('session', this.#key));
		this.#text = stored.text;
		this.attachments = stored.files.map(({ path, bytes }) => Attachment.stored(path, bytes));
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
		this.#text = text;
		this.save();
	}

	/** Starts to upload at once, each file under a name of its own; `taken` are paths that must not be overwritten. */
	attach(files: Iterable<File>, taken: Iterable<string>): void {
		const chosen = [...files];
		const names = chosen.map(({ name }) => safeName(name));
		const paths = uniqueNames(names, [...taken, ...this.attachments.map(({ path }) => path)]);
		const added = chosen.map((file, index) => Attachment.of(file, paths[index] ?? safeName(file.name)));
		this.attachments = [...this.attachments, ...added];
		for (const attachment of added) void this.upload(attachment);
	}

	/** Uploads a file, again after a failure. */
	async upload(attachment: Attachment): Promise<void> {
		await attachment.upload(this.#client, this.#conversationId);
		this.save();
	}

	/** Takes a file out of the message; what has been uploaded stays in the workspace. */
	remove(attachment: Attachment): void {
		attachment.abort();
		this.attachments = this.attachments.filter((other) => other !== attachment);
		this.save();
	}

	/** Empties the box. The stored copy stays until `save`: the message has not arrived yet. */
	take(): Question {
		const question = { text: this.#text.trim(), attachments: this.attachments };
		this.#text = '';
		this.attachments = [];
		return question;
	}

	/** Puts a message that could not be sent back, before what has been written since. */
	restore(question: Question): void {
		this.attachments = [...question.attachments, ...this.attachments];
		this.text = this.#text.trim() === '' ? question.text : `${question.text}\n\n${this.#text}`;
	}

	/** Keeps what is in the box now, and nothing else. */
	save(): void {
		const files = this.attachments.filter(({ state }) => state === 'ready').map(({ path, bytes }) => ({ path, bytes }));
		const isEmpty = this.#text === '' && files.length === 0;
		writeStored('session', this.#key, isEmpty ? null : JSON.stringify({ text: this.#text, files }));
	}

	dispose(): void {
		for (const attachment of this.attachments) attachment.abort();
	}
}

function parseDraft(json: string | null): StoredDraft {
	if (json === null) return { text: '', files: [] };
	// Written by `save` alone, in the same browser.
	return JSON.parse(json) as StoredDraft;
}
