/** Short messages about what happened elsewhere on the page, each with at most one thing to do about it. */
import { newId } from '../text/format.ts';
import { readStored, writeStored } from './clipboard.ts';

export interface Toast {
	readonly id: string;
	readonly text: string;
	/** What one can do, e.g. undo. */
	readonly action?: ToastAction;
	/** Said at once by screen readers, and kept until it is closed. */
	readonly isError?: boolean;
	/** How long it stays, where `TOAST_MS` is too short. */
	readonly ms?: number;
}

export interface ToastAction {
	readonly label: string;
	/** The toast goes before it begins. */
	readonly run: () => void | Promise<void>;
}

/** Long enough to read it and to decide; it stays while the pointer or the focus is on it. */
export const TOAST_MS = 8_000;
const MOST = 4;

export class Toasts {
	list = $state.raw<readonly Toast[]>([]);

	/** Returns its id. One that says the same goes, and so does the oldest of too many. */
	show(toast: Omit<Toast, 'id'>): string {
		const id = newId();
		const others = this.list.filter(({ text, isError }) => text !== toast.text || isError !== toast.isError);
		this.list = [...others, { ...toast, id }].slice(-MOST);
		return id;
	}

	close(id: string): void {
		this.list = this.list.filter((toast) => toast.id !== id);
	}
}

// How wide the first of two panes is, in per cent; the browser remembers it.

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
