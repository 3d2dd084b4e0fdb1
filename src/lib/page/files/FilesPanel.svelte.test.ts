import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import type { ListedFile } from '../../shared/api.ts';
import '../../../app.css';
import { ChatSession } from '../conversation/session.svelte.ts';
import { ApiError } from '../request.ts';
import FilesPanel from './FilesPanel.svelte';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const file = (path: string, minute = 0, more: Partial<ListedFile> = {}): ListedFile => ({
	...{ path, bytes: 3, modifiedAt: at(minute), versions: [] },
	...more
});
const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)];
let client: FakeClient;
let session: ChatSession;
let used: string[];
const onremove = vi.fn(async (_path: string) => {});

beforeEach(() => {
	localStorage.clear();
	client = createFakeClient();
	session = new ChatSession(
		'c',
		client,
		{ runStarted: () => {}, runEnded: () => {}, titled: () => {} },
		createFakeServices()
	);
	used = [];
});
afterEach(() => vi.restoreAllMocks());

/** The server's responses by URL; every other URL is missing. */
function serve(contents: Record<string, string>): void {
	vi.spyOn(globalThis, 'fetch').mockImplementation(async (input) => {
		const found = Object.entries(contents).find(([ending]) => String(input).endsWith(ending));
		return found
			? new Response(found[1])
			: Response.json({ error: { code: 'not_found', message: 'There is no such file.' } }, { status: 404 });
	});
}

async function open(files: ListedFile[]) {
	client.listFiles = async () => files;
	const onclose = vi.fn<() => void>();
	const screen = await render(FilesPanel, { session, onuse: (path) => used.push(path), onremove, onclose });
	if (files.length > 0) await expect.element(screen.getByTestId('file-row').first()).toBeVisible();
	return { screen, onclose };
}

describe('F5: the files of a conversation', () => {
	test('are listed, the newest first, with their size, time and versions; all of them are one download', async () => {
		const versions = [{ id: ONE, bytes: 2, modifiedAt: at(0) }];
		const { screen } = await open([file('a.txt', 1), file('out/b.txt', 2, { bytes: 1_200, versions })]);
		const rows = screen.getByTestId('file-row').elements();
		expect(rows.map((row) => row.getAttribute('data-path'))).toEqual(['out/b.txt', 'a.txt']);
		expect(rows[0]?.textContent).toMatch(/1\.2 kB.*2 versions/s);
		expect(rows[1]?.textContent).not.toContain('version');
		await expect
			.element(screen.getByTestId('download-all'))
			.toHaveAttribute('href', '/api/conversations/c/files?format=zip');
	});

	test('can be deleted in the list; the focus goes to the next', async () => {
		const files = [file('a.txt', 3), file('b.txt', 2)];
		const { screen } = await open(files);
		onremove.mockImplementationOnce(async (path) => {
			files.splice(
				files.findIndex((each) => each.path === path),
				1
			);
			await session.files.refresh();
		});
		await screen.getByRole('button', { name: 'Delete a.txt' }).click();
		expect(onremove).toHaveBeenCalledExactlyOnceWith('a.txt');
		await expect.element(screen.getByRole('button', { name: /^b\.txt/ })).toHaveFocus();
	});

	test('of which there are none say how one comes here', async () => {
		const { screen } = await open([]);
		await expect.element(screen.getByText(/^No files yet/)).toBeVisible();
		await expect.element(screen.getByTestId('download-all')).not.toBeInTheDocument();
	});

	test('that cannot be read say why', async () => {
		client.listFiles = async () => {
			throw new ApiError('unreachable', 'The server cannot be reached.');
		};
		const screen = await render(FilesPanel, { session, onuse: () => {}, onremove, onclose: () => {} });
		await expect.element(screen.getByRole('alert')).toHaveTextContent('The server cannot be reached.');
	});

	test('are shown one at a time; the focus goes there and back', async () => {
		serve({ '': 'plain words' });
		const { screen } = await open([file('a.txt', 2), file('b.txt', 1)]);
		await screen.getByRole('button', { name: /^b\.txt/ }).click();
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('plain words');
		await expect.element(screen.getByTestId('all-files')).toHaveFocus();
		await screen.getByTestId('all-files').click();
		await expect.element(screen.getByRole('button', { name: /^b\.txt/ })).toHaveFocus();
	});

	test('go into the next message by a button, which says so', async () => {
		serve({ '': 'x' });
		const { screen } = await open([file('a.txt')]);
		await screen.getByRole('button', { name: 'Use a.txt in next message' }).click();
		await expect.element(screen.getByText('a.txt goes with your next message.')).toBeInTheDocument();
		await screen.getByRole('button', { name: /^a\.txt/ }).click();
		await screen.getByRole('button', { name: 'Use in next message' }).click();
		expect(used).toEqual(['a.txt', 'a.txt']);
	});

	test('are deleted one at a time; the focus goes to what took the place', async () => {
		serve({ '': 'x' });
		const { screen } = await open([file('a.txt', 2), file('b.txt', 1)]);
		onremove.mockImplementationOnce(async () => {
			client.listFiles = async () => [file('b.txt', 1)];
			await session.files.refresh();
		});
		await screen.getByRole('button', { name: /^a\.txt/ }).click();
		await screen.getByRole('button', { name: 'Delete a.txt' }).click();
		await expect.element(screen.getByRole('button', { name: /^b\.txt/ })).toHaveFocus();
		expect(onremove).toHaveBeenCalledExactlyOnceWith('a.txt');
		// A file that couldn't be deleted stays.
		await screen.getByRole('button', { name: /^b\.txt/ }).click();
		await screen.getByRole('button', { name: 'Delete b.txt' }).click();
		await expect.element(screen.getByTestId('file-text')).toBeVisible();
	});

	test('show what is hidden in their names', async () => {
		serve({ '': 'x' });
		const { screen } = await open([file('exe\u202Etxt.js')]);
		await screen.getByRole('button', { name: /^exe⟨U\+202E⟩txt\.js/ }).click();
		await expect.element(screen.getByRole('heading', { name: 'exe⟨U+202E⟩txt.js' })).toBeVisible();
	});

	test('say of one that was deleted meanwhile that it is gone', async () => {
		serve({});
		const { screen } = await open([file('a.txt')]);
		await screen.getByRole('button', { name: /^a\.txt/ }).click();
		await expect.element(screen.getByRole('alert')).toHaveTextContent('This file no longer exists.');
		client.listFiles = async () => [];
		await session.files.refresh();
		await expect.element(screen.getByRole('status').first()).toHaveTextContent('This file no longer exists.');
		await screen.getByTestId('all-files').click();
		await expect.element(screen.getByText(/^No files yet/)).toBeVisible();
	});
});

describe('F5: versions of a file', () => {
	const versions = [
		{ id: TWO, bytes: 9, modifiedAt: at(1) },
		{ id: ONE, bytes: 8, modifiedAt: at(0) }
	];
	const shown = async (path: string, contents: Record<string, string>) => {
		serve(contents);
		const { screen } = await open([file(path, 2, { versions })]);
		await screen.getByTestId('file-row').getByRole('button').first().click();
		return screen;
	};

	test('are chosen from a list, and two are compared, the older one first', async () => {
		const screen = await shown('a.txt', {
			[`version=${ONE}`]: 'same\none\n',
			[`version=${TWO}`]: 'same\ntwo\n',
			'': 'same\nthree\n'
		});
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('same three');
		await screen.getByLabelText('Version').selectOptions(TWO);
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('same two');
		await expect
			.element(screen.getByRole('link', { name: 'Download a.txt' }))
			.toHaveAttribute('href', `/api/conversations/c/files/a.txt?version=${TWO}`);
		await screen.getByLabelText('Compare with').selectOptions(ONE);
		const lines = () => [...document.querySelectorAll('[data-testid=file-diff] [role=region] > div')];
		await expect.poll(() => lines().map((line) => line.textContent)).toEqual([' same', '-one', '+two']);
		// Comparing with a newer version keeps the direction.
		await screen.getByLabelText('Compare with').selectOptions('latest');
		await expect.poll(() => lines().map((line) => line.textContent)).toContain('+three');
		expect(lines().map((line) => line.textContent)).toContain('-two');
	});

	test('of a picture are seen beside each other', async () => {
		const screen = await shown('chart.svg', { '': '<svg xmlns="http://www.w3.org/2000/svg"/>' });
		await screen.getByLabelText('Compare with').selectOptions(ONE);
		const src = (name: string) => screen.getByRole('img', { name }).element().getAttribute('src');
		expect(src('chart.svg, before')).toMatch(new RegExp(`\\?version=${ONE}$`));
		expect(src('chart.svg, after')).toMatch(/\/chart\.svg\?v=/);
	});

	test('that are known to be no text are chosen, and not offered to be compared', async () => {
		const screen = await shown('report.pdf', { [`version=${ONE}`]: '%PDF', '': '%PDF' });
		await expect.element(screen.getByLabelText('Version')).toBeVisible();
		await expect.element(screen.getByLabelText('Compare with')).not.toBeInTheDocument();
	});

	test('that are no text are not compared', async () => {
		const screen = await shown('a.bin', { [`version=${ONE}`]: '\0one', '': '\0two' });
		await screen.getByLabelText('Compare with').selectOptions(ONE);
		await expect.element(screen.getByTestId('file-diff')).toMatchTextContent(/^Only text can be compared/);
	});

	test('of which one is no longer kept say so', async () => {
		const screen = await shown('a.txt', { 'v=2026-01-01T12%3A02%3A00.000Z': 'now' });
		await screen.getByLabelText('Compare with').selectOptions(ONE);
		await expect.element(screen.getByRole('alert')).toHaveTextContent('There is no such file.');
	});
});
