/** Makes text of a foreign program fit to be shown and sent on: no controls, no bidi, no tags, no more than there is room for. */
import { withoutHidden } from '../../shared/characters.ts';

/** Line breaks and tabs stay; `most` is in UTF-16 units. */
export function plainText(text: string, most: number): string {
	const plain = withoutHidden(text.slice(0, most * 2))
		.replaceAll('\r\n', '\n')
		.toWellFormed()
		.trim();
	return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}

export function plainLine(text: string, most: number): string {
	return plainText(withoutHidden(text.slice(0, most * 4)).replaceAll(/\s+/g, ' '), most);
}

/** At most `maxBytes` of UTF-8, its beginning and its end, with a line between them that says so. */
export function boundedText(text: string, maxBytes: number): { text: string; truncated: boolean } {
	const bytes = Buffer.from(text);
	if (bytes.length <= maxBytes) return { text, truncated: false };
	const half = Math.max(1, Math.floor(maxBytes / 2));
	const left = bytes.length - 2 * half;
	// A character that is cut in two at an edge is left out.
	const head = bytes
		.subarray(0, half)
		.toString()
		.replace(/\ufffd+$/, '');
	const tail = bytes
		.subarray(bytes.length - half)
		.toString()
		.replace(/^\ufffd+/, '');
	return { text: `${head}\n… ${left} bytes left out …\n${tail}`, truncated: true };
}
