import hljs from 'highlight.js/lib/common';
import { expect, test } from 'vitest';
import { knownLanguage } from './highlighter.ts';
import { partsOfCode, readTokens, startOfTokens } from './tokens.ts';

const CODES: [language: string, text: string][] = [
	['javascript', 'const a = `<b>${1 + "&amp;"}</b>`; // <i> & "quotes" \'too\''],
	['xml', '<p class="a&lt;">text &amp; more</p>'],
	['python', '@dec\ndef f(x: int) -> str:\n\treturn f"{x!r}"'],
	['diff', '- old\n+ new\n'],
	['markdown', '# a\n\n**b** `c` <d>'],
	['css', 'a:hover { color: #fff }']
];

test.each(CODES)('the tokens of %s are its text, character by character', (language, text) => {
	const tokens = readTokens(hljs.highlight(text, { language }).value);
	expect(tokens.map(([, part]) => part).join('')).toBe(text);
	expect(tokens.some(([kind]) => kind !== null)).toBe(true);
});

test('the front matter of a Markdown file is YAML; a rule between paragraphs is none', () => {
	const head = '---\nname: demo\nmetadata:\n  tags: a b\n---\n';
	expect(partsOfCode('markdown', `${head}\n# Demo\n`)).toEqual([
		['yaml', head],
		['markdown', '\n# Demo\n']
	]);
	expect(partsOfCode('markdown', head)).toEqual([['yaml', head]]);
	for (const [language, text] of [
		['markdown', 'One\n\n---\n\nTwo\n\n---\n'],
		['yaml', head]
	] as const)
		expect(partsOfCode(language, text)).toEqual([[language, text]]);
});

test('what is nested has the kind of what is inside, or of what is around it', () => {
	const html = '<span class="hljs-string">a<span class="hljs-subst">b<span class="hljs-number">1</span></span></span>c';
	expect(readTokens(html)).toEqual([
		['string', 'ab'],
		['number', '1'],
		[null, 'c']
	]);
});

test('the beginning of tokens ends where it is told to', () => {
	expect(
		startOfTokens(
			[
				[null, 'ab'],
				['keyword', 'cdef'],
				[null, 'g']
			],
			4
		)
	).toEqual([
		[null, 'ab'],
		['keyword', 'cd']
	]);
});

test('each language that is known is one that highlight.js has, under every name', () => {
	for (const name of ['js', 'TS', 'py', 'sh', 'html', 'yml', 'toml', 'rs', 'c++', 'golang']) {
		const language = knownLanguage(name);
		expect(language && hljs.getLanguage(language)).toBeTruthy();
	}
	for (const name of hljs.listLanguages()) expect([name, knownLanguage(name)]).not.toContain(undefined);
	expect(knownLanguage('mermaid')).toBeNull();
	expect(knownLanguage('constructor')).toBeNull();
});
