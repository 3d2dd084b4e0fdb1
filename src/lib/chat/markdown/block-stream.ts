/**
 * Markdown that grows: blocks that can no longer change are sealed and keep their identity; only what comes after
 * them is parsed again. The finished text is parsed once as a whole, so how it arrived makes no difference.
 */
import type { Token } from 'marked';
import { cleanText } from '../clean-text.ts';
import { convertBlock } from './convert.ts';
import { lex } from './lexer.ts';
import type { Node } from './nodes.ts';

/** One block; the same object as long as it shows the same. */
export interface Block {
	raw: string;
	node: Node;
}

/** Longer text is shown as it is. */
export const MAX_MARKDOWN = 400_000;
/** A blank line, or a line after a list, may still change the block before: so many stay open. */
const OPEN_BLOCKS = 2;
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
		const tokens = lex(this.#text.slice(this.#sealedLength));
		const shown = tokens.flatMap((token, index) => (isShown(token) ? [index] : []));
		const firstOpen = shown.at(-OPEN_BLOCKS) ?? 0;
		const previous = this.#blocks.slice(this.#sealed.length);
		const fresh = reuse(toBlocks(tokens), previous);
		const sealedCount = tokens.slice(0, firstOpen).filter(isShown).length;
		const sealedText = tokens
			.slice(0, firstOpen)
			.map(({ raw }) => raw)
			.join('');
		// A token's raw text is not the source in a few odd cases (tabs in lists): such a block stays open.
		if (sealedCount > 0 && this.#text.startsWith(sealedText, this.#sealedLength)) {
			this.#sealed = [...this.#sealed, ...fresh.splice(0, sealedCount)];
			this.#sealedLength += sealedText.length;
		}
		return [...this.#sealed, ...fresh];
	}

	#finish(): Block[] {
		this.#sealed = [];
		this.#sealedLength = 0;
		// A definition anywhere, also inside a list, changes the links before it, though their text is the same.
		return toBlocks(lex(this.#text)).map((block, index) => {
			const old = this.#blocks[index];
			return old?.raw === block.raw && JSON.stringify(old.node) === JSON.stringify(block.node) ? old : block;
		});
	}

	/** Nothing is held back: what has not been parsed yet is shown as it is. */
	#withUnparsed(): Block[] {
		const raw = this.#text.slice(this.#parsedLength);
		return [...this.#blocks, { raw, node: { type: 'plain', text: cleanText(raw) } }];
	}

	#showPlain(): Block[] {
		this.#isPlain = true;
		this.#blocks = [{ raw: this.#text, node: { type: 'plain', text: cleanText(this.#text) } }];
		return this.#blocks;
	}

	#reset(): void {
		this.#sealed = [];
		this.#sealedLength = 0;
		this.#blocks = [];
		this.#isPlain = false;
		this.#parsedLength = 0;
		this.#restUntil = 0;
	}
}

function isShown(token: Token): boolean {
	return token.type !== 'space' && token.type !== 'def';
}

function toBlocks(tokens: Token[]): Block[] {
	return tokens.flatMap((token) => {
		const node = convertBlock(token);
		return node ? [{ raw: token.raw, node }] : [];
	});
}

/** `blocks`, with those of `previous` that have the same text in the same place. */
function reuse(blocks: Block[], previous: Block[]): Block[] {
	return blocks.map((block, index) => {
		const old = previous[index];
		return old?.raw === block.raw && old.node.type === block.node.type ? old : block;
	});
}
