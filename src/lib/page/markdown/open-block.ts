/** Readers for the block at the end of a growing text, so that its finished parts are parsed only once. */
import type { Token, Tokens } from 'marked';
import { cleanText } from '../text/clean-text.ts';
import { convertBlock, type Node } from './convert.ts';
import { lex } from './lexer.ts';
import { isObject } from '../../shared/json.ts';

type ListNode = Extract<Node, { type: 'list' }>;
type Items = ListNode['items'];

/** What follows may change the last item, and a blank line after the one before makes the list loose. */
const OPEN_ITEMS = 2;

export class OpenList implements OpenBlock {
	readonly #list: ListNode;
	readonly #isLoose: boolean;
	/** Start of the first item that may still change. */
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

	/** A reader for the list `token`, which starts at `start`, ends `source` and is shown as `list`; null if it can't be read by items. */
	static at(source: string, start: number, token: Tokens.List, list: ListNode): OpenList | null {
		// A link definition affects the whole list.
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

/** The list, if nothing else is visible. */
function onlyList([first, ...rest]: Token[]): Tokens.List | null {
	return first?.type === 'list' && rest.every(({ type }) => type === 'space') ? (first as Tokens.List) : null;
}

function rawOf(items: Tokens.ListItem[]): string {
	return items.map(({ raw }) => raw).join('');
}

type TableNode = Extract<Node, { type: 'table' }>;
type Rows = TableNode['rows'];

/** Two complete lines, which settle the columns. */
const HEAD = /^[^\n]*\n[^\n]*\n/;
/** A line that can only be a row. */
const ROW = /\|[^\n]*(?:\n|$)/y;

export class OpenTable implements OpenBlock {
	readonly #head: string;
	readonly #table: TableNode;
	/** Start of the first line that may still grow. */
	#lineStart: number;
	readonly #rows: Rows = [];
	#lastRow: Rows = [];

	private constructor(head: string, table: TableNode, start: number) {
		this.#head = head;
		this.#table = table;
		this.#lineStart = start;
	}

	/** A reader for the table `token`, which starts at `start` and ends `source`; null if it can't be read by rows. */
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
		// Any other line may or may not be a row: the parser decides.
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

/** End of the lines that are certainly rows. */
function rowsEnd(source: string, start: number): number {
	let end = start;
	for (ROW.lastIndex = start; end < source.length && ROW.test(source);) end = ROW.lastIndex;
	return end;
}

const OPENING = /^(`{3,}|~{3,})([^\n]*)\n/;

export class OpenFence implements OpenBlock {
	readonly #language: string;
	/** Start of a line that may close the fence. */
	readonly #closing: RegExp;
	/** Start of the first line that may still grow. */
	#lineStart: number;
	#lines = '';

	private constructor(mark: string, start: number, language: string) {
		this.#language = language;
		this.#closing = new RegExp(`(?:^|\\n) {0,3}${mark[0]}`);
		this.#lineStart = start;
	}

	/** A reader for the fence at `start` in `source`; null if it's closed or can't be read by lines. */
	static at(source: string, start: number, language: string): OpenFence | null {
		const head = OPENING.exec(source.slice(start, start + 1000));
		if (!head?.[1]) return null;
		const fence = new OpenFence(head[1], start + head[0].length, language);
		return fence.read(source) === null ? null : fence;
	}

	/** Null if the fence may be closed. */
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
		// Like marked: the last line break belongs to the closing fence, unless it ends an empty line.
		return this.#lines === '\n' || this.#lines.endsWith('\n\n') ? this.#lines : this.#lines.slice(0, -1);
	}
}

export interface OpenBlock {
	/** The block including what is new in `source`; null if the parser is needed. */
	read: (source: string) => OpenRead | null;
}

export interface OpenRead {
	node: Node;
	/** Where the block ends in the source; null while it may continue. */
	end: number | null;
}

/** Returns `fresh`, with every part that equals the same part of `old` replaced by that object, so that it needn't render again. */
export function share<Value>(old: unknown, fresh: Value): Value {
	return shareParts(old, fresh) as Value;
}

function shareParts(old: unknown, fresh: unknown): unknown {
	if (old === fresh) return old;
	if (Array.isArray(fresh)) return Array.isArray(old) ? shareItems(old, fresh) : fresh;
	if (!isObject(old) || !isObject(fresh) || old.type !== fresh.type) return fresh;
	let isSame = true;
	// Objects of one type have the same keys.
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
