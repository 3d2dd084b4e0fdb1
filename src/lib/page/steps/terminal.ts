/** A script's output as blocks ready to render, updated as it grows; of long output only the start and end. */
import type { Execution } from '../../shared/message.ts';
import { AnsiScreen, type Block } from './ansi.ts';
import { parseRows } from '../files/files.ts';

export class TerminalOutput {
	#screen = new AnsiScreen();
	/** Chunks on the screen, and characters of the last one. */
	#chunks = 0;
	#characters = 0;
	length = 0;

	/** `output`: everything so far; only the new part is read. */
	read(output: Execution['output']): Block[] {
		// A different output: start over.
		if (output.length < this.#chunks || (output[this.#chunks - 1]?.text.length ?? 0) < this.#characters) this.#reset();
		for (let index = Math.max(0, this.#chunks - 1); index < output.length; index++) {
			const chunk = output[index];
			if (!chunk) break;
			const from = index === this.#chunks - 1 ? this.#characters : 0;
			if (chunk.text.length > from) this.#screen.write(chunk.stream, chunk.text.slice(from));
			this.length += chunk.text.length - from;
			this.#chunks = index + 1;
			this.#characters = chunk.text.length;
		}
		return this.#screen.blocks();
	}

	#reset(): void {
		this.#screen = new AnsiScreen();
		this.#chunks = 0;
		this.#characters = 0;
		this.length = 0;
	}
}

export interface Painted<Item> {
	head: Item[];
	tail: Item[];
	/** Not rendered. */
	hidden: Item[];
}

/** The first `head` and last `tail` items; all of them if only one more would be hidden. */
export function headAndTail<Item>(items: Item[], head: number, tail: number): Painted<Item> {
	if (items.length <= head + tail + 1) return { head: items, tail: [], hidden: [] };
	const end = items.length - tail;
	return { head: items.slice(0, head), tail: items.slice(end), hidden: items.slice(head, end) };
}

/** The last `count` lines; a final line break doesn't start one. */
export function lastLines(text: string, count: number): string {
	let from = text.length;
	if (text.endsWith('\n')) from--;
	for (let line = 0; line < count; line++) {
		from = text.lastIndexOf('\n', from - 1);
		if (from < 0) return text;
	}
	return text.slice(from + 1);
}

/** Splits a long text into pieces for rendering, at line breaks unless lines are too long. */
export function splitText(text: string, length = 8_000): string[] {
	const pieces: string[] = [];
	for (let from = 0; from < text.length;) {
		const lineEnd = text.indexOf('\n', from + length);
		const to = lineEnd < 0 || lineEnd > from + 2 * length ? Math.min(text.length, from + 2 * length) : lineEnd + 1;
		pieces.push(text.slice(from, to));
		from = to;
	}
	return pieces;
}

/** Longer output stays text. */
const MAX_SHOWN = 40_000;

/** What finished output is, if there is a better way to show it than as text. */
export function kindOfOutput(text: string): 'json' | 'table' | 'markdown' | null {
	if (text.length > MAX_SHOWN || text.trim() === '') return null;
	if (/^\s*[[{]/.test(text)) return isJson(text) ? 'json' : null;
	if (isTable(text)) return 'table';
	const hasTable = /^\|.*\|[ \t]*\n\|[ \t]*:?-{2,}/m.test(text);
	const hasHeading = /^#{1,4} \S/m.test(text);
	const hasBold = /\*\*[^\s*][^*\n]*\*\*/.test(text);
	const hasList = /^[-*] \S/m.test(text);
	return hasTable || hasBold || (hasHeading && hasList) ? 'markdown' : null;
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}

/** Rows of the same length. Sentences with commas have spaces behind them. */
function isTable(text: string): boolean {
	const rows = parseRows(text.trim(), 50);
	const columns = rows[0]?.length ?? 0;
	if (rows.length < 3 || columns < 2 || rows[0]?.includes('')) return false;
	return rows.every((row) => row.length === columns && row.every((cell) => !/^\s|\n/.test(cell)));
}
