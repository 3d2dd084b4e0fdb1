/** A list of conversations that is read page by page, and changed here before the server has said so. */
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
	/** Being taken out: what is read meanwhile still has them. */
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

	find(id: string): Item | undefined {
		return this.list.find((conversation) => conversation.id === id);
	}

	change(id: string, change: Partial<Item>): void {
		this.#reads++;
		this.list = this.list.map((conversation) =>
			conversation.id === id ? { ...conversation, ...change } : conversation
		);
	}

	/** At the top; where it was before it is no more. */
	put(conversation: Item): void {
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

// The search in all conversations while one types: one request at a time, a newer one ends the older.

const LIMIT = 30;

export class ConversationSearch {
	readonly #client: Pick<Client, 'searchConversations'>;
	readonly #limit: number;
	#query = $state('');
	#abort: AbortController | null = null;
	/** Of the last query that was answered; null before that. */
	results = $state.raw<ConversationSummary[] | null>(null);
	/** All that match, also beyond `results`. */
	total = $state(0);
	/** Looks among those that are archived, in place of those that are not. */
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

	/** Are results to be shown, or on their way? */
	get isOpen(): boolean {
		return this.#query.trim() !== '';
	}

	clear(): void {
		this.query = '';
	}

	/** Asks the server, again after a failure. Never rejects: see `error`. */
	async search(): Promise<void> {
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

// Puts the list of conversations under headings: pinned, today, yesterday, … then month by month. Pure.

export interface ConversationGroup {
	/** Stays the same while the heading means the same. */
	key: string;
	label: string;
	items: ConversationSummary[];
}

export interface GroupOptions {
	now: Date;
	/** IANA name, as of `Intl.DateTimeFormat().resolvedOptions().timeZone`. */
	timeZone: string;
	/** For the names of months. */
	locale?: string;
}

const DAY_MS = 86_400_000;

/** Keeps the order within a group; the groups stand in the order in which their days come, the newest first. */
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
		// A clock that is ahead of this one made it: it is new all the same.
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

/** Days since 1970 of the calendar on that place's wall: no hour that a clock leaves out or repeats can move it. */
function dayNumber(numbers: Intl.DateTimeFormat, date: Date): number {
	return Date.parse(`${numbers.format(date)}T00:00:00Z`) / DAY_MS;
}

// Is the sidebar seen? On a wide page it stands beside the chat, on a small one it is a drawer over it.

const KEY = 'sidebar-hidden';
/** Tailwind's `md`. */
const WIDE = '(width >= 48rem)';

export class SidebarState {
	/** On a wide page. */
	isHidden = $state(readStored('local', KEY) !== null);
	/** On a small page. */
	isDrawerOpen = $state(false);

	toggle(): void {
		if (!matchMedia(WIDE).matches) {
			this.isDrawerOpen = !this.isDrawerOpen;
			return;
		}
		this.isHidden = !this.isHidden;
		writeStored('local', KEY, this.isHidden ? '1' : null);
	}

	/** Only on a small page. */
	openDrawer(): void {
		if (!matchMedia(WIDE).matches) this.isDrawerOpen = true;
	}

	/** The sidebar is to be seen, for its search say. */
	reveal(): void {
		if (!matchMedia(WIDE).matches ? !this.isDrawerOpen : this.isHidden) this.toggle();
	}

	closeDrawer(): void {
		this.isDrawerOpen = false;
	}
}
