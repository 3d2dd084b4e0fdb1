/** What accumulates on a promise that outlives the loop which races it. */

/** The most reactions that `work` has added to any one promise through `then`, as `Promise.race` does. */
export async function mostReactions(work: () => Promise<unknown>): Promise<number> {
	const counts = new Map<unknown, number>();
	const { then } = Promise.prototype;
	// By hand: a spy of Vitest calls `then` itself.
	Promise.prototype.then = function (this: Promise<unknown>, ...handlers) {
		counts.set(this, (counts.get(this) ?? 0) + 1);
		return then.apply(this, handlers);
	} as typeof then;
	try {
		await work();
	} finally {
		Promise.prototype.then = then;
	}
	return Math.max(...counts.values());
}
