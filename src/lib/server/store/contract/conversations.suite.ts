/** Contract tests for conversations, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench, events, startOf } from './fixtures.suite.ts';
import type { Store } from '../store.ts';

export function testConversations(bench: () => Bench): void {
	describe('conversations', () => {
		let store: Store;
		beforeEach(() => {
			({ store } = bench());
		});

		test('a conversation is created once; the same id again is a conflict', async () => {
			const created = await store.conversations.create({ id: 'c1', title: 'Plans', createdAt: at(1) });
			expect(created).toEqual({
				...{ id: 'c1', title: 'Plans', createdAt: at(1), updatedAt: at(1), activeRunId: null },
				...{ isPinned: false, isArchived: false, isUnread: false, isWaiting: false }
			});
			expect(await store.conversations.get('c1')).toEqual(created);
			await expect(store.conversations.create({ id: 'c1', title: 'Other', createdAt: at(2) })).rejects.toMatchObject({
				name: 'AppError',
				code: 'conflict'
			});
			expect(await store.conversations.get('c1')).toEqual(created);
		});

		test('what does not exist is null or false', async () => {
			expect(await store.conversations.get('nobody')).toBeNull();
			expect(await store.conversations.rename('nobody', 'x', at(1))).toBe(false);
			expect(await store.conversations.touch('nobody', at(1))).toBe(false);
			expect(await store.conversations.remove('nobody')).toBe(false);
			expect(await store.conversations.list({ page: 1, limit: 10 })).toEqual({ data: [], total: 0 });
		});

		test('rename and touch move a conversation to the top of the list', async () => {
			await createMany(['a', 'b', 'c']);
			expect(await store.conversations.rename('a', 'Renamed', at(50))).toBe(true);
			expect(await store.conversations.touch('b', at(60))).toBe(true);
			const { data } = await store.conversations.list({ page: 1, limit: 10 });
			expect(data.map(({ id, title }) => [id, title])).toEqual([
				['b', 'b'],
				['a', 'Renamed'],
				['c', 'c']
			]);
		});

		test('one without a title is listed once it has a message', async () => {
			await store.conversations.create({ id: 'c1', title: '', createdAt: at(1) });
			expect(await store.conversations.list({ page: 1, limit: 10 })).toEqual({ data: [], total: 0 });
			expect(await store.conversations.get('c1')).toMatchObject({ title: '' });
			const start = startOf('r1');
			await store.runs.start({ ...start, conversation: { ...start.conversation, title: 'Plans', placeholder: 'New' } });
			const { data, total } = await store.conversations.list({ page: 1, limit: 10 });
			expect([data.map(({ title }) => title), total]).toEqual([['Plans'], 1]);
		});

		test('pages follow each other without a gap or a repeat, even where the times are equal', async () => {
			const ids = ['a', 'b', 'c', 'd', 'e'];
			for (const id of ids) await store.conversations.create({ id, title: id, createdAt: at(1) });
			const pages = await Promise.all([1, 2, 3, 4].map((page) => store.conversations.list({ page, limit: 2 })));
			expect(pages.map(({ data }) => data.map(({ id }) => id))).toEqual([['e', 'd'], ['c', 'b'], ['a'], []]);
			expect(pages.map(({ total }) => total)).toEqual([5, 5, 5, 5]);
		});

		test('search finds a part of the title in any case, beyond ASCII too', async () => {
			await createMany(['Über den Fluss', 'ÜBERSICHT', 'Uhr']);
			expect(await titlesFor('über')).toEqual(['ÜBERSICHT', 'Über den Fluss']);
			expect(await titlesFor('FLUSS')).toEqual(['Über den Fluss']);
			expect(await titlesFor('')).toHaveLength(3);
		});

		test.each(['100% sure', 'snake_case', 'now!', 'back\\slash', "it's"])(
			'search takes %s for itself, not for a pattern',
			async (title) => {
				await createMany([title, '100 and sure', 'snakeXcase', 'now', 'backslash', 'its']);
				expect(await titlesFor(title)).toEqual([title]);
			}
		);

		test('search counts what matches, not what is on the page', async () => {
			await createMany(['tea 1', 'coffee', 'tea 2', 'tea 3']);
			const found = await store.conversations.list({ page: 2, limit: 2, query: 'tea' });
			expect(found).toMatchObject({ data: [{ title: 'tea 1' }], total: 3 });
		});

		test('a title keeps its emoji, loses NUL, and shows a lone surrogate as U+FFFD', async () => {
			await store.conversations.create({ id: 'c1', title: 'a\0b 👩‍🚀 \ud800!', createdAt: at(1) });
			expect((await store.conversations.get('c1'))?.title).toBe('ab 👩‍🚀 \ufffd!');
			await store.conversations.rename('c1', 'nul\0 \udc00', at(2));
			expect((await store.conversations.get('c1'))?.title).toBe('nul \ufffd');
			expect(await titlesFor('n\0ul')).toEqual(['nul \ufffd']);
		});

		test('deleting a conversation deletes its messages, runs and events, and nobody else’s', async () => {
			for (const conversationId of ['c1', 'c2']) {
				await store.runs.start(startOf(`run-${conversationId}`, { conversationId }));
				await store.runs.appendEvents(`run-${conversationId}`, events(1, 3));
			}
			expect(await store.conversations.remove('c1')).toBe(true);
			expect(await store.messages.list('c1')).toEqual([]);
			expect(await store.runs.get('run-c1')).toBeNull();
			expect(await store.runs.readEvents('run-c1', { after: 0, limit: 10 })).toEqual([]);
			expect(await store.runs.appendEvents('run-c1', events(4, 1))).toBe(false);
			expect(await store.messages.list('c2')).toHaveLength(2);
			expect(await store.runs.readEvents('run-c2', { after: 0, limit: 10 })).toHaveLength(3);
		});

		async function createMany(titles: string[]): Promise<void> {
			for (const [index, title] of titles.entries()) {
				await store.conversations.create({ id: title, title, createdAt: at(index + 1) });
			}
		}

		async function titlesFor(query: string): Promise<string[]> {
			const { data } = await store.conversations.list({ page: 1, limit: 10, query });
			return data.map(({ title }) => title);
		}
	});
}
