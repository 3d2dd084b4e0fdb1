/** What goes with the next message besides its text: files, and skills that are to be pinned. */
import type { ChatSession } from './session.svelte.ts';

/** Takes out the last file, or else the last skill that waits to be pinned; its name, or null where there is none. */
export function removeLastPill(session: ChatSession): string | null {
	const attachment = session.draft.attachments.at(-1);
	if (attachment) {
		session.draft.remove(attachment);
		return attachment.path;
	}
	const pin = session.skills.pins.at(-1);
	if (pin === undefined) return null;
	void session.skills.unpin(pin);
	return pin;
}
