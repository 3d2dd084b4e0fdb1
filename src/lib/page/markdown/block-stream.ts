/**
 * Markdown that grows: blocks that can no longer change are sealed and keep their identity; only what comes after
 * them is parsed again. The finished text is parsed once as a whole, so how it arrived makes no difference.
 */
import type { Token, Tokens } from 'marked';
import { cleanText } from '../text/clean-text.ts';
import { convertBlock, languageOf, type Node } from './convert.ts';
import { lex, type PieceCache } from './lexer.ts';
import { type OpenBlock, OpenFence, OpenList, OpenTable, share } from './open-block.ts';

/** One block; the same object as long as it shows the same. */
export interface Block {
	raw: string;
	/** Marked's name for it. */
	source: string;
	node: Node;
}

/** Longer text is shown as it is. */
export const MAX_MARKDOWN = 400_000;
/** Longer text is not parsed again as a whole at its end: that would hold up the page. What differs then is odd, as an empty item within a paragraph. */
const MAX_WHOLE = 100_000;
/** A line after a list or a quote may still change the block before: so many stay open. */
const OPEN_BLOCKS = 2;
const BLANK_LINE = /\n[ \t]*\n/;
/** While parsing the open blocks takes longer than this, … */
const SLOW_MS = 8;
/** … the next time is only after this many times as long. */
const REST_FACTOR = 6;

export class BlockStream {
	#text = '';
	#sealed: Block[] = [];
	#sealedLength = 0;
	#blocks: Block[] = [];
	#isPlain = false;
	#parsedLength = 0;
	#restUntil = 0;
	#open: OpenBlock | null = null;
	#pieces: PieceCache = new Map();
	readonly #now: () => number;

	/** `now` is a clock in milliseconds. */
	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	/** The blocks of `text`: what was given before and more, or another text altogether. */
	update(text: string, isGrowing: boolean): Block[] {
		const source = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
		if (isGrowing && source === this.#text && source.length === this.#parsedLength) return this.#blocks;
		if (!source.startsWith(this.#text)) this.#reset();
		this.#text = source;
		if (source.length > MAX_MARKDOWN) this.#isPlain = true;
		if (this.#isPlain) return this.#showPlain();
		const started = this.#now();
		if (isGrowing && started < this.#restUntil) return this.#withUnparsed();
		try {
			this.#blocks = isGrowing ? this.#grow() : this.#finish();
		} catch {
			// A parser that gives up (its stack, mostly) must not take the page with it: the words are what counts.
			return this.#showPlain();
		}
		this.#parsedLength = source.length;
		const tookMs = this.#now() - started;
		this.#restUntil = tookMs > SLOW_MS ? started + tookMs * REST_FACTOR : 0;
		return this.#blocks;
	}

	#grow(): Block[] {
		const readOn = this.#readOpen();
		if (readOn) return readOn;
		const tokens = lex(this.#text.slice(this.#sealedLength), this.#pieces);
		const fresh = this.#keepSame(this.#blocks.slice(this.#sealed.length), tokens);
		const last = tokens.findLastIndex(isShown);
		const open = this.#openAt(tokens, last, fresh.at(-1)?.node);
		// A block that is read on from where it is ends everything before it.
		const openIndex = open ? last : firstOpen(tokens);
		const sealedTokens = tokens.slice(0, openIndex);
		const sealedText = sealedTokens.map(({ raw }) => raw).join('');
		// A token's raw text is not the source in a few odd cases (tabs in lists): such a block stays open.
		if (sealedText !== '' && this.#text.startsWith(sealedText, this.#sealedLength)) {
			this.#sealed = [...this.#sealed, ...fresh.slice(0, sealedTokens.filter(isShown).length)];
			this.#sealedLength += sealedText.length;
			this.#pieces.clear();
			this.#open = open;
			return [...this.#sealed, ...fresh.slice(sealedTokens.filter(isShown).length)];
		}
		if (openIndex === 0) this.#open = open;
		return [...this.#sealed, ...fresh];
	}

	/** The blocks of these tokens: what has not changed since the last time is what it was. */
	#keepSame(old: Block[], tokens: Token[]): Block[] {
		const mayResolve = tokens.some(({ raw }) => raw.includes(']:'));
		return tokens.filter(isShown).flatMap((token, index) => {
			const before = old[index];
			// Without a definition the same text is the same block, and need not even be converted.
			if (before?.raw === token.raw && before.source === token.type && !mayResolve) return [before];
			return toBlocks([token]).map((block) => share(before, block));
		});
	}

	/** The blocks, when all that is new belongs to the last one; null when there is something to be parsed. */
	#readOpen(): Block[] | null {
		const read = this.#open?.read(this.#text);
		if (!read) {
			this.#open = null;
			return null;
		}
		const raw = this.#text.slice(this.#sealedLength, read.end ?? undefined);
		const blocks = [...this.#sealed, { raw, source: read.node.type, node: read.node }];
		if (read.end === null) return blocks;
		this.#sealed = blocks;
		this.#sealedLength = read.end;
		this.#open = null;
		return null;
	}

	/** What reads on the block of the last token that is shown, as which `node` is shown; null where the parser must. */
	#openAt(tokens: Token[], last: number, node: Node | undefined): OpenBlock | null {
		const token = tokens[last];
		const start = tokens.slice(0, last).reduce((sum, { raw }) => sum + raw.length, this.#sealedLength);
		if (token?.type === 'code') return OpenFence.at(this.#text, start, languageOf((token as Tokens.Code).lang));
		if (token?.type === 'table') return OpenTable.at(this.#text, start, token as Tokens.Table);
		return node?.type === 'list' ? OpenList.at(this.#text, start, token as Tokens.List, node) : null;
	}

	#finish(): Block[] {
		// A definition anywhere, also inside a list, changes the links before it, though their text is the same.
		if (this.#text.length > MAX_WHOLE && !this.#text.includes(']:')) return this.#grow();
		this.#sealed = [];
		this.#sealedLength = 0;
		this.#open = null;
		return share(this.#blocks, toBlocks(lex(this.#text)));
	}

	/** Nothing is held back: what has not been parsed yet is shown as it is. */
	#withUnparsed(): Block[] {
		const raw = this.#text.slice(this.#parsedLength);
		return [...this.#blocks, { raw, source: 'text', node: { type: 'plain', text: cleanText(raw) } }];
	}

	#showPlain(): Block[] {
		this.#isPlain = true;
		this.#blocks = [{ raw: this.#text, source: 'text', node: { type: 'plain', text: cleanText(this.#text) } }];
		return this.#blocks;
	}

	#reset(): void {
		this.#sealed = [];
		this.#sealedLength = 0;
		this.#blocks = [];
		this.#isPlain = false;
		this.#parsedLength = 0;
		this.#restUntil = 0;
		this.#open = null;
		this.#pieces.clear();
	}
}

function isShown(token: Token): boolean {
	return token.type !== 'space' && token.type !== 'def';
}

function toBlocks(tokens: Token[]): Block[] {
	return tokens.flatMap((token) => {
		const node = convertBlock(token);
		return node ? [{ raw: token.raw, source: token.type, node }] : [];
	});
}

/** The first of the last blocks, of which those after it may still change what it is. */
function firstOpen(tokens: Token[]): number {
	const settled = tokens.findLastIndex((token, index) => isSettled(token, tokens[index + 1])) + 1;
	const open = tokens.flatMap((token, index) => (isShown(token) ? [index] : [])).at(-OPEN_BLOCKS) ?? 0;
	return Math.max(settled, open);
}

/** Has it, and all before it, ended for good? Nothing goes on after a heading's line, and no paragraph after a blank one. */
function isSettled({ type, raw }: Token, next: Token | undefined): boolean {
	if (type === 'paragraph') return next?.type === 'space' && BLANK_LINE.test(next.raw);
	return (type === 'heading' || type === 'hr') && raw.endsWith('\n');
}

/** The page has the first level, a message the second. */
const FIRST_LEVEL = 3;

/** Notes at which level each heading is shown: one below the heading it belongs to, however the text counts. */
export function noteLevels(blocks: readonly Block[], levels: WeakMap<Node, number>): void {
	const above: number[] = [];
	for (const { node } of blocks) {
		if (node.type !== 'heading') continue;
		while ((above.at(-1) ?? 0) >= node.level) above.pop();
		levels.set(node, Math.min(6, FIRST_LEVEL + above.length));
		above.push(node.level);
	}
}

/** A long list in groups, so that whatever shows it need not look at each of its parts when one is added at the end. */
export class Groups<Part> {
	readonly #size: number;
	#groups: Part[][] = [];

	/** `size` is the number of parts in a group; the last has what is left. */
	constructor(size: number) {
		this.#size = size;
	}

	/** The parts in groups; a group that has the same parts as last time is that very array. */
	update(parts: readonly Part[]): Part[][] {
		const groups: Part[][] = [];
		for (let start = 0; start < parts.length; start += this.#size) {
			const old = this.#groups[groups.length];
			const end = Math.min(parts.length, start + this.#size);
			const isSame = old?.length === end - start && old.every((part, index) => part === parts[start + index]);
			groups.push(isSame ? old : parts.slice(start, end));
		}
		return (this.#groups = groups);
	}
}
