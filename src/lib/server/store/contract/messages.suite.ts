/** Contract tests for messages, run on every database. */
import type { Kysely } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyAnswer } from '../../../shared/message.ts';
import { addItems, at, type Bench, fullAnswer, question, startOf } from './fixtures.suite.ts';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';

export function testMessages(bench: () => Bench): void {
	describe('messages', () => {
		let store: Store;
		let db: Kysely<Database>;
		beforeEach(() => {
			({ store, db } = bench());
		});

		beforeEach(() => store.conversations.create({ id: 'c1', title: 'c1', createdAt: at(1) }));

		test('messages come back as they were, in the order in which they were appended', async () => {
			const answer = fullAnswer('m2');
			const last = question('m1', 'nul \0, half \ud800, 👩‍🚀');
			await store.messages.append('c1', answer);
			await store.messages.append('c1', last);
			expect(await store.messages.list('c1')).toEqual([answer, { ...last, parentId: 'm2' }]);
		});

		test('messages that are appended at the same time all get a place', async () => {
			const ids = Array.from({ length: 10 }, (_, index) => `m${index}`);
			await Promise.all(ids.map((id) => store.messages.append('c1', question(id))));
			expect((await store.messages.list('c1')).map(({ id }) => id).toSorted()).toEqual(ids);
		});

		test('append refuses a conversation that is not there and a message id that is', async () => {
			await store.messages.append('c1', question('m1', 'first'));
			await expect(store.messages.append('c1', question('m1', 'again'))).rejects.toMatchObject({ code: 'conflict' });
			await expect(store.messages.append('c9', question('m1'))).rejects.toMatchObject({ code: 'not_found' });
			expect(await store.messages.list('c1')).toEqual([question('m1', 'first')]);
		});

		test('the same message id may be in two conversations', async () => {
			await store.conversations.create({ id: 'c2', title: 'c2', createdAt: at(1) });
			await store.messages.append('c1', question('m1', 'one'));
			await store.messages.append('c2', question('m1', 'two'));
			await store.messages.update('c2', question('m1', 'two, changed'));
			expect(await store.messages.list('c1')).toEqual([question('m1', 'one')]);
			expect(await store.messages.list('c2')).toEqual([question('m1', 'two, changed')]);
		});

		test('update replaces a message in its place and keeps its items', async () => {
			await store.messages.append('c1', emptyAnswer('m1', 'r1', at(10)), {
				items: [{ type: 'message' }],
				model: 'm/x'
			});
			await store.messages.append('c1', question('m2'));
			const changed = { ...fullAnswer('m1'), status: 'complete' as const };
			expect(await store.messages.update('c1', changed)).toBe(true);
			expect(await store.messages.listForModel('c1')).toEqual([
				{ message: changed, items: [{ type: 'message' }], model: 'm/x' },
				{ message: { ...question('m2'), parentId: 'm1' }, items: null, model: null }
			]);
			expect(await store.messages.update('c1', question('m9'))).toBe(false);
		});

		test('items are added after those that are there', async () => {
			await store.runs.start(startOf('r1'));
			await addItems(store, 'r1', [{ type: 'reasoning' }]);
			await addItems(store, 'r1', [{ type: 'function_call', arguments: '{"a":"\0"}' }, { type: 'message' }]);
			const [, answer] = await store.messages.listForModel('c1');
			expect(answer?.items).toEqual([
				{ type: 'reasoning' },
				{ type: 'function_call', arguments: '{"a":"\0"}' },
				{ type: 'message' }
			]);
		});

		test('what a row’s columns say is not said by its body, and what a newer version wrote into it is not answered', async () => {
			await store.messages.append('c1', question('m1'));
			const { parts, files, error, usage, retry } = question('m1');
			const foreign = { id: 'other', runId: 'run', role: 'assistant', createdAt: 'never', mood: 'fine' };
			const body = JSON.stringify({ parts, files, error, usage, retry, ...foreign });
			await db.updateTable('messages').set({ body }).where('id', '=', 'm1').execute();
			expect(await store.messages.list('c1')).toEqual([question('m1')]);
		});

		test.each([
			['is cut short', { body: '{"parts":[{"ty' }],
			[
				'is JSON of another shape',
				{ body: '{"parts":[{"type":"text"}],"files":[],"error":null,"usage":null,"retry":null}' }
			],
			['is null', { body: 'null' }],
			['has a status that nobody knows', { status: 'sideways' }]
		])('a message whose row %s is a failed one, and its neighbours are as they were', async (_, damage) => {
			for (const id of ['m1', 'm2', 'm3']) await store.messages.append('c1', question(id));
			await db.updateTable('messages').set(damage).where('id', '=', 'm2').execute();
			const [first, damaged, last] = await store.messages.list('c1');
			expect([first, last]).toEqual([question('m1'), { ...question('m3'), parentId: 'm2' }]);
			expect(damaged).toMatchObject({
				id: 'm2',
				role: 'user',
				status: 'failed',
				parts: [],
				error: { code: 'damaged' }
			});
		});

		test('items that cannot be read are none, and new ones start over', async () => {
			await store.runs.start(startOf('r1'));
			await addItems(store, 'r1', [{ type: 'message' }]);
			await db.updateTable('messages').set({ items: '[{"type":' }).execute();
			expect((await store.messages.listForModel('c1'))[1]?.items).toBeNull();
			await addItems(store, 'r1', [{ type: 'reasoning' }]);
			expect((await store.messages.listForModel('c1'))[1]?.items).toEqual([{ type: 'reasoning' }]);
		});

		test('a field that this version does not know survives reading', async () => {
			await store.messages.append('c1', question('m1'));
			const part = { type: 'text', id: 't', text: 'x', language: 'fr' };
			const body = JSON.stringify({ parts: [part], files: [], error: null, usage: null, retry: null });
			await db.updateTable('messages').set({ body }).execute();
			expect((await store.messages.list('c1'))[0]?.parts).toEqual([part]);
		});
	});
}
