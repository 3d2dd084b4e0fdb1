/** Puts a menu beside its button, and never outside the window. */

const GAP = 4;
const MARGIN = 8;

/** Below the button, or above it where there is more room; aligned with the edge that leaves it in the window. */
export function placeMenu(menu: HTMLElement, button: HTMLElement): void {
	const at = button.getBoundingClientRect();
	const { offsetWidth: width, offsetHeight: height } = menu;
	const below = innerHeight - at.bottom - GAP - MARGIN;
	const top = height <= below || below >= at.top ? at.bottom + GAP : at.top - GAP - height;
	const left = at.left + width + MARGIN <= innerWidth ? at.left : at.right - width;
	menu.style.top = `${clamp(top, innerHeight - height)}px`;
	menu.style.left = `${clamp(left, innerWidth - width)}px`;
	menu.dataset.placed = '';
}

function clamp(value: number, most: number): number {
	return Math.max(MARGIN, Math.min(value, most - MARGIN));
}
