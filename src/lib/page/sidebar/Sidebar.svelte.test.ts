import { createRawSnippet } from 'svelte';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import '../../../app.css';
import { ApiError } from '../request.ts';
import { ChatApp } from '../app/app.svelte.ts';
import type { ConversationSummary } from '../../shared/api.ts';
import Sidebar from './Sidebar.svelte';
import SidebarFrame from './SidebarFrame.svelte';

const DAY_MS = 86_400_000;
const broken = new ApiError('unavailable', 'The server is busy.', { hint: 'Wait a moment.' });
let server: FakeConversations;
let app: ChatApp;
let visited: string[];

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
});

async function setup(all: ConversationSummary[], path = '/') {
	server = createFakeConversations(all);
	visited = [];
	const go = (wanted: string): void => void visited.push(wanted);
	app = new ChatApp(createFakeClient(), undefined, { conversations: server, go });
	app.show(path.startsWith('/c/') ? path.slice(3) : null);
	await app.conversations.refresh();
	return render(Sidebar, { app, path });
}

test('F12: the search shows the keys of the command palette, which a click opens, too', async () => {
	await page.viewport(1280, 800);
	onTestFinished(() => page.viewport(414, 896));
	const screen = await setup([]);
	const button = screen.getByRole('button', { name: /Command palette/ });
	await expect.element(button).toMatchTextContent(/Command palette\s*(Ctrl|⌘)\s*K\s*$/);
	await button.click();
	expect(app.overlay).toBe('palette');
});

type Screen = Awaited<ReturnType<typeof setup>>;

const rows = (screen: Screen): string[] =>
	screen
		.getByTestId('conversation')
		.elements()
		.map((row) => (row as HTMLElement).dataset.id ?? '');

async function choose(screen: Screen, id: string, item: string): Promise<void> {
	const row = screen
		.getByTestId('conversation')
		.elements()
		.find((one) => (one as HTMLElement).dataset.id === id);
	row?.querySelector<HTMLElement>('[data-testid=conversation-menu]')?.click();
	await screen.getByTestId(item).click();
}

describe('F14: the list of conversations', () => {
	test('stands in groups, newest first, and marks what is going on', async () => {
		const old = new Date(Date.now() - 100 * DAY_MS).toISOString();
		localStorage.setItem('draft:b', JSON.stringify({ text: 'half a thought', files: [], at: 1 }));
		const screen = await setup(
			[
				sampleConversation('p', { isPinned: true, updatedAt: old }),
				sampleConversation('a', { activeRunId: 'r' }),
				sampleConversation('b', { isUnread: true, title: 'safe\u202egpj' }),
				sampleConversation('c', { isUnread: true }),
				sampleConversation('old', { updatedAt: old, isWaiting: true })
			],
			'/c/c'
		);
		const headings = screen
			.getByTestId('conversation-group')
			.elements()
			.map((group) => group.ariaLabel);
		expect(headings.slice(0, 2)).toEqual(['Pinned', 'Today']);
		expect(headings[2]).toMatch(/^\w+ \d{4}$/);
		expect(rows(screen)).toEqual(['p', 'a', 'b', 'c', 'old']);
		const text = screen
			.getByTestId('conversation-link')
			.elements()
			.map((link) => link.textContent.trim());
		expect(text[1]).toMatch(/\(answering\)$/);
		// The open chat has been seen, so it isn't unread.
		expect(text[2]).toMatch(/^safe⟨U\+202E⟩gpj\s+Draft\s+\(new answer\)$/);
		expect(text[3]).toBe('Title of c');
		await expect.element(screen.getByRole('link', { name: 'Title of c' })).toHaveAttribute('aria-current', 'page');
		await expect.element(screen.getByTestId('waiting-mark')).toHaveTextContent('(needs your approval)');
	});

	test('E36: says of a chat that asks something that it does, not that it answers', async () => {
		const screen = await setup([sampleConversation('a', { activeRunId: 'r', isWaiting: true })]);
		await expect.element(screen.getByTestId('waiting-mark')).toHaveTextContent('(asks you something)');
		await expect.element(screen.getByTestId('answering-mark')).not.toBeInTheDocument();
	});

	test('tells chats of one title apart by their time, and only those', async () => {
		const old = new Date(Date.now() - 100 * DAY_MS).toISOString();
		const title = 'Which month had the highest revenue';
		const screen = await setup([
			sampleConversation('a', { title }),
			sampleConversation('b', { title: `${title} of all`, updatedAt: old }),
			sampleConversation('c')
		]);
		await expect.poll(() => screen.getByTestId('twin-time').elements()).toHaveLength(2);
		const [today, earlier] = screen.getByTestId('twin-time').elements();
		expect(today?.textContent).toMatch(/\d:\d\d/);
		expect(earlier?.textContent).not.toMatch(/:/);
	});

	test('grows by a button', async () => {
		const screen = await setup(Array.from({ length: 60 }, (_, index) => sampleConversation(`c${index}`)));
		screen.getByTestId('show-more').element().scrollIntoView();
		await expect.poll(() => rows(screen)).toHaveLength(60);
		await expect.element(screen.getByTestId('show-more')).not.toBeInTheDocument();
	});

	test('says when there is nothing, and when it could not be read', async () => {
		const screen = await setup([]);
		await expect.element(screen.getByTestId('no-conversations')).toHaveTextContent('No chats yet');
	});
});

describe('the menu of a conversation', () => {
	test('renames in its place; the field says why it did not work', async () => {
		const screen = await setup([sampleConversation('a')]);
		await choose(screen, 'a', 'conversation-rename');
		server.failures.push(broken);
		await screen.getByTestId('rename-input').fill('Plans');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByRole('alert')).toHaveTextContent('The server is busy.');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('conversation-link')).toHaveTextContent('Plans');
		await expect.element(screen.getByTestId('conversation-link')).toHaveFocus();
	});

	test('pins and unpins', async () => {
		const screen = await setup([sampleConversation('a')]);
		await choose(screen, 'a', 'conversation-pin');
		await expect.element(screen.getByRole('heading', { name: 'Pinned' })).toBeVisible();
		(screen.getByTestId('conversation-menu').element() as HTMLElement).click();
		await expect.element(screen.getByTestId('conversation-pin')).toHaveTextContent('Unpin');
	});

	test('archives with a way back, and the archive is a view of its own', async () => {
		const screen = await setup([sampleConversation('a'), sampleConversation('b')]);
		await choose(screen, 'a', 'conversation-archive');
		await expect.poll(() => rows(screen)).toEqual(['b']);
		expect(app.toasts.list.map(({ text }) => text)).toEqual(['Archived “Title of a”']);
		await screen.getByTestId('list-menu').click();
		await screen.getByTestId('show-archived').click();
		await expect.element(screen.getByRole('heading', { name: 'Archived' })).toBeVisible();
		await expect.poll(() => rows(screen)).toEqual(['a']);
		await choose(screen, 'a', 'conversation-archive');
		await expect.element(screen.getByTestId('no-conversations')).toHaveTextContent('No archived chats');
		await screen.getByTestId('leave-archive').click();
		expect(rows(screen).sort()).toEqual(['a', 'b']);
	});

	test('saves it as a file, in either form', async () => {
		const screen = await setup([sampleConversation('a')]);
		await screen.getByTestId('conversation-menu').click();
		await expect.element(screen.getByTestId('conversation-export-json')).toBeVisible();
		const links = ['markdown', 'json'].map((format) => screen.getByTestId(`conversation-export-${format}`).element());
		expect(links.map((link) => [link.getAttribute('href'), link.hasAttribute('download')])).toEqual([
			['/api/conversations/a/export?format=markdown', true],
			['/api/conversations/a/export?format=json', true]
		]);
	});

	test('deletes at once, with a way back', async () => {
		const screen = await setup([sampleConversation('a'), sampleConversation('b')], '/c/a');
		await choose(screen, 'a', 'conversation-delete');
		await expect.poll(() => rows(screen)).toEqual(['b']);
		expect(visited).toEqual(['/']);
		await expect.poll(() => app.toasts.list.map(({ text }) => text)).toEqual(['Deleted “Title of a”']);
		await app.toasts.list[0]?.action?.run();
		await expect.poll(() => rows(screen)).toEqual(['b', 'a']);
		expect(visited).toEqual(['/', '/c/a']);
		expect(server.calls).toEqual([
			['remove', 'a'],
			['restore', 'a']
		]);
	});

	test('what could not be deleted is in the list again, and a notice says why', async () => {
		const screen = await setup([sampleConversation('a')]);
		server.failures.push(broken);
		await choose(screen, 'a', 'conversation-delete');
		await expect
			.poll(() => app.toasts.list)
			.toMatchObject([{ text: 'The server is busy. Wait a moment.', isError: true }]);
		await expect.poll(() => rows(screen)).toEqual(['a']);
	});
});

test('a file is imported and opened', async () => {
	const screen = await setup([]);
	await screen.getByTestId('import-file').upload(new File(['{"a":1}'], 'chat.json', { type: 'application/json' }));
	await expect.poll(() => visited).toEqual(['/c/imported']);
	expect(server.calls).toEqual([['import', '{"a":1}']]);
	expect(rows(screen)).toEqual(['imported']);
	expect(app.toasts.list.map(({ text }) => text)).toEqual(['Imported “From a file”']);
});

describe('the keyboard', () => {
	test('goes up and down, to both ends, renames with F2 and deletes with Delete', async () => {
		const screen = await setup(['a', 'b', 'c'].map((id) => sampleConversation(id)));
		const focused = (): string | null => document.activeElement?.getAttribute('href') ?? null;
		screen.getByTestId('conversation-search').element().focus();
		await userEvent.keyboard('{ArrowDown}');
		expect(focused()).toBe('/c/a');
		await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}');
		expect(focused()).toBe('/c/c');
		await userEvent.keyboard('{Home}');
		expect(focused()).toBe('/c/a');
		await userEvent.keyboard('{End}{ArrowUp}');
		expect(focused()).toBe('/c/b');
		await userEvent.keyboard('{F2}');
		await userEvent.keyboard('Plans{Enter}');
		await expect.poll(focused).toBe('/c/b');
		await userEvent.keyboard('{Delete}');
		await expect.poll(() => rows(screen)).toEqual(['a', 'c']);
		expect(focused()).toBe('/c/c');
		expect(server.calls).toEqual([
			['patch', 'b', { title: 'Plans' }],
			['remove', 'b']
		]);
	});

	test.each(['a', 'b', 'c'])('stays on “%s” when the list comes in another order', async (id) => {
		const screen = await setup(['a', 'b', 'c'].map((each) => sampleConversation(each)));
		const focused = (): string | null => document.activeElement?.getAttribute('href') ?? null;
		screen.container.querySelector<HTMLElement>(`[href="/c/${id}"]`)?.focus();
		for (const moved of ['c', 'b', 'a']) {
			app.conversations.active.put(sampleConversation(moved));
			await expect.poll(() => rows(screen)[0]).toBe(moved);
			await expect.poll(focused).toBe(`/c/${id}`);
		}
	});

	test('a menu has its own keys, and gives the focus back', async () => {
		const screen = await setup([sampleConversation('a')]);
		const button = screen.getByTestId('conversation-menu');
		button.element().focus();
		await userEvent.keyboard('{ArrowDown}');
		const focused = (): string | undefined => (document.activeElement as HTMLElement | null)?.dataset.testid;
		await expect.poll(focused).toBe('conversation-rename');
		await userEvent.keyboard('{ArrowUp}');
		expect(focused()).toBe('conversation-delete');
		await userEvent.keyboard('e');
		expect(focused()).toBe('conversation-export-markdown');
		await userEvent.keyboard('e');
		expect(focused()).toBe('conversation-export-json');
		let escapes = 0;
		const count = (): void => void escapes++;
		addEventListener('keydown', count);
		await userEvent.keyboard('{Escape}');
		removeEventListener('keydown', count);
		await expect.element(button).toHaveFocus();
		await expect.element(button).toHaveAttribute('aria-expanded', 'false');
		expect(escapes).toBe(0);
	});
});

describe('the search', () => {
	const found = [
		sampleConversation('a', { title: 'Fill PDF forms' }),
		sampleConversation('b', {
			title: 'Other',
			snippet: { text: 'a pdf <b>here</b>', messageId: 'm', matches: [[2, 5]] }
		}),
		sampleConversation('c', { title: 'Nothing of it' })
	];

	test('shows what a chat is about where that matches, or nothing that was said does; the list shows it with the title', async () => {
		const summary = 'Reads <b>ten</b> scans.';
		const snippet = { text: 'ten scans', messageId: 'm', matches: [] };
		const said = sampleConversation('e', { title: 'Said', summary: 'Sums up.', snippet });
		const both = sampleConversation('f', { title: 'Both', summary: 'Old SCANS.', snippet });
		const screen = await setup([...found, sampleConversation('d', { title: 'Scans', summary }), said, both]);
		const link = screen.getByRole('link', { name: 'Scans' });
		await expect.element(link).toHaveAttribute('title', 'Scans\nReads <b>ten</b> scans.');
		await expect.element(screen.getByRole('link', { name: 'Other' })).toHaveAttribute('title', 'Other');
		await screen.getByTestId('conversation-search').fill('scans');
		const results = screen.getByTestId('search-result');
		await expect.element(results.last()).toBeVisible();
		const shown = results.elements().map((result) => result.lastElementChild?.textContent);
		expect(shown).toEqual(['Reads <b>ten</b> scans.', 'ten scans', 'Old SCANS.']);
	});

	test('marks what was found, in titles and in text, as text', async () => {
		const screen = await setup(found);
		await screen.getByTestId('conversation-search').fill('pdf');
		await expect.element(screen.getByTestId('search-status')).toHaveTextContent('2 chats');
		const results = screen.getByTestId('search-result').elements();
		expect(results.map((result) => [...result.querySelectorAll('mark')].map((mark) => mark.textContent))).toEqual([
			['PDF'],
			['pdf']
		]);
		await expect.element(screen.getByTestId('snippet')).toHaveTextContent('a pdf <b>here</b>');
		// F14: a chat found by its text opens at that text.
		expect(results.map((result) => result.getAttribute('href'))).toEqual(['/c/a', '/c/b#m-m']);
	});

	test('Down goes into the results, Up and Escape come back, and the list is there again', async () => {
		const screen = await setup(found);
		const field = screen.getByTestId('conversation-search');
		await field.fill('pdf');
		await expect.element(screen.getByTestId('search-result').first()).toBeVisible();
		await userEvent.keyboard('{ArrowDown}{ArrowDown}');
		await expect.element(screen.getByTestId('search-result').last()).toHaveFocus();
		await userEvent.keyboard('{ArrowUp}{ArrowUp}');
		await expect.element(field).toHaveFocus();
		await userEvent.keyboard('{Escape}');
		await expect.element(field).toHaveValue('');
		expect(rows(screen)).toEqual(['a', 'b', 'c']);
	});

	test('F14: Enter opens the first result, also before there are any', async () => {
		const screen = await setup(found);
		const opened: (string | null)[] = [];
		const stay = (event: Event): void => {
			event.preventDefault();
			opened.push((event.target as Element).closest('a')?.getAttribute('href') ?? null);
		};
		addEventListener('click', stay);
		try {
			await screen.getByTestId('conversation-search').fill('pdf');
			await userEvent.keyboard('{Enter}');
			await expect.poll(() => opened).toEqual(['/c/a']);
			await expect.element(screen.getByTestId('conversation-search')).toHaveValue('');
			await userEvent.keyboard('{Enter}');
			expect(opened).toHaveLength(1);
		} finally {
			removeEventListener('click', stay);
		}
	});

	test('goes when a result is opened here, and the list is there again; not when it opens in another tab', async () => {
		const screen = await setup(found);
		const field = screen.getByTestId('conversation-search');
		await field.fill('pdf');
		const result = screen.getByTestId('search-result').last();
		await expect.element(result).toBeVisible();
		const link = result.element();
		const stay = (event: Event): void => event.preventDefault();
		addEventListener('click', stay);
		try {
			link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey: true }));
			await new Promise((resolve) => setTimeout(resolve));
			await expect.element(field).toHaveValue('pdf');
			await result.click();
			await expect.element(field).toHaveValue('');
			expect(rows(screen)).toEqual(['a', 'b', 'c']);
		} finally {
			removeEventListener('click', stay);
		}
	});

	test('a newer query ends the older one, whose answer is not shown', async () => {
		const screen = await setup(found);
		const gate = Promise.withResolvers<void>();
		server.gate = gate.promise;
		await screen.getByTestId('conversation-search').fill('nothing');
		await expect.element(screen.getByTestId('search-status')).toHaveTextContent('Searching…');
		await screen.getByTestId('conversation-search').fill('pdf');
		gate.resolve();
		await expect.element(screen.getByTestId('search-status')).toHaveTextContent('2 chats');
		expect(server.searches).toEqual(['nothing', 'pdf']);
	});

	test('says that nothing was found', async () => {
		const screen = await setup(found);
		await screen.getByTestId('conversation-search').fill('zebra');
		await expect.element(screen.getByTestId('search-status')).toHaveTextContent('No results.');
	});

	test('says why it failed, and tries again', async () => {
		const screen = await setup(found);
		server.failures.push(broken);
		await screen.getByTestId('conversation-search').fill('pdf');
		await expect.element(screen.getByRole('alert')).toMatchTextContent(/^The server is busy\./);
		await screen.getByRole('button', { name: 'Try again' }).click();
		await expect.element(screen.getByTestId('search-status')).toHaveTextContent('2 chats');
	});
});

test('the first stop of the keyboard leads past the sidebar, to the page', async () => {
	const { sidebar } = new ChatApp(createFakeClient());
	const snippet = (html: string) => createRawSnippet(() => ({ render: () => html }));
	const screen = await render(SidebarFrame, {
		...{ sidebar, path: '/' },
		side: snippet('<button>New chat</button>'),
		children: snippet('<button>First of the page</button>')
	});
	await userEvent.tab();
	const link = screen.getByRole('link', { name: 'Skip to content' });
	await expect.element(link).toHaveFocus();
	await expect.element(link).toBeVisible();
	await userEvent.keyboard('{Enter}');
	await expect.element(screen.getByRole('main')).toHaveFocus();
	await userEvent.tab();
	await expect.element(screen.getByRole('button', { name: 'First of the page' })).toHaveFocus();
	expect(location.hash).toBe('');
});
