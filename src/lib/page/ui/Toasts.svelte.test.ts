import { flushSync } from 'svelte';
import { expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page } from 'vitest/browser';
import '../../../app.css';
import { belowNotices } from './motion.svelte.ts';
import { TOAST_MS, Toasts } from './toasts.svelte.ts';
import ToastList from './Toasts.svelte';

test('a notice can be taken back once, and goes before that begins', async () => {
	const toasts = new Toasts();
	const screen = await render(ToastList, { toasts });
	const undone: number[] = [];
	toasts.show({
		text: 'Deleted “Plans”',
		action: { label: 'Undo', run: () => void undone.push(toasts.list.length) }
	});
	await expect.element(screen.getByRole('status')).toHaveTextContent('Deleted “Plans”');
	await screen.getByTestId('toast-action').click();
	expect(undone).toEqual([0]);
	await expect.element(screen.getByTestId('toast')).not.toBeInTheDocument();
});

test('one that needs longer stays longer', async () => {
	vi.useFakeTimers();
	try {
		const toasts = new Toasts();
		await render(ToastList, { toasts });
		toasts.show({ text: 'Saved' });
		toasts.show({ text: 'Deleted “Plans”', ms: 30_000 });
		flushSync();
		vi.advanceTimersByTime(TOAST_MS);
		expect(toasts.list.map(({ text }) => text)).toEqual(['Deleted “Plans”']);
		vi.advanceTimersByTime(30_000 - TOAST_MS - 1);
		expect(toasts.list).toHaveLength(1);
		vi.advanceTimersByTime(1);
		expect(toasts.list).toEqual([]);
	} finally {
		vi.useRealTimers();
	}
});

test('an error is an alert, and is closed by hand', async () => {
	const toasts = new Toasts();
	const screen = await render(ToastList, { toasts });
	toasts.show({ text: 'The server is busy.', isError: true });
	await expect.element(screen.getByRole('alert')).toHaveTextContent('The server is busy.');
	await screen.getByRole('button', { name: 'Close' }).click();
	await expect.element(screen.getByTestId('toast')).not.toBeInTheDocument();
});

test('one about the same skill takes the place of the older one, and none stays once it’s deleted', () => {
	const toasts = new Toasts();
	toasts.show({ text: 'Fixed.', about: '/skills/a' });
	toasts.show({ text: 'Fixed too.', about: '/skills/b' });
	toasts.show({ text: 'Deleted “a”', about: '/skills/a' });
	expect(toasts.list.map(({ text }) => text)).toEqual(['Fixed too.', 'Deleted “a”']);
	toasts.closeAbout('/skills/b');
	expect(toasts.list.map(({ text }) => text)).toEqual(['Deleted “a”']);
});

test('on another page an error is gone, unless something can still be done about it', () => {
	const toasts = new Toasts();
	toasts.show({ text: 'Couldn’t rename.', isError: true });
	toasts.show({ text: 'Saved.' });
	toasts.show({ text: 'Part missing.', isError: true, action: { label: 'Reload', run: () => undefined } });
	toasts.leavePage();
	expect(toasts.list.map(({ text }) => text)).toEqual(['Saved.', 'Part missing.']);
});

test('what is said again is said once, as the newest', async () => {
	const toasts = new Toasts();
	const screen = await render(ToastList, { toasts });
	for (const text of ['Busy.', 'Other.', 'Busy.', 'Busy.']) toasts.show({ text, isError: true });
	await expect
		.poll(() =>
			screen
				.getByTestId('toast')
				.elements()
				.map((toast) => toast.textContent.trim())
		)
		.toEqual(['Other.', 'Busy.']);
});

test('there are never more than four', async () => {
	const toasts = new Toasts();
	const screen = await render(ToastList, { toasts });
	for (const text of ['1', '2', '3', '4', '5']) toasts.show({ text });
	await expect.element(screen.getByText('5')).toBeVisible();
	expect(
		screen
			.getByTestId('toast')
			.elements()
			.map((toast) => toast.textContent.trim())
	).toEqual(['2', '3', '4', '5']);
});

test.each([
	[390, 844],
	[1280, 800]
])(
	'at %i × %i notices are at the bottom of the content, and above a message box that stands there',
	async (width, height) => {
		await page.viewport(width, height);
		const toasts = new Toasts();
		const target = document.body.appendChild(document.createElement('div'));
		target.style.cssText = 'position: absolute; inset: 0';
		const screen = await render(ToastList, { target, props: { toasts } });
		for (const text of ['One.', 'Two.', 'Three.', 'A notice of many words, as the errors of a server are. '.repeat(3)])
			toasts.show({ text, isError: true });
		await expect.element(screen.getByTestId('toast').last()).toBeVisible();
		const fromBottom = (): number => height - screen.getByTestId('toasts').element().getBoundingClientRect().bottom;
		expect(fromBottom()).toBe(12);
		const box = target.appendChild(document.createElement('div'));
		box.style.height = '140px';
		const remove = belowNotices(box);
		await expect.poll(fromBottom).toBe(152);
		box.style.height = '200px';
		await expect.poll(fromBottom).toBe(212);
		remove();
		expect(fromBottom()).toBe(12);
		target.remove();
	}
);
