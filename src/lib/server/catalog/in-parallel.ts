/** A few at once: the first failure stops the others, and nothing goes on after it is told. */

/** Does `work` for each item, `width` at a time. Rejects with what failed first, once all have ended. */
export async function inParallel<Item>(
	items: Iterable<Item>,
	width: number,
	signal: AbortSignal,
	work: (item: Item, signal: AbortSignal) => Promise<void>
): Promise<void> {
	const stop = new AbortController();
	const either = AbortSignal.any([signal, stop.signal]);
	const failures: unknown[] = [];
	const left = Array.from(items).reverse();
	async function worker(): Promise<void> {
		while (left.length > 0 && !stop.signal.aborted) {
			try {
				await work(left.pop() as Item, either);
			} catch (error) {
				failures.push(error);
				stop.abort();
			}
		}
	}
	await Promise.all(Array.from({ length: width }, worker));
	if (failures.length > 0) throw failures[0];
}
