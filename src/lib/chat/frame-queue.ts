/** Collects what arrives and hands it over once per animation frame, so that a flood of events renders once. */

export interface FrameQueue<Item> {
	push: (item: Item) => void;
	/** Hands over what has collected, now. */
	flush: () => void;
	/** Drops what has collected. */
	clear: () => void;
}

/** A hidden tab gets no animation frames; its title and announcements still have to follow. */
const HIDDEN_DELAY_MS = 250;

export function createFrameQueue<Item>(deliver: (items: Item[]) => void): FrameQueue<Item> {
	let items: Item[] = [];
	let frame = 0;
	let timer: ReturnType<typeof setTimeout> | undefined;

	const cancel = (): void => {
		cancelAnimationFrame(frame);
		clearTimeout(timer);
		frame = 0;
		timer = undefined;
	};
	const flush = (): void => {
		cancel();
		if (items.length === 0) return;
		const collected = items;
		items = [];
		deliver(collected);
	};
	return {
		push(item) {
			items.push(item);
			if (frame !== 0) return;
			// Whichever comes first: a tab that is hidden after the request never gets its frame.
			frame = requestAnimationFrame(flush);
			timer = setTimeout(flush, HIDDEN_DELAY_MS);
		},
		flush,
		clear() {
			cancel();
			items = [];
		}
	};
}
