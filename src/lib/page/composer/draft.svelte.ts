/** The draft of a message: text and attachments, stored until sent. */
import { safeName, safePath, uniqueNames } from '../files/files.ts';
import type { ApiError } from '../request.ts';
import type { Client, FolderFile } from '../server.ts';
import { readStored, storedKeys, writeStored } from '../ui/clipboard.ts';
import { Attachment } from './chat-attachment.svelte.ts';

export interface Question {
	text: string;
	attachments: Attachment[];
}

/** Skills waiting to be pinned with the message. */
export interface PinHost {
	readonly pins: string[];
	pinByName: (name: string) => unknown;
}

/** Parallel uploads: a browser has six connections per server, and the page needs some itself. */
const MAX_UPLOADS = 3;
/** The server's limit per message. */
const MAX_FILES = 100;

export class Draft {
	readonly #store: DraftStore;
	readonly #conversationId: string;
	readonly #client: Client;
	readonly #pinHost: PinHost | null;
	/** Id under which the draft was sent, if nobody knows whether it arrived. */
	#sentAs: string | null;
	#lastId: string | null = null;
	/** As it was filled in for somebody. */
	#given: string | null = null;
	/** Not uploaded until somebody uses the box. */
	readonly #held: Attachment[] = [];
	#text = $state('');
	attachments = $state.raw<Attachment[]>([]);
	/** Text that was sent while a file was on its way: it follows once that is there, unless it’s changed meanwhile. */
	awaited = $state<string | null>(null);
	/** Why some of the chosen files are missing. */
	problem = $state<string | null>(null);
	/** Why the message in the box couldn't be sent. */
	unsent = $state.raw<ApiError | null>(null);

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
		if (stored.isGiven) this.#given = this.#content;
	}

	get #content(): string {
		return JSON.stringify([this.#text, this.attachments.map(({ path }) => path), this.#pinHost?.pins]);
	}

	/** It's as it was filled in for somebody: nobody's draft. */
	get isGiven(): boolean {
		return this.#given === this.#content;
	}

	/** Fills it in for somebody, unless they have written something themselves. */
	fill(change: () => void): void {
		const isOurs = this.isGiven || (this.isEmpty && !this.#pinHost?.pins.length);
		change();
		if (!isOurs) return;
		this.#given = this.#content;
		this.save();
	}

	get isEmpty(): boolean {
		return this.#text === '' && this.attachments.length === 0;
	}

	get isUploading(): boolean {
		return this.attachments.some(({ state }) => state === 'uploading' || state === 'held');
	}

	get isHeld(): boolean {
		return this.attachments.some(({ state }) => state === 'held');
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
	 * Uploads files at once, each under a unique name; `taken` are paths that must not be overwritten. `pastedText`: the text,
	 * if it was pasted. `isHeld`: another app shared the files, so uploads wait until somebody uses the box.
	 */
	attach(
		files: readonly FolderFile[],
		taken: Iterable<string>,
		{ pastedText = null, isHeld = false }: { pastedText?: string | null; isHeld?: boolean } = {}
	): void {
		const chosen = files.slice(0, Math.max(0, MAX_FILES - this.attachments.length));
		this.problem =
			chosen.length < files.length ? `You can attach up to ${MAX_FILES} files. The rest weren’t added.` : null;
		const names = chosen.map(({ path }) => safePath(path));
		const paths = uniqueNames(names, [...taken, ...this.attachments.map(({ path }) => path)]);
		this.#sentAs = null;
		const added = chosen.map(({ file }, index) => Attachment.of(file, paths[index] ?? safeName(file.name), pastedText));
		this.attachments = [...this.attachments, ...added];
		if (!isHeld) return this.#uploadAll(added);
		for (const attachment of added) attachment.hold();
		this.#held.push(...added);
	}

	/** Uploads the held files. */
	release(): void {
		this.#uploadAll(this.#held);
	}

	#uploadAll(waiting: Attachment[]): void {
		for (let count = 0; count < MAX_UPLOADS; count++) void this.#uploadEach(waiting);
	}

	/** Uploads one by one, skipping what was removed meanwhile. */
	async #uploadEach(waiting: Attachment[]): Promise<void> {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			if (this.attachments.includes(next)) await this.upload(next);
		}
	}

	/** Adds a file from the workspace. */
	mention(path: string, bytes: number): void {
		if (this.attachments.some((attachment) => attachment.path === path)) return;
		if (this.attachments.length >= MAX_FILES) {
			this.problem = `You can attach up to ${MAX_FILES} files. The rest weren’t added.`;
			return;
		}
		this.#sentAs = null;
		this.attachments = [...this.attachments, Attachment.stored(path, bytes)];
		this.save();
	}

	async upload(attachment: Attachment): Promise<void> {
		await attachment.upload(this.#client, this.#conversationId);
		this.save();
	}

	/** Replaces the text of a pasted attachment, under the same name. */
	rewrite(attachment: Attachment, text: string): void {
		attachment.dispose();
		this.#sentAs = null;
		const rewritten = Attachment.of(new File([text], attachment.path, { type: 'text/plain' }), attachment.path, text);
		this.attachments = this.attachments.map((other) => (other === attachment ? rewritten : other));
		void this.upload(rewritten);
	}

	/** Removes an attachment; an uploaded file stays in the workspace. */
	remove(attachment: Attachment): void {
		attachment.dispose();
		this.problem = null;
		this.#sentAs = null;
		this.attachments = this.attachments.filter((other) => other !== attachment);
		this.save();
	}

	/** Takes `remove` back. */
	putBack(attachment: Attachment): void {
		if (this.attachments.some(({ path }) => path === attachment.path)) return;
		this.#sentAs = null;
		this.attachments = [...this.attachments, attachment];
		this.save();
		if (attachment.state === 'uploading') void this.upload(attachment);
		else if (attachment.state === 'held' && !this.#held.includes(attachment)) this.#held.push(attachment);
	}

	/** Empties the box. The stored copy stays until `save`, because the message hasn't arrived yet. */
	take(): Question {
		const question = { text: this.#text.trim(), attachments: this.attachments };
		this.#given = null;
		this.#text = '';
		this.attachments = [];
		this.problem = null;
		this.#sentAs = null;
		return question;
	}

	/** Stores the id of the message being sent: if the page ends before it arrives, the next one finds it. */
	sendingAs(messageId: string): void {
		this.#lastId = messageId;
		this.#store.mark(messageId);
	}

	/** Empties the box if one of these messages is its content. Returns whether it was. */
	drop(messageIds: readonly string[]): boolean {
		if (this.#sentAs === null || !messageIds.includes(this.#sentAs)) return false;
		this.sent(this.take());
		return true;
	}

	/** Called when the message has arrived: deletes the stored copy. */
	sent(question: Question): void {
		for (const attachment of question.attachments) attachment.dispose();
		this.save();
	}

	/** Empties the box and the stored copy; returns the content for `restore`. */
	clear(): Question {
		const question = this.take();
		this.save();
		return question;
	}

	/** Puts back a message that couldn't be sent, because of this error, before anything typed since. It may have arrived all the same. */
	restore(question: Question, error: ApiError | null = null): void {
		this.unsent = error;
		this.#sentAs = this.isEmpty ? this.#lastId : null;
		this.attachments = [...question.attachments, ...this.attachments];
		this.#text = this.#text.trim() === '' ? question.text : `${question.text}\n\n${this.#text}`;
		this.save();
	}

	/** Stores the current content. */
	save(): void {
		const files = this.attachments.filter(({ state }) => state === 'ready').map(({ path, bytes }) => ({ path, bytes }));
		const { isGiven } = this;
		this.#store.write({ text: this.#text, files, pins: this.#pinHost?.pins ?? [], sentAs: this.#sentAs, isGiven });
	}

	dispose(): void {
		for (const attachment of this.attachments) attachment.dispose();
	}
}

export interface StoredDraft {
	text: string;
	/** Already uploaded. */
	files: { path: string; bytes: number }[];
	/** Names of skills waiting to be pinned. */
	pins: string[];
	/** Id under which it was sent, if it may be under way; otherwise null. */
	sentAs: string | null;
	/** It's as it was filled in for somebody. */
	isGiven: boolean;
}

const PREFIX = 'draft:';
const EMPTY: StoredDraft = { text: '', files: [], pins: [], sentAs: null, isGiven: false };
/** The oldest drafts above this are deleted. */
const MOST = 50;

export function hasDraft(conversationId: string): boolean {
	return readStored('local', PREFIX + conversationId) !== null;
}

/** Stored draft of one conversation. Another tab may store one too: neither deletes what the other wrote. */
export class DraftStore {
	readonly #key: string;
	#known: string | null = null;

	constructor(conversationId: string) {
		this.#key = PREFIX + conversationId;
	}

	read(): StoredDraft {
		this.#known = readStored('local', this.#key);
		const { at: _, ...draft } = parse(this.#known) ?? { ...EMPTY, at: 0 };
		return draft;
	}

	/** Marks the stored draft as sent under this id. */
	mark(messageId: string): void {
		const draft = parse(this.#known);
		if (draft && readStored('local', this.#key) === this.#known) this.#put({ ...draft, sentAs: messageId });
	}

	write(draft: StoredDraft): void {
		const isEmpty = draft.text === '' && draft.files.length === 0 && draft.pins.length === 0;
		const stored = readStored('local', this.#key);
		if (isEmpty) {
			if (stored === this.#known) writeStored('local', this.#key, null);
			this.#known = null;
			return;
		}
		if (stored === null) makeRoom();
		this.#put(draft);
	}

	#put(draft: StoredDraft): void {
		this.#known = JSON.stringify({ ...draft, at: Date.now() });
		writeStored('local', this.#key, this.#known);
	}
}

function makeRoom(): void {
	const kept = storedKeys('local', PREFIX).map((key) => ({ key, at: parse(readStored('local', key))?.at ?? 0 }));
	const tooMany = kept.length - MOST + 1;
	if (tooMany <= 0) return;
	for (const { key } of kept.toSorted((one, other) => one.at - other.at).slice(0, tooMany)) {
		writeStored('local', key, null);
	}
}

/** Null if another version of the page wrote it. */
function parse(json: string | null): (StoredDraft & { at: number }) | null {
	if (json === null) return null;
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch (error) {
		if (error instanceof SyntaxError) return null;
		throw error;
	}
	const { text, files, pins, sentAs, isGiven, at } = (value ?? {}) as Record<string, unknown>;
	if (typeof text !== 'string' || !Array.isArray(files) || !Array.isArray(pins)) return null;
	const names = pins.filter((pin) => typeof pin === 'string');
	return {
		text,
		files: files.filter(isFile),
		pins: names,
		sentAs: typeof sentAs === 'string' ? sentAs : null,
		isGiven: isGiven === true,
		at: typeof at === 'number' ? at : 0
	};
}

function isFile(value: unknown): value is StoredDraft['files'][number] {
	const { path, bytes } = (value ?? {}) as Record<string, unknown>;
	return typeof path === 'string' && typeof bytes === 'number';
}
