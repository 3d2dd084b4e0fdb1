/** A list at the end of the text: items that can no longer change are read once, however many there are. */
import type { Token, Tokens } from 'marked';
import { convertBlock } from './convert.ts';
import { lex } from './lexer.ts';
import type { Node } from './nodes.ts';
import type { OpenBlock, OpenRead } from './open-block.ts';
import { share } from './share.ts';

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
