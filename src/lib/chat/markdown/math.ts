/** Maths between dollars or backslashed brackets, as extensions of marked's lexer. */
import type { TokenizerThis, Tokens } from 'marked';

/** What the lexer makes of maths. */
export interface MathToken extends Tokens.Generic {
	type: 'math';
	raw: string;
	text: string;
	isDisplay: boolean;
}

/** Up to the first blank line, closed or not: what has once been taken for a block of its own stays one. */
const BLOCK = /^ {0,3}(\$\$|\\\[)(?:[^\n]|\n(?![ \t]*(?:\n|$)))*/;
const DISPLAY = /^\$\$((?:[^$]|\$(?!\$))+?)\$\$|^\\\[([^]+?)\\\]/;
const BRACKETS = /^\\\(([^\n]+?)\\\)/;
/** As pandoc has it: no space inside next to the dollars, nothing glued to the closing one. */
const DOLLARS = /^\$(?![\s$])((?:[^$\n\\]|\\.)*?[^\s$\\])\$(?![\p{L}\p{N}$])/u;
/** `$5 to US$`: an amount, unless something that only maths has is in it. */
const AMOUNT = /^\d[^\\^_={}]*\s/;

export const mathExtensions = {
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
	// Something follows, or it is not closed: a paragraph, in which there may be maths.
	return { type: 'paragraph', raw: run, text: run, tokens: this.lexer.inline(run) };
}

function inlineMath(this: TokenizerThis, source: string): MathToken | undefined {
	const display = DISPLAY.exec(source);
	const match = display ?? BRACKETS.exec(source) ?? DOLLARS.exec(source);
	const text = (match?.[1] ?? match?.[2])?.trim();
	if (!match || !text || (source[0] === '$' && !display && AMOUNT.test(text))) return undefined;
	return { type: 'math', raw: match[0], text, isDisplay: display !== null };
}
