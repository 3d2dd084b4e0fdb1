/** Something that a page shows of the server: read when asked, what was there stays while it is read anew. */
import { asApiError, type ApiError } from './api-error.ts';

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
