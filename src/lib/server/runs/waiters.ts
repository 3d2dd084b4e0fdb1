/** Waiting for what happens again and again: whoever leaves, leaves nothing behind, as a reaction to a promise would. */
export class Waiters {
	readonly #waiting = new Set<() => void>();

	/** Resolves with the next `wake`, or once the signal aborts. */
	wait(signal: AbortSignal): Promise<void> {
		if (signal.aborted) return Promise.resolve();
		return new Promise((resolve) => {
			const done = () => {
				this.#waiting.delete(done);
				signal.removeEventListener('abort', done);
				resolve();
			};
			this.#waiting.add(done);
			signal.addEventListener('abort', done, { once: true });
		});
	}

	wake(): void {
		for (const done of [...this.#waiting]) done();
	}
}
