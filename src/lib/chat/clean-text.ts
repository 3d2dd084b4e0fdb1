/** Makes foreign text fit to be shown: no colours or titles of a terminal, and marks for what is not seen. */
import { markHiddenInText, withoutSequences } from '../shared/characters.ts';

/** Line breaks and tabs stay; a lone carriage return becomes a line break. */
export function cleanText(text: string): string {
	return markHiddenInText(withoutSequences(text));
}
