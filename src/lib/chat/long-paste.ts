/** A text that is pasted and too long for a message: it becomes a file that goes with it. Pure. */

/** From this many characters on. */
export const LONG_PASTE = 4_000;

export type Pasted = { files: File[] } | { longText: string } | null;

/** What becomes of what was pasted; null: it is put into the box as it is. */
export function pastedFrom(data: Pick<DataTransfer, 'files' | 'getData' | 'types'> | null): Pasted {
	if (!data) return null;
	const text = data.getData('text/plain');
	// Office programs add a picture of the text that is copied: the text is meant.
	const isPicturedText = text.trim() !== '' && data.types.includes('text/html');
	if (data.files.length > 0 && !isPicturedText) return { files: [...data.files] };
	return text.length >= LONG_PASTE ? { longText: text } : null;
}
