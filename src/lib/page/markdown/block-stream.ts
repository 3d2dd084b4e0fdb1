/**
 * Growing Markdown: finished blocks are sealed and keep their identity; only what follows is parsed again. The finished text
 * is parsed once as a whole, so the way it arrived makes no difference.
 */
import type { Token, Tokens } from 'marked';
import { cleanText } from '../text/clean-text.ts';
import { isObject } from '../../shared/json.ts';
import { convertBlock, isNumberLink, languageOf, type Node } from './convert.ts';
import { lex, type PieceCache } from './lexer.ts';
import { type OpenBlock, OpenFence, OpenList, OpenTable, share } from './open-block.ts';

/** One block; the same object while its content is the same. */
export interface Block {
	raw: string;
	/** Marked's token type. */
	source: string;
	node: Node;
}

/** Longer text is shown as plain text. */
export const MAX_MARKDOWN = 400_000;
/** Longer text isn't parsed again as a whole at its end, which would block the page. Only odd cases differ, such as an empty item in a paragraph. */
const MAX_WHOLE = 100_000;
/** Blocks that stay open: a line after a list or quote may still change the block before. */
const OPEN_BLOCKS = 2;
const BLANK_LINE = /\n[ \t]*\n/;
/** If parsing the open blocks takes longer than this, the next parse waits this many times as long. */
const SLOW_MS = 8;
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

	/**
	 * The blocks of `text`, which is the previous text plus more, or a different one. `numbered`: the finished text with links
	 * to its sources, shown if they change nothing else.
	 */
	update(text: string, isGrowing: boolean, numbered?: string): Block[] {
		const blocks = this.#read(text, isGrowing);
		if (isGrowing || numbered === undefined || this.#isPlain || text.length > MAX_WHOLE) return blocks;
		try {
			const withNumbers = toBlocks(lex(numbered));
			const isSame = withNumbers.map(withoutNumbers).join('\n') === toBlocks(lex(text)).map(withoutNumbers).join('\n');
			return isSame ? (this.#blocks = share(blocks, withNumbers)) : blocks;
		} catch {
			return blocks;
		}
	}

	#read(text: string, isGrowing: boolean): Block[] {
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
			// If the parser fails (mostly its stack), the page still shows the words.
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
		// A block with its own reader seals everything before it.
		const openIndex = open ? last : firstOpen(tokens);
		const sealedTokens = tokens.slice(0, openIndex);
		const sealedText = sealedTokens.map(({ raw }) => raw).join('');
		// In a few odd cases (tabs in lists) a token's raw text isn't the source: such a block stays open.
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

	/** Converts tokens to blocks; unchanged ones keep their identity. */
	#keepSame(old: Block[], tokens: Token[]): Block[] {
		const mayResolve = tokens.some(({ raw }) => raw.includes(']:'));
		return tokens.filter(isShown).flatMap((token, index) => {
			const before = old[index];
			// Without link definitions, the same text is the same block.
			if (before?.raw === token.raw && before.source === token.type && !mayResolve) return [before];
			return toBlocks([token]).map((block) => share(before, block));
		});
	}

	/** The blocks if everything new belongs to the last one; null if the parser is needed. */
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

	/** A reader for the last visible token, rendered as `node`; null if only the parser can continue it. */
	#openAt(tokens: Token[], last: number, node: Node | undefined): OpenBlock | null {
		const token = tokens[last];
		const start = tokens.slice(0, last).reduce((sum, { raw }) => sum + raw.length, this.#sealedLength);
		if (token?.type === 'code') return OpenFence.at(this.#text, start, languageOf((token as Tokens.Code).lang));
		if (token?.type === 'table') return OpenTable.at(this.#text, start, token as Tokens.Table);
		return node?.type === 'list' ? OpenList.at(this.#text, start, token as Tokens.List, node) : null;
	}

	#finish(): Block[] {
		// A definition anywhere, even inside a list, changes the links before it.
		if (this.#text.length > MAX_WHOLE && !this.#text.includes(']:')) return this.#grow();
		this.#sealed = [];
		this.#sealedLength = 0;
		this.#open = null;
		return share(this.#blocks, toBlocks(lex(this.#text)));
	}

	/** Adds the unparsed rest as plain text, so that nothing is held back. */
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

/** As text, to compare. */
function withoutNumbers({ node }: Block): string {
	return JSON.stringify(node, (_key, value: unknown) => {
		if (!Array.isArray(value)) return value;
		const parts: unknown[] = [];
		for (const part of value) {
			if (isNumberLink(part)) continue;
			const [last, text] = [parts.at(-1), textOf(part)];
			if (text !== null && typeof last === 'string') parts[parts.length - 1] = last + text;
			else if (text !== '') parts.push(text ?? part);
		}
		return parts;
	});
}

function textOf(part: unknown): string | null {
	return isObject(part) && part.type === 'text' && typeof part.text === 'string' ? part.text : null;
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

/** Index of the first block that may still change. */
function firstOpen(tokens: Token[]): number {
	const settled = tokens.findLastIndex((token, index) => isSettled(token, tokens[index + 1])) + 1;
	const open = tokens.flatMap((token, index) => (isShown(token) ? [index] : [])).at(-OPEN_BLOCKS) ?? 0;
	return Math.max(settled, open);
}

/** Whether the block is final: after a heading's line end, or a paragraph's blank line. */
function isSettled({ type, raw }: Token, next: Token | undefined): boolean {
	if (type === 'paragraph') return next?.type === 'space' && BLANK_LINE.test(next.raw);
	return (type === 'heading' || type === 'hr') && raw.endsWith('\n');
}

/** Level 1 is the page, level 2 the message. */
const FIRST_LEVEL = 3;

/** Stores the level of each heading: one below the heading it belongs to, whatever the text says. */
export function noteLevels(blocks: readonly Block[], levels: WeakMap<Node, number>): void {
	const above: number[] = [];
	for (const { node } of blocks) {
		if (node.type !== 'heading') continue;
		while ((above.at(-1) ?? 0) >= node.level) above.pop();
		levels.set(node, Math.min(6, FIRST_LEVEL + above.length));
		above.push(node.level);
	}
}

/** Groups a long list, so that adding to its end doesn't touch every part. */
export class Groups<Part> {
	readonly #size: number;
	#groups: Part[][] = [];

	/** `size`: parts per group; the last group has the rest. */
	constructor(size: number) {
		this.#size = size;
	}

	/** Groups with the same parts as before stay the same array. */
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
