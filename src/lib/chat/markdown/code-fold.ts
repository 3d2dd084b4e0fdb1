/** How much of a code block is shown before somebody asks for the rest. */

/** More lines than this are folded. */
const FOLD_LINES = 30;

export interface Fold {
	/** What is shown while it is folded: whole lines. */
	text: string;
	lineCount: number;
	isLong: boolean;
}

/** The beginning of the code; of code that still grows its end. */
export function foldCode(text: string, isOpen: boolean): Fold {
	const lineCount = countLines(text);
	if (lineCount <= FOLD_LINES) return { text, lineCount, isLong: false };
	return { text: isOpen ? lastLines(text) : firstLines(text), lineCount, isLong: true };
}

function countLines(text: string): number {
	let count = 1;
	for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) count += 1;
	return count;
}

function firstLines(text: string): string {
	let end = -1;
	for (let line = 0; line < FOLD_LINES; line += 1) end = text.indexOf('\n', end + 1);
	return text.slice(0, end);
}

function lastLines(text: string): string {
	let start = text.length;
	for (let line = 0; line < FOLD_LINES; line += 1) start = text.lastIndexOf('\n', start - 1);
	return text.slice(start + 1);
}
