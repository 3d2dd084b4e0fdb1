/** Moves an element to where it is now from where it was, for those who have nothing against movement. */

const DURATION_MS = 260;

/** `before`: its top in the window, in pixels. */
export function slideFrom(element: HTMLElement, before: number): void {
	const distance = before - element.getBoundingClientRect().top;
	if (Math.abs(distance) < 8 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
	element.animate([{ transform: `translateY(${distance}px)` }, { transform: 'none' }], {
		duration: DURATION_MS,
		easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)'
	});
}
