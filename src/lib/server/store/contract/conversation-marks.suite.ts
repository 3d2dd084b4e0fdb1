/** Contract tests for pinned, archived, unread and deleted conversations, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench, events, question, startOf } from './fixtures.suite.ts';
import type { ConversationMarks } from '../chat/conversations.ts';
import type { RunFinish } from '../chat/store-runs.ts';
import type { Store } from '../store.ts';

const NONE = { model: null, effort: null };

export function testConversationMarks(bench: () => Bench): void {
	describe('what people make of conversations', () => {
		let store: Store;
		beforeEach(async () => {
			({ store } = bench());
			for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
				await store.conversations.create({ id, title: id, createdAt: at(index + 1) });
			}
		});
		const ids = async (isArchived = false): Promise<string[]> =>
			(await store.conversations.list({ page: 1, limit: 10, isArchived })).data.map(({ id }) => id);

		test('pinned ones come first, the newest pin before the others, and pinning again keeps the place', async () => {
			await store.conversations.change('a', { isPinned: true }, at(10));
			await store.conversations.change('b', { isPinned: true }, at(11));
			await store.conversations.change('a', { isPinned: true }, at(12));
			expect(await ids()).toEqual(['b', 'a', 'd', 'c']);
			await store.conversations.change('b', { isPinned: false }, at(13));
			expect(await ids()).toEqual(['a', 'd', 'c', 'b']);
			expect(await store.conversations.get('a')).toMatchObject({ isPinned: true, isArchived: false });
		});

		test('archived ones are listed only where they are asked for, and counted there', async () => {
			await store.conversations.change('c', { isArchived: true }, at(10));
			expect([await ids(), await ids(true)]).toEqual([['d', 'b', 'a'], ['c']]);
			expect((await store.conversations.list({ page: 1, limit: 1 })).total).toBe(3);
			expect(await store.conversations.get('c')).toMatchObject({ isArchived: true });
		});

		test('no mark makes a conversation newer; a change of nothing still says whether it is there', async () => {
			const marks = { isPinned: false, isArchived: false, isUnread: true, model: 'm/y', effort: 'low' } as const;
			expect(await store.conversations.change('a', marks, at(30))).toBe(true);
			expect(await store.conversations.get('a')).toMatchObject({ updatedAt: at(1), isUnread: true });
			expect(await store.runs.choiceOf('a')).toEqual({ model: 'm/y', effort: 'low' });
			await store.conversations.change('a', { model: null }, at(31));
			expect(await store.runs.choiceOf('a')).toEqual({ model: null, effort: 'low' });
			expect(await store.conversations.change('a', {}, at(31))).toBe(true);
			expect(await store.conversations.change('nobody', {}, at(31))).toBe(false);
			expect(await store.conversations.change('nobody', { isPinned: true }, at(31))).toBe(false);
		});

		test('F12: those that were opened in an editor are listed by their folder, whatever signs are in it', async () => {
			const folders = { a: '/home/ann/100%_a', b: '/home/ann/100x-a', c: 'C:\\work', d: '/home/ann/"quoted"' };
			for (const [id, folder] of Object.entries(folders)) {
				expect(await store.conversations.change(id, { folder }, at(30))).toBe(true);
				if (id !== 'd') await store.messages.append(id, question(`${id}-1`));
			}
			const listed = async (folder?: string) => {
				const found = await store.conversations.listInFolder({ page: 1, limit: 10, ...(folder && { folder }) });
				return found.map((each) => `${each.id} ${each.folder}`);
			};
			expect(await listed('/home/ann/100%_a')).toEqual(['a /home/ann/100%_a']);
			expect(await listed('C:\\work')).toEqual(['c C:\\work']);
			expect(await listed('/HOME/ann/100x-a')).toEqual([]);
			// One without a message isn't listed.
			expect(await listed('/home/ann/"quoted"')).toEqual([]);
			expect((await listed()).map((each) => each[0])).toEqual(['c', 'b', 'a']);
			expect(await store.runs.choiceOf('a')).toEqual({ ...NONE, folder: folders.a });
		});

		test('instructions of a chat are kept beside its model, and are gone with null or nothing', async () => {
			const choose = async (choices: ConversationMarks) => {
				await store.conversations.change('a', choices, at(30));
				return store.runs.choiceOf('a');
			};
			expect(await choose({ instructions: 'Be “brief”.' })).toEqual({ ...NONE, instructions: 'Be “brief”.' });
			expect(await choose({ model: 'm/y' })).toEqual({ ...NONE, model: 'm/y', instructions: 'Be “brief”.' });
			expect(await choose({ instructions: '' })).toEqual({ ...NONE, model: 'm/y' });
			await bench().db.updateTable('conversations').set({ choices: '{"instructions":7,"newer":[1]}' }).execute();
			expect(await choose({ model: null })).toEqual(NONE);
		});

		test('web tools of a chat are kept, none of them too; null gives them back', async () => {
			const choose = async (choices: ConversationMarks) => {
				await store.conversations.change('a', choices, at(30));
				return store.runs.choiceOf('a');
			};
			expect(await choose({ web: ['search', 'date'] })).toEqual({ ...NONE, web: ['search', 'date'] });
			expect(await choose({ web: [] })).toEqual({ ...NONE, web: [] });
			expect(await choose({ web: null })).toEqual(NONE);
		});

		test.each([
			['success', true],
			['failed', true],
			['interrupted', true],
			['waiting', true],
			['cancelled', false]
		] satisfies [RunFinish['state'], boolean][])(
			'a run that ends with %s leaves it unread: %s',
			async (state, isUnread) => {
				await store.runs.start(startOf('r1', { conversationId: 'a' }));
				expect(await store.conversations.get('a')).toMatchObject({ isUnread: false });
				await store.runs.finish('r1', { state, finishedAt: at(20), events: events(1, 1) });
				expect(await store.conversations.get('a')).toMatchObject({ isUnread });
				expect(await store.conversations.get('b')).toMatchObject({ isUnread: false });
			}
		);

		test('what is deleted counts as not there, for runs as well, until it is restored as it was', async () => {
			await store.runs.start(startOf('r1', { conversationId: 'a' }));
			const before = await store.conversations.get('a');
			expect(await store.conversations.markDeleted('a', at(20))).toEqual({ runIds: ['r1'] });
			expect(await store.conversations.markDeleted('a', at(21))).toBeNull();
			expect(await store.conversations.markDeleted('nobody', at(21))).toBeNull();
			expect(await store.conversations.get('a')).toBeNull();
			expect(await store.runs.get('r1')).toBeNull();
			expect(await ids()).toEqual(['d', 'c', 'b']);
			expect(await store.conversations.rename('a', 'x', at(22))).toBe(false);
			expect(await store.conversations.change('a', { isPinned: true }, at(22))).toBe(false);
			const waiting = { id: 'q', text: 'x', files: [], createdAt: at(22) };
			await expect(store.queue.add('a', waiting)).rejects.toMatchObject({ code: 'not_found' });

			expect(await store.conversations.restore('a')).toBe(true);
			expect(await store.conversations.restore('a')).toBe(true);
			expect(await store.conversations.get('a')).toEqual(before);
			expect(await store.runs.get('r1')).toMatchObject({ state: 'running' });
			expect(await store.conversations.restore('nobody')).toBe(false);
		});

		test('a deleted id is taken: neither a new conversation nor a run can have it, and both say why', async () => {
			await store.conversations.markDeleted('a', at(20));
			const refusal = { code: 'conflict', message: expect.stringContaining('was deleted. Restore it') };
			await expect(store.conversations.create({ id: 'a', title: 'x', createdAt: at(21) })).rejects.toMatchObject(
				refusal
			);
			await expect(store.runs.start(startOf('r1', { conversationId: 'a' }))).rejects.toMatchObject(refusal);
			await store.conversations.restore('a');
			expect(await store.messages.list('a')).toEqual([]);
			expect(await store.runs.start(startOf('r1', { conversationId: 'a' }))).toMatchObject({ outcome: 'started' });
		});

		test('what was deleted long ago is claimed, again each time until it is removed, and cannot be restored then', async () => {
			await store.conversations.markDeleted('a', at(20));
			await store.conversations.markDeleted('b', at(30));
			expect(await store.conversations.claimDeleted(at(19), 's1')).toEqual([]);
			const listed = async () => (await store.conversations.listDeleted({ page: 1, limit: 9 })).data;
			expect(await listed()).toEqual([
				{ id: 'b', title: 'b', deletedAt: at(30) },
				{ id: 'a', title: 'a', deletedAt: at(20) }
			]);
			expect(await store.conversations.claimDeleted(at(40), 's1', 'nobody')).toEqual([]);
			expect(await store.conversations.claimDeleted(at(40), 's1', 'c')).toEqual([]);
			expect(await store.conversations.claimDeleted(at(20), 's1')).toEqual(['a']);
			expect(await store.conversations.restore('a')).toBe(false);
			expect((await listed()).map(({ id }) => id)).toEqual(['b']);
			expect(await store.conversations.claimDeleted(at(20), 's1')).toEqual(['a']);
			expect(await store.conversations.remove('a')).toBe(true);
			expect(await store.conversations.claimDeleted(at(20), 's1')).toEqual([]);
			expect(await store.conversations.restore('b')).toBe(true);
		});

		test('a conversation is filled with more messages than one statement takes, and read in pieces', async () => {
			const messages = Array.from({ length: 1200 }, (_, index) => ({
				...question(`m${index}`),
				parentId: index === 0 ? null : `m${index - 1}`
			}));
			await store.messages.fill('a', messages, 'm1199');
			expect(await store.messages.ids('a', 'shown')).toHaveLength(1200);
			expect(await store.messages.read('a', ['m7', 'none', 'm3'])).toEqual([messages[7], messages[3]]);
			await store.messages.copy('a', 'm1100', 'b');
			expect((await store.messages.ids('b', 'all')).length).toBe(1101);
		});
	});
}
