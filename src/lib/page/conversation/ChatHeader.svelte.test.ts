import { beforeEach, describe, expect, test } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { page, userEvent } from 'vitest/browser';
import { createFakeClient } from '../../../../tests/support/fake-client.ts';
import { createFakeServices } from '../../../../tests/support/fake-services.ts';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import '../../../app.css';
import { ApiError } from '../request.ts';
import { ChatApp } from '../app/app.svelte.ts';
import { emptyAnswer } from '../../shared/message.ts';
import ChatHeaderInApp from '../../../../tests/support/ChatHeaderInApp.svelte';

let server: FakeConversations;
let app: ChatApp;
let visited: string[];

beforeEach(async () => {
	await page.viewport(1280, 800);
	localStorage.clear();
	sessionStorage.clear();
});

async function setup({ isRead = true } = {}) {
	const client = createFakeClient();
	if (!isRead) client.getConversation = () => new Promise(() => undefined);
	const summary = sampleConversation('a', { title: 'Plans\u202e' });
	const message = {
		...emptyAnswer('m', 'r', ''),
		status: 'complete' as const,
		context: { limit: 1000, messages: 600, skills: 100, results: 0, catalog: 0, tools: 0, system: 0 }
	};
	client.conversation = {
		...summary,
		...{ messages: [message], hasEarlier: false, alternatives: {}, queue: [], cursor: 0, model: null, effort: null },
		usage: { inputTokens: 1, outputTokens: 1, cost: 0.25 }
	};
	server = createFakeConversations([summary]);
	visited = [];
	app = new ChatApp(client, undefined, {
		conversations: server,
		services: createFakeServices(),
		go: (path) => void visited.push(path)
	});
	app.show('a');
	await app.conversations.refresh();
	app.open('a');
	await expect.poll(() => app.session?.phase).toBe(isRead ? 'ready' : 'loading');
	if (!app.session) throw new Error('no session');
	return render(ChatHeaderInApp, { app, session: app.session });
}

describe('the title', () => {
	test('is edited while the chat is still being read, so that what is typed then goes nowhere else', async () => {
		const screen = await setup({ isRead: false });
		await userEvent.keyboard('{F2}');
		await screen.getByTestId('rename-input').fill('Better plans');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('chat-title')).toHaveTextContent('Better plans');
	});

	test.each([
		[
			'a double click',
			async (screen: Awaited<ReturnType<typeof setup>>) => screen.getByTestId('chat-title').dblClick()
		],
		['its button', async (screen: Awaited<ReturnType<typeof setup>>) => screen.getByTestId('rename-title').click()],
		['F2', async () => userEvent.keyboard('{F2}')],
		[
			'the menu',
			async (screen: Awaited<ReturnType<typeof setup>>) => {
				await screen.getByTestId('chat-menu').click();
				await screen.getByTestId('conversation-rename').click();
			}
		]
	])('is edited in its place after %s', async (_name, begin) => {
		const screen = await setup();
		await expect.element(screen.getByTestId('chat-title')).toHaveTextContent('Plans⟨U+202E⟩');
		await begin(screen);
		await screen.getByTestId('rename-input').fill('Better plans');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByTestId('chat-title')).toHaveTextContent('Better plans');
		expect(app.conversations.find('a')?.title).toBe('Better plans');
	});

	test('stays when the server does not take another', async () => {
		const screen = await setup();
		server.failures.push(new ApiError('unavailable', 'Not now.'));
		await screen.getByTestId('rename-title').click();
		await screen.getByTestId('rename-input').fill('Better plans');
		await userEvent.keyboard('{Enter}');
		await expect.element(screen.getByRole('alert')).toHaveTextContent('Not now.');
		await userEvent.keyboard('{Escape}');
		await expect.element(screen.getByTestId('chat-title')).toHaveTextContent('Plans⟨U+202E⟩');
	});

	test('takes no focus from whoever writes somewhere else when it is saved', async () => {
		const screen = await setup();
		const saved = Promise.withResolvers<void>();
		const { changeConversation } = server;
		server.changeConversation = async (...change) => {
			await saved.promise;
			return changeConversation(...change);
		};
		await screen.getByTestId('rename-title').click();
		await screen.getByTestId('rename-input').fill('Better plans');
		await userEvent.keyboard('{Enter}');
		const elsewhere = document.body.appendChild(document.createElement('textarea'));
		elsewhere.focus();
		saved.resolve();
		await expect.element(screen.getByTestId('rename-input')).not.toBeInTheDocument();
		await expect.element(screen.getByTestId('rename-title')).toBeVisible();
		expect(document.activeElement).toBe(elsewhere);
		elsewhere.remove();
	});
});

test('the menu does with the open conversation what the list does', async () => {
	const screen = await setup();
	await screen.getByTestId('chat-menu').click();
	await expect.element(screen.getByRole('menu')).toBeVisible();
	const items = screen
		.getByRole('menuitem')
		.elements()
		.map((item) => item.textContent.trim());
	expect(items).toEqual([
		'Rename',
		'Pin',
		'Archive',
		'Save as skill',
		'Copy as Markdown',
		'Export as Markdown',
		'Export as JSON',
		'Delete'
	]);
	await screen.getByTestId('conversation-delete').click();
	await expect.poll(() => visited).toEqual(['/']);
	await expect.poll(() => server.all).toEqual([]);
});

test('the ring says how full the context is, and what the conversation has cost', async () => {
	const screen = await setup();
	await expect.element(screen.getByRole('button', { name: 'Context: 700 / 1.0k' })).toBeInTheDocument();
	await screen.getByTestId('context-ring').click();
	await expect.element(screen.getByTestId('context-panel')).toMatchTextContent(/70 % of context used/);
	await expect.element(screen.getByTestId('context-panel')).toMatchTextContent(/Chat cost: \$0\.25/);
});

test('a new chat is one tap away where the sidebar is out of sight', async () => {
	const screen = await setup();
	const link = screen.getByRole('link', { name: 'New chat' });
	await expect.element(link).not.toBeInTheDocument();
	await page.viewport(390, 844);
	await expect.element(link).toHaveAttribute('href', '/');
	await page.viewport(1280, 800);
	app.sidebar.toggle();
	await expect.element(link).toBeVisible();
});
