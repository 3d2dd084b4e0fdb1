/** Highlighted code as data and as elements. */

export type CodeToken = [kind: CodeKind | null, text: string];

/** Each has a colour in both themes. */
export type CodeKind = 'keyword' | 'string' | 'number' | 'comment' | 'title' | 'type' | 'name' | 'added' | 'removed';

/** By the first word of highlight.js' scope. */
const KINDS: Readonly<Record<string, CodeKind>> = {
	keyword: 'keyword',
	operator: 'keyword',
	'selector-tag': 'keyword',
	'template-tag': 'keyword',
	doctag: 'keyword',
	string: 'string',
	regexp: 'string',
	char: 'string',
	quote: 'comment',
	comment: 'comment',
	number: 'number',
	literal: 'number',
	symbol: 'number',
	bullet: 'number',
	link: 'number',
	title: 'title',
	section: 'title',
	'selector-id': 'title',
	'selector-class': 'title',
	type: 'type',
	built_in: 'type',
	attr: 'type',
	attribute: 'type',
	'selector-attr': 'type',
	'selector-pseudo': 'type',
	name: 'name',
	tag: 'name',
	meta: 'name',
	variable: 'name',
	'template-variable': 'name',
	addition: 'added',
	deletion: 'removed'
};

const MARKUP = /<span class="hljs-([\w-]+)[^"]*">|(<\/span>)|<span[^>]*>|&(amp|lt|gt|quot|#x27);|[^<&]+|[<&]/g;
const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

/** At the start of a Markdown file, with the lines that enclose it. */
export const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/;

/** What of a text is in which language: front matter is YAML. */
export function partsOfCode(language: string, text: string): [language: string, text: string][] {
	const head = language === 'markdown' ? (FRONT_MATTER.exec(text)?.[0] ?? '') : '';
	const parts: [string, string][] = [
		['yaml', head],
		[language, text.slice(head.length)]
	];
	return parts.filter(([, part]) => part !== '');
}

/** Parses highlight.js' output: spans with a class, and five character references. */
export function readTokens(html: string): CodeToken[] {
	const tokens: CodeToken[] = [];
	const open: (CodeKind | null)[] = [];
	for (const [whole, scope, close, reference] of html.matchAll(MARKUP)) {
		if (close) open.pop();
		else if (whole.startsWith('<span')) open.push(KINDS[scope ?? ''] ?? open.at(-1) ?? null);
		else append(tokens, open.at(-1) ?? null, reference ? (REFERENCES[reference] ?? whole) : whole);
	}
	return tokens;
}

function append(tokens: CodeToken[], kind: CodeKind | null, text: string): void {
	const last = tokens.at(-1);
	if (last && last[0] === kind) last[1] += text;
	else tokens.push([kind, text]);
}

/** The tokens of the first `length` characters. */
export function startOfTokens(tokens: CodeToken[], length: number): CodeToken[] {
	const start: CodeToken[] = [];
	let left = length;
	for (const [kind, text] of tokens) {
		if (left <= 0) break;
		start.push([kind, text.slice(0, left)]);
		left -= text.length;
	}
	return start;
}

export function paintTokens(element: HTMLElement, tokens: CodeToken[]): void {
	element.replaceChildren(
		...tokens.map(([kind, text]) => {
			if (kind === null) return text;
			const span = document.createElement('span');
			span.className = `code-${kind}`;
			span.textContent = text;
			return span;
		})
	);
}
