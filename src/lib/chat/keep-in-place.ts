/** Keeps what the reader points at where it is while something near it opens or closes. */

/** As long as what opens may take to come to its size. */
const SETTLED_AFTER_MS = 250;

/** Call it before the change. */
export function keepInPlace(element: HTMLElement): void {
	const viewport = element.closest<HTMLElement>('[role=log]');
	if (!viewport) return;
	const before = element.getBoundingClientRect().top;
	const observer = new ResizeObserver(() => {
		if (element.isConnected) viewport.scrollTop += element.getBoundingClientRect().top - before;
	});
	// Observed later than by whoever follows the end, so it has the last word, and before anything is painted.
	for (const child of viewport.children) observer.observe(child);
	setTimeout(() => observer.disconnect(), SETTLED_AFTER_MS);
}
