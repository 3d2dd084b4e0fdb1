import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import { Highlighter } from './highlighter.ts';
import CodeBlock from './CodeBlock.svelte';
import Markdown from './Markdown.svelte';

const PYTHON = '# adds\ndef add(a, b):\n    return a + "<b>" + 1\n';

test('code in a language that is known is highlighted in a worker, and its text stays what it is', async () => {
	const screen = await render(CodeBlock, { text: PYTHON, language: 'py' });
	await expect.element(screen.getByText('def', { exact: true })).toHaveClass('code-keyword');
	await expect.element(screen.getByText('"<b>"')).toHaveClass('code-string');
	await expect.element(screen.getByText('# adds')).toHaveClass('code-comment');
	expect(screen.container.querySelector('pre')?.textContent).toBe(PYTHON);
});

test('open code is plain, and shows its end', async () => {
	const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
	const screen = await render(Markdown, { text: `\`\`\`js\n${lines}`, isGrowing: true });
	const shown = screen.container.querySelector('pre')?.textContent ?? '';
	expect(shown.startsWith('line 70\n')).toBe(true);
	expect(shown.endsWith('line 99')).toBe(true);
	expect(screen.container.querySelector('[class^=code-]')).toBeNull();
});

test('long code is folded, and shown in full when asked for', async () => {
	const text = Array.from({ length: 312 }, (_, index) => `line ${index}`).join('\n');
	const screen = await render(CodeBlock, { text, language: '' });
	const shown = (): string => screen.container.querySelector('pre')?.textContent ?? '';
	expect(shown().split('\n')).toHaveLength(30);
	await screen.getByRole('button', { name: 'Show all 312 lines' }).click();
	await expect.poll(shown).toBe(text);
	await screen.getByRole('button', { name: 'Show fewer lines' }).click();
	await expect.poll(() => shown().split('\n').length).toBe(30);
});

test('on a phone the lines of an error are wrapped, those of code are not', async () => {
	await page.viewport(390, 844);
	const wide = async (language: string): Promise<boolean> => {
		const { container } = await render(CodeBlock, { text: 'word '.repeat(200), language });
		const pre = container.querySelector('pre')!;
		return pre.scrollWidth > pre.clientWidth;
	};
	expect(await Promise.all(['', 'text', 'js'].map(wide))).toEqual([false, false, true]);
});

test('one short line of text is a line with its copy button, not a block with an empty bar', async () => {
	const screen = await render(CodeBlock, { text: 'No such city.\n', language: '' });
	const figure = screen.getByTestId('code-block');
	await expect.element(figure.getByRole('button')).toHaveAccessibleName('Copy code');
	expect(figure.element().getBoundingClientRect().height).toBeLessThan(56);
	await screen.rerender({ text: 'a\nb\n', language: '' });
	await expect.element(screen.getByRole('button', { name: 'Wrap long lines' })).toBeVisible();
});

test('lines are wrapped on request', async () => {
	await page.viewport(1280, 800);
	const screen = await render(CodeBlock, { text: 'word '.repeat(200), language: '' });
	const pre = screen.container.querySelector('pre');
	expect(pre?.scrollWidth).toBeGreaterThan(pre?.clientWidth ?? 0);
	const button = screen.getByRole('button', { name: 'Wrap long lines' });
	await button.click();
	await expect.element(button).toHaveAttribute('aria-pressed', 'true');
	expect(pre?.scrollWidth).toBe(pre?.clientWidth);
});

test('code stays plain when the worker crashes, does not answer or cannot be had', async () => {
	const order = { language: 'js', text: 'let a = 1', signal: new AbortController().signal };
	const worker = (code: string) => new Worker(URL.createObjectURL(new Blob([code])));
	const crashing = new Highlighter(() => worker('onmessage = () => { throw new Error("crashed") }'));
	expect(await crashing.highlight(order)).toBeNull();
	const silent = new Highlighter(() => worker('for (;;);'), 50);
	expect(await silent.highlight(order)).toBeNull();
	const forbidden = new Highlighter(() => {
		throw new Error('forbidden');
	});
	expect(await Promise.all([1, 2, 3, 4, 5].map(() => forbidden.highlight(order)))).toEqual(Array(5).fill(null));
});

test('code that is too long, or in no known language, asks no worker', async () => {
	const highlighter = new Highlighter(() => {
		throw new Error('a worker was started');
	});
	const { signal } = new AbortController();
	expect(await highlighter.highlight({ language: 'js', text: 'x'.repeat(100_001), signal })).toBeNull();
	expect(await highlighter.highlight({ language: 'klingon', text: 'x', signal })).toBeNull();
});
