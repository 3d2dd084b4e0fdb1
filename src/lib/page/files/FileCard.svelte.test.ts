import { afterEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import '../../../app.css';
import { ApiError } from '../request.ts';
import type { Client } from '../server.ts';
import { ConversationFiles, PANEL } from './conversation-files.svelte.ts';
import FileCard from './FileCard.svelte';
import FilePreview from './FilePreview.svelte';

/** The server's copy of the file; null if it has none. */
function serve(content: string | null): void {
	vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
		if (content === null)
			return Response.json({ error: { code: 'not_found', message: 'There is no such file.' } }, { status: 404 });
		const headers = {
			'content-length': String(new TextEncoder().encode(content).length),
			'content-disposition': 'attachment'
		};
		return new Response(content, { headers });
	});
}
const show = (path: string, bytes: number) =>
	render(FileCard, { file: { path, bytes }, conversationId: 'c', version: 'v' });
async function preview(path: string, content: string) {
	serve(content);
	const screen = await show(path, new TextEncoder().encode(content).length);
	await screen.getByRole('button', { name: `Preview ${path}` }).click();
	return screen;
}

afterEach(() => vi.restoreAllMocks());

describe('F14: a file that a script made', () => {
	test('E20: a SKILL.md in a folder leads to its review, and shows its front matter as a table', async () => {
		const screen = await preview(
			'out/haiku/SKILL.md',
			'---\nname: haiku\ndescription: "Writes: haiku"\n---\n# Haiku\n'
		);
		const href = '/skills/install?chat=c&folder=out%2Fhaiku';
		await expect.element(screen.getByTestId('install-from-chat')).toHaveAttribute('href', href);
		await expect.element(screen.getByRole('definition').nth(1)).toHaveTextContent('Writes: haiku');
		await expect.element(screen.getByRole('heading')).toHaveTextContent('Haiku');
		await screen.unmount();
		const alone = await show('SKILL.md', 3);
		await expect.element(alone.getByTestId('install-from-chat')).not.toBeInTheDocument();
	});

	test('F5: is as wide as what it stands in; a picture has the room that its size needs before it is there', async () => {
		const picture = 'data:image/svg+xml,';
		const frame = async (size: { width?: number; height?: number }) => {
			const file = { path: 'chart.svg', bytes: picture.length, ...size };
			const screen = await render(FileCard, { file, conversationId: 'c', version: 'v' });
			const card = screen.getByTestId('file-card').element();
			expect(card.getBoundingClientRect().width).toBe(card.parentElement?.clientWidth);
			const { width, height } = card.querySelector('button')!.getBoundingClientRect();
			await screen.unmount();
			return width / height;
		};
		await page.viewport(500, 900);
		expect(await frame({ width: 760, height: 300 })).toBeCloseTo(760 / 300, 1);
		expect(await frame({ width: 600, height: 400 })).toBeCloseTo(1.5, 1);
		expect(await frame({})).toBeCloseTo(16 / 9, 1);
	});

	test('as a table has a head, counts its rows, and is sorted by a click', async () => {
		const screen = await preview('a.csv', 'name,count\nb,10\na,9\n"c, d",100\n');
		await expect.element(screen.getByText('3 rows')).toBeVisible();
		const names = () => [...document.querySelectorAll('tbody tr')].map((row) => row.firstElementChild?.textContent);
		expect(names()).toEqual(['b', 'a', 'c, d']);
		await screen.getByRole('button', { name: 'count' }).click();
		expect(names()).toEqual(['a', 'b', 'c, d']);
		await expect.element(screen.getByRole('columnheader', { name: 'count' })).toHaveAttribute('aria-sort', 'ascending');
		await screen.getByRole('button', { name: 'count' }).click();
		expect(names()).toEqual(['c, d', 'b', 'a']);
		await screen.getByRole('button', { name: 'count' }).click();
		expect(names()).toEqual(['b', 'a', 'c, d']);
	});

	test('as text has numbers to its lines, and is no markup', async () => {
		const screen = await preview('a.py', 'print("<b>x</b>")\npass\n');
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('print("<b>x</b>") pass');
		expect(screen.getByTestId('file-preview').element().querySelector('[aria-hidden]')?.textContent).toBe('1\n2');
	});

	test('as JSON is indented', async () => {
		const screen = await preview('a.json', '{"a":[1]}');
		await expect.element(screen.getByTestId('file-text')).toBeVisible();
		expect(screen.getByTestId('file-text').element().textContent).toBe('{\n  "a": [\n    1\n  ]\n}');
	});

	test('as Markdown is rendered, and has its source', async () => {
		const screen = await preview('a.md', '# Title\n\n<script>x</script>');
		await expect.element(screen.getByRole('heading', { name: 'Title' })).toBeVisible();
		await screen.getByRole('button', { name: 'Source' }).click();
		await expect.element(screen.getByTestId('file-text')).toMatchTextContent(/^# Title <script>/);
	});

	test('as a page is in a frame that may do nothing', async () => {
		const screen = await preview('a.html', '<p>x</p>');
		await expect.element(screen.getByText('Shown without network access.')).toBeVisible();
		expect(screen.getByRole('button', { name: 'Allow scripts in this file' }).elements()).toEqual([]);
		const frame = screen.getByTitle('Preview of a.html, without its scripts');
		await expect.element(frame).toHaveAttribute('sandbox', '');
		await expect.element(frame).toHaveAttribute('src', '/api/conversations/c/files/a.html?v=v&view=plain');
		await screen.getByRole('button', { name: 'Source' }).click();
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('<p>x</p>');
	});

	test('as a page or a drawing runs its scripts when somebody asks for it, in a frame without origin', async () => {
		for (const path of ['a.html', 'a.svg']) {
			serve('<p onclick="x()">x</p>');
			const screen = await render(FilePreview, {
				...{ url: '/x', path, bytes: 8, kind: path === 'a.svg' ? ('drawing' as const) : ('page' as const) }
			});
			await expect.element(screen.getByText('Shown without scripts or network access.')).toBeVisible();
			await expect.element(screen.getByTitle(`Preview of ${path}, with its scripts`)).not.toBeInTheDocument();
			await screen.getByRole('button', { name: 'Allow scripts in this file' }).click();
			const frame = screen.getByTitle(`Preview of ${path}, with its scripts`);
			await expect.element(frame).toHaveAttribute('sandbox', 'allow-scripts');
			await expect.element(frame).toHaveAttribute('src', '/x?view=scripts');
			await screen.getByRole('button', { name: 'Stop scripts' }).click();
			await expect.element(frame).not.toBeInTheDocument();
			await screen.unmount();
		}
	});

	test('as a notebook shows its cells and outputs; HTML and scripts in them stay text, or away', async () => {
		const cells = [
			{ cell_type: 'markdown', source: ['# Title\n', '<img src=x onerror="window.pwned = 1">'] },
			{
				cell_type: 'code',
				source: 'print(1)',
				outputs: [
					{ output_type: 'stream', text: ['\u001b[31mred\u001b[0m\n'] },
					{ output_type: 'display_data', data: { 'text/html': '<script>window.pwned = 1</script>' } },
					{ output_type: 'display_data', data: { 'image/png': 'x" onerror="window.pwned = 1' } },
					{ output_type: 'error', traceback: ['<b>broken</b>'] },
					null
				]
			},
			7
		];
		const metadata = { language_info: { name: 'python' } };
		const screen = await preview('a.ipynb', JSON.stringify({ cells, metadata }));
		const shown = screen.getByTestId('notebook');
		await expect.element(screen.getByRole('heading', { name: 'Title' })).toBeVisible();
		for (const text of ['print(1)', 'red', '<b>broken</b>', 'This output can’t be shown here.'])
			expect(shown.element().textContent).toContain(text);
		expect(shown.element().querySelector('img, script, b')).toBe(null);
		expect('pwned' in window).toBe(false);
		await screen.getByRole('button', { name: 'Source' }).click();
		await expect.element(screen.getByTestId('file-text')).toBeVisible();
	});

	test.each(['', '[]', '{"cells":1}', 'no json'])(
		'as a notebook that is “%s” says that it is none',
		async (content) => {
			const screen = await preview('a.ipynb', content);
			await expect.element(screen.getByText('This isn’t a valid notebook.')).toBeVisible();
		}
	);

	test('as sound or film that cannot be played says so', async () => {
		for (const kind of ['audio', 'video'] as const) {
			const screen = await render(FilePreview, { url: 'data:text/plain,x', path: 'a', bytes: 1, kind });
			await expect.element(screen.getByText(/^There is no preview/)).toBeVisible();
			await screen.unmount();
		}
	});

	test('that no preview is for is there to be downloaded', async () => {
		const screen = await show('a.bin', 5);
		await expect.element(screen.getByRole('link', { name: 'Download a.bin' })).toBeVisible();
		await expect.element(screen.getByRole('button')).not.toBeInTheDocument();
	});

	test('shows what is hidden in its name', async () => {
		const screen = await show('exe\u202Efdp.bin', 5);
		await expect.element(screen.getByText(/exe⟨U\+202E⟩fdp\.bin/)).toBeVisible();
	});

	test('as an image is enlarged by a click, and Escape leads back', async () => {
		serve('x');
		const pixel = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
		const source = vi.spyOn(HTMLImageElement.prototype, 'src', 'set').mockImplementation(function (
			this: HTMLImageElement
		) {
			this.setAttribute('src', pixel);
		});
		const screen = await show('chart.png', 1);
		source.mockRestore();
		screen.getByRole('img').element().setAttribute('src', pixel);
		const enlarge = screen.getByRole('button', { name: 'Enlarge chart.png' });
		const before = enlarge.element().getBoundingClientRect().height;
		await enlarge.click();
		const dialog = screen.getByRole('dialog', { name: 'chart.png' });
		const large = dialog.getByRole('img');
		await expect.element(large).toBeVisible();
		large.element().setAttribute('src', pixel.replace('AQABA', 'ZABkA'));
		await expect.poll(() => large.element().clientWidth).toBeGreaterThan(1);
		const fits = large.element().clientWidth;
		await dialog.getByTestId('zoom-in').click();
		await expect.poll(() => large.element().clientWidth).toBeCloseTo(fits * 1.5, -1);
		await dialog.getByTestId('zoom-out').click();
		await expect.poll(() => large.element().clientWidth).toBe(fits);
		await userEvent.keyboard('{Escape}');
		await expect.element(dialog).not.toBeInTheDocument();
		await expect.element(enlarge).toHaveFocus();
		// The room for a picture doesn't depend on it.
		screen.getByRole('img').element().setAttribute('src', pixel.replace('AQABA', 'ZABkA'));
		expect(enlarge.element().getBoundingClientRect().height).toBe(before);
		expect(before).toBeGreaterThan(100);
	});
});

describe('a file that is another by now', () => {
	test('says so when it is gone', async () => {
		serve(null);
		const screen = await show('a.txt', 5);
		await screen.getByTestId('file-card').hover();
		await expect.element(screen.getByTestId('file-state')).toHaveTextContent('This file was deleted.');
		await expect.element(screen.getByRole('link')).not.toBeInTheDocument();
	});

	test('offers to restore it when the panel has deleted it', async () => {
		serve('x');
		const client = { listFiles: vi.fn(async () => []), restoreFile: vi.fn(async () => ({})) };
		const files = new ConversationFiles('c', client as unknown as Client);
		files.deleted = ['a.txt'];
		const screen = await render(FileCard, {
			props: { file: { path: 'a.txt', bytes: 1 }, conversationId: 'c', version: 'v' },
			context: new Map([[PANEL, () => files]])
		});
		await expect.element(screen.getByTestId('file-state')).toMatchTextContent(/^\s*This file was deleted\.\s*Restore/);
		await screen.getByTestId('restore-file').click();
		expect(client.restoreFile).toHaveBeenCalledExactlyOnceWith('c', 'a.txt');
		client.restoreFile.mockRejectedValue(new ApiError('not_found', 'It’s no longer kept.'));
		await screen.getByTestId('restore-file').click();
		await expect.element(screen.getByTestId('file-state')).toMatchTextContent(/It’s no longer kept\.\s*$/);
	});

	test('F5: a picture that was drawn over since is shown as the step made it', async () => {
		const modifiedAt = '2026-01-02T03:04:05Z';
		const now = { path: 'chart.svg', bytes: 9, modifiedAt, versions: [{ id: 'first', bytes: 8, modifiedAt }] };
		const client = { listFiles: vi.fn(async () => [now]), restoreFile: vi.fn() };
		const files = new ConversationFiles('c', client);
		await files.refresh();
		const srcOf = async (version: string) => {
			const file = { path: 'chart.svg', bytes: 8, version };
			const context = new Map([[PANEL, () => files]]);
			const screen = await render(FileCard, { props: { file, conversationId: 'c', version: 'v' }, context });
			const src = screen.getByRole('img', { name: 'Preview of chart.svg' }).element().getAttribute('src');
			await screen.unmount();
			return src;
		};
		expect(await srcOf('first')).toBe('/api/conversations/c/files/chart.svg?version=first');
		// No cache of the page mixes it up with what was there before.
		expect(await srcOf('second')).toBe('/api/conversations/c/files/chart.svg?v=second');
	});

	test('says how long it is when it has changed', async () => {
		serve('longer than before');
		const screen = await show('a.txt', 5);
		await screen.getByRole('button', { name: 'Preview a.txt' }).click();
		await expect.element(screen.getByTestId('file-state')).toHaveTextContent('Changed since then: now 18 B.');
		await expect.element(screen.getByTestId('file-text')).toHaveTextContent('longer than before');
	});
});

test('UI 10: a PDF is shown by the browser’s own viewer, and where there is none the page says so', async () => {
	const props = { url: '/api/conversations/c/files/a.pdf', kind: 'pdf', path: 'a.pdf', bytes: 9 } as const;
	const viewer = vi.spyOn(navigator, 'pdfViewerEnabled', 'get').mockReturnValue(false);
	const without = await render(FilePreview, props);
	await expect.element(without.getByText(/doesn’t show PDFs/)).toBeVisible();
	await without.unmount();
	viewer.mockReturnValue(true);
	const screen = await render(FilePreview, props);
	await expect.element(screen.getByTitle('Preview of a.pdf')).toHaveAttribute('src', `${props.url}?view=plain`);
});
