/** Takes the reader to the message that was looked for, and marks it for a moment. */
import type { Attachment } from 'svelte/attachments';
import type { History } from './history.svelte.ts';
import type { StickToBottom } from './stick-to-bottom.svelte.ts';

const MARKED_MS = 2000;

/** For `{@attach}` on the list of messages. */
export function showFound(history: History, scroll: StickToBottom): Attachment<HTMLElement> {
	let unmark = (): void => undefined;
	return (list) => {
		const id = history.found;
		if (id === null) return;
		// Seen once: a list that is made anew opens as it always does.
		history.found = null;
		// After what else scrolls a new list, to its end say.
		requestAnimationFrame(() => {
			const row = list.querySelector<HTMLElement>(`[data-message='${CSS.escape(id)}']`);
			if (!row) return;
			scroll.scrollTo(row);
			unmark();
			row.dataset.found = '';
			const timer = setTimeout(() => unmark(), MARKED_MS);
			unmark = () => {
				clearTimeout(timer);
				delete row.dataset.found;
			};
			// What comes into view for the first time takes its real height.
			requestAnimationFrame(() => scroll.scrollTo(row));
		});
	};
}
