import fc from 'fast-check';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import mermaid from 'mermaid/dist/mermaid.min.js?raw';
import { diagramPage, withoutHandlers } from '../../../routes/frames/diagram/diagram-page.ts';
import '../../../app.css';
import DiagramBlock from './DiagramBlock.svelte';
import Markdown from './Markdown.svelte';

const urlOf = (text: string, type: string): string => URL.createObjectURL(new Blob([text], { type }));
const urls = () => ({ frameUrl: urlOf(diagramPage('n'), 'text/html'), codeUrl: urlOf(mermaid, 'text/plain') });

test('a diagram is drawn in a frame without an origin, and its source can be shown', async () => {
	const screen = await render(DiagramBlock, { text: 'graph TD\n  A[One] --> B[Two]', ...urls() });
	const diagram = screen.getByTestId('diagram');
	await expect.element(diagram).toHaveAttribute('data-phase', 'drawn');
	const frame = screen.container.querySelector('iframe');
	expect(frame?.getAttribute('sandbox')).toBe('allow-scripts');
	expect(frame?.contentDocument).toBeNull();
	expect(frame?.getBoundingClientRect().height).toBeGreaterThan(20);
	await screen.getByRole('button', { name: 'Show source' }).click();
	await expect.poll(() => screen.container.querySelector('pre')?.textContent).toContain('A[One] --> B[Two]');
});

test('what cannot be drawn stays as its source, with a sentence', async () => {
	const screen = await render(DiagramBlock, { text: 'graph TD\n  A[[[', ...urls() });
	await expect.element(screen.getByText('Couldn’t draw this diagram. Here’s its source.')).toBeVisible();
	expect(screen.container.querySelector('pre')?.textContent).toContain('A[[[');
});

test('a diagram that is not finished is code', async () => {
	const screen = await render(Markdown, { text: '```mermaid\ngraph TD', isGrowing: true });
	await expect.element(screen.getByText('graph TD')).toBeVisible();
	expect(screen.container.querySelector('iframe')).toBeNull();
});

/** Names of event handler attributes, as this browser parses the text. */
function handlersIn(html: string): string[] {
	const all = new DOMParser().parseFromString(html, 'text/html').querySelectorAll('*');
	return [...all]
		.flatMap(({ attributes }) => [...attributes].map(({ name }) => name))
		.filter((name) => /^on/.test(name));
}

test.each([
	['<img src=x onerror=alert(1)>', '<img src=x data-onerror=alert(1)>'],
	['<b/OnClick = "a">x', '<b/data-OnClick = "a">x'],
	['<img alt=">" onerror=x>', '<img alt=">" data-onerror=x>'],
	['<img a" onerror=x b">', '<img a" data-onerror=x b">'],
	['<!-- <a x=" --> <img onerror=x> "', '<!-- <a x=" --> <img data-onerror=x> "'],
	['<svg =onload=x onload=y', '<svg =onload=x data-onload=y'],
	['a < b, one = 1, <b title="once on=1">on = 2</b>', 'a < b, one = 1, <b title="once on=1">on = 2</b>']
])('SECURITY What people see: %s has no handler any more', (html, expected) => {
	expect(withoutHandlers(html)).toBe(expected);
});

test('SECURITY What people see: no label whatsoever has a handler that a browser would find', () => {
	const piece = fc.constantFrom(
		...[
			'<',
			'img',
			'<b',
			'<svg',
			'</b>',
			'>',
			'/',
			'=',
			'"',
			"'",
			' ',
			'\n',
			'\f',
			'\u00a0',
			'<!--',
			'-->',
			'on',
			'onerror',
			'onerror=x'
		],
		...[
			'<template>',
			'<title>',
			'</title>',
			'<style>',
			'<![CDATA[',
			']]>',
			'<?',
			'x',
			'&lt;',
			'\0',
			'<math><mtext>',
			'ONCLICK',
			...['<img ', '<b/', '<svg\n', ' onload=y', '/onclick=', ' a="', " b='"]
		]
	);
	let withHandlers = 0;
	fc.assert(
		fc.property(fc.array(piece, { minLength: 2, maxLength: 24 }), (pieces) => {
			const html = pieces.join('');
			withHandlers += handlersIn(html).length > 0 ? 1 : 0;
			expect(handlersIn(withoutHandlers(html))).toEqual([]);
		}),
		{ numRuns: 5_000 }
	);
	expect(withHandlers).toBeGreaterThan(20);
});
