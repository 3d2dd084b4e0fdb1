/** Touch gestures, movement, scroll position and focus. */
import type { Attachment } from 'svelte/attachments';

export interface SwipeOptions {
	isOpen: () => boolean;
	onopen: () => void;
	onclose: () => void;
}

/** Farthest start from the left edge and shortest swipe, in CSS pixels. */
const EDGE = 24;
const FAR = 48;

/** Opens a drawer on a swipe from the left edge and closes it on a swipe back. Returns a function that stops listening. */
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
		// Vertical movement is scrolling.
		if (y > Math.abs(x)) return void (from = y > 12 ? null : from);
		if (isOpen() ? x > -FAR : x < FAR) return;
		from = null;
		if (isOpen()) onclose();
		else onopen();
	};
	const end = (): void => void (from = null);

	const listening = new AbortController();
	const options = { passive: true, signal: listening.signal };
	addEventListener('touchstart', begin, options);
	addEventListener('touchmove', move, options);
	addEventListener('touchend', end, options);
	addEventListener('touchcancel', end, options);
	return () => listening.abort();
}

/** Browser bars are lower than any keyboard. In CSS pixels. */
const LOWEST_KEYBOARD = 100;

/** For `{@attach}` on the page frame: keeps it above an on-screen keyboard in Safari; other browsers resize the window. */
export function aboveKeyboard(frame: HTMLElement): (() => void) | undefined {
	const seen = visualViewport;
	if (!seen) return;
	const fit = (): void => {
		// Pinch zoom shrinks the visual viewport as well.
		const isCovered = seen.scale < 1.01 && document.documentElement.clientHeight - seen.height > LOWEST_KEYBOARD;
		frame.style.height = isCovered ? `${seen.height}px` : '';
		// Safari scrolled the page to show the field, which is visible now.
		if (isCovered && seen.offsetTop > 0) scrollTo(0, 0);
	};
	seen.addEventListener('resize', fit);
	return () => seen.removeEventListener('resize', fit);
}

/** For `{@attach}` on the message box, or what else stands at the foot: toasts stay above it, whatever its height. */
export function belowNotices(box: HTMLElement): () => void {
	const { style } = document.documentElement;
	const observer = new ResizeObserver(() => style.setProperty('--message-box', `${box.offsetHeight}px`));
	observer.observe(box);
	return () => {
		observer.disconnect();
		style.removeProperty('--message-box');
	};
}

/** For `{@attach}`: on this side, toasts, dialogs and the drop hint begin where this element does, so that they’re centred on it. */
export function centersOverlays(side: 'left' | 'right'): Attachment<HTMLElement> {
	return (element) => {
		const { style } = document.documentElement;
		const name = `--area-${side}`;
		const observer = new ResizeObserver(() => {
			const { left, right } = element.getBoundingClientRect();
			style.setProperty(name, `${Math.max(0, side === 'left' ? left : innerWidth - right)}px`);
		});
		observer.observe(element);
		return () => {
			observer.disconnect();
			style.removeProperty(name);
		};
	};
}

const HELD_MS = 500;
/** How far a resting finger may move, in CSS pixels. */
const STILL = 10;

/** For `{@attach}`: calls `onheld` with the finger's position. Ignores links, buttons and selectable text. */
export function longPress(onheld: (at: DOMRect) => void): Attachment<HTMLElement> {
	return (element) => {
		let from: { x: number; y: number } | null = null;
		let timer: ReturnType<typeof setTimeout> | undefined;

		const end = (): void => {
			clearTimeout(timer);
			from = null;
		};
		const begin = ({ pointerType, isPrimary, target, clientX: x, clientY: y }: PointerEvent): void => {
			end();
			if (pointerType !== 'touch' || !isPrimary || !(target instanceof Element) || !canBeHeld(target)) return;
			from = { x, y };
			timer = setTimeout(() => onheld(new DOMRect(x, y, 0, 0)), HELD_MS);
		};
		const move = ({ clientX, clientY }: PointerEvent): void => {
			if (from && Math.hypot(clientX - from.x, clientY - from.y) > STILL) end();
		};
		/** Suppresses the browser's context menu for the same finger. */
		const keep = (event: Event): void => {
			if (from) event.preventDefault();
		};

		const listening = new AbortController();
		const { signal } = listening;
		element.addEventListener('pointerdown', begin, { signal });
		element.addEventListener('pointermove', move, { signal });
		element.addEventListener('pointerup', end, { signal });
		// Scrolling, or a second finger.
		element.addEventListener('pointercancel', end, { signal });
		element.addEventListener('contextmenu', keep, { signal });
		return () => {
			end();
			listening.abort();
		};
	};
}

function canBeHeld(target: Element): boolean {
	const { userSelect, webkitUserSelect } = getComputedStyle(target);
	return (userSelect || webkitUserSelect) === 'none' && !target.closest('a, button, input, textarea, select, summary');
}

/** Makes the text from the first to the last element selectable and selects it, until the selection is cleared. */
export function selectText(element: HTMLElement, texts: readonly Element[]): void {
	const [first, last] = [texts[0], texts.at(-1)];
	const selection = getSelection();
	if (!first || !last || !selection) return;
	element.dataset.selecting = '';
	selection.setBaseAndExtent(first, 0, last, last.childNodes.length);
	const look = (): void => {
		if (!selection.isCollapsed) return;
		delete element.dataset.selecting;
		document.removeEventListener('selectionchange', look);
	};
	document.addEventListener('selectionchange', look);
}

/** Shows a long list bit by bit, a few items per frame, so that the page stays responsive. */
export class Reveal {
	readonly #perFrame: number;
	/** How many more than at first are shown. */
	count = $state(0);
	#frame = 0;

	constructor(perFrame: number) {
		this.#perFrame = perFrame;
	}

	start(total: number): void {
		cancelAnimationFrame(this.#frame);
		const next = (): void => {
			this.count = Math.min(total, this.count + this.#perFrame);
			if (this.count < total) this.#frame = requestAnimationFrame(next);
		};
		next();
	}

	/** For `{@attach}`: ends with the element. */
	readonly attach = (): (() => void) => () => cancelAnimationFrame(this.#frame);
}

/** Moves the focus through a list with the arrow keys, Home and End, without wrapping. Returns whether the key was one of those. */
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

/** Longer than any opening animation. */
const SETTLED_AFTER_MS = 250;

/** Keeps the element in place while something near it opens or closes. Call it before the change. */
export function keepInPlace(element: HTMLElement): void {
	const viewport = element.closest<HTMLElement>('[role=log]');
	if (!viewport) return;
	const before = element.getBoundingClientRect().top;
	const observer = new ResizeObserver(() => {
		if (element.isConnected) viewport.scrollTop += element.getBoundingClientRect().top - before;
	});
	// Observed after StickToBottom's observer, so this one has the last word before the paint.
	for (const child of viewport.children) observer.observe(child);
	setTimeout(() => observer.disconnect(), SETTLED_AFTER_MS);
}

const DURATION_MS = 260;

/** Animates an element from where it was, unless reduced motion is on. `before`: its old top in the window, in pixels. */
export function slideFrom(element: HTMLElement, before: number): void {
	const distance = before - element.getBoundingClientRect().top;
	if (Math.abs(distance) < 8 || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
	element.animate([{ transform: `translateY(${distance}px)` }, { transform: 'none' }], {
		duration: DURATION_MS,
		easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)'
	});
}

/** For `{@attach}`: grows a textarea with its text, up to its `max-height`. Reads `text` to follow changes from anywhere. */
export function autosize(text: () => string): Attachment<HTMLTextAreaElement> {
	return (area) => {
		text();
		area.style.height = 'auto';
		area.style.height = `${area.scrollHeight}px`;
	};
}
