/** Splits markdown into tokens, with limits where hostile text would cost too much time or stack. */
import { Lexer, type Token, type TokensList } from 'marked';

/** Quotes, lists and emphasis nest no deeper; what is inside is shown as text. */
const MAX_DEPTH = 24;
/** A longer paragraph or cell is not searched for emphasis and links: some patterns take quadratic time. */
const MAX_INLINE = 6_000;

class LimitedLexer extends Lexer {
	#depth = 0;

	override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): TokensList {
		const lexed =
			this.#depth >= MAX_DEPTH
				? pushText(tokens, source)
				: this.#nested(() => super.blockTokens(source, tokens, isClipped));
		return lexed as TokensList;
	}

	override inlineTokens(source: string, tokens: Token[] = []): Token[] {
		if (this.#depth >= MAX_DEPTH || source.length > MAX_INLINE) return pushText(tokens, source);
		return this.#nested(() => super.inlineTokens(source, tokens));
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

/** Top-level tokens; their `raw` texts, one after the other, are the source. May throw on text made to break parsers. */
export function lex(source: string): Token[] {
	return new LimitedLexer({ gfm: true }).lex(source);
}

function pushText(tokens: Token[], source: string): Token[] {
	tokens.push({ type: 'text', raw: source, text: source });
	return tokens;
}
