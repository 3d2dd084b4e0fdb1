import { beforeEach, describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import { sampleSummary } from '../../../../tests/support/sample-skills.ts';
import '../../../app.css';
import { ChatApp } from '../app/app.svelte.ts';
import RotateCw from '@lucide/svelte/icons/rotate-cw';
import DeleteDialog from '../ui/DeleteDialog.svelte';
import Menu from '../ui/Menu.svelte';
import Overlays from './Overlays.svelte';

const PARTS = {
	...{ scripts: ['scripts/stamp.mjs'], tools: ['count_pages'] },
	example: { title: 'Fill this', prompt: 'Fill this', files: ['order.csv'] }
};

let server: FakeConversations;
let app: ChatApp;
let client: FakeClient;
let done: string[];

beforeEach(() => {
	localStorage.clear();
	sessionStorage.clear();
	delete document.documentElement.dataset.theme;
});

async function setup() {
	server = createFakeConversations([
		sampleConversation('a', { title: 'Quarterly report' }),
		sampleConversation('b', { title: 'Holiday plans' })
	]);
	done = [];
	client = createFakeClient();
	app = new ChatApp(client, undefined, {
		conversations: server,
		go: (path) => void done.push(path)
	});
	app.library.skills = [
		sampleSummary({
			id: 'pdf-tools',
			name: 'pdf-tools',
			description: 'Fills forms. Adds up costs.',
			tags: ['acroform'],
			...PARTS
		})
	];
	await app.conversations.refresh();
	return render(Overlays, { app, onsearch: () => done.push('search'), onimport: () => done.push('import') });
}

type Screen = Awaited<ReturnType<typeof setup>>;

async function open(screen: Screen): Promise<void> {
	await userEvent.keyboard('{Control>}k{/Control}');
	await expect.element(screen.getByTestId('palette-input')).toHaveFocus();
}

const active = (screen: Screen): string | undefined =>
	screen
		.getByTestId('palette-item')
		.elements()
		.find((item) => item.ariaSelected === 'true')
		?.textContent.trim();

describe('the command palette', () => {
	test('closes the menu that is open, hears the keys, and gives the focus back to the menu’s button', async () => {
		const screen = await setup();
		const run = (): void => void done.push('menu');
		const menu = await render(Menu, {
			label: 'More',
			testid: 'more',
			items: () => [{ id: 'again', label: 'Again', icon: RotateCw, run }]
		});
		await menu.getByTestId('more').click();
		await expect.element(menu.getByTestId('again')).toBeVisible();
		await open(screen);
		await expect.element(menu.getByTestId('again')).not.toBeInTheDocument();
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('palette-input')).not.toBeInTheDocument();
		await expect.element(menu.getByTestId('more')).toHaveFocus();
		expect(done).toEqual([]);
	});

	test('a question closes the menu that is open as well', async () => {
		const menu = await render(Menu, {
			label: 'More',
			testid: 'more',
			items: () => [{ id: 'again', label: 'Again', icon: RotateCw, run: () => {} }]
		});
		await menu.getByTestId('more').click();
		await expect.element(menu.getByTestId('again')).toBeVisible();
		const question = await render(DeleteDialog, {
			title: 'Delete it?',
			description: 'It is gone.',
			ondelete: async () => {},
			onclose: () => {}
		});
		await expect.element(question.getByRole('dialog', { name: 'Delete it?' })).toBeVisible();
		await expect.element(menu.getByTestId('again')).not.toBeInTheDocument();
		await question.unmount();
	});

	test('is loaded and opened by Ctrl+K, also from a text field, and closed the same way', async () => {
		const screen = await setup();
		const field = document.body.appendChild(document.createElement('textarea'));
		field.focus();
		await open(screen);
		await userEvent.keyboard('{Control>}k{/Control}');
		await expect.element(screen.getByTestId('palette')).not.toBeInTheDocument();
		expect(document.activeElement).toBe(field);
		field.remove();
	});

	test('what is typed while it is loaded is for it, and not for the field below', async () => {
		const screen = await setup();
		const field = document.body.appendChild(document.createElement('textarea'));
		field.focus();
		const reached: string[] = [];
		field.addEventListener('keydown', ({ key }) => reached.push(key));
		app.overlay = 'palette';
		for (const key of ['h', 'o', 'l', 'Enter']) {
			const isFree = field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
			expect(isFree).toBe(false);
		}
		await expect.element(screen.getByTestId('palette-input')).toHaveValue('hol');
		expect(reached).toEqual([]);
		await expect.poll(() => active(screen)).toMatch(/^Holiday plans/);
		await userEvent.keyboard('{Escape}');
		await open(screen);
		await expect.element(screen.getByTestId('palette-input')).toHaveValue('');
		field.remove();
	});

	test('offers actions, conversations and pages before anything is typed', async () => {
		const screen = await setup();
		await open(screen);
		const groups = screen
			.getByRole('group')
			.elements()
			.map((group) => group.firstElementChild?.textContent);
		expect(groups).toEqual(['Actions', 'Chats', 'Pages']);
		expect(active(screen)).toMatch(/^New chat/);
	});

	test('F12: finds by a few letters, moves by keys, and Enter goes there; skills also by what they do and by their scripts, tools and example files, settings by their sections, runs by their text', async () => {
		const screen = await setup();
		await open(screen);
		await screen.getByTestId('palette-input').fill('qrep');
		await expect.poll(() => active(screen)).toMatch(/^Quarterly report/);
		await screen.getByTestId('palette-input').fill('pdf');
		const found = () =>
			screen
				.getByTestId('palette-item')
				.elements()
				.map(({ textContent }) => textContent.trim());
		await expect.poll(found).toEqual([
			expect.stringMatching(/^pdf-tools\s*Fills forms/),
			'Run pdf-tools',
			'Edit pdf-tools',
			'Evals of pdf-tools',
			expect.stringMatching(/^New chat with pdf-tools\s*Uses it/),
			// By the name of their skill, after it.
			expect.stringMatching(/^Run scripts\/stamp\.mjs\s*Script of pdf-tools/),
			expect.stringMatching(/^Run count_pages/),
			expect.stringMatching(/^examples\/order\.csv/),
			'Search runs for “pdf”'
		]);
		await userEvent.keyboard('{ArrowDown}');
		expect(active(screen)).toMatch(/^Run pdf-tools/);
		await userEvent.keyboard('{End}{ArrowDown}');
		expect(active(screen)).toMatch(/^pdf-tools/);
		await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}{ArrowDown}');
		expect(active(screen)).toMatch(/^New chat with pdf-tools/);
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => done).toEqual(['/?skill=pdf-tools']);
		await expect.element(screen.getByTestId('palette')).not.toBeInTheDocument();
		for (const [typed, label, place] of [
			['fills forms', /^pdf-tools/, '/skills/pdf-tools'],
			['acroform', /^pdf-tools/, '/skills/pdf-tools'],
			['stamp', /^Run scripts\/stamp\.mjs\s*Script of pdf-tools/, '/skills/pdf-tools#run?script=scripts%2Fstamp.mjs'],
			['count_p', /^Run count_pages\s*Tool of pdf-tools/, '/skills/pdf-tools#run?script=count_pages'],
			['order.csv', /^examples\/order\.csv/, '/skills/pdf-tools?file=examples%2Forder.csv#files'],
			['custom instr', /^Settings · Chats/, '/settings#chats'],
			['xyzzy & co', /^Search runs for “xyzzy & co”/, '/skills/executions?text=xyzzy%20%26%20co']
		] as const) {
			await open(screen);
			await screen.getByTestId('palette-input').fill(typed);
			await expect.poll(() => active(screen)).toMatch(label);
			await userEvent.keyboard('{Enter}');
			await expect.poll(() => done.at(-1)).toBe(place);
		}
	});

	test('F12: a skill whose name is typed whole, with spaces or hyphens, comes before chats about it', async () => {
		const screen = await setup();
		await server.changeConversation('a', { title: 'pdf tools' });
		await app.conversations.refresh();
		await open(screen);
		for (const typed of ['pdf tools', 'PDF-tools']) {
			await screen.getByTestId('palette-input').fill(typed);
			await expect.poll(() => active(screen)).toMatch(/^pdf-tools/);
		}
	});

	test('F12: finds what can be done with a skill by both their names, and pages and skills with a letter typed wrong', async () => {
		const screen = await setup();
		for (const [typed, label, place] of [
			['edit pdf', /^Edit pdf-tools/, '/skills/edit/pdf-tools'],
			['pdf edit', /^Edit pdf-tools/, '/skills/edit/pdf-tools'],
			['edit pdf-tols', /^Edit pdf-tools/, '/skills/edit/pdf-tools'],
			['files pdf', /^Files of pdf-tools/, '/skills/pdf-tools#files'],
			['run pdf', /^Run pdf-tools/, '/skills/pdf-tools#run'],
			['evals of pdf', /^Evals of pdf-tools/, '/skills/pdf-tools#evals'],
			['versions pdf', /^Versions of pdf-tools/, '/skills/pdf-tools#versions'],
			['instructions pdf', /^Instructions of pdf-tools/, '/skills/pdf-tools#instructions'],
			['failed', /^Failed runs/, '/skills/executions?status=failed'],
			['trsh', /^Trash/, '/trash'],
			['setings', /^Settings/, '/settings'],
			['pdf-tolos', /^pdf-tools/, '/skills/pdf-tools']
		] as const) {
			await open(screen);
			await screen.getByTestId('palette-input').fill(typed);
			await expect.poll(() => active(screen)).toMatch(label);
			await userEvent.keyboard('{Enter}');
			await expect.poll(() => done.at(-1)).toBe(place);
		}
	});

	test('F12: a skill’s whole name lists first what is done with it most, and what takes it away last', async () => {
		const screen = await setup();
		await open(screen);
		const found = () =>
			screen
				.getByTestId('palette-item')
				.elements()
				.map(({ textContent }) => textContent.trim());
		await screen.getByTestId('palette-input').fill('pdf-tools');
		await expect
			.poll(() => found().slice(0, 5))
			.toEqual([
				expect.stringMatching(/^pdf-tools/),
				expect.stringMatching(/^New chat with pdf-tools/),
				...['Edit pdf-tools', 'Run pdf-tools', 'Evals of pdf-tools']
			]);
		await screen.getByTestId('palette-input').fill('pdf save');
		await expect.poll(() => found()[0]).toBe('Export pdf-tools');
		await screen.getByTestId('palette-input').fill('pdf-tools o');
		await expect.poll(() => found().filter((each) => each.startsWith('Delete'))).toEqual([]);
	});

	test('F12: finds skills that are broken or off, marked and without a new chat, and turns skills off and on', async () => {
		const screen = await setup();
		const changeSkill = vi.fn(async (_id: string, _patch: unknown) => ({}) as never);
		client.changeSkill = changeSkill;
		client.listSkills = async () => ({ data: app.library.skills, totalPages: 1, revision: '2' }) as never;
		const diagnostics = [{ severity: 'error' as const, field: 'description', message: 'is missing' }];
		const torn = sampleSummary({ id: 'mine/torn', name: 'torn', status: 'broken', diagnostics });
		app.library.skills = [...app.library.skills, torn];
		await open(screen);
		await screen.getByTestId('palette-input').fill('torn');
		await expect.poll(() => active(screen)).toMatch(/^torn\s*The description is missing\.\s*Broken$/);
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => done.at(-1)).toBe('/skills/mine/torn');
		await open(screen);
		await screen.getByTestId('palette-input').fill('turn off pdf-tools');
		await expect.poll(() => active(screen)).toMatch(/^Turn off pdf-tools/);
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => changeSkill.mock.calls).toEqual([['pdf-tools', { mode: 'off' }]]);
		await expect.poll(() => app.toasts.list.at(-1)?.text).toBe('Turned off “pdf-tools”');
		app.library.skills = app.library.skills.map((skill) => ({ ...skill, mode: 'off' as const }));
		await open(screen);
		await screen.getByTestId('palette-input').fill('pdf-tools');
		await expect.poll(() => active(screen)).toMatch(/^pdf-tools\s*Fills forms.*Off$/);
		await expect.element(screen.getByText('New chat with pdf-tools')).not.toBeInTheDocument();
	});

	test('deletes a skill, which a notice brings back; what fails is said', async () => {
		const screen = await setup();
		const remove = async (): Promise<void> => {
			await open(screen);
			await screen.getByTestId('palette-input').fill('delete pdf');
			await expect.poll(() => active(screen)).toMatch(/^Delete pdf-tools/);
			await userEvent.keyboard('{Enter}');
		};
		const restored: string[] = [];
		const trashed = { id: 't1', skillId: 'pdf-tools', name: 'pdf-tools', version: null, path: '/skills/pdf-tools' };
		const times = { removedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-02-01T00:00:00.000Z' };
		client.removeSkill = async () => ({ ...trashed, ...times });
		client.restoreSkill = async (id) => {
			restored.push(id);
			return { ...trashed, ...times };
		};
		await remove();
		await expect.poll(() => app.toasts.list.map(({ text }) => text)).toEqual(['Deleted “pdf-tools”']);
		await app.toasts.list[0]?.action?.run();
		expect(restored).toEqual(['t1']);
		app.library.skills = [sampleSummary({ id: 'pdf-tools', name: 'pdf-tools' })];
		client.removeSkill = async () => Promise.reject(new Error('The disk is full.'));
		await remove();
		await expect.poll(() => app.toasts.list.at(-1)).toMatchObject({ isError: true });
	});

	test('F12: finds each program that can be connected, the keys, and the MCP servers', async () => {
		const screen = await setup();
		for (const [typed, label, place] of [
			['codex', /^Connect Codex/, '/connect#codex'],
			['api key', /^API keys/, '/connect#keys'],
			['mcp', /^MCP servers/, '/settings#mcp-servers'],
			['draft', /^Drafts/, '/skills/drafts'],
			['script time', /^Settings · Limits\s*Steps per reply/, '/settings#limits'],
			['time limit for scripts', /^Settings · Limits/, '/settings#limits'],
			['deleted', /^Trash/, '/trash'],
			['history', /^Runs/, '/skills/executions'],
			['create a skill', /^New skill/, '/skills/new'],
			['outdated', /^Skill updates/, '/skills/updates'],
			['cost', /^Settings · Limits/, '/settings#limits'],
			['upload', /^Install skills/, '/skills/install'],
			['evals', /^Evals of skills/, '/skills'],
			['versions', /^Versions of skills/, '/skills'],
			['network', /^Network of skills/, '/skills'],
			['sandbox', /^Runs/, '/skills/executions'],
			['language', /^Settings · Chats/, '/settings#chats'],
			['help', /^Keyboard shortcuts/, null],
			['dark mode', /^Theme: dark/, null],
			['dark', /^Theme: dark/, null]
		] as const) {
			await open(screen);
			await screen.getByTestId('palette-input').fill(typed);
			await expect.poll(() => active(screen)).toMatch(label);
			if (place === null) await userEvent.keyboard('{Escape}');
			else {
				await userEvent.keyboard('{Enter}');
				await expect.poll(() => done.at(-1)).toBe(place);
			}
		}
	});

	test('shows what the server finds in the text of conversations', async () => {
		const screen = await setup();
		server.all = [
			...server.all,
			sampleConversation('c', {
				title: 'Long ago',
				snippet: { text: 'the zebra crossing', messageId: 'm', matches: [] }
			})
		];
		await open(screen);
		await screen.getByTestId('palette-input').fill('zebra');
		await expect.element(screen.getByRole('option', { name: /^Long ago the zebra crossing/ })).toBeVisible();
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => done).toEqual(['/c/c#m-m']);
	});

	test('lists a chat once, with its time, though its title and its text match', async () => {
		const screen = await setup();
		const snippet = { text: 'holiday in the text', messageId: 'm', matches: [] };
		server.all = [
			sampleConversation('b', { title: 'Holiday plans', updatedAt: '2025-03-04T10:20:00.000Z', snippet }),
			sampleConversation('c', { title: 'Holiday plans', updatedAt: '2025-03-05T10:20:00.000Z', snippet })
		];
		await app.conversations.refresh();
		server.all = [...server.all, sampleConversation('d', { title: 'Elsewhere', snippet })];
		await open(screen);
		await screen.getByTestId('palette-input').fill('holiday');
		await expect
			.element(screen.getByRole('group', { name: 'Found in chats' }))
			.toMatchTextContent(/^\s*Found in chats\s+Elsewhere/);
		const times = screen
			.getByTestId('palette-item')
			.elements()
			.map((item) => item.querySelector('time')?.textContent);
		expect(times).toEqual([
			expect.stringContaining('Mar 4, 2025'),
			expect.stringContaining('Mar 5, 2025'),
			expect.any(String),
			// The search of runs.
			undefined
		]);
	});

	test('says when nothing matches', async () => {
		const screen = await setup();
		await open(screen);
		await screen.getByTestId('palette-input').fill('xyzzy');
		await expect.element(screen.getByTestId('palette-status')).toHaveTextContent('Nothing else found.');
		await expect.element(screen.getByTestId('palette-item')).toHaveTextContent('Search runs for “xyzzy”');
	});

	test('the field names the active option, as a combobox does', async () => {
		const screen = await setup();
		await open(screen);
		const input = screen.getByRole('combobox', { name: 'Command palette' });
		const id = input.element().getAttribute('aria-activedescendant') ?? '';
		expect(document.getElementById(id)?.ariaSelected).toBe('true');
		await expect
			.element(screen.getByRole('listbox'))
			.toHaveAttribute('id', input.element().getAttribute('aria-controls') ?? '');
	});

	test.each([
		['dark', 'Theme: dark', () => document.documentElement.dataset.theme, 'dark'],
		['hide', 'Toggle sidebar', () => String(app.sidebar.isHidden || app.sidebar.isDrawerOpen), 'true'],
		['import', 'Import chat', () => done.join(), 'import'],
		['search cha', 'Search chats', () => done.join(), 'search'],
		['runs', 'Runs', () => done.join(), '/skills/executions']
	])('%s does "%s"', async (typed, label, result, expected) => {
		const screen = await setup();
		await open(screen);
		await screen.getByTestId('palette-input').fill(typed);
		await screen.getByRole('option', { name: new RegExp(`^${label}`) }).click();
		await expect.poll(result).toBe(expected);
	});

	test('of a chat that is open, it exports, archives and deletes; of none, “delete” finds the trash', async () => {
		const screen = await setup();
		await open(screen);
		await screen.getByTestId('palette-input').fill('delete');
		await expect.poll(() => active(screen)).toMatch(/^Trash/);
		app.shownId = 'a';
		for (const [typed, label] of [
			['share', /^Export chat as Markdown/],
			['archive', /^Archive chat/],
			['delete', /^Delete chat/]
		] as const) {
			await screen.getByTestId('palette-input').fill(typed);
			await expect.poll(() => active(screen)).toMatch(label);
		}
		await userEvent.keyboard('{Enter}');
		await expect.poll(() => app.conversations.list.map(({ id }) => id)).toEqual(['b']);
	});

	test('Escape closes it, and nothing else hears of that', async () => {
		const screen = await setup();
		await open(screen);
		let heard = 0;
		const listen = (event: KeyboardEvent): void => void (event.key === 'Escape' && heard++);
		addEventListener('keydown', listen);
		await userEvent.keyboard('{Escape}');
		removeEventListener('keydown', listen);
		await expect.element(screen.getByTestId('palette')).not.toBeInTheDocument();
		expect(heard).toBe(0);
	});
});

describe('shortcuts', () => {
	test('Ctrl+/ and ? list them all; ? in a text field is a letter', async () => {
		const screen = await setup();
		await userEvent.keyboard('?');
		await expect.element(screen.getByRole('heading', { name: 'Keyboard shortcuts' })).toBeVisible();
		await expect.element(screen.getByText('Search chats')).toBeVisible();
		await screen.getByTestId('close-shortcuts').click();
		await expect.element(screen.getByTestId('shortcuts-dialog')).not.toBeInTheDocument();
		const field = document.body.appendChild(document.createElement('textarea'));
		field.focus();
		await userEvent.keyboard('?');
		expect(field.value).toBe('?');
		expect(app.overlay).toBeNull();
		await userEvent.keyboard('{Control>}/{/Control}');
		await expect.element(screen.getByTestId('shortcuts-dialog')).toBeVisible();
		field.remove();
	});

	test('Ctrl+Shift+O begins a chat, Ctrl+Shift+F searches, Ctrl+B shows or hides the sidebar', async () => {
		await setup();
		await userEvent.keyboard('{Control>}{Shift>}o{/Shift}{/Control}');
		await userEvent.keyboard('{Control>}{Shift>}f{/Shift}{/Control}');
		expect(done).toEqual(['/', 'search']);
		const before = [app.sidebar.isHidden, app.sidebar.isDrawerOpen];
		await userEvent.keyboard('{Control>}b{/Control}');
		expect([app.sidebar.isHidden, app.sidebar.isDrawerOpen]).not.toEqual(before);
	});

	test('none is heard while a question is open', async () => {
		await setup();
		const question = { title: 'Delete it?', description: 'For good.', ondelete: async () => {}, onclose: () => {} };
		const dialog = await render(DeleteDialog, question);
		await expect.element(dialog.getByRole('dialog', { name: 'Delete it?' })).toBeVisible();
		await userEvent.keyboard('{Control>}k{/Control}');
		await userEvent.keyboard('?');
		expect(app.overlay).toBeNull();
	});
});

test('after an action of the palette the focus is where one writes, if nothing had it before', async () => {
	const screen = await setup();
	const input = document.createElement('textarea');
	input.dataset['testid'] = 'composer-input';
	document.body.append(input);
	try {
		expect(document.activeElement).toBe(document.body);
		await open(screen);
		await userEvent.keyboard('theme: dark{Enter}');
		await expect.poll(() => app.theme.current).toBe('dark');
		await expect.poll(() => document.activeElement).toBe(input);
	} finally {
		input.remove();
	}
});
