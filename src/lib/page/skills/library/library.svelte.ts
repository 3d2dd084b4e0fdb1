/** The installed and built-in skills, kept up to date while the tab is visible. */
import type { CatalogSize, SkillSummary } from '../../../shared/skills.ts';
import { asApiError, type ApiError } from '../../request.ts';
import type { Client } from '../../server.ts';
import { readPages } from '../../ui/reading.svelte.ts';

const PAGE_SIZE = 200;
const MAX_PAGES = 50;
const RETRY_MS = 5_000;

export class Library {
	readonly #client: Client;
	#source: EventSource | null = null;
	#reads = 0;
	/** Number of the read under way; 0 if none. */
	#current = 0;
	/** Revision announced during that read. */
	#told: string | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** From skills folders. */
	skills = $state.raw<SkillSummary[]>([]);
	builtins = $state.raw<SkillSummary[]>([]);
	/** `source/name` of those with an update, as last looked for in this tab. */
	outdated = $state.raw<readonly string[]>([]);
	revision = $state<string | null>(null);
	/** Size of the skill list in the prompt; null until known. */
	catalog = $state.raw<CatalogSize | null>(null);
	isLoaded = $state(false);
	error = $state.raw<ApiError | null>(null);
	readonly ready = $derived(this.skills.filter(({ status }) => status === 'ready'));
	readonly broken = $derived(this.skills.filter(({ status }) => status === 'broken'));

	constructor(client: Client) {
		this.#client = client;
	}

	/** Never rejects: a failure sets `error`, and the list stays. */
	async refresh(): Promise<void> {
		const read = ++this.#reads;
		this.#current = read;
		try {
			const { items, last } = await readPages((page) => this.#client.listSkills(page, PAGE_SIZE), MAX_PAGES);
			if (read !== this.#reads) return;
			this.skills = items.filter(({ trust }) => trust !== 'builtin');
			this.builtins = items.filter(({ trust }) => trust === 'builtin');
			this.revision = last.revision;
			this.catalog = last.catalog;
			this.error = null;
		} catch (error) {
			if (read === this.#reads) this.error = asApiError(error);
		}
		this.isLoaded = true;
		if (read !== this.#current) return;
		this.#current = 0;
		const told = this.#told;
		this.#told = null;
		if (told !== null && told !== this.revision) void this.refresh();
	}

	/**
	 * Follows changes while the tab is visible, because all tabs share a few connections per server. Returns a function that
	 * stops it.
	 */
	watch(): () => void {
		const follow = (): void => (document.visibilityState === 'visible' ? this.#open() : this.#close());
		document.addEventListener('visibilitychange', follow);
		follow();
		return () => {
			document.removeEventListener('visibilitychange', follow);
			this.#close();
		};
	}

	#open(): void {
		if (this.#source) return;
		this.#source = this.#client.skillEvents();
		this.#source.onmessage = (message: MessageEvent<string>) => {
			const { revision } = JSON.parse(message.data) as { revision: string };
			// The read under way may include this revision.
			if (this.#current !== 0) this.#told = revision;
			else if (revision !== this.revision) void this.refresh();
		};
		this.#source.onerror = () => {
			if (!this.isLoaded) void this.refresh();
			// After an error status the browser doesn't retry by itself.
			if (this.#source?.readyState !== EventSource.CLOSED) return;
			this.#close();
			this.#timer = setTimeout(() => this.#open(), RETRY_MS);
		};
	}

	#close(): void {
		clearTimeout(this.#timer);
		this.#source?.close();
		this.#source = null;
	}
}
