/** What a button opens over the page: its props, and how its keys stay in it. */
import { tick } from 'svelte';

/** What `Popup.svelte` gives to what it has opened. */
export interface Opened {
	id: string;
	/** The button. */
	anchor: HTMLElement;
	/** Where in the window it was asked for, if not by the button. */
	at: DOMRect | undefined;
	/** Pressed before there was anything that could hear them. */
	held: readonly KeyboardEvent[];
	close: () => void;
}

const opened = new Set<() => void>();

/** `close` is called when something comes over the whole page; returns the function that ends that. */
export function closeWithOthers(close: () => void): () => void {
	opened.add(close);
	return () => opened.delete(close);
}

/** Closes all menus and popovers that are open. */
export function closePopups(): void {
	for (const close of opened) close();
}

/** Brings the focus to where one goes on: to the question that waits, else to where one writes, else to the page. */
export function goOn(): void {
	const find = (selector: string) => document.querySelector<HTMLElement>(selector);
	const box = find('[data-testid=composer-input]');
	// On a touch screen the box would bring up the keyboard.
	const place = matchMedia('(pointer: coarse)').matches ? box?.closest('form') : box;
	(find('[data-testid=approval]') ?? place ?? find('main'))?.focus({ preventScroll: true });
}

/** What lies over the page, the topmost last. */
const layers = new Set<HTMLElement>();

/**
 * For `{@attach}`. bits-ui hears keys on the document; on the window, the page does: there Escape would stop the run, and
 * letters are shortcuts. A dialog leaves those to the page, which looks whether one is open.
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
	// Behind the listeners of bits-ui, which hear nothing of what was kept, and still there for the key that closes it.
	void tick().then(() => isGone || document.addEventListener('keydown', keep));
	return () => {
		isGone = true;
		setTimeout(() => {
			document.removeEventListener('keydown', keep);
			layers.delete(element);
		});
	};
}
