/** Data a page reads from the server. The old value stays while a new one loads. */
import { type ApiError, asApiError } from '../request.ts';

export class Reading<Value> {
	readonly #read: () => Promise<Value>;
	/** Only the latest request counts. */
	#asked = 0;
	value = $state.raw<Value | null>(null);
	error = $state.raw<ApiError | null>(null);
	isLoading = $state(false);

	constructor(read: () => Promise<Value>) {
		this.#read = read;
	}

	/** Never rejects: a failure sets `error`. */
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

	/** Sets a newer value from elsewhere and drops a request under way. */
	set(value: Value): void {
		this.#asked += 1;
		this.value = value;
		this.error = null;
		this.isLoading = false;
	}
}

/** One action at a time, with its error for the page to show. */
export class Task {
	isBusy = $state(false);
	error = $state.raw<ApiError | null>(null);

	/** Never rejects. Resolves to undefined if the work failed or another is running. */
	async run<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
		if (this.isBusy) return undefined;
		this.isBusy = true;
		this.error = null;
		try {
			return await work();
		} catch (error) {
			// Cancelling isn't an error.
			if (!isAbort(error)) this.error = asApiError(error);
			return undefined;
		} finally {
			this.isBusy = false;
		}
	}
}

/** For `onsubmit`: does the work instead of leaving the page. */
export function submit(work: () => unknown): (event: SubmitEvent) => void {
	return (event) => {
		event.preventDefault();
		void work();
	};
}

function isAbort(error: unknown): boolean {
	return error instanceof DOMException && error.name === 'AbortError';
}

interface Page {
	data: { id: string }[];
	total: number;
	limit: number;
}

/** Reads at most `maxPages` of a paged list. Items may move between pages meanwhile: each is returned once. */
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

/**
 * Deletes one after the other, and says how far it is. What is gone already counts as deleted.
 * @throws Error that says which couldn't be deleted, after all others were
 */
export async function deleteEach(
	all: readonly { id: string; title: string }[],
	remove: (id: string) => Promise<unknown>,
	say: (progress: string) => void
): Promise<void> {
	const failures: string[] = [];
	for (const [index, { id, title }] of all.entries()) {
		say(`Deleting ${index + 1} of ${all.length}…`);
		await remove(id).catch((error: unknown) => {
			const { code, message } = asApiError(error);
			if (code !== 'not_found') failures.push(`Couldn’t delete “${title}”: ${message}`);
		});
	}
	const [first] = failures;
	if (first === undefined) return;
	const others = failures.length > 1 ? ` ${failures.length - 1} more couldn’t be deleted either.` : '';
	throw new Error(`${first}${others} Deleted ${all.length - failures.length} of ${all.length}.`);
}

/** Prevents parallel reads: a call during a read starts one more after it, since the answer under way may be too old. */
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
