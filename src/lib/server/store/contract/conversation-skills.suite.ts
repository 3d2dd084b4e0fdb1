/** Contract tests for a conversation's skills, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { pinSkills } from '../chat/queue.ts';
import { at, type Bench } from './fixtures.suite.ts';

export function testConversationSkills(bench: () => Bench): void {
	describe('F7: the skills of a conversation', () => {
		beforeEach(async () => {
			for (const id of ['c1', 'c2']) await bench().store.conversations.create({ id, title: id, createdAt: at(0) });
		});

		test('the last word on a skill counts, in the order in which it was said, in this conversation alone', async () => {
			const { conversationSkills } = bench().store;
			expect(await conversationSkills.list('c1')).toEqual([]);
			expect(await conversationSkills.set('c1', 'pdf', 'pinned', at(1))).toBe(true);
			expect(await conversationSkills.set('c1', 'csv', 'pinned', at(2))).toBe(true);
			expect(await conversationSkills.set('c1', 'pdf', 'unloaded', at(3))).toBe(true);
			expect(await conversationSkills.list('c1')).toEqual([
				{ skill: 'csv', state: 'pinned', changedAt: at(2) },
				{ skill: 'pdf', state: 'unloaded', changedAt: at(3) }
			]);
			expect(await conversationSkills.list('c2')).toEqual([]);
		});
		test('a skill that is pinned again keeps its place; one that is unloaded again is so from then on', async () => {
			const { conversationSkills } = bench().store;
			for (const skill of ['pdf', 'csv']) await conversationSkills.set('c1', skill, 'pinned', at(1));
			await conversationSkills.set('c1', 'csv', 'pinned', at(2));
			await conversationSkills.set('c1', 'pdf', 'unloaded', at(3));
			await conversationSkills.set('c1', 'pdf', 'unloaded', at(4));
			expect(await conversationSkills.list('c1')).toEqual([
				{ skill: 'csv', state: 'pinned', changedAt: at(1) },
				{ skill: 'pdf', state: 'unloaded', changedAt: at(4) }
			]);
		});
		test('what was said can be taken back, also where nothing was', async () => {
			const { conversationSkills } = bench().store;
			await conversationSkills.set('c1', 'pdf', 'pinned', at(1));
			await conversationSkills.remove('c1', 'csv');
			await conversationSkills.remove('c1', 'pdf');
			expect(await conversationSkills.list('c1')).toEqual([]);
		});
		test('nothing is written for a conversation that is not there or counts as deleted', async () => {
			const { db, store } = bench();
			await db
				.updateTable('conversations')
				.set({ deleted_at: at(1) })
				.where('id', '=', 'c2')
				.execute();
			expect(await store.conversationSkills.set('none', 'pdf', 'pinned', at(2))).toBe(false);
			expect(await store.conversationSkills.set('c2', 'pdf', 'pinned', at(2))).toBe(false);
			expect(await db.selectFrom('conversation_skills').selectAll().execute()).toEqual([]);
		});
		test('several are pinned in a transaction, and none when it fails', async () => {
			const { db, store } = bench();
			const failing = db.transaction().execute(async (transaction) => {
				await pinSkills(transaction, 'c1', ['pdf'], at(1));
				throw new Error('no run');
			});
			await expect(failing).rejects.toThrow('no run');
			expect(await store.conversationSkills.list('c1')).toEqual([]);
			await db.transaction().execute((transaction) => pinSkills(transaction, 'c1', ['pdf', 'csv', 'pdf'], at(2)));
			expect((await store.conversationSkills.list('c1')).map(({ skill }) => skill)).toEqual(['csv', 'pdf']);
		});
		test('they can be copied to another conversation', async () => {
			const { conversationSkills } = bench().store;
			await conversationSkills.copy('c1', 'c2');
			await conversationSkills.set('c1', 'pdf', 'pinned', at(1));
			await conversationSkills.set('c1', 'csv', 'unloaded', at(2));
			await conversationSkills.copy('c1', 'c2');
			expect(await conversationSkills.list('c2')).toEqual(await conversationSkills.list('c1'));
		});
		test('they go with the conversation', async () => {
			const { db, store } = bench();
			await store.conversationSkills.set('c1', 'pdf', 'pinned', at(1));
			await db.deleteFrom('conversations').where('id', '=', 'c1').execute();
			expect(await db.selectFrom('conversation_skills').selectAll().execute()).toEqual([]);
		});
	});
}
