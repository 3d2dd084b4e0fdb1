/** What stands in a menu. */
import type { LucideIcon } from '@lucide/svelte';

export interface MenuItem {
	/** Also its `data-testid`. */
	id: string;
	label: string;
	icon: LucideIcon;
	/** Takes something away. */
	isDanger?: boolean;
	/** A line stands before it. */
	isApart?: boolean;
	/** A file to be saved, in place of `run`. */
	href?: string;
	/** The menu is closed before it begins, and the focus is back on its button. */
	run?: () => void;
}
