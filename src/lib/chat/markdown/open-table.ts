/** A table at the end of the text: its rows are read once, however many there are. */
import type { Tokens } from 'marked';
import { convertBlock } from './convert.ts';
import { lex } from './lexer.ts';
import type { Node } from './nodes.ts';
import type { OpenBlock, OpenRead } from './open-block.ts';
import { share } from './share.ts';

type TableNode = Extract<Node, { type: 'table' }>;
type Rows = TableNode['rows'];

/** Two whole lines: what they say about the columns is settled. */
const HEAD = /^[^\n]*\n[^\n]*\n/;
/** A line that cannot be anything but a row. */
const ROW = /\|[^\n]*(?:\n|$)/y;

export class OpenTable implements OpenBlock {
	readonly #head: string;
	readonly #table: TableNode;
	/** Where the first line begins that may still get longer. */
	#lineStart: number;
	readonly #rows: Rows = [];
	#lastRow: Rows = [];

	private constructor(head: string, table: TableNode, start: number) {
		this.#head = head;
		this.#table = table;
		this.#lineStart = start;
	}

	/** The table that `token` is, which begins at `start` and ends `source`; null when it cannot be read by rows. */
	static at(source: string, start: number, token: Tokens.Table): OpenTable | null {
		const head = HEAD.exec(source.slice(start, start + 10_000))?.[0];
		if (head === undefined || !source.startsWith(token.raw, start)) return null;
		if (rowsEnd(source, start + head.length) < source.length) return null;
		const node = convertBlock({ ...token, rows: [] });
		return node?.type === 'table' ? new OpenTable(head, node, start + head.length) : null;
	}

	read(source: string): OpenRead | null {
		const end = rowsEnd(source, this.#lineStart);
		const isOver = end < source.length;
		// Any other line may be one more row, or not: that is for the parser to say.
		if (isOver && source[end] !== '\n') return null;
		const lines = source.slice(this.#lineStart, end);
		const fresh = share(this.#lastRow, this.#rowsOf(lines));
		const wholeCount = lines.split('\n').length - 1;
		if (fresh.length !== wholeCount + (lines.endsWith('\n') || lines === '' ? 0 : 1)) return null;
		this.#rows.push(...fresh.slice(0, wholeCount));
		this.#lastRow = fresh.slice(wholeCount);
		this.#lineStart += lines.lastIndexOf('\n') + 1;
		return { node: { ...this.#table, rows: [...this.#rows, ...this.#lastRow] }, end: isOver ? end : null };
	}

	#rowsOf(lines: string): Rows {
		const [token] = lines === '' ? [] : lex(this.#head + lines);
		const node = token ? convertBlock(token) : null;
		return node?.type === 'table' ? node.rows : [];
	}
}

/** Where the lines end that are rows for sure. */
function rowsEnd(source: string, start: number): number {
	let end = start;
	for (ROW.lastIndex = start; end < source.length && ROW.test(source);) end = ROW.lastIndex;
	return end;
}
