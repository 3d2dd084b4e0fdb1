/** Converts marked's tokens to our nodes: decodes references, checks addresses, shows raw HTML as text. */
import type { MarkedToken, Token, Tokens } from 'marked';
import { cleanText, stackedParts } from '../text/clean-text.ts';
import type { MathToken, PieceToken } from './lexer.ts';

/** Null for blank lines and link definitions. */
export function convertBlock(token: Token): Node | null {
	const block = token as MarkedToken | MathToken;
	switch (block.type) {
		case 'math':
			return { type: 'math', source: cleanText(block.text) };
		case 'space':
		case 'def':
			return null;
		case 'heading':
			return { type: 'heading', level: block.depth, children: convertInline(block.tokens) };
		case 'paragraph':
			return { type: 'paragraph', children: convertInline(block.tokens) };
		case 'text':
			return { type: 'line', children: block.tokens ? convertInline(block.tokens) : [textNode(block.text)] };
		case 'code':
			return { type: 'code', language: languageOf(block.lang), text: cleanText(block.text) };
		case 'blockquote':
			return { type: 'quote', children: convertBlocks(block.tokens) };
		case 'list':
			return {
				type: 'list',
				isOrdered: block.ordered,
				start: typeof block.start === 'number' ? block.start : 1,
				items: block.items.map(convertItem)
			};
		case 'table':
			return {
				type: 'table',
				alignments: block.align,
				header: block.header.map((cell) => convertInline(cell.tokens)),
				rows: block.rows.map((row) => row.map((cell) => convertInline(cell.tokens)))
			};
		case 'hr':
			return { type: 'rule' };
		default:
			return { type: 'plain', text: cleanText(block.raw).trimEnd() };
	}
}

function convertBlocks(tokens: Token[]): Node[] {
	return tokens.flatMap((token) => convertBlock(token) ?? []);
}

/** In a tight item, marked puts the checkbox before the text as its own block; it belongs to the line. */
function convertItem(item: Tokens.ListItem): Node[] {
	const [first, ...rest] = item.tokens;
	if (first?.type !== 'checkbox') return convertBlocks(item.tokens);
	const box: Inline = { type: 'checkbox', isChecked: (first as Tokens.Checkbox).checked };
	const [line, ...others] = convertBlocks(rest);
	if (line?.type !== 'line') return [{ type: 'line', children: [box] }, ...(line ? [line] : []), ...others];
	return [{ type: 'line', children: [box, ...line.children] }, ...others];
}

function convertInline(tokens: Token[]): Inline[] {
	return tokens.map(convertSpan);
}

function convertSpan(token: Token): Inline {
	const span = token as MarkedToken | MathToken | PieceToken;
	switch (span.type) {
		case 'piece':
			return pieceNode(span);
		case 'math':
			return { type: 'math', source: cleanText(span.text), isDisplay: span.isDisplay };
		case 'strong':
			return { type: 'strong', children: convertInline(span.tokens) };
		case 'em':
			return { type: 'emphasis', children: convertInline(span.tokens) };
		case 'del':
			return { type: 'deleted', children: convertInline(span.tokens) };
		case 'codespan':
			return { type: 'code', text: cleanText(span.text) };
		case 'br':
			return { type: 'break' };
		case 'checkbox':
			return { type: 'checkbox', isChecked: span.checked };
		case 'link':
			return linkNode(span);
		case 'image':
			return {
				type: 'image',
				href: safeImageHref(decodeEntities(span.href)),
				text: cleanText(decodeEntities(span.text))
			};
		case 'escape':
			return { type: 'text', text: span.text };
		case 'html':
			// The one tag tables need, since Markdown has none for line breaks in cells.
			return /^<br\s*\/?>$/i.test(span.raw) ? { type: 'break' } : { type: 'text', text: cleanText(span.raw) };
		case 'text':
			return span.tokens ? plainNode(cleanText(span.raw)) : textNode(span.text);
		default:
			return plainNode(cleanText(token.raw));
	}
}

/** One node per piece: the lexer returns the same token while the text grows. */
const PIECES = new WeakMap<PieceToken, Inline>();

function pieceNode(piece: PieceToken): Inline {
	const known = PIECES.get(piece);
	if (known) return known;
	const node: Inline = { type: 'piece', children: convertInline(piece.tokens) };
	PIECES.set(piece, node);
	return node;
}

function linkNode(link: Tokens.Link): Inline {
	const children = convertInline(link.tokens);
	const href = safeHref(link.autolink ? link.href : decodeEntities(link.href));
	if (href !== null) return { type: 'link', href, children };
	return children.length === 1 && children[0] ? children[0] : { type: 'text', text: cleanText(link.raw) };
}

function textNode(text: string): Inline {
	return plainNode(cleanText(decodeEntities(text)));
}

function plainNode(text: string): Inline {
	const parts = stackedParts(text);
	if (parts.length === 1 && parts[0]?.isStacked === false) return { type: 'text', text };
	return {
		type: 'piece',
		children: parts.map((part) => ({ type: part.isStacked ? 'stacked' : 'text', text: part.text }))
	};
}

/** The first word after the fence, for the block's label. */
export function languageOf(info: string | undefined): string {
	return (
		cleanText(info ?? '')
			.trim()
			.split(/\s/)[0]
			?.slice(0, 30) ?? ''
	);
}

/** Named character references. */
const NAMED: Readonly<Record<string, string>> = {
	amp: '&',
	lt: '<',
	gt: '>',
	quot: '"',
	apos: "'",
	nbsp: '\u00a0',
	copy: '©',
	reg: '®',
	trade: '™',
	deg: '°',
	middot: '·',
	bull: '•',
	hellip: '…',
	ndash: '–',
	mdash: '—',
	lsquo: '‘',
	rsquo: '’',
	ldquo: '“',
	rdquo: '”',
	laquo: '«',
	raquo: '»',
	times: '×',
	divide: '÷',
	plusmn: '±',
	le: '≤',
	ge: '≥',
	ne: '≠',
	larr: '←',
	rarr: '→',
	euro: '€',
	pound: '£',
	sect: '§',
	para: '¶'
};

/** Unknown references stay unchanged. */
function decodeEntities(text: string): string {
	if (!text.includes('&')) return text;
	return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
		if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
		const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
		const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
		return isCharacter ? String.fromCodePoint(code) : '\ufffd';
	});
}

/** Plain data that can't contain HTML. */
export type Inline =
	| { type: 'text'; text: string }
	| { type: 'code'; text: string }
	/** A character with so many combining marks that they would cover other lines. */
	| { type: 'stacked'; text: string }
	/** TeX, unchecked. */
	| { type: 'math'; source: string; isDisplay: boolean }
	/** Part of a very long paragraph. */
	| { type: 'piece'; children: Inline[] }
	| { type: 'strong' | 'emphasis' | 'deleted'; children: Inline[] }
	/** `href` is safe to follow, see `safeHref`. */
	| { type: 'link'; href: string; children: Inline[] }
	/** Never fetched: shown as a link. Null if it isn't a web address. */
	| { type: 'image'; href: string | null; text: string }
	| { type: 'checkbox'; isChecked: boolean }
	| { type: 'break' };

export type Alignment = 'left' | 'center' | 'right' | null;

export type Node =
	| { type: 'heading'; level: number; children: Inline[] }
	| { type: 'paragraph'; children: Inline[] }
	/** Text of a tight list item. */
	| { type: 'line'; children: Inline[] }
	| { type: 'code'; language: string; text: string }
	| { type: 'quote'; children: Node[] }
	| { type: 'list'; isOrdered: boolean; start: number; items: Node[][] }
	| { type: 'table'; alignments: Alignment[]; header: Inline[][]; rows: Inline[][][] }
	| { type: 'math'; source: string }
	| { type: 'rule' }
	/** Raw HTML, or text too long to parse. */
	| { type: 'plain'; text: string };

/** A link that reads `[1]`: the number of a source. */
export function isNumberLink(node: unknown): boolean {
	const { type, children } = (node ?? {}) as Partial<Extract<Inline, { type: 'link' }>>;
	if (type !== 'link' || !children || children.length > 3) return false;
	return /^\[\d+\]$/.test(children.map((each) => (each.type === 'text' ? each.text : ' ')).join(''));
}

const SAFE_PROTOCOLS = new Set(['http:', 'https:', 'mailto:']);

/** The normalised address, or null: only http, https, mailto and anchors (`#…`). */
export function safeHref(href: string): string | null {
	const trimmed = href.trim();
	if (trimmed.startsWith('#')) return trimmed;
	// Without a base, so that a relative address can't lead into the app.
	const url = URL.parse(trimmed);
	return url && SAFE_PROTOCOLS.has(url.protocol) ? url.href : null;
}

/** Like `safeHref`, for images: http and https only. */
function safeImageHref(href: string): string | null {
	const safe = safeHref(href);
	return safe && /^https?:/.test(safe) ? safe : null;
}
