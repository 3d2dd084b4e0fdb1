/** Splits Markdown into tokens, with limits where hostile text would cost too much time or stack. */
import { Lexer, type Token, type TokenizerThis, type Tokens, type TokensList } from 'marked';

/** Nesting limit of quotes, lists and emphasis; deeper content is shown as text. */
const MAX_DEPTH = 24;
/** Longer paragraphs are parsed in pieces, because some patterns take quadratic time. */
const PIECE = 3_000;
/** Where a piece may end: preferably after a sentence, otherwise at a space. */
const ENDS = [/[.!?] (?=\S)/g, / (?=\S)/g];

/** Part of a long paragraph, independent of what follows. */
export interface PieceToken extends Tokens.Generic {
	type: 'piece';
	tokens: Token[];
}

/** Parsed pieces by text. */
export type PieceCache = Map<string, PieceToken>;

class LimitedLexer extends Lexer {
	#depth = 0;
	readonly #pieces: PieceCache | undefined;

	constructor(pieces: PieceCache | undefined) {
		super({ gfm: true, extensions: mathExtensions });
		this.#pieces = pieces;
	}

	override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): TokensList {
		const lexed =
			this.#depth >= MAX_DEPTH
				? pushText(tokens, source)
				: this.#nested(() => super.blockTokens(source, tokens, isClipped));
		return lexed as TokensList;
	}

	override inlineTokens(source: string, tokens: Token[] = []): Token[] {
		if (this.#depth >= MAX_DEPTH) return pushText(tokens, source);
		const pieces = source.length > PIECE ? split(source) : [source];
		if (pieces.length === 1) return this.#nested(() => super.inlineTokens(source, tokens));
		for (const piece of pieces) tokens.push(this.#piece(piece));
		return tokens;
	}

	#piece(raw: string): PieceToken {
		const known = this.#pieces?.get(raw);
		if (known) return known;
		const token: PieceToken = { type: 'piece', raw, tokens: this.#nested(() => super.inlineTokens(raw)) };
		this.#pieces?.set(raw, token);
		return token;
	}

	#nested(lex: () => Token[]): Token[] {
		this.#depth++;
		try {
			return lex();
		} finally {
			this.#depth--;
		}
	}
}

/** Top-level tokens; their joined `raw` texts are the source. May throw on text made to break parsers. */
export function lex(source: string, pieces?: PieceCache): Token[] {
	return new LimitedLexer(pieces).lex(source);
}

/** Each end depends only on what is before it and one more character, so growing text keeps its pieces. */
function split(source: string): string[] {
	const pieces: string[] = [];
	let start = 0;
	for (;;) {
		const end = pieceEnd(source, start);
		pieces.push(source.slice(start, end));
		if (end === source.length) return pieces;
		start = end;
	}
}

function pieceEnd(source: string, start: number): number {
	let from = start + PIECE;
	for (const end of ENDS) {
		end.lastIndex = from;
		const match = from < source.length ? end.exec(source) : null;
		if (match && match.index < from + PIECE) return match.index + match[0].length;
		from += PIECE;
	}
	return Math.min(source.length, from);
}

function pushText(tokens: Token[], source: string): Token[] {
	tokens.push({ type: 'text', raw: source, text: source });
	return tokens;
}

/** Maths between dollars or backslashed brackets. */
export interface MathToken extends Tokens.Generic {
	type: 'math';
	raw: string;
	text: string;
	isDisplay: boolean;
}

/** Up to the first blank line, closed or not: once a block, always a block. */
const BLOCK = /^ {0,3}(\$\$|\\\[)(?:[^\n]|\n(?![ \t]*(?:\n|$)))*/;
const DISPLAY = /^\$\$((?:[^$]|\$(?!\$))+?)\$\$|^\\\[([^]+?)\\\]/;
const BRACKETS = /^\\\(([^\n]+?)\\\)/;
/** Pandoc's rule: no space inside the dollars, nothing directly after the closing one. */
const DOLLARS = /^\$(?![\s$])((?:[^$\n\\]|\\.)*?[^\s$\\])\$(?![\p{L}\p{N}$])/u;
/** `$5 to US$` is an amount, unless it contains a character that only maths uses. */
const AMOUNT = /^\d[^\\^_={}]*\s/;

const mathExtensions = {
	childTokens: {},
	renderers: {},
	block: [blockMath],
	startBlock: [(source: string) => startOf(/(?<=\n) {0,3}(?:\$\$|\\\[)/, source)],
	inline: [inlineMath],
	startInline: [(source: string) => startOf(/\$|\\[([]/, source)]
};

function startOf(pattern: RegExp, source: string): number | undefined {
	const index = source.search(pattern);
	return index < 0 ? undefined : index;
}

function blockMath(this: TokenizerThis, source: string): Tokens.Generic | undefined {
	const run = BLOCK.exec(source)?.[0];
	if (run === undefined) return undefined;
	const closed = DISPLAY.exec(run.trim());
	const rest = closed ? run.trim().slice(closed[0].length) : '';
	const text = closed?.[1] ?? closed?.[2];
	if (text !== undefined && rest === '') return { type: 'math', raw: run, text: text.trim(), isDisplay: true };
	// Unclosed, or something follows: a paragraph that may contain maths.
	return { type: 'paragraph', raw: run, text: run, tokens: this.lexer.inline(run) };
}

function inlineMath(this: TokenizerThis, source: string): MathToken | undefined {
	const display = DISPLAY.exec(source);
	const match = display ?? BRACKETS.exec(source) ?? DOLLARS.exec(source);
	const text = (match?.[1] ?? match?.[2])?.trim();
	if (!match || !text || (source[0] === '$' && !display && AMOUNT.test(text))) return undefined;
	return { type: 'math', raw: match[0], text, isDisplay: display !== null };
}
