/** Lets a textarea grow with its text, up to the `max-height` of its style. */
import type { Attachment } from 'svelte/attachments';

/** For `{@attach}`; `text` is read so that the height follows changes from anywhere. */
export function autosize(text: () => string): Attachment<HTMLTextAreaElement> {
	return (area) => {
		text();
		area.style.height = 'auto';
		area.style.height = `${area.scrollHeight}px`;
	};
}
