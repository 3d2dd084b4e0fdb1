import Pencil from '@lucide/svelte/icons/pencil';
import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import '../../../app.css';
import Menu from './Menu.svelte';

async function setup() {
	const run = vi.fn();
	const items = () => ['one', 'two', 'three'].map((id) => ({ id, label: id, icon: Pencil, run: () => run(id) }));
	const screen = await render(Menu, { label: 'More', items, testid: 'more' });
	return { screen, run, button: screen.getByTestId('more').element() as HTMLElement };
}

const focused = (): string | undefined => (document.activeElement as HTMLElement | null)?.dataset.testid;

test('keys that are pressed before the menu is there are for it, and not for the page', async () => {
	const { screen, run, button } = await setup();
	const heard: string[] = [];
	const listen = ({ key }: KeyboardEvent): void => void heard.push(key);
	addEventListener('keydown', listen);
	button.focus();
	for (const key of ['ArrowDown', 'ArrowDown', 't', 'Enter'])
		button.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	await expect.poll(() => run.mock.calls).toEqual([['three']]);
	removeEventListener('keydown', listen);
	expect(heard).toEqual([]);
	await expect.element(screen.getByRole('menu')).not.toBeInTheDocument();
});

test('opened by the pointer it marks nothing, and its first key goes to an end; Tab goes on from the button', async () => {
	const { screen, button } = await setup();
	const after = document.body.appendChild(document.createElement('button'));
	await screen.getByTestId('more').click();
	await expect.element(screen.getByRole('menu', { name: 'More' })).toHaveFocus();
	await userEvent.keyboard('{ArrowUp}');
	expect(focused()).toBe('three');
	await userEvent.keyboard('{Tab}');
	await expect.element(screen.getByRole('menu')).not.toBeInTheDocument();
	expect(document.activeElement).toBe(after);
	button.focus();
	await userEvent.keyboard('{Enter}');
	await expect.poll(focused).toBe('one');
	after.remove();
});

test('an item does its work when the menu is closed and the focus is back', async () => {
	const { screen, run } = await setup();
	let state: unknown[] = [];
	run.mockImplementation(() => (state = [focused(), document.querySelector('[role=menu]')]));
	await screen.getByTestId('more').click();
	await screen.getByTestId('two').click();
	await expect.poll(() => run.mock.calls).toEqual([['two']]);
	expect(state).toEqual(['more', null]);
});
