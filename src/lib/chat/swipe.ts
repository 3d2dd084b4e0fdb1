/** Opens a drawer with a finger that comes in from the left edge, and closes it with one that goes out. */

export interface SwipeOptions {
	isOpen: () => boolean;
	onopen: () => void;
	onclose: () => void;
}

/** How far from the edge it may begin, and how far it has to go; in CSS pixels. */
const EDGE = 24;
const FAR = 48;

/** Listens on the window; returns the function that ends it. */
export function watchSwipe({ isOpen, onopen, onclose }: SwipeOptions): () => void {
	let from: { x: number; y: number } | null = null;

	const begin = ({ touches }: TouchEvent): void => {
		const [touch] = touches;
		from = null;
		if (touches.length !== 1 || !touch) return;
		if (isOpen() || touch.clientX <= EDGE) from = { x: touch.clientX, y: touch.clientY };
	};
	const move = ({ touches }: TouchEvent): void => {
		const [touch] = touches;
		if (!from || !touch) return;
		const x = touch.clientX - from.x;
		const y = Math.abs(touch.clientY - from.y);
		// Up or down is for scrolling.
		if (y > Math.abs(x)) return void (from = y > 12 ? null : from);
		if (isOpen() ? x > -FAR : x < FAR) return;
		from = null;
		if (isOpen()) onclose();
		else onopen();
	};
	const end = (): void => void (from = null);

	const listeners = [
		['touchstart', begin],
		['touchmove', move],
		['touchend', end],
		['touchcancel', end]
	] as const;
	for (const [name, listener] of listeners) addEventListener(name, listener, { passive: true });
	return () => {
		for (const [name, listener] of listeners) removeEventListener(name, listener);
	};
}
