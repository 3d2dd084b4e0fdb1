import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import '../../../app.css';
import type { ReasoningPart } from '../../shared/message.ts';
import Reasoning from './Reasoning.svelte';
import { eventually } from '../../../../tests/support/eventually.ts';

const part = (change: Partial<ReasoningPart> = {}): ReasoningPart => ({
	...{ type: 'reasoning', id: 'r', text: 'I should count.', done: false },
	...change
});

test('a thought is open while it comes, and closes with its end, so that the answer below it stays where it is', async () => {
	const screen = await render(Reasoning, { part: part() });
	await expect.element(screen.getByText('Thinking…')).toBeVisible();
	await expect.element(screen.getByText('I should count.')).toBeVisible();
	await screen.rerender({ part: part({ done: true }) });
	expect(screen.getByText('I should count.').elements()).toHaveLength(0);
	await expect.element(screen.getByRole('button', { name: /^Thought/ })).toHaveAttribute('aria-expanded', 'false');
});

test('it tells how long it took', async () => {
	vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
	try {
		const screen = await render(Reasoning, { part: part() });
		vi.advanceTimersByTime(8_200);
		await screen.rerender({ part: part({ done: true }) });
		vi.useRealTimers();
		await expect.element(screen.getByRole('button', { name: 'Thought for 8.2 s' })).toBeVisible();
	} finally {
		vi.useRealTimers();
	}
});

test('whoever touches it keeps it open', async () => {
	const screen = await render(Reasoning, { part: part() });
	await screen.getByRole('group', { name: 'Reasoning' }).click();
	await screen.rerender({ part: part({ done: true }) });
	await expect.element(screen.getByText('I should count.')).toBeVisible();
	// Not matched in full: the duration in the label depends on how long the click took.
	await screen.getByRole('button', { name: /^Thought/ }).click();
	await expect.element(screen.getByText('I should count.')).not.toBeInTheDocument();
});

test('one that is over is closed, and has no time that nobody took', async () => {
	const screen = await render(Reasoning, { part: part({ done: true }) });
	await expect.element(screen.getByRole('button', { name: 'Thought' })).toHaveAttribute('aria-expanded', 'false');
});

test('a long one stays in its window, at its end', async () => {
	const text = Array.from({ length: 200 }, (_, index) => `thought ${index}`).join('\n');
	const screen = await render(Reasoning, { part: part({ text }) });
	const region = screen.getByRole('group', { name: 'Reasoning' }).element();
	await eventually(() => expect(region.scrollHeight - region.scrollTop - region.clientHeight).toBeLessThan(2));
	expect(region.clientHeight).toBeLessThanOrEqual(320);
});
