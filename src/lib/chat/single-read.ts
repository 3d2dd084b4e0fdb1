/** Keeps a read from being made twice at once. */

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
