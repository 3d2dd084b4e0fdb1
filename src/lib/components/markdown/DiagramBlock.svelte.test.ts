import { expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import mermaid from 'mermaid/dist/mermaid.min.js?raw';
import { diagramPage } from '../../../routes/frames/diagram/diagram-page.ts';
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
	expect(frame?.getBoundingClientRect().height).toBeGreaterThan(50);
	await screen.getByRole('button', { name: 'Show source' }).click();
	await expect.poll(() => screen.container.querySelector('pre')?.textContent).toContain('A[One] --> B[Two]');
});

test('what cannot be drawn stays as its source, with a sentence', async () => {
	const screen = await render(DiagramBlock, { text: 'graph TD\n  A[[[', ...urls() });
	await expect.element(screen.getByText('This could not be drawn; here is its source.')).toBeVisible();
	expect(screen.container.querySelector('pre')?.textContent).toContain('A[[[');
});

test('a diagram that is not finished is code', async () => {
	const screen = await render(Markdown, { text: '```mermaid\ngraph TD', isGrowing: true });
	await expect.element(screen.getByText('graph TD')).toBeVisible();
	expect(screen.container.querySelector('iframe')).toBeNull();
});
