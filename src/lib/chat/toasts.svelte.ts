/** Short messages about what happened elsewhere on the page, each with at most one thing to do about it. */
import { newId } from './ids.ts';

export interface Toast {
	readonly id: string;
	readonly text: string;
	/** What one can do, e.g. undo. */
	readonly action?: ToastAction;
	/** Said at once by screen readers, and kept until it is closed. */
	readonly isError?: boolean;
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

	/** Returns its id. Of too many the oldest goes. */
	show(toast: Omit<Toast, 'id'>): string {
		const id = newId();
		this.list = [...this.list, { ...toast, id }].slice(-MOST);
		return id;
	}

	close(id: string): void {
		this.list = this.list.filter((toast) => toast.id !== id);
	}
}
