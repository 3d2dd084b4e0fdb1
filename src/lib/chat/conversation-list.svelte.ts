/** A list of conversations that is read page by page, and changed here before the server has said so. */
import type { ConversationList as Page, ConversationSummary } from '../shared/api.ts';
import { asApiError, type ApiError } from './api-error.ts';
import { readPages } from './pages.ts';

const PAGE_SIZE = 50;

export class ConversationList {
	readonly #read: (page: number, limit: number) => Promise<Page>;
	/** Being taken out: what is read meanwhile still has them. */
	#leaving: readonly string[] = [];
	#pages = 1;
	#reads = 0;
	list = $state.raw<ConversationSummary[]>([]);
	total = $state(0);
	isLoaded = $state(false);
	error = $state.raw<ApiError | null>(null);
	readonly hasMore = $derived(this.list.length < this.total);

	constructor(read: (page: number, limit: number) => Promise<Page>) {
		this.#read = read;
	}

	/** Never rejects: a failure is in `error`, and the list stays as it was. False also when the answer came too late. */
	async refresh(): Promise<boolean> {
		const read = ++this.#reads;
		let isNew = false;
		try {
			const { items, last } = await readPages((page) => this.#read(page, PAGE_SIZE), this.#pages);
			// A later read has begun, or the list was changed here meanwhile: this answer is old.
			isNew = read === this.#reads;
			if (isNew) {
				this.list = items.filter(({ id }) => !this.#leaving.includes(id));
				this.total = last.total - (items.length - this.list.length);
				this.error = null;
			}
		} catch (error) {
			if (read === this.#reads) this.error = asApiError(error);
		}
		this.isLoaded = true;
		return isNew;
	}

	async showMore(): Promise<void> {
		this.#pages++;
		await this.refresh();
	}

	find(id: string): ConversationSummary | undefined {
		return this.list.find((conversation) => conversation.id === id);
	}

	change(id: string, change: Partial<ConversationSummary>): void {
		this.#reads++;
		this.list = this.list.map((conversation) =>
			conversation.id === id ? { ...conversation, ...change } : conversation
		);
	}

	/** At the top; where it was before it is no more. */
	put(conversation: ConversationSummary): void {
		if (!this.find(conversation.id)) this.total++;
		this.#reads++;
		this.list = [conversation, ...this.list.filter(({ id }) => id !== conversation.id)];
	}

	/** Takes it out at once and then does `work`. Rejects as `work` does; it is back in the list then, once that is read. */
	async takeOut(id: string, work: () => Promise<unknown>): Promise<void> {
		if (this.find(id)) this.total = Math.max(0, this.total - 1);
		this.#leaving = [...this.#leaving, id];
		this.#reads++;
		this.list = this.list.filter((conversation) => conversation.id !== id);
		try {
			await work();
		} finally {
			this.#leaving = this.#leaving.filter((other) => other !== id);
			this.#reads++;
		}
	}

	/** What is being read is not wanted any more. */
	dispose(): void {
		this.#reads++;
	}
}
