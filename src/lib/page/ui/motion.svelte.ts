/** Opens a drawer with a finger that comes in from the left edge, and closes it with one that goes out. */
import type { Attachment } from 'svelte/attachments';

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

// Keeps the page above a keyboard on the screen that lies over it (Safari); others make the window smaller by themselves.

/** Bars of the browser come and go as well, and are lower. In CSS pixels. */
const LOWEST_KEYBOARD = 100;

/** For `{@attach}`: of what is as high as the window. */
export function aboveKeyboard(frame: HTMLElement): (() => void) | undefined {
	const seen = visualViewport;
	if (!seen) return;
	const fit = (): void => {
		// Enlarged with two fingers, less of the page is seen, too.
		const isCovered = seen.scale < 1.01 && document.documentElement.clientHeight - seen.height > LOWEST_KEYBOARD;
		frame.style.height = isCovered ? `${seen.height}px` : '';
		// It was moved up to show the field, which is in sight now.
		if (isCovered && seen.offsetTop > 0) scrollTo(0, 0);
	};
	seen.addEventListener('resize', fit);
	return () => seen.removeEventListener('resize', fit);
}

/** For `{@attach}` on a message box at the bottom of the page: notices stand above it, however high it is. */
export function belowNotices(box: HTMLElement): () => void {
	const { style } = document.documentElement;
	const observer = new ResizeObserver(() => style.setProperty('--message-box', `${box.offsetHeight}px`));
	observer.observe(box);
	return () => {
		observer.disconnect();
		style.removeProperty('--message-box');
	};
}

// A finger that rests opens what can be done, where the text under it cannot be selected.

const HELD_MS = 500;
/** CSS pixels that a resting finger may move. */
const STILL = 10;

/** For `{@attach}`: `onheld` gets where the finger is. Links, buttons and text that can be selected keep what they do by themselves. */
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
		/** Of the same finger: the browser has nothing to offer there. */
		const keep = (event: Event): void => {
			if (from) event.preventDefault();
		};

		const listeners = [
			['pointerdown', begin],
			['pointermove', move],
			['pointerup', end],
			// It scrolls, or it was more than one.
			['pointercancel', end],
			['contextmenu', keep]
		] as const;
		for (const [name, listener] of listeners) element.addEventListener(name, listener as EventListener);
		return () => {
			end();
			for (const [name, listener] of listeners) element.removeEventListener(name, listener as EventListener);
		};
	};
}

function canBeHeld(target: Element): boolean {
	const { userSelect, webkitUserSelect } = getComputedStyle(target);
	return (userSelect || webkitUserSelect) === 'none' && !target.closest('a, button, input, textarea, select, summary');
}

/** Lets the text from the first to the last of these be selected, and selects it, until nothing is selected any more. */
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

// Shows more and more of something long, a little in each frame, so that the page stays free.

export class Reveal {
	readonly #perFrame: number;
	/** How many more are shown than at first. */
	count = $state(0);
	#frame = 0;

	constructor(perFrame: number) {
		this.#perFrame = perFrame;
	}

	/** Goes on until so many are shown. */
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

// Moves the focus through a list of links or buttons by keyboard.

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

// Keeps what the reader points at where it is while something near it opens or closes.

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

// Moves an element to where it is now from where it was, for those who have nothing against movement.

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

// Lets a textarea grow with its text, up to the `max-height` of its style.

/** For `{@attach}`; `text` is read so that the height follows changes from anywhere. */
export function autosize(text: () => string): Attachment<HTMLTextAreaElement> {
	return (area) => {
		text();
		area.style.height = 'auto';
		area.style.height = `${area.scrollHeight}px`;
	};
}
