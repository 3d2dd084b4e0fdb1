/** Work that waits: for its turn, or for what happens again and again. */

/** Runs work one after another, whatever becomes of the work before it. */
export function createLine() {
	let last: Promise<unknown> = Promise.resolve();
	return <Result>(work: () => Promise<Result>): Promise<Result> => {
		const done = last.then(work);
		last = done.catch(() => undefined);
		return done;
	};
}

/** Runs the work for each call, one at a time; calls that come before it begins count as one. */
export function onceForAll(work: () => Promise<void>): () => Promise<void> {
	const inLine = createLine();
	let next: Promise<void> | null = null;
	return () =>
		(next ??= inLine(() => {
			next = null;
			return work();
		}));
}

/** Runs work while no other of its name runs, in this process or, among several servers, in any of them. */
export type Exclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

/** A line for each name, kept as long as there is work in it: for one process. */
export function createLines(): Exclusively {
	const lines = new Map<string, { enter: ReturnType<typeof createLine>; waiting: number }>();
	return async (name, work) => {
		const line = lines.get(name) ?? { enter: createLine(), waiting: 0 };
		lines.set(name, line);
		line.waiting += 1;
		try {
			return await line.enter(work);
		} finally {
			line.waiting -= 1;
			if (line.waiting === 0) lines.delete(name);
		}
	};
}

/** Runs so many at once, and the others when one ends. */
function createRoom(size: number) {
	let free = size;
	const waiting: (() => void)[] = [];
	return async <Result>(work: () => Promise<Result>): Promise<Result> => {
		if (free > 0) free -= 1;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free += 1;
		}
	};
}

/**
 * Runs work for all items, of all calls together so many at once; after the first error, no more. @throws that error, or
 * the signal's reason
 */
export function createEach(size: number, ending: AbortSignal) {
	const room = createRoom(size);
	return async <Item>(
		items: readonly Item[],
		work: (item: Item, signal: AbortSignal) => Promise<void>
	): Promise<void> => {
		const stop = new AbortController();
		const signal = AbortSignal.any([ending, stop.signal]);
		const errors: unknown[] = [];
		await Promise.all(
			items.map((item) =>
				room(async () => {
					if (signal.aborted) return;
					await work(item, signal);
				}).catch((error: unknown) => {
					errors.push(error);
					stop.abort();
				})
			)
		);
		if (errors.length > 0) throw errors[0];
		ending.throwIfAborted();
	};
}

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
