/** The search in all conversations while one types: one request at a time, a newer one ends the older. */
import type { ConversationSummary } from '../shared/api.ts';
import { asApiError, type ApiError } from './api-error.ts';
import type { ConversationsClient } from './conversations-client.ts';

const LIMIT = 30;

export class ConversationSearch {
	readonly #client: Pick<ConversationsClient, 'search'>;
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

	constructor(client: Pick<ConversationsClient, 'search'>, limit = LIMIT) {
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
			const { data, total } = await this.#client.search(
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
