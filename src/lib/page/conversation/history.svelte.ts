/** Actions on existing messages: edit, retry, continue, remove, fork, and loading earlier ones (F14). */
import type { ConversationSummary, MessageList } from '../../shared/api.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import { type ApiError, asApiError } from '../request.ts';
import { newId, timestamp } from '../text/format.ts';
import { MessageEntry, type SessionHost } from './message-entry.svelte.ts';

export class History {
	readonly #host: SessionHost;
	#loading: Promise<void> | null = null;
	#sought: string | null = null;
	/** Whether there are messages before the first one shown. */
	hasEarlier = $state(false);
	isLoadingEarlier = $state(false);
	earlierError = $state.raw<ApiError | null>(null);
	/** For each message with branches: the ids of all its alternatives, itself included, in order. */
	alternatives = $state.raw<Record<string, string[]>>({});
	/** A message that `seek` found; cleared by whoever shows it. */
	found = $state<string | null>(null);
	editedId = $state<string | null>(null);

	constructor(host: SessionHost) {
		this.#host = host;
	}

	/** Replaces a user message; the old one and its replies stay in their own branch. */
	edit({ message }: MessageEntry, text: string): Promise<boolean> {
		return this.#host.startRun({ text, files: message.files }, { after: message.parentId });
	}

	/** Starts editing the last user message, or the one this reply answers; false if there is none or a run is under way. */
	editLast(reply?: MessageEntry): boolean {
		const { entries } = this.#host;
		const earlier = reply ? entries.slice(0, Math.max(0, entries.indexOf(reply))) : entries;
		const last = earlier.findLast(({ message }) => message.role === 'user');
		if (!last || !this.#host.isIdle) return false;
		this.editedId = last.message.id;
		return true;
	}

	/** Generates another version of this reply, with `model` from now on if given. Side by side with others, it takes its place. */
	async retry(entry: MessageEntry, model?: string): Promise<boolean> {
		const place = this.#host.compared.find((each) => each.entry === entry);
		if (!place) return this.#answerAgain(entry, { model });
		return this.#answerAgain(entry, { compare: [model ?? place.model], instead: entry.message.id });
	}

	/** Has these models answer the same question beside this reply. */
	compare(entry: MessageEntry, models: readonly string[]): Promise<boolean> {
		return this.#answerAgain(entry, { compare: models, beside: entry.message.id });
	}

	async #answerAgain(entry: MessageEntry, props: Record<string, unknown>): Promise<boolean> {
		const earlier = this.#host.entries.slice(0, Math.max(0, this.#host.entries.indexOf(entry)));
		const question = earlier.findLast(({ message }) => message.role === 'user')?.message;
		const questionId = question?.id ?? entry.message.parentId;
		return questionId !== null && this.#host.startRun(null, { retry: questionId, ...props }, entry);
	}

	/** Continues a reply that ended early. */
	continue(entry: MessageEntry): Promise<boolean> {
		return this.#host.startRun(null, { continue: entry.message.id }, entry);
	}

	/** Switches to the message's branch. */
	show(messageId: string): Promise<boolean> {
		return this.#host.change(() => this.#host.client.showMessage(this.#host.id, messageId));
	}

	/** Puts back what `remove` took. */
	restore({ message }: MessageEntry): Promise<boolean> {
		return this.#host.change(() => this.#host.client.restoreMessage(this.#host.id, message.id));
	}

	/** Removes a message and everything after it. */
	remove({ message }: MessageEntry): Promise<boolean> {
		return this.#host.change(() => this.#host.client.deleteMessage(this.#host.id, message.id));
	}

	/** Marks the reply as not good, or takes that back; a failure is in `actionError` of the session. */
	async dislike(entry: MessageEntry): Promise<void> {
		const { id, isDisliked = false } = entry.message;
		await this.#host.attempt(async () => {
			await this.#host.client.dislikeMessage(this.#host.id, id, !isDisliked);
			entry.message = { ...entry.message, isDisliked: !isDisliked };
		});
	}

	/** Null if it failed; see `actionError` of the session. */
	async fork({ message }: MessageEntry): Promise<ConversationSummary | null> {
		let fork: ConversationSummary | null = null;
		await this.#host.attempt(async () => {
			fork = await this.#host.client.forkConversation(this.#host.id, message.id);
		});
		return fork;
	}

	/** Loads the messages before the first one. Never rejects: see `earlierError`. */
	loadEarlier(): Promise<void> {
		return (this.#loading ??= this.#loadEarlier().finally(() => (this.#loading = null)));
	}

	/** Finds a message, however far back and in whichever branch, and sets `found`. The latest call wins. */
	async seek(messageId: string): Promise<void> {
		this.#sought = messageId;
		const isHere = await this.#loadUntil(messageId);
		if (!isHere) {
			// More to load after a failure, or another message is wanted by now.
			if (this.hasEarlier || this.#sought !== messageId || !(await this.show(messageId))) return;
			if (!(await this.#loadUntil(messageId))) return;
		}
		if (this.#sought === messageId) this.found = messageId;
	}

	async #loadUntil(messageId: string): Promise<boolean> {
		const has = (): boolean => this.#host.entries.some(({ message }) => message.id === messageId);
		while (!has() && this.hasEarlier && this.#sought === messageId) {
			const first = this.#host.entries[0];
			await this.loadEarlier();
			if (this.#host.entries[0] === first) break;
		}
		return has();
	}

	async #loadEarlier(): Promise<void> {
		const first = this.#host.entries[0];
		if (!first || !this.hasEarlier) return;
		this.isLoadingEarlier = true;
		this.earlierError = null;
		try {
			const page = await this.#host.client.listEarlier(this.#host.id, first.message.id);
			// Another branch may be on the page by now.
			if (this.#host.entries[0] !== first) return;
			this.#host.entries = [...page.messages.map((message) => new MessageEntry(message)), ...this.#host.entries];
			this.hasEarlier = page.hasEarlier;
			this.alternatives = { ...page.alternatives, ...this.alternatives };
		} catch (error) {
			this.earlierError = asApiError(error);
		} finally {
			this.isLoadingEarlier = false;
		}
	}

	/** Applies the latest page of messages; `earlier` are the entries before it, which stay. */
	update(page: Pick<MessageList, 'hasEarlier' | 'alternatives'>, earlier: MessageEntry[]): void {
		if (earlier.length === 0) this.hasEarlier = page.hasEarlier;
		const kept = earlier.flatMap(({ message: { id } }) => {
			const ids = this.alternatives[id];
			return ids ? [[id, ids] as const] : [];
		});
		this.alternatives = { ...Object.fromEntries(kept), ...page.alternatives };
	}
}

/**
 * The entries after reading the latest messages, behind the earlier entries already there. Existing messages keep their entry
 * and whatever is rendered in it. Replies of runs in `live` stay as they are, because the page is ahead of the server.
 */
export function mergeEntries(entries: MessageEntry[], messages: Message[], live: readonly string[]): MessageEntry[] {
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const byId = new Map(entries.map((entry) => [entry.message.id, entry]));
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const byRun = new Map(entries.map((entry) => [entry.message.runId, entry]));
	const newest = messages.map((message) => {
		// A reply whose run was started here has no server id yet.
		const entry = byId.get(message.id) ?? (message.runId === null ? undefined : byRun.get(message.runId));
		if (!entry) return new MessageEntry(message);
		const isLive = message.runId !== null && live.includes(message.runId);
		if (!isLive) {
			if (!isSame(entry.message, message)) entry.message = message;
		} else if (entry.message.id !== message.id || entry.message.parentId !== message.parentId) {
			entry.message = { ...entry.message, id: message.id, parentId: message.parentId };
		}
		return entry;
	});
	const merged = [...entriesBefore(entries, messages), ...newest];
	const isUnchanged = merged.length === entries.length && merged.every((entry, index) => entry === entries[index]);
	return isUnchanged ? entries : merged;
}

/** The entries before the first of these messages, if they still precede it. */
function entriesBefore(entries: MessageEntry[], messages: Message[]): MessageEntry[] {
	const [first] = messages;
	const index = entries.findIndex(({ message }) => message.id === first?.id);
	return index > 0 && entries[index - 1]?.message.id === first?.parentId ? entries.slice(0, index) : [];
}

/** The entry of a run's reply, and the list with it; appends a new entry if there is none. */
export function placeOfRun(entries: MessageEntry[], runId: string): { entry: MessageEntry; entries: MessageEntry[] } {
	const found = entries.find(({ message }) => message.role === 'assistant' && message.runId === runId);
	if (found) return { entry: found, entries };
	const entry = new MessageEntry(emptyAnswer(newId(), runId, timestamp()));
	return { entry, entries: [...entries, entry] };
}

/** A finished message changes only together with one of these. */
function isSame(before: Message, now: Message): boolean {
	return (
		now.status !== 'running' &&
		before.id === now.id &&
		before.status === now.status &&
		before.runId === now.runId &&
		before.parentId === now.parentId
	);
}
