/** What Popup.svelte passes to its content, and how key events stay inside a popup. */
import { tick } from 'svelte';
import type { LucideIcon } from '@lucide/svelte';

export interface Opened {
	id: string;
	/** The button that opened it. */
	anchor: HTMLElement;
	/** Position in the window, if it wasn't opened at the button. */
	at: DOMRect | undefined;
	/** Keys pressed before the content had loaded. */
	held: readonly KeyboardEvent[];
	close: () => void;
}

const opened = new Set<() => void>();

/** Registers `close` to be called when a dialog opens. Returns a function that unregisters it. */
export function closeWithOthers(close: () => void): () => void {
	opened.add(close);
	return () => opened.delete(close);
}

export function closePopups(): void {
	for (const close of opened) close();
}

// On touch screens, Back closes the top layer: each has a history entry. A layer closed another way leaves its entry,
// which the next layer reuses and Back skips. Removing it could undo the navigation that closed the layer.

/** Of open layers, topmost last. */
const closers: (() => void)[] = [];
/** Depth of the current history entry. */
let depth = 0;
let pushEntry: ((depth: number) => void) | null = null;

/** Lets Back call `close` on touch and narrow screens. Returns a function that stops this. */
export function closeOnBack(close: () => void): () => void {
	if (!pushEntry || !matchMedia('(width < 48rem), (pointer: coarse)').matches) return () => {};
	closers.push(close);
	if (closers.length > depth) pushEntry((depth = closers.length));
	return () => {
		const index = closers.indexOf(close);
		if (index >= 0) closers.splice(index, 1);
	};
}

/** Called by the root layout, which has the router. */
export const backEntries = {
	start(push: (depth: number) => void): void {
		pushEntry = push;
	},
	/** A navigation: the next entry has no layers. */
	leave(): void {
		depth = 0;
	},
	/** The current entry changed. */
	land(at: number): void {
		const isBack = at === depth - 1;
		depth = at;
		if (!isBack) return;
		if (closers.length > at) closers.pop()?.();
		else history.back();
	}
};

/** Moves the focus to the pending approval, otherwise to the message box, otherwise to the page. */
export function goOn(): void {
	const find = (selector: string) => document.querySelector<HTMLElement>(selector);
	const box = find('[data-testid=composer-input]');
	// On a touch screen, focusing the box opens the keyboard.
	const place = matchMedia('(pointer: coarse)').matches ? box?.closest('form') : box;
	(find('[data-testid=approval]') ?? place ?? find('main'))?.focus({ preventScroll: true });
}

/** What lies over the page, the topmost last. */
const layers = new Set<HTMLElement>();

/**
 * For `{@attach}`. bits-ui listens for keys on the document, the page on the window, where Escape stops the run and letters
 * are shortcuts. Keeps those in the popup. Letters in a dialog still reach the page, which ignores them while one is open.
 */
export function keepKeys(element: HTMLElement): () => void {
	const isDialog = element.ariaModal === 'true';
	let isGone = false;
	layers.add(element);
	const keep = (event: KeyboardEvent): void => {
		// It is for what lies on top, whose listeners came later.
		if ([...layers].at(-1) !== element) return;
		const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
		if (event.key === 'Escape' || (isPlain && !isDialog)) event.stopPropagation();
	};
	// After the listeners of bits-ui have run, and still there for the key that closes it.
	void tick().then(() => isGone || document.addEventListener('keydown', keep));
	return () => {
		isGone = true;
		setTimeout(() => {
			document.removeEventListener('keydown', keep);
			layers.delete(element);
		});
	};
}

export interface MenuItem {
	/** Also its `data-testid`. */
	id: string;
	label: string;
	icon: LucideIcon;
	isDanger?: boolean;
	/** Set for a switch, which leaves the menu open. */
	isChecked?: boolean;
	/** A separator comes before it. */
	isApart?: boolean;
	/** A page, or a file of the API to download, instead of `run`. */
	href?: string;
	/** Called after the menu has closed and its button has the focus again. */
	run?: () => void;
}
