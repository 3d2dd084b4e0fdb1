/** A fence at the end of the text that is not closed yet: its lines are read once, however long it grows. */
import { cleanText } from '../clean-text.ts';
import type { OpenBlock, OpenRead } from './open-block.ts';

const OPENING = /^(`{3,}|~{3,})([^\n]*)\n/;

export class OpenFence implements OpenBlock {
	readonly #language: string;
	/** What a line that closes it, or that should be looked at by the parser, begins with. */
	readonly #closing: RegExp;
	/** Where the first line begins that may still get longer. */
	#lineStart: number;
	#lines = '';

	private constructor(mark: string, start: number, language: string) {
		this.#language = language;
		this.#closing = new RegExp(`(?:^|\\n) {0,3}${mark[0]}`);
		this.#lineStart = start;
	}

	/** The fence that begins at `start` in `source`; null when it is none that can be read by lines, or is closed. */
	static at(source: string, start: number, language: string): OpenFence | null {
		const head = OPENING.exec(source.slice(start, start + 1000));
		if (!head?.[1]) return null;
		const fence = new OpenFence(head[1], start + head[0].length, language);
		return fence.read(source) === null ? null : fence;
	}

	/** Null when the fence may be closed by now. */
	read(source: string): OpenRead | null {
		const text = this.#code(source);
		return text === null ? null : { node: { type: 'code', language: this.#language, text }, end: null };
	}

	#code(source: string): string | null {
		const added = source.slice(this.#lineStart);
		if (this.#closing.test(added)) return null;
		const end = added.lastIndexOf('\n') + 1;
		this.#lines += cleanText(added.slice(0, end));
		this.#lineStart += end;
		if (end < added.length) return this.#lines + cleanText(added.slice(end));
		// The last line break belongs to the fence that is to come, unless it ends an empty line: as marked has it.
		return this.#lines === '\n' || this.#lines.endsWith('\n\n') ? this.#lines : this.#lines.slice(0, -1);
	}
}
