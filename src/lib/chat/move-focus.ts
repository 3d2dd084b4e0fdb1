/** Moves the focus through a list of links or buttons by keyboard. */

/** True when the key was for it. The ends of the list stay the ends. */
export function moveFocus(key: string, places: readonly HTMLElement[], from: Element | null): boolean {
	const at = places.findIndex((place) => place === from);
	const wanted = nextPlace(key, at, places.length - 1);
	if (wanted === null) return false;
	places[wanted]?.focus();
	return true;
}

function nextPlace(key: string, at: number, last: number): number | null {
	if (key === 'ArrowDown') return Math.min(at + 1, last);
	if (key === 'ArrowUp') return Math.max(at - 1, 0);
	if (key === 'Home') return 0;
	return key === 'End' ? last : null;
}
