import type { LucideIcon } from '@lucide/svelte';

export interface MenuItem {
	/** Also its `data-testid`. */
	id: string;
	label: string;
	icon: LucideIcon;
	isDanger?: boolean;
	/** A separator comes before it. */
	isApart?: boolean;
	/** File to download, instead of `run`. */
	href?: string;
	/** Called after the menu has closed and its button has the focus again. */
	run?: () => void;
}
