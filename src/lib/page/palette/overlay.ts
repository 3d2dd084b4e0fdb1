/** What lies over the page, and is loaded when it is wanted. */
import type { ChatApp } from '../app/app.svelte.ts';

export interface OverlayProps {
	app: ChatApp;
	/** Shows the search in conversations. */
	onsearch: () => void;
	/** Asks for a file to import. */
	onimport: () => void;
	onclose: () => void;
	/** What was typed before it was there. */
	typed: string;
}
