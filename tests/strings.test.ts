/** Every word that the page shows is in `src/lib/strings/`, so that translating the page is translating one folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'svelte/compiler';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', 'src');
const components = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.svelte'));

/** Attributes that people read or hear. */
const SPOKEN = new Set([
	'alt',
	'aria-description',
	'aria-label',
	'aria-roledescription',
	'aria-valuetext',
	'label',
	'message',
	'placeholder',
	'title',
	'hint'
]);
/** Two letters side by side are a word; file names, keys and units that no language changes are in `code` and `kbd`. */
const WORD = /\p{L}{2}/u;
const UNTRANSLATED = new Set(['code', 'kbd', 'pre', 'style', 'script', 'svg']);

interface Found {
	line: number;
	text: string;
}

type Tree = Record<string, unknown> & { type?: string };

/** Words that stand in the markup itself. */
function literalsIn(source: string): Found[] {
	const found: Found[] = [];
	const add = (node: Tree, text: string) => {
		if (WORD.test(text))
			found.push({ line: source.slice(0, Number(node.start)).split('\n').length, text: text.trim() });
	};
	const visit = (value: unknown): void => {
		if (Array.isArray(value)) return value.forEach(visit);
		if (typeof value !== 'object' || value === null) return;
		const node = value as Tree;
		if (node.type === 'RegularElement' && UNTRANSLATED.has(String(node.name))) return;
		if (node.type === 'StyleDirective') return;
		if (node.type === 'Text') return add(node, String(node.data));
		if (node.type === 'Attribute') {
			if (!SPOKEN.has(String(node.name))) return;
			return literalsOfAttribute(node.value).forEach((text) => add(node, text));
		}
		for (const [key, child] of Object.entries(node))
			if (key !== 'expression' || node.type === 'ExpressionTag') visit(child);
	};
	visit(parse(source, { modern: true }).fragment);
	return found;
}

/** Of `label="Text"`, `label="Text {name}"`, `label={isOpen ? 'Close' : 'Open'}`. */
function literalsOfAttribute(value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap(literalsOfAttribute);
	if (typeof value !== 'object' || value === null) return [];
	const node = value as Tree;
	switch (node.type) {
		case 'Text':
			return [String(node.data)];
		case 'ExpressionTag':
			return literalsOfAttribute(node.expression);
		case 'Literal':
			return typeof node.value === 'string' ? [node.value] : [];
		case 'TemplateLiteral':
			return (node.quasis as { value: { raw: string } }[]).map(({ value }) => value.raw);
		case 'ConditionalExpression':
			return [...literalsOfAttribute(node.consequent), ...literalsOfAttribute(node.alternate)];
		case 'LogicalExpression':
			return [...literalsOfAttribute(node.left), ...literalsOfAttribute(node.right)];
		default:
			return [];
	}
}

test('the check finds words in text, in attributes and in what decides between them', () => {
	const source = `<p>Hello <b>{name}</b></p><i title="Close {x}" aria-label={a ? 'Open' : text.b}></i><input placeholder="12" /><code>SKILL.md</code>{#if a}<em>Bye</em>{/if}`;
	expect(literalsIn(source).map(({ text }) => text)).toEqual(['Hello', 'Close', 'Open', 'Bye']);
});

test('UI: no component and no page has words of its own', () => {
	expect(components.length).toBeGreaterThan(50);
	const found = components.flatMap((file) =>
		literalsIn(readFileSync(join(root, file), 'utf8')).map(({ line, text }) => `${file}:${line}: ${text}`)
	);
	expect(found).toEqual([]);
});
