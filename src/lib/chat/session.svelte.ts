/** One open conversation: its messages, the run that is under way, and what can be done with them. */
import type { ConversationDetail, RunAgentInput } from '../shared/api.ts';
import { isTerminal, type NumberedEvent } from '../shared/events.ts';
import { foldEvent, type Message } from '../shared/message.ts';
import { ApiError, asApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { Draft } from './draft.svelte.ts';
import { mergeEntries, placeOfRun } from './entries.ts';
import { MessageEntry } from './message-entry.svelte.ts';
import { pathsOf, questionBefore, runInput, userMessageOf } from './questions.ts';
import { followRun } from './run-follower.ts';

/** Whom a session tells what the list of conversations shows as well. */
export interface SessionListener {
	runStarted: (conversationId: string, runId: string, title: string) => void;
	runEnded: (conversationId: string) => void;
	titled: (conversationId: string, title: string) => void;
}

export class ChatSession {
	readonly id: string;
	readonly draft: Draft;
	readonly #client: Client;
	readonly #listener: SessionListener;
	title = $state('');
	entries = $state.raw<MessageEntry[]>([]);
	/** `new`: the server knows no message of it yet. */
	phase = $state<'new' | 'loading' | 'ready' | 'failed'>('new');
	loadError = $state.raw<ApiError | null>(null);
	/** Why the last message was not sent, or the run not stopped. */
	actionError = $state.raw<ApiError | null>(null);
	isSending = $state(false);
	isStopping = $state(false);
	isReconnecting = $state(false);
	activeRunId = $state<string | null>(null);
	#unfollow: (() => void) | null = null;
	/** Sent, but not answered: it may have arrived, so it keeps its ids when it is sent again. */
	#unconfirmed: RunAgentInput | null = null;
	#isDisposed = false;

	constructor(id: string, client: Client, listener: SessionListener) {
		this.id = id;
		this.#client = client;
		this.#listener = listener;
		this.draft = new Draft(id, client);
	}

	// Getters, not $derived: a session outlives the page that made it, and with a page all that was derived in it ends.
	get isRunning(): boolean {
		return this.activeRunId !== null;
	}

	get canSend(): boolean {
		const { draft } = this;
		const isIdle = !this.isSending && !this.isRunning && this.phase !== 'loading' && this.phase !== 'failed';
		return isIdle && draft.text.trim() !== '' && !draft.isUploading && !draft.hasFailed;
	}

	/** Reads the conversation and goes on following its run. Never rejects: see `loadError`. */
	async load(): Promise<void> {
		this.phase = 'loading';
		this.loadError = null;
		try {
			this.#show(await this.#client.getConversation(this.id));
			this.phase = 'ready';
		} catch (error) {
			this.loadError = asApiError(error);
			this.phase = 'failed';
		}
	}

	/** Takes over what happened elsewhere, in another tab say. A failure changes nothing. */
	async refresh(): Promise<void> {
		if (this.phase !== 'ready' || this.isSending || this.isRunning) return;
		const detail = await this.#client.getConversation(this.id).catch((error: unknown) => asApiError(error));
		if (!(detail instanceof ApiError) && !this.isSending && !this.isRunning) this.#show(detail);
	}

	async send(): Promise<void> {
		if (!this.canSend) return;
		const question = this.draft.take();
		const isSent = await this.#ask(question.text, pathsOf(question));
		if (isSent) this.draft.save();
		else this.draft.restore(question);
	}

	/** Asks the question of an answer that failed once more, as a new message. */
	async retry(entry: MessageEntry): Promise<void> {
		const question = questionBefore(this.entries, entry);
		if (question && !this.isSending && !this.isRunning) await this.#ask(question.text, question.files);
	}

	async stop(): Promise<void> {
		if (this.activeRunId === null || this.isStopping) return;
		this.isStopping = true;
		this.actionError = null;
		try {
			await this.#client.stopRun(this.activeRunId);
		} catch (error) {
			this.isStopping = false;
			this.actionError = asApiError(error);
		}
	}

	/** Uploads files for the next message, beside those that are there already. */
	async attach(files: Iterable<File>): Promise<void> {
		const chosen = [...files];
		if (chosen.length === 0) return;
		const known = this.phase === 'new' ? [] : await this.#client.listFiles(this.id).catch(() => []);
		const mentioned = this.entries.flatMap(({ message }) => message.files);
		this.draft.attach(chosen, [...known.map(({ path }) => path), ...mentioned]);
	}

	dispose(): void {
		this.#isDisposed = true;
		this.#unfollow?.();
		this.draft.dispose();
	}

	/** True when the server has taken the message; otherwise `actionError` says why not. */
	async #ask(text: string, files: string[]): Promise<boolean> {
		const input = runInput(this.id, text, files, this.#unconfirmed);
		const entry = new MessageEntry(userMessageOf(input));
		this.entries = [...this.entries, entry];
		this.isSending = true;
		this.actionError = null;
		try {
			const { runId } = await this.#client.startRun(input);
			this.#unconfirmed = null;
			this.phase = 'ready';
			this.title ||= text.slice(0, 80);
			this.#listener.runStarted(this.id, runId, this.title);
			if (!this.#isDisposed) this.#follow(runId, 0);
			return true;
		} catch (error) {
			this.entries = this.entries.filter((other) => other !== entry);
			this.actionError = asApiError(error);
			this.#unconfirmed = this.actionError.code === 'unreachable' ? input : null;
			return false;
		} finally {
			this.isSending = false;
			// A conflict means that a run is under way which this page does not know of.
			if (this.actionError?.code === 'conflict') void this.refresh();
		}
	}

	#show(detail: ConversationDetail): void {
		this.title = detail.title;
		this.entries = mergeEntries(this.entries, detail.messages);
		if (detail.activeRunId !== null && !this.#isDisposed) this.#follow(detail.activeRunId, detail.cursor);
	}

	#follow(runId: string, after: number): void {
		this.#unfollow?.();
		const { entry, entries } = placeOfRun(this.entries, runId);
		this.entries = entries;
		this.activeRunId = runId;
		this.#unfollow = followRun({
			connect: (seq) => this.#client.runEvents(runId, seq),
			after,
			onevents: (events) => this.#receive(entry, events),
			onreconnecting: (isReconnecting) => (this.isReconnecting = isReconnecting),
			exists: () => this.#runExists(runId),
			onlost: () => {
				this.#end();
				void this.load();
			}
		});
	}

	#receive(entry: MessageEntry, events: NumberedEvent[]): void {
		let message: Message = entry.message;
		for (const { event } of events) {
			message = foldEvent(message, event);
			if (event.type === 'CUSTOM' && event.name === 'run.title') {
				this.title = event.value.title;
				this.#listener.titled(this.id, event.value.title);
			}
		}
		// One change per frame, however many events came.
		entry.message = message;
		const last = events.at(-1);
		if (last && isTerminal(last.event)) this.#end();
	}

	#end(): void {
		this.#unfollow = null;
		this.activeRunId = null;
		this.isStopping = false;
		this.isReconnecting = false;
		this.#listener.runEnded(this.id);
	}

	async #runExists(runId: string): Promise<boolean> {
		try {
			await this.#client.getRun(runId);
			return true;
		} catch (error) {
			if (error instanceof ApiError && error.code === 'not_found') return false;
			throw error;
		}
	}
}
