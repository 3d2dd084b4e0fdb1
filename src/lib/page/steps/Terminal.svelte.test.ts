import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { Execution } from '../../shared/message.ts';
import Terminal from './Terminal.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

const ESCAPE = '\u001b[';
const execution: Execution = {
	skill: 'sums',
	script: 'add.py',
	args: [],
	sandbox: 'bubblewrap',
	output: [],
	files: []
};
const out = (text: string) => ({ stream: 'stdout' as const, text });
const props = (change: Partial<Execution>) => ({ execution: { ...execution, ...change }, status: 'running' as const });

test.each(['light', 'dark'])('every colour can be read on its ground in the %s theme', async (theme) => {
	document.documentElement.dataset.theme = theme;
	const codes = [30, 31, 32, 33, 34, 35, 36, 37].flatMap((code) => [
		`${code}`,
		`${code};7`,
		`${code + 10}`,
		`${code};${code + 10}`
	]);
	const output = [
		out(codes.map((code) => `${ESCAPE}${code}m${code}${ESCAPE}0m `).join('')),
		{ stream: 'stderr' as const, text: 'err' }
	];
	const screen = await render(Terminal, props({ output: [...output, out(`${ESCAPE}2mdim`)] }));
	const spans = [...screen.getByTestId('terminal-output').element().querySelectorAll<HTMLElement>('[data-stream]')];
	expect(spans).toHaveLength(codes.length + 2);
	for (const span of spans) {
		const contrast = contrastOf(span, screen.getByRole('group').element());
		expect(contrast, `${span.textContent} in ${theme}`).toBeGreaterThanOrEqual(4.5);
	}
	delete document.documentElement.dataset.theme;
});

test('a progress bar is one line that changes', async () => {
	const screen = await render(Terminal, props({ output: [out('10 %\r')] }));
	const region = screen.getByTestId('terminal-output').element();
	await screen.rerender(props({ output: [out('10 %\r55 %\r')] }));
	expect(region.textContent).toBe('55 %');
	await screen.rerender(props({ output: [out('10 %\r55 %\r100 %\ndone\n')] }));
	expect(region.textContent).toBe('100 %\ndone\n');
});

test('“Copy output” copies the text as it is shown', async () => {
	const written = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
	const output = [out(`10 %\r${ESCAPE}31mred`), out(`${ESCAPE}0m\n`)];
	const screen = await render(Terminal, props({ output, exitCode: 0 }));
	await screen.getByRole('button', { name: 'Copy output' }).click();
	expect(written).toHaveBeenCalledExactlyOnceWith(screen.getByTestId('terminal-output').element().textContent);
	written.mockRestore();
});

describe('while it grows', () => {
	const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');

	test('what was painted stays, and the view follows until the reader scrolls up', async () => {
		const screen = await render(Terminal, props({ output: [out(lines(2000))] }));
		const region = screen.getByRole('group').element();
		await eventually(() => expect(atEnd(region)).toBe(true));
		const first = region.querySelector('pre span');
		await screen.rerender(props({ output: [out(lines(2100))] }));
		await eventually(() => expect(atEnd(region)).toBe(true));
		expect(region.querySelector('pre span')).toBe(first);
		region.scrollTop = 10;
		await expect.element(screen.getByRole('button', { name: 'Scroll to end' })).toBeVisible();
		await screen.rerender(props({ output: [out(lines(2200))] }));
		expect(region.scrollTop).toBe(10);
		await screen.getByRole('button', { name: 'Scroll to end' }).click();
		expect(atEnd(region)).toBe(true);
	});

	test('it never holds more than its beginning and its end', async () => {
		const screen = await render(Terminal, props({ output: [] }));
		for (let count = 1; count <= 40; count++) await screen.rerender(props({ output: [out(lines(count * 1000))] }));
		const output = screen.getByTestId('terminal-output').element();
		expect(output.textContent?.length).toBeLessThan(40_000);
		expect(output.textContent).toMatch(/^line 0\n/);
		expect(output.textContent).toMatch(/line 39999\n$/);
	});
});

test('what is over begins at its first line', async () => {
	const screen = await render(Terminal, props({ output: [out('line\n'.repeat(500))], exitCode: 0 }));
	const region = screen.getByRole('group', { name: /Output of/ }).element();
	expect(region.scrollHeight).toBeGreaterThan(region.clientHeight);
	await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
	expect(region.scrollTop).toBe(0);
});

test('it says where it ran, and that a limit was met', async () => {
	const end = {
		exitCode: null,
		durationMs: 30_000,
		truncated: true,
		error: 'ExecutionTimeout',
		message: 'Ended after 30 s.'
	};
	const screen = await render(Terminal, props({ output: [out('x')], ...end }));
	await expect.element(screen.getByTestId('exit-badge')).toHaveTextContent('timed out after 30.0 s · 1 B');
	await expect.element(screen.getByText('Output truncated')).toBeVisible();
	await expect.element(screen.getByText('No exit code · Run timeout · Ran in a sandbox')).toBeVisible();
});

test('UI 10: output that is Markdown, JSON or a table is shown as that, safely, and as text with one click', async () => {
	const end = { exitCode: 0, durationMs: 1 };
	const markdown = 'Highest: **East**.\n\n<img src=x onerror=alert(1)>\n\n[go](javascript:alert(1))\n';
	const err = { stream: 'stderr' as const, text: 'Reading…\n' };
	const screen = await render(Terminal, props({ output: [err, out(markdown)], ...end }));
	const output = screen.getByTestId('terminal-output');
	await expect.element(output).toMatchTextContent(/Reading…\s*Highest: East\./);
	expect(output.element().querySelector('img, a[href^="javascript"]')).toBeNull();
	await screen.getByRole('button', { name: 'Plain text' }).click();
	await expect.element(output).toMatchTextContent(/\*\*East\*\*/);
	await screen.unmount();
	const table = await render(Terminal, props({ output: [out('region,sum\nEast,7\nWest,1\n')], ...end }));
	await expect.element(table.getByRole('columnheader', { name: 'region' })).toBeVisible();
	await table.unmount();
	const json = await render(Terminal, props({ output: [out('{"words":4}')], ...end }));
	await expect.element(json.getByTestId('terminal-output')).toMatchTextContent(/"words": 4/);
	await json.unmount();
	const failed = await render(
		Terminal,
		props({ output: [out('**no**')], ...end, exitCode: 1, error: 'ExecutionFailed' })
	);
	await expect.element(failed.getByTestId('terminal-output')).toHaveTextContent('**no**');
});

function atEnd({ scrollHeight, scrollTop, clientHeight }: Element): boolean {
	return scrollHeight - scrollTop - clientHeight < 2;
}

/** The WCAG contrast between the text and its background. */
function contrastOf(span: HTMLElement, terminal: Element): number {
	const ground = rgbaOf(getComputedStyle(terminal).backgroundColor);
	const own = rgbaOf(getComputedStyle(span).backgroundColor);
	const behind = [0, 1, 2].map((index) => own[index]! * own[3]! + ground[index]! * (1 - own[3]!));
	const [light, dark] = [luminance(rgbaOf(getComputedStyle(span).color)), luminance(behind)].sort((a, b) => b - a);
	return (light! + 0.05) / (dark! + 0.05);
}

function rgbaOf(color: string): number[] {
	const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
	context.fillStyle = color;
	context.fillRect(0, 0, 1, 1);
	const [red = 0, green = 0, blue = 0, alpha = 0] = context.getImageData(0, 0, 1, 1).data;
	return [red, green, blue, alpha / 255];
}

function luminance([red, green, blue]: number[]): number {
	const [r, g, b] = [red!, green!, blue!].map((part) => {
		const share = part / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

test('a tool that printed nothing has no empty box: what it answers is shown elsewhere', async () => {
	const screen = await render(Terminal, props({ tool: 'add' }));
	await expect.element(screen.getByTestId('terminal-output')).not.toBeVisible();
	await screen.rerender(props({ tool: 'add', output: [out('42')] }));
	await expect.element(screen.getByTestId('terminal-output')).toBeVisible();
});
