/** Something that a page waits for: one at a time, its error for the page to show. */
import { asApiError, type ApiError } from './api-error.ts';

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
