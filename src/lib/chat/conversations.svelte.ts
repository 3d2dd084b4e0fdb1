/** The list of conversations in the sidebar. */
import type { ConversationSummary } from '../shared/api.ts';
import { asApiError, type ApiError } from './api-error.ts';
import type { Client } from './client.ts';
import { timestamp } from './ids.ts';
import { readPages } from './pages.ts';
import type { SessionListener } from './session.svelte.ts';

const PAGE_SIZE = 50;
/** How often the list is read again while a run goes on in a conversation that is not open here. */
const WATCH_MS = 4_000;

export class Conversations implements SessionListener {
	readonly #client: Client;
	#pages = 1;
	#reads = 0;
	#timer: ReturnType<typeof setTimeout> | undefined;
	list = $state.raw<ConversationSummary[]>([]);
	total = $state(0);
	isLoaded = $state(false);
	error = $state.raw<ApiError | null>(null);
	readonly hasMore = $derived(this.list.length < this.total);

	constructor(client: Client) {
		this.#client = client;
	}

	/** Never rejects: a failure is in `error`, and the list stays as it was. */
	async refresh(): Promise<void> {
		const read = ++this.#reads;
		try {
			const { items, last } = await readPages((page) => this.#client.listConversations(page, PAGE_SIZE), this.#pages);
			// A later read has begun, or the list was changed here meanwhile: this answer is old.
			if (read !== this.#reads) return;
			this.list = items;
			this.total = last.total;
			this.error = null;
		} catch (error) {
			if (read === this.#reads) this.error = asApiError(error);
		}
		this.isLoaded = true;
		this.#watch();
	}

	async showMore(): Promise<void> {
		this.#pages++;
		await this.refresh();
	}

	/** Rejects with an `ApiError`; the old title is back then. */
	async rename(id: string, title: string): Promise<void> {
		const before = this.#find(id);
		this.#change(id, { title });
		try {
			await this.#client.renameConversation(id, title);
		} catch (error) {
			if (before) this.#change(id, { title: before.title });
			throw asApiError(error);
		}
	}

	/** Rejects with an `ApiError`; the conversation is still listed then. */
	async remove(id: string): Promise<void> {
		try {
			await this.#client.deleteConversation(id);
		} catch (error) {
			throw asApiError(error);
		}
		this.#reads++;
		this.list = this.list.filter((conversation) => conversation.id !== id);
		this.total = Math.max(0, this.total - 1);
	}

	runStarted(id: string, runId: string, title: string): void {
		const now = timestamp();
		const known = this.#find(id) ?? { id, title, createdAt: now, updatedAt: now, activeRunId: null };
		if (!this.#find(id)) this.total++;
		this.#reads++;
		const others = this.list.filter((conversation) => conversation.id !== id);
		this.list = [{ ...known, title: known.title || title, updatedAt: now, activeRunId: runId }, ...others];
	}

	runEnded(id: string): void {
		this.#change(id, { activeRunId: null });
		void this.refresh();
	}

	titled(id: string, title: string): void {
		this.#change(id, { title });
	}

	dispose(): void {
		clearTimeout(this.#timer);
		this.#reads++;
	}

	#find(id: string): ConversationSummary | undefined {
		return this.list.find((conversation) => conversation.id === id);
	}

	#change(id: string, change: Partial<ConversationSummary>): void {
		this.#reads++;
		this.list = this.list.map((conversation) =>
			conversation.id === id ? { ...conversation, ...change } : conversation
		);
	}

	#watch(): void {
		clearTimeout(this.#timer);
		const isBusy = this.list.some(({ activeRunId }) => activeRunId !== null);
		if (isBusy) this.#timer = setTimeout(() => void this.refresh(), WATCH_MS);
	}
}
