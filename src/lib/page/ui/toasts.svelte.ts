/** Toasts, each with at most one action; and the width of a resizable pane. */
import { newId } from '../text/format.ts';
import { readStored, writeStored } from './clipboard.ts';

export interface Toast {
	readonly id: string;
	readonly text: string;
	readonly action?: ToastAction;
	/** What it's about, such as a skill: a newer toast about the same replaces it. */
	readonly about?: string | undefined;
	/** Announced at once by screen readers, and never closes by itself. */
	readonly isError?: boolean;
	/** Time on screen, instead of `TOAST_MS`. */
	readonly ms?: number;
}

export interface ToastAction {
	readonly label: string;
	/** Called after the toast has closed. */
	readonly run: () => void | Promise<void>;
}

/** Paused while the pointer or focus is on the toast. */
export const TOAST_MS = 8_000;
const MOST = 4;

export class Toasts {
	list = $state.raw<readonly Toast[]>([]);
	/** Where they can be shown: on the page, and in a dialog over it. The last one shows them. */
	places = $state.raw<readonly symbol[]>([]);

	/** Returns the id. Replaces a toast with the same text or about the same, and drops the oldest over the limit. */
	show(toast: Omit<Toast, 'id'>): string {
		const id = newId();
		if (toast.about !== undefined) this.closeAbout(toast.about);
		const others = this.list.filter(({ text, isError }) => text !== toast.text || isError !== toast.isError);
		this.list = [...others, { ...toast, id }].slice(-MOST);
		return id;
	}

	/** Returns a function that gives the place up. */
	showAt(place: symbol): () => void {
		this.places = [...this.places, place];
		return () => (this.places = this.places.filter((other) => other !== place));
	}

	/** For another page: errors without an action belong to the one before. */
	leavePage(): void {
		this.list = this.list.filter(({ isError, action }) => !isError || action);
	}

	/** What a toast says is no longer so. */
	closeText(said: string): void {
		this.list = this.list.filter(({ text }) => text !== said);
	}

	closeAbout(what: string): void {
		this.list = this.list.filter(({ about }) => about !== what);
	}

	close(id: string): void {
		this.list = this.list.filter((toast) => toast.id !== id);
	}
}

/** Width of the first of two panes, in percent; remembered by the browser. */
export class PaneWidth {
	readonly #key: string;
	readonly min: number;
	readonly max: number;
	readonly preset: number;
	percent = $state(50);

	constructor(key: string, { min = 30, max = 70, preset = 50 } = {}) {
		this.#key = key;
		this.min = min;
		this.max = max;
		this.preset = preset;
		const kept = Number(readStored('local', key) ?? Number.NaN);
		this.percent = Number.isFinite(kept) ? this.#within(kept) : preset;
	}

	set(percent: number): void {
		this.percent = this.#within(percent);
		writeStored('local', this.#key, String(this.percent));
	}

	reset(): void {
		this.percent = this.preset;
		writeStored('local', this.#key, null);
	}

	#within(percent: number): number {
		return Math.round(Math.min(this.max, Math.max(this.min, percent)) * 10) / 10;
	}
}
