/** Prepares text for display: marks search matches, hidden characters and stacked combining marks. Pure. */
import { markHiddenInText, withoutSequences } from '../../shared/characters.ts';

export interface MarkedPart {
	text: string;
	isMatch: boolean;
}

/** `matches` as in `Snippet`, in any order; overlaps and positions outside the text are ignored. */
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

/** Positions of the query's words in a title, ignoring case. */
export function findWords(text: string, query: string): [from: number, to: number][] {
	// Some characters change length in lower case, which would shift what follows.
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

/** Characters with so many combining marks that they cover the lines around; no script in use needs 5. */
const STACK = /(.?[\p{Mn}\p{Me}]{5,})/su;

export interface StackedPart {
	text: string;
	isStacked: boolean;
}

export function hasStacked(text: string): boolean {
	return STACK.test(text);
}

/** At least one part, in order. */
export function stackedParts(text: string): StackedPart[] {
	if (!hasStacked(text)) return [{ text, isStacked: false }];
	const parts = text.split(STACK).map((part, index) => ({ text: part, isStacked: index % 2 === 1 }));
	return parts.filter((part) => part.text !== '');
}

/** Removes terminal sequences and marks hidden characters. Line breaks and tabs stay; a lone CR becomes a line break. */
export function cleanText(text: string): string {
	return markHiddenInText(withoutSequences(text));
}

/** In quotes; those within are single. */
export function quoted(text: string): string {
	return `“${cleanText(text).replace(/“([^“”]*)”/g, '‘$1’')}”`;
}
