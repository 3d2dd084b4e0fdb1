import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
	createFakeConversations,
	sampleConversation,
	type FakeConversations
} from '../../../../tests/support/fake-conversations.ts';
import { ApiError } from '../request.ts';
import { Conversations } from './conversations.svelte.ts';

let server: FakeConversations;
let shown: string | null;
let told: string[];
let conversations: Conversations;

beforeEach(async () => {
	server = createFakeConversations([sampleConversation('a'), sampleConversation('b')]);
	shown = null;
	told = [];
	conversations = new Conversations(server, {
		isShown: (id) => id === shown,
		onended: (id, runId) => told.push(`${runId} of ${id}`),
		onchange: () => told.push('changed')
	});
	await conversations.refresh();
});

const ids = (): string => conversations.list.map(({ id }) => id).join();
const broken = new ApiError('unavailable', 'Not now.');

describe('what is changed is seen at once, and as before when the server refuses', () => {
	test('a title', async () => {
		server.failures.push(broken);
		const renaming = conversations.rename('a', 'Plans');
		expect(conversations.find('a')?.title).toBe('Plans');
		await expect(renaming).rejects.toThrow('Not now.');
		expect(conversations.find('a')?.title).toBe('Title of a');
		await conversations.rename('a', 'Plans');
		expect(server.calls.at(-1)).toEqual(['patch', 'a', { title: 'Plans' }]);
		expect(told).toEqual(['changed']);
	});

	test('a pin', async () => {
		server.failures.push(broken);
		await expect(conversations.pin('b', true)).rejects.toThrow('Not now.');
		expect(conversations.find('b')?.isPinned).toBe(false);
		await conversations.pin('b', true);
		expect(conversations.find('b')?.isPinned).toBe(true);
	});

	test('a deletion: it is gone while the server is asked, whatever is read meanwhile', async () => {
		const removal = conversations.remove('a');
		expect(ids()).toBe('b');
		await Promise.all([conversations.refresh(), removal]);
		expect(ids()).toBe('b');
		expect(conversations.active.total).toBe(1);
		server.failures.push(broken);
		await expect(conversations.remove('b')).rejects.toThrow('Not now.');
		expect(ids()).toBe('b');
	});

	test('a deletion that is taken back', async () => {
		await conversations.remove('a');
		await conversations.restore('a');
		expect(ids()).toBe('b,a');
	});

	test('the archive: from one list to the other and back', async () => {
		await conversations.openArchive();
		await conversations.archive('a', true);
		expect(ids()).toBe('b');
		expect(conversations.archived.list.map(({ id }) => id)).toEqual(['a']);
		await conversations.archive('a', false);
		expect(ids()).toBe('a,b');
		expect(conversations.archived.list).toEqual([]);
	});
});

describe('runs', () => {
	test('a new conversation comes first with its first run; a pinned one stays where it is', () => {
		conversations.runStarted('new', 'r', 'Hello');
		expect(ids()).toBe('new,a,b');
		expect(conversations.find('new')).toMatchObject({ title: 'Hello', activeRunId: 'r', isUnread: false });
		conversations.active.change('b', { isPinned: true });
		conversations.runStarted('b', 'r2', 'Ignored');
		expect(ids()).toBe('new,a,b');
	});

	test('one that ends where nobody looks is told once; one on the page is not', async () => {
		server.all = [sampleConversation('a', { activeRunId: 'r1' }), sampleConversation('b', { activeRunId: 'r2' })];
		await conversations.refresh();
		shown = 'b';
		server.all = [sampleConversation('a', { isUnread: true }), sampleConversation('b', { isUnread: true })];
		await conversations.refresh();
		await conversations.refresh();
		expect(told).toEqual(['r1 of a']);
		expect(conversations.unreadCount).toBe(1);
		conversations.dispose();
	});

	test('one that was followed here and then left is told as well', async () => {
		conversations.runStarted('a', 'r1', '');
		server.all = [sampleConversation('a', { isUnread: true })];
		conversations.runEnded('a');
		await expect.poll(() => told).toContain('r1 of a');
		expect(told.filter((line) => line === 'r1 of a')).toHaveLength(1);
	});

	test('one that ended on the page is no news to whoever leaves at once', async () => {
		conversations.runStarted('a', 'r1', '');
		server.all = [sampleConversation('a', { isUnread: true })];
		shown = 'a';
		conversations.runEnded('a');
		shown = null;
		await expect.poll(() => conversations.find('a')?.isUnread).toBe(true);
		await conversations.refresh();
		expect(told).not.toContain('r1 of a');
	});

	test('one that was begun here and is not followed any more is looked after', async () => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
		try {
			conversations.runStarted('a', 'r1', '');
			server.all = [sampleConversation('a', { isUnread: true })];
			await vi.runOnlyPendingTimersAsync();
			expect(told).toContain('r1 of a');
			expect(conversations.find('a')?.activeRunId).toBeNull();
		} finally {
			conversations.dispose();
			vi.useRealTimers();
		}
	});

	test('a conversation that waits is marked until it goes on', async () => {
		server.all = [sampleConversation('a', { isWaiting: true })];
		await conversations.refresh();
		expect(conversations.find('a')?.isWaiting).toBe(true);
		conversations.runStarted('a', 'r', '');
		expect(conversations.find('a')?.isWaiting).toBe(false);
	});

	test('what was seen is not unread any more', async () => {
		server.all = [sampleConversation('a', { isUnread: true })];
		await conversations.refresh();
		expect(conversations.unreadCount).toBe(1);
		conversations.seen('a');
		expect(conversations.unreadCount).toBe(0);
	});
});

test('the list grows page by page, and keeps its length when it is read again', async () => {
	server.all = Array.from({ length: 120 }, (_, index) => sampleConversation(`c${index}`));
	await conversations.refresh();
	expect(conversations.list).toHaveLength(50);
	await conversations.active.showMore();
	await conversations.refresh();
	expect(conversations.list).toHaveLength(100);
	expect(conversations.active.hasMore).toBe(true);
	await conversations.active.showMore();
	expect(conversations.active.hasMore).toBe(false);
});
