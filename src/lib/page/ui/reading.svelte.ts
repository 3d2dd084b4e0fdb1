/** Something that a page shows of the server: read when asked, what was there stays while it is read anew. */
import { type ApiError, asApiError } from '../request.ts';

export class Reading<Value> {
	readonly #read: () => Promise<Value>;
	/** Only the answer to the newest question is shown. */
	#asked = 0;
	/** Null before the first answer. */
	value = $state.raw<Value | null>(null);
	error = $state.raw<ApiError | null>(null);
	isLoading = $state(false);

	constructor(read: () => Promise<Value>) {
		this.#read = read;
	}

	/** Never rejects: a failure is in `error`. */
	async load(): Promise<void> {
		const asked = ++this.#asked;
		this.isLoading = true;
		try {
			const value = await this.#read();
			if (asked !== this.#asked) return;
			this.value = value;
			this.error = null;
		} catch (error) {
			if (asked === this.#asked) this.error = asApiError(error);
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}

	/** Something newer is known already. */
	set(value: Value): void {
		this.#asked += 1;
		this.value = value;
		this.error = null;
		this.isLoading = false;
	}
}

// Something that a page waits for: one at a time, its error for the page to show.

export class Task {
	isBusy = $state(false);
	error = $state.raw<ApiError | null>(null);

	/** Never rejects: resolves to what the work did, or to undefined when it failed or another is under way. */
	async run<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
		if (this.isBusy) return undefined;
		this.isBusy = true;
		this.error = null;
		try {
			return await work();
		} catch (error) {
			// Whoever stopped it knows.
			if (!isAbort(error)) this.error = asApiError(error);
			return undefined;
		} finally {
			this.isBusy = false;
		}
	}
}

function isAbort(error: unknown): boolean {
	return error instanceof DOMException && error.name === 'AbortError';
}

// Reads a list that the server gives out page by page.

interface Page {
	data: { id: string }[];
	total: number;
	limit: number;
}

/** At most `maxPages`, from the first. Items may move between pages while they are read: each comes once. */
export async function readPages<Answer extends Page>(
	read: (page: number) => Promise<Answer>,
	maxPages: number
): Promise<{ items: Answer['data'][number][]; last: Answer }> {
	// eslint-disable-next-line svelte/prefer-svelte-reactivity -- made and read within this call
	const found = new Map<string, Answer['data'][number]>();
	for (let page = 1; ; page++) {
		const answer = await read(page);
		for (const item of answer.data) found.set(item.id, item);
		const isLast = answer.data.length === 0 || page * answer.limit >= answer.total;
		if (isLast || page >= maxPages) return { items: [...found.values()], last: answer };
	}
}

// Keeps a read from being made twice at once.

/** Starts `read`; asked while it is under way it is made once more, after that one: its answer may be too old. */
export function createSingleRead(read: () => Promise<void>): () => Promise<void> {
	let current: Promise<void> | null = null;
	let next: Promise<void> | null = null;
	const start = (): Promise<void> => {
		current = read().finally(() => (current = null));
		return current;
	};
	return () => {
		if (!current) return start();
		next ??= current.then(() => {
			next = null;
			return start();
		});
		return next;
	};
}
