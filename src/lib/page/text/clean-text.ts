/** Cuts a text where a search has found its words, so that elements can mark them. Pure. */
import { markHiddenInText, withoutSequences } from '../../shared/characters.ts';

export interface MarkedPart {
	text: string;
	isMatch: boolean;
}

/** `matches` as in `Snippet`, in any order; what overlaps or lies outside the text does no harm. */
export function markedParts(text: string, matches: readonly (readonly [from: number, to: number])[]): MarkedPart[] {
	const parts: MarkedPart[] = [];
	let end = 0;
	const add = (from: number, to: number, isMatch: boolean): void => {
		const part = cleanText(text.slice(from, to));
		if (part !== '') parts.push({ text: part, isMatch });
	};
	for (const [from, to] of [...matches].sort((a, b) => a[0] - b[0])) {
		const start = Math.max(from, end);
		const stop = Math.min(to, text.length);
		if (stop <= start) continue;
		add(end, start, false);
		add(start, stop, true);
		end = stop;
	}
	add(end, text.length, false);
	return parts;
}

/** Where the words of a query stand in a title; letters of either case are the same. */
export function findWords(text: string, query: string): [from: number, to: number][] {
	// A character that grows when it is made small would move what follows.
	const low = text.toLowerCase();
	if (low.length !== text.length) return [];
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	return words.flatMap((word) => {
		const found: [number, number][] = [];
		for (let at = low.indexOf(word); at !== -1; at = low.indexOf(word, at + word.length)) {
			found.push([at, at + word.length]);
		}
		return found;
	});
}

// Letters with so many marks above and below that they cover what is around them: each is clipped to its line.

/** A letter of any script in use has fewer. */
const STACK = /(.?[\p{Mn}\p{Me}]{5,})/su;

export interface StackedPart {
	text: string;
	isStacked: boolean;
}

export function hasStacked(text: string): boolean {
	return STACK.test(text);
}

/** At least one part, as the text has them. */
export function stackedParts(text: string): StackedPart[] {
	if (!hasStacked(text)) return [{ text, isStacked: false }];
	const parts = text.split(STACK).map((part, index) => ({ text: part, isStacked: index % 2 === 1 }));
	return parts.filter((part) => part.text !== '');
}

// Makes foreign text fit to be shown: no colours or titles of a terminal, and marks for what is not seen.

/** Line breaks and tabs stay; a lone carriage return becomes a line break. */
export function cleanText(text: string): string {
	return markHiddenInText(withoutSequences(text));
}
