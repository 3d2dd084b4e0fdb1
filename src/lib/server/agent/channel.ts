/** A queue between what pushes events and the one generator that yields them. */

export interface Channel<Item> {
	push(item: Item): void;
	close(): void;
	/** Yields until closed and empty; one reader only. */
	drain(): AsyncGenerator<Item, void, undefined>;
}

/** What goes in is bounded by its sources: a tool's output is capped before it gets here. */
export function createChannel<Item>(): Channel<Item> {
	let items: Item[] = [];
	let isClosed = false;
	let wake: (() => void) | null = null;
	const notify = () => {
		wake?.();
		wake = null;
	};
	return {
		push(item) {
			items.push(item);
			notify();
		},
		close() {
			isClosed = true;
			notify();
		},
		async *drain() {
			while (true) {
				const ready = items;
				items = [];
				yield* ready;
				if (items.length > 0) continue;
				if (isClosed) return;
				await new Promise<void>((resolve) => (wake = resolve));
			}
		}
	};
}
