/** A list of chats, read page by page, with changes applied before the server confirms them. */
import type { ConversationSummary } from '../../shared/api.ts';
import { type ApiError, asApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { readStored, writeStored } from '../ui/clipboard.ts';
import { readPages } from '../ui/reading.svelte.ts';

const PAGE_SIZE = 50;

interface Page<Item> {
	data: Item[];
	total: number;
	limit: number;
}

export class ConversationList<Item extends { id: string } = ConversationSummary> {
	readonly #read: (page: number, limit: number) => Promise<Page<Item>>;
	/** Chats being removed, which reads meanwhile still contain. */
	#leaving: readonly string[] = [];
	#pages = 1;
	#reads = 0;
	list = $state.raw<Item[]>([]);
	total = $state(0);
	isLoaded = $state(false);
	error = $state.raw<ApiError | null>(null);
	readonly hasMore = $derived(this.list.length < this.total);

	constructor(read: (page: number, limit: number) => Promise<Page<Item>>) {
		this.#read = read;
	}

	/** Never rejects: a failure sets `error`, and the list stays. False also if the answer came too late. */
	async refresh(): Promise<boolean> {
		const read = ++this.#reads;
		let isNew = false;
		try {
			const { items, last } = await readPages((page) => this.#read(page, PAGE_SIZE), this.#pages);
			// Outdated by a later read or a local change.
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

	find(id: string): Item | undefined {
		return this.list.find((conversation) => conversation.id === id);
	}

	change(id: string, change: Partial<Item>): void {
		this.#reads++;
		this.list = this.list.map((conversation) =>
			conversation.id === id ? { ...conversation, ...change } : conversation
		);
	}

	/** Adds it at the top and removes it elsewhere. */
	put(conversation: Item): void {
		if (!this.find(conversation.id)) this.total++;
		this.#reads++;
		this.list = [conversation, ...this.list.filter(({ id }) => id !== conversation.id)];
	}

	/** Removes it at once, then does `work`. Rejects like `work`, after the list has been read again. */
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

	/** Drops the read under way. */
	dispose(): void {
		this.#reads++;
	}
}

/** Searches all chats while typing: one request at a time, a newer one cancels the older. */
const LIMIT = 30;

export class ConversationSearch {
	readonly #client: Pick<Client, 'searchConversations'>;
	readonly #limit: number;
	#query = $state('');
	#abort: AbortController | null = null;
	/** Settles when the last query has been answered, or cleared. Never rejects. */
	answered: Promise<void> = Promise.resolve();
	/** The last answered query; null before that. */
	results = $state.raw<ConversationSummary[] | null>(null);
	/** Number of all matches, including those beyond `results`. */
	total = $state(0);
	/** Searches archived chats only, instead of the others. */
	isArchived = false;
	isBusy = $state(false);
	error = $state.raw<ApiError | null>(null);

	constructor(client: Pick<Client, 'searchConversations'>, limit = LIMIT) {
		this.#client = client;
		this.#limit = limit;
	}

	get query(): string {
		return this.#query;
	}

	set query(query: string) {
		const isSame = query.trim() === this.#query.trim();
		this.#query = query;
		if (!isSame) void this.search();
	}

	/** Whether results are shown or loading. */
	get isOpen(): boolean {
		return this.#query.trim() !== '';
	}

	clear(): void {
		this.query = '';
	}

	/** Asks the server, again after a failure. Never rejects: see `error`. */
	search(): Promise<void> {
		return (this.answered = this.#search());
	}

	async #search(): Promise<void> {
		this.#abort?.abort();
		this.#abort = null;
		this.error = null;
		const q = this.#query.trim();
		this.isBusy = q !== '';
		if (q === '') {
			this.results = null;
			return;
		}
		const abort = (this.#abort = new AbortController());
		try {
			const { data, total } = await this.#client.searchConversations(
				{ q, page: 1, limit: this.#limit, archived: this.isArchived },
				abort.signal
			);
			if (abort.signal.aborted) return;
			this.results = data;
			this.total = total;
		} catch (error) {
			if (abort.signal.aborted) return;
			this.error = asApiError(error);
			this.results = null;
		}
		this.isBusy = false;
	}

	dispose(): void {
		this.#abort?.abort();
	}
}

export interface ConversationGroup {
	/** Stable while the heading means the same. */
	key: string;
	label: string;
	items: ConversationSummary[];
}

export interface GroupOptions {
	now: Date;
	/** IANA name, as in `Intl.DateTimeFormat().resolvedOptions().timeZone`. */
	timeZone: string;
	/** For month names. */
	locale?: string;
}

const DAY_MS = 86_400_000;

/** Groups under headings: pinned, today, yesterday, … then by month, newest first. Keeps the order within groups. Pure. */
export function groupConversations(
	list: readonly ConversationSummary[],
	{ now, timeZone, locale = 'en' }: GroupOptions
): ConversationGroup[] {
	const numbers = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
	const names = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', year: 'numeric', month: 'long' });
	const today = dayNumber(numbers, now);

	const place = (conversation: ConversationSummary): [rank: number, key: string, label: string] => {
		if (conversation.isPinned) return [-1, 'pinned', 'Pinned'];
		// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
		const day = dayNumber(numbers, new Date(conversation.updatedAt));
		const age = today - day;
		// Created by a clock that is ahead: counts as new.
		if (age <= 0) return [0, 'today', 'Today'];
		if (age === 1) return [1, 'yesterday', 'Yesterday'];
		if (age <= 7) return [2, 'week', 'Previous 7 days'];
		if (age <= 30) return [3, 'month', 'Previous 30 days'];
		// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
		const date = new Date(day * DAY_MS);
		const months = date.getUTCFullYear() * 12 + date.getUTCMonth();
		return [1e6 - months, `month-${months}`, names.format(date)];
	};

	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const found = new Map<string, ConversationGroup & { rank: number }>();
	for (const conversation of list) {
		const [rank, key, label] = place(conversation);
		const group = found.get(key) ?? { rank, key, label, items: [] };
		group.items.push(conversation);
		found.set(key, group);
	}
	return [...found.values()].sort((a, b) => a.rank - b.rank).map(({ key, label, items }) => ({ key, label, items }));
}

/** Days since 1970 in local calendar time, unaffected by daylight saving. */
function dayNumber(numbers: Intl.DateTimeFormat, date: Date): number {
	return Date.parse(`${numbers.format(date)}T00:00:00Z`) / DAY_MS;
}

// Visibility of the sidebar: beside the chat on wide pages, a drawer on small ones.

const KEY = 'sidebar-hidden';
/** Tailwind's `md`. */
const WIDE = '(width >= 48rem)';

export class SidebarState {
	/** On wide pages. */
	isHidden = $state(readStored('local', KEY) !== null);
	/** On small pages. */
	isDrawerOpen = $state(false);

	toggle(): void {
		if (!matchMedia(WIDE).matches) {
			this.isDrawerOpen = !this.isDrawerOpen;
			return;
		}
		this.isHidden = !this.isHidden;
		writeStored('local', KEY, this.isHidden ? '1' : null);
	}

	/** On small pages only. */
	openDrawer(): void {
		if (!matchMedia(WIDE).matches) this.isDrawerOpen = true;
	}

	/** Shows the sidebar, for its search field. */
	reveal(): void {
		if (!matchMedia(WIDE).matches ? !this.isDrawerOpen : this.isHidden) this.toggle();
	}

	closeDrawer(): void {
		this.isDrawerOpen = false;
	}
}
