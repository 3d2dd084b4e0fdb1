import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import Markdown from './Markdown.svelte';

test('maths in all its spellings is set', async () => {
	const text = 'Inline $x^2$ and \\(y_1\\).\n\n$$\na\n+ b\n$$\n\n\\[\nc = d\n\\]\n';
	const screen = await render(Markdown, { text });
	const formulas = screen.getByTestId('maths');
	expect(formulas.elements()).toHaveLength(4);
	await expect.poll(() => screen.container.querySelectorAll('.katex').length).toBe(4);
	expect(screen.container.querySelectorAll('.katex-display')).toHaveLength(2);
});

test('amounts of money are no maths', async () => {
	const text = 'It is $5 and $6, or $5-$6, US$ 7, $HOME/bin:$PATH and from $5 to US$, all told.';
	const screen = await render(Markdown, { text });
	expect(screen.getByRole('paragraph').element().textContent).toBe(text);
	expect(screen.getByTestId('maths').elements()).toEqual([]);
});

test('maths that tries to link, to load, to grow or to break out stays harmless', async () => {
	const attacks = [
		'\\href{javascript:attacked=true}{x}',
		'\\url{javascript:attacked}',
		'\\includegraphics{https://evil.example/x.png}',
		'\\htmlStyle{background:url(https://evil.example/y.png)}{x}',
		'\\htmlData{a=b}{x}',
		'\\def\\a{\\a\\a}\\a',
		'\\rule{9999em}{9999em}',
		'<img src=x onerror=attacked=true>',
		'\\frac{1'
	];
	const screen = await render(Markdown, { text: attacks.map((attack) => `$$${attack}$$`).join('\n\n') });
	await expect.poll(() => screen.container.querySelectorAll('[data-set], [title]').length).toBe(attacks.length);
	expect(screen.container.querySelectorAll('a, img, script, iframe, [style*="url("], [data-a]')).toHaveLength(0);
	expect(screen.container.textContent).toContain('\\frac{1');
	expect('attacked' in window).toBe(false);
	for (const element of screen.container.querySelectorAll('[data-set]'))
		expect(element.getBoundingClientRect().height).toBeLessThan(600);
});
