/** A list at the end of the text: items that can no longer change are read once, however many there are. */
import type { Token, Tokens } from 'marked';
import { cleanText } from '../text/clean-text.ts';
import { convertBlock, type Node } from './convert.ts';
import { lex } from './lexer.ts';
import { isObject } from '../../shared/json.ts';

type ListNode = Extract<Node, { type: 'list' }>;
type Items = ListNode['items'];

/** What comes may change the last item, and a blank line after the one before makes the list a loose one. */
const OPEN_ITEMS = 2;

export class OpenList implements OpenBlock {
	readonly #list: ListNode;
	readonly #isLoose: boolean;
	/** Where the first item begins that may still change. */
	#tailStart: number;
	readonly #settled: Items;
	#tail: Items;

	private constructor(list: ListNode, { items, loose }: Tokens.List, start: number) {
		const settled = settledItems(items);
		this.#list = list;
		this.#isLoose = loose;
		this.#tailStart = start + rawOf(settled).length;
		this.#settled = list.items.slice(0, settled.length);
		this.#tail = list.items.slice(settled.length);
	}

	/** The list that `token` is, which begins at `start`, ends `source` and is shown as `list`; null when it cannot be read by items. */
	static at(source: string, start: number, token: Tokens.List, list: ListNode): OpenList | null {
		// A definition of a link reaches all of the list.
		if (token.items.length <= OPEN_ITEMS || token.raw.includes(']:')) return null;
		return source.startsWith(rawOf(token.items), start) ? new OpenList(list, token, start) : null;
	}

	read(source: string): OpenRead | null {
		const text = source.slice(this.#tailStart);
		if (text.includes(']:')) return null;
		const token = onlyList(lex(text));
		if (!token || token.loose !== this.#isLoose || token.ordered !== this.#list.isOrdered) return null;
		const settled = settledItems(token.items);
		const raw = rawOf(settled);
		const node = convertBlock(token);
		if (!text.startsWith(raw) || node?.type !== 'list') return null;
		const items = share(this.#tail, node.items);
		this.#tailStart += raw.length;
		this.#settled.push(...items.slice(0, settled.length));
		this.#tail = items.slice(settled.length);
		return { node: { ...this.#list, items: [...this.#settled, ...this.#tail] }, end: null };
	}
}

function settledItems(items: Tokens.ListItem[]): Tokens.ListItem[] {
	return items.slice(0, Math.max(0, items.length - OPEN_ITEMS));
}

/** The list that is all there is; null where anything else is shown as well. */
function onlyList([first, ...rest]: Token[]): Tokens.List | null {
	return first?.type === 'list' && rest.every(({ type }) => type === 'space') ? (first as Tokens.List) : null;
}

function rawOf(items: Tokens.ListItem[]): string {
	return items.map(({ raw }) => raw).join('');
}

// A table at the end of the text: its rows are read once, however many there are.

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

// A fence at the end of the text that is not closed yet: its lines are read once, however long it grows.

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

// The block that a growing text ends in, when it can be read on line by line and need not be parsed again.

export interface OpenBlock {
	/** The block with what `source` has more than the last time; null when that is for the parser to say. */
	read: (source: string) => OpenRead | null;
}

export interface OpenRead {
	node: Node;
	/** Where in the source it is over, and something else begins; null while it may go on. */
	end: number | null;
}

// Plain data made anew, with the parts of the old that are equal: what is the same object needs no rendering.

/** `fresh`, where everything in it that equals what `old` has in its place is that very object. */
export function share<Value>(old: unknown, fresh: Value): Value {
	return shareParts(old, fresh) as Value;
}

function shareParts(old: unknown, fresh: unknown): unknown {
	if (old === fresh) return old;
	if (Array.isArray(fresh)) return Array.isArray(old) ? shareItems(old, fresh) : fresh;
	if (!isObject(old) || !isObject(fresh) || old.type !== fresh.type) return fresh;
	let isSame = true;
	// Those of one type have the same keys.
	for (const key in fresh) {
		const value = shareParts(old[key], fresh[key]);
		fresh[key] = value;
		if (value !== old[key]) isSame = false;
	}
	return isSame ? old : fresh;
}

function shareItems(old: unknown[], fresh: unknown[]): unknown[] {
	let isSame = old.length === fresh.length;
	for (const [index, item] of fresh.entries()) {
		const value = shareParts(old[index], item);
		fresh[index] = value;
		if (value !== old[index]) isSame = false;
	}
	return isSame ? old : fresh;
}
