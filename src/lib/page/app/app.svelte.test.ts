import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeClient, type FakeClient } from '../../../../tests/support/fake-client.ts';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import { createFakeServices, type FakeServices } from '../../../../tests/support/fake-services.ts';
import type { ConversationDetail, ConversationSummary } from '../../shared/api.ts';
import { ChatApp, pageTitle } from './app.svelte.ts';

let client: FakeClient;
let server: FakeConversations;
let services: FakeServices;
let visited: string[];
let app: ChatApp;

beforeEach(async () => {
	localStorage.clear();
	sessionStorage.clear();
	client = createFakeClient();
	server = createFakeConversations([
		sampleConversation('a', { title: 'Plans', activeRunId: 'run-a' }),
		sampleConversation('b', { title: 'Notes', activeRunId: 'run-b' })
	]);
	services = createFakeServices();
	visited = [];
	app = new ChatApp(client, undefined, { conversations: server, services, go: (path) => void visited.push(path) });
	await app.conversations.refresh();
});

afterEach(() => app.conversations.dispose());

const notices = (): string[] => app.toasts.list.map(({ text }) => text);

describe('an answer that ends where nobody looks', () => {
	test('is told once, with the way there', async () => {
		app.show('b');
		server.all = [
			sampleConversation('a', { title: 'Plans', isUnread: true }),
			sampleConversation('b', { title: 'Notes', isUnread: true })
		];
		await app.conversations.refresh();
		await expect.poll(notices).toEqual(['“Plans” is ready']);
		await app.conversations.refresh();
		expect(notices()).toEqual(['“Plans” is ready']);
		expect(app.pageTitle('Notes')).toBe('(1) Notes · OpenRouter Skills');
		await app.toasts.list[0]?.action?.run();
		expect(visited).toEqual(['/c/a']);
	});

	test('but began on this page, which has no address yet, is no news', async () => {
		app.begin('a');
		server.all = [sampleConversation('a', { isUnread: true }), sampleConversation('b', { activeRunId: 'run-b' })];
		await app.conversations.refresh();
		expect(notices()).toEqual([]);
		app.show(null);
		server.all = [sampleConversation('a'), sampleConversation('b', { isUnread: true })];
		await app.conversations.refresh();
		await expect.poll(notices).toEqual(['“Title of b” is ready']);
	});

	test('and waits for consent says that', async () => {
		server.all = [sampleConversation('a', { title: 'Plans', isUnread: true, isWaiting: true })];
		await app.conversations.refresh();
		await expect.poll(notices).toEqual(['“Plans” needs your approval']);
	});

	test('but was seen in another tab is no news', async () => {
		server.all = [sampleConversation('a'), sampleConversation('b', { activeRunId: 'run-b' })];
		await app.conversations.refresh();
		await app.conversations.refresh();
		expect(notices()).toEqual([]);
	});
});

const detailOf = (summary: ConversationSummary): ConversationDetail => ({
	...summary,
	...{ messages: [], hasEarlier: false, alternatives: {}, queue: [], cursor: 0 },
	...{ usage: null, model: null, effort: null }
});

test('an answer is read only while its conversation is on the page', async () => {
	client.conversation = detailOf(sampleConversation('a', { isUnread: true }));
	app.open('a');
	await expect.poll(() => app.session?.phase).toBe('ready');
	expect(services.changes).toEqual([]);
	app.show('a');
	await expect.poll(() => services.changes).toEqual([{ isUnread: false }]);
});

describe('a new conversation', () => {
	test('that the page before this one has begun is opened', async () => {
		sessionStorage.setItem('new-conversation', 'a');
		client.conversation = detailOf(sampleConversation('a'));
		app.openNew();
		expect(app.session?.phase).toBe('new');
		const stop = app.start();
		await expect.poll(() => app.session?.phase).toBe('ready');
		expect(app.session?.id).toBe('a');
		stop();
	});

	test('stays what it is when a copy of this tab begins the same one', async () => {
		const other = new ChatApp(client, undefined, { conversations: server, services });
		other.openNew();
		const stop = other.start();
		await expect.poll(() => other.conversations.active.isLoaded).toBe(true);
		const id = other.session?.id ?? '';
		server.all = [sampleConversation(id), ...server.all];
		await other.conversations.refresh();
		expect(other.conversations.find(id)).toBeDefined();
		expect(other.session?.phase).toBe('new');
		stop();
	});
});

test('parts of the page that did not load are told once, with the way out', () => {
	for (let part = 0; part < 4; part++) app.tellMissingPart();
	expect(app.toasts.list).toMatchObject([
		{ text: 'Part of the page didn’t load.', isError: true, action: { label: 'Reload' } }
	]);
});

const quiet = { isWaiting: false, isRunning: false, unreadCount: 0 };

test.each([
	['Plans · OpenRouter Skills', 'Plans', quiet],
	['OpenRouter Skills', '', quiet],
	['… Plans · OpenRouter Skills', 'Plans', { ...quiet, isRunning: true }],
	['(2) Plans · OpenRouter Skills', 'Plans', { ...quiet, isRunning: true, unreadCount: 2 }],
	['(!) Plans · OpenRouter Skills', 'Plans', { isWaiting: true, isRunning: true, unreadCount: 2 }],
	['(1) OpenRouter Skills', '', { ...quiet, unreadCount: 1 }]
])('%s', (title, name, state) => {
	expect(pageTitle(name, state)).toBe(title);
});
