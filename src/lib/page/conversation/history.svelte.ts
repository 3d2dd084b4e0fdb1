/** What can be done with messages that are there already: asked otherwise, answered anew, continued, left out, forked (F14). */
import type { ConversationSummary, MessageList } from '../../shared/api.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import { type ApiError, asApiError } from '../request.ts';
import { newId, timestamp } from '../text/format.ts';
import { MessageEntry } from './message-entry.svelte.ts';
import type { SessionHost } from './session-services.ts';

export class History {
	readonly #host: SessionHost;
	#loading: Promise<void> | null = null;
	#sought: string | null = null;
	/** Are there messages before the first that is shown? */
	hasEarlier = $state(false);
	isLoadingEarlier = $state(false);
	earlierError = $state.raw<ApiError | null>(null);
	/** Of each message that has any: the ids of the messages that could stand in its place, itself included, in order. */
	alternatives = $state.raw<Record<string, string[]>>({});
	/** A message that was looked for and is there now; who shows it takes it away. */
	found = $state<string | null>(null);
	/** The message that is being asked otherwise. */
	editedId = $state<string | null>(null);

	constructor(host: SessionHost) {
		this.#host = host;
	}

	/** Puts another message in the place of a user's; what followed stays in a branch of its own. */
	edit({ message }: MessageEntry, text: string): Promise<boolean> {
		return this.#host.startRun({ text, files: message.files }, { after: message.parentId });
	}

	/** Begins to edit the user's last message; false where there is none, or an answer is being written. */
	editLast(): boolean {
		const last = this.#host.entries.findLast(({ message }) => message.role === 'user');
		if (!last || !this.#host.isIdle) return false;
		this.editedId = last.message.id;
		return true;
	}

	/** Gives another answer beside this one; `model` answers then, and from now on in this conversation. */
	async retry(entry: MessageEntry, model?: string): Promise<boolean> {
		const earlier = this.#host.entries.slice(0, Math.max(0, this.#host.entries.indexOf(entry)));
		const question = earlier.findLast(({ message }) => message.role === 'user')?.message;
		const questionId = question?.id ?? entry.message.parentId;
		return questionId !== null && this.#host.startRun(null, { retry: questionId, model });
	}

	/** Goes on with an answer that ended early. */
	continue({ message }: MessageEntry): Promise<boolean> {
		return this.#host.startRun(null, { continue: message.id });
	}

	/** Shows the branch that the message is in. */
	show(messageId: string): Promise<boolean> {
		return this.#host.change(() => this.#host.client.showMessage(this.#host.id, messageId));
	}

	/** Removes a message and all that follows it. */
	remove({ message }: MessageEntry): Promise<boolean> {
		return this.#host.change(() => this.#host.client.deleteMessage(this.#host.id, message.id));
	}

	/** Null when there is no new conversation: the session's `actionError` says why. */
	async fork({ message }: MessageEntry): Promise<ConversationSummary | null> {
		let fork: ConversationSummary | null = null;
		await this.#host.attempt(async () => {
			fork = await this.#host.client.forkConversation(this.#host.id, message.id);
		});
		return fork;
	}

	/** Puts the messages before the first one in their places. Never rejects: see `earlierError`. */
	loadEarlier(): Promise<void> {
		return (this.#loading ??= this.#loadEarlier().finally(() => (this.#loading = null)));
	}

	/**
	 * Brings a message to the page, however far back it is or in which branch; `found` says when it is there. The last one
	 * that is looked for counts.
	 */
	async seek(messageId: string): Promise<void> {
		this.#sought = messageId;
		const isHere = await this.#loadUntil(messageId);
		if (!isHere) {
			// Not read as far as it may be, or looked for no more.
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
			// Another branch may be shown by now.
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

	/** Takes over what is said of the newest stretch; `earlier` are the places before it, which stay as they are. */
	update(page: Pick<MessageList, 'hasEarlier' | 'alternatives'>, earlier: MessageEntry[]): void {
		if (earlier.length === 0) this.hasEarlier = page.hasEarlier;
		const kept = earlier.flatMap(({ message: { id } }) => {
			const ids = this.alternatives[id];
			return ids ? [[id, ids] as const] : [];
		});
		this.alternatives = { ...Object.fromEntries(kept), ...page.alternatives };
	}
}

// The list of messages on the page, made from what the server has stored.

/**
 * The list with the newest stretch as it was read, after the places before it that are there already. What has a place keeps
 * it, with all that was rendered in it; the answer of the run `liveRunId` stays as it is: the page follows that run, and is
 * further than what was read.
 */
export function mergeEntries(entries: MessageEntry[], messages: Message[], liveRunId: string | null): MessageEntry[] {
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const byId = new Map(entries.map((entry) => [entry.message.id, entry]));
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const byRun = new Map(entries.map((entry) => [entry.message.runId, entry]));
	const newest = messages.map((message) => {
		// An answer whose run was started here has no id of the server's yet.
		const entry = byId.get(message.id) ?? (message.runId === null ? undefined : byRun.get(message.runId));
		if (!entry) return new MessageEntry(message);
		const isLive = message.runId !== null && message.runId === liveRunId;
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

/** The places before the first of these messages, where they are still what comes before it. */
function entriesBefore(entries: MessageEntry[], messages: Message[]): MessageEntry[] {
	const [first] = messages;
	const index = entries.findIndex(({ message }) => message.id === first?.id);
	return index > 0 && entries[index - 1]?.message.id === first?.parentId ? entries.slice(0, index) : [];
}

/** The place of a run's answer, with the list that has it: a new one at the end when there was none. */
export function placeOfRun(entries: MessageEntry[], runId: string): { entry: MessageEntry; entries: MessageEntry[] } {
	const found = entries.find(({ message }) => message.role === 'assistant' && message.runId === runId);
	if (found) return { entry: found, entries };
	const entry = new MessageEntry(emptyAnswer(newId(), runId, timestamp()));
	return { entry, entries: [...entries, entry] };
}

/** A message that is not being written changes only together with one of these. */
function isSame(before: Message, now: Message): boolean {
	return (
		now.status !== 'running' &&
		before.id === now.id &&
		before.status === now.status &&
		before.runId === now.runId &&
		before.parentId === now.parentId
	);
}
