/** Makes characters that cannot be seen, or that turn the order of others, visible: `⟨U+202E⟩`. */

// Controls are what this is about. Not the joiner inside an emoji, nor variation selectors: those are part of what is seen.
const HIDDEN =
	// eslint-disable-next-line no-control-regex
	/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\u200d(?<!\p{Extended_Pictographic}\ufe0f?\u200d)/gu;

/** For names, labels and single values; line breaks count as hidden, too. */
export function markHidden(text: string): string {
	return text.replace(HIDDEN, markOf);
}

/** For longer texts: line breaks and tabs stay. */
export function markHiddenInText(text: string): string {
	return text
		.replace(/\r\n?/g, '\n')
		.replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : markOf(character)));
}

export function markOf(character: string): string {
	return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
