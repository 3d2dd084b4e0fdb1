/** Contract tests for branches, waiting messages, decisions and summaries, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { ApprovalDecision } from '../../../shared/events.ts';
import { emptyAnswer } from '../../../shared/message.ts';
import { addItems, at, type Bench, question, startOf } from './fixtures.suite.ts';
import type { RunPlace } from '../chat/store-runs.ts';
import type { Store } from '../store.ts';

export function testBranches(bench: () => Bench): void {
	describe('branches', () => {
		let store: Store;
		beforeEach(async () => {
			({ store } = bench());
			await store.conversations.create({ id: 'c1', title: 'c1', createdAt: at(1) });
		});

		const run = async (id: string, place: RunPlace) => {
			const started = await store.runs.start({ ...startOf(id), place });
			await store.runs.finish(id, { state: 'success', finishedAt: at(40), events: [] });
			return started;
		};
		const ask = (id: string, after?: string | null) =>
			run(id, {
				kind: 'question',
				question: question(`${id}-question`),
				answer: emptyAnswer(`${id}-answer`, id, at(10)),
				...(after === undefined ? {} : { after })
			});
		const ids = async () => (await store.messages.list('c1')).map(({ id }) => id);

		test('a question follows what is shown, or the message that it names; both branches stay', async () => {
			await ask('r1');
			await ask('r2');
			await ask('r3', 'r1-answer');
			expect(await ids()).toEqual(['r1-question', 'r1-answer', 'r3-question', 'r3-answer']);
			const { alternatives } = await store.messages.page('c1', { limit: 10 });
			expect(alternatives).toEqual({ 'r3-question': ['r2-question', 'r3-question'] });
			expect(await store.messages.show('c1', 'r2-question')).toBe(true);
			expect(await ids()).toEqual(['r1-question', 'r1-answer', 'r2-question', 'r2-answer']);
			expect(await store.messages.show('c1', 'ghost')).toBe(false);
		});

		test('a page holds the last messages before a place, and says whether there are earlier ones', async () => {
			for (const id of ['r1', 'r2', 'r3']) await ask(id);
			const last = await store.messages.page('c1', { limit: 4 });
			expect(last.messages.map(({ id }) => id)).toEqual(['r2-question', 'r2-answer', 'r3-question', 'r3-answer']);
			expect(last.hasEarlier).toBe(true);
			const first = await store.messages.page('c1', { before: 'r2-question', limit: 4 });
			expect(first.messages.map(({ id }) => id)).toEqual(['r1-question', 'r1-answer']);
			expect(first.hasEarlier).toBe(false);
			expect(await store.messages.page('c1', { before: 'ghost', limit: 4 })).toMatchObject({ messages: [] });
		});

		test('a second answer to a question, and more of an answer, are written where they belong', async () => {
			await ask('r1');
			await run('r2', { kind: 'answer', questionId: 'r1-question', answer: emptyAnswer('other', 'r2', at(20)) });
			expect(await ids()).toEqual(['r1-question', 'other']);
			const more = await store.runs.start({
				...startOf('r3'),
				place: { kind: 'more', messageId: 'r1-answer', from: 'ended' }
			});
			// Never ended here, so it counts as being written.
			expect(more.outcome).toBe('no_message');
		});

		test('what is removed takes along what follows it, in every branch', async () => {
			await ask('r1');
			await ask('r2');
			await ask('r3', 'r1-answer');
			expect(await store.removedMessages.remove('c1', 'r1-answer', at(50))).toBe(true);
			expect(await ids()).toEqual(['r1-question']);
			for (const id of ['r2-question', 'r3-answer']) expect(await store.messages.get('c1', id)).toBeNull();
			expect(await store.removedMessages.remove('c1', 'r1-answer', at(50))).toBe(false);
		});

		test('F14: what was removed comes back as it was, in every branch, and is found again; not twice, nor without what it follows', async () => {
			await ask('r1');
			await store.runs.start(startOf('r2'));
			await addItems(store, 'r2', [{ type: 'message' }]);
			await store.runs.finish('r2', { state: 'success', finishedAt: at(40), events: [] });
			await ask('r3', 'r1-answer');
			await store.messages.show('c1', 'r2-question');
			const before = await store.messages.listForModel('c1');
			const pageBefore = await store.messages.page('c1', { limit: 10 });
			const found = async () => (await store.conversations.list({ page: 1, limit: 9, query: 'r2-question' })).total;
			expect(await found()).toBe(1);

			const { remove, restore, forget } = store.removedMessages;
			await remove('c1', 'r2-question', at(50));
			await remove('c1', 'r1-answer', at(51));
			expect(await ids()).toEqual(['r1-question']);
			expect(await found()).toBe(0);
			expect(await restore('c1', 'r2-question')).toBe(false);
			expect(await restore('c2', 'r1-answer')).toBe(false);
			expect(await restore('c1', 'r1-answer')).toBe(true);
			expect(await ids()).toEqual(['r1-question', 'r1-answer', 'r3-question', 'r3-answer']);
			expect(await restore('c1', 'r2-question')).toBe(true);
			expect(await store.messages.page('c1', { limit: 10 })).toEqual(pageBefore);
			expect(await store.messages.listForModel('c1')).toEqual(before);
			expect(await found()).toBe(1);
			expect(await restore('c1', 'r2-question')).toBe(false);

			// Written meanwhile: both are there, in the order of their beginning.
			await remove('c1', 'r2-question', at(52));
			await ask('r4', 'r1-answer');
			expect(await restore('c1', 'r2-question')).toBe(true);
			expect((await store.messages.page('c1', { limit: 10 })).alternatives['r2-question']).toEqual(
				['r2', 'r3', 'r4'].map((run) => `${run}-question`)
			);
			// Shown before: not what was removed, so that stays shown.
			await store.messages.show('c1', 'r3-question');
			await remove('c1', 'r2-question', at(52));
			expect(await restore('c1', 'r2-question')).toBe(true);
			expect((await ids()).at(-1)).toBe('r3-answer');
			await remove('c1', 'r2-question', at(53));
			await remove('c1', 'r3-question', at(54));
			await forget(at(53));
			expect(await restore('c1', 'r2-question')).toBe(false);
			expect(await restore('c1', 'r3-question')).toBe(true);
		});

		test('a branch is copied with its items, and without its runs', async () => {
			await store.runs.start(startOf('r1'));
			await addItems(store, 'r1', [{ type: 'message' }]);
			await store.runs.finish('r1', { state: 'success', finishedAt: at(10), events: [] });
			await ask('r2');
			await store.conversations.create({ id: 'c2', title: 'c2', createdAt: at(1) });
			await store.messages.copy('c1', 'r1-answer', 'c2');
			const copied = await store.messages.listForModel('c2');
			expect(copied.map(({ message, items }) => [message.id, message.runId, items])).toEqual([
				['r1-question', null, null],
				['r1-answer', null, [{ type: 'message' }]]
			]);
			expect(await ids()).toHaveLength(4);
		});

		test('messages wait in order, once each, and the one that is sent waits no more', async () => {
			const waiting = (id: string) => ({ id, text: `text of ${id}`, files: ['a.txt'], createdAt: at(2) });
			for (const id of ['q1', 'q2', 'q3', 'q1']) await store.queue.add('c1', waiting(id));
			expect(await store.queue.list('c1')).toEqual(['q1', 'q2', 'q3'].map(waiting));
			expect(await store.queue.count()).toBe(3);
			expect(await store.queue.moveToFront('c1', 'q3')).toBe(true);
			expect(await store.queue.edit('c1', 'q2', 'changed')).toBe(true);
			expect((await store.queue.list('c1')).map(({ id, text }) => [id, text])).toEqual([
				['q3', 'text of q3'],
				['q1', 'text of q1'],
				['q2', 'changed']
			]);
			await run('r1', { kind: 'question', question: question('q3'), answer: emptyAnswer('a', 'r1', at(10)) });
			expect((await store.queue.list('c1')).map(({ id }) => id)).toEqual(['q1', 'q2']);
			expect(await store.queue.remove('c1', 'q3')).toBe(false);
			await expect(store.queue.add('ghost', waiting('x'))).rejects.toMatchObject({ code: 'not_found' });
		});

		test('what waits is due while no run is under way, and after one that lets it go on; not in a chat that is deleted', async () => {
			const add = (id: string) => store.queue.add('c1', { id, text: id, files: [], createdAt: at(2) });
			const due = () => store.queue.listDue();
			const end = (runId: string, sendsNext: boolean) => {
				const answer = emptyAnswer(`${runId}-answer`, runId, at(10), `${runId}-question`);
				const message = { conversationId: 'c1', message: { ...answer, status: 'complete' as const } };
				return store.runs.finish(runId, { state: 'success', finishedAt: at(20), events: [], message, sendsNext });
			};
			await store.runs.start(startOf('d1'));
			await add('q1');
			expect(await due()).toEqual([]);
			await end('d1', false);
			expect(await due()).toEqual([]);
			await store.runs.start(startOf('d2'));
			await end('d2', true);
			expect(await due()).toEqual(['c1']);
			await store.runs.start(startOf('d3'));
			expect(await due()).toEqual([]);
			await end('d3', false);
			await add('q2');
			expect(await due()).toEqual(['c1']);
			await store.queue.notDue('c1');
			expect(await due()).toEqual([]);
			await store.queue.moveToFront('c1', 'q2');
			expect(await due()).toEqual(['c1']);
			await store.conversations.markDeleted('c1', at(30));
			await store.conversations.restore('c1');
			expect(await due()).toEqual([]);
			// Answers side by side: one must be chosen first.
			await store.runs.start({ ...startOf('d4'), beside: 'new' });
			await end('d4', true);
			await add('q3');
			expect(await due()).toEqual([]);
		});

		test('of several decisions the first counts, and a grant is for these very files', async () => {
			const choices: ApprovalDecision['choice'][] = ['once', 'deny', 'script'];
			const taken = await Promise.all(choices.map((choice) => store.approvals.decide('c1', 'i1', { choice }, at(1))));
			expect(taken.filter(Boolean)).toHaveLength(1);
			const decisions = await store.approvals.decisions('c1', ['i1', 'i2']);
			expect([...decisions]).toEqual([['i1', { choice: choices[taken.indexOf(true)] }]]);

			await store.approvals.grant({ skill: 's', script: 'a.sh', digest: 'd' }, at(1));
			await store.approvals.grant({ skill: 's', script: 'a.sh', digest: 'd' }, at(2));
			const isGranted = (script: string, digest: string) => store.approvals.isGranted({ skill: 's', script, digest });
			expect([await isGranted('a.sh', 'd'), await isGranted('b.sh', 'd'), await isGranted('a.sh', 'e')]).toEqual([
				true,
				false,
				false
			]);
			await store.approvals.grant({ skill: 's', script: '', digest: 'd' }, at(3));
			expect(await isGranted('b.sh', 'd')).toBe(true);
		});

		test('a summary replaces an older one of the same message', async () => {
			await store.compactions.put('c1', { messageId: 'm1', summary: 'old' }, at(1));
			await store.compactions.put('c1', { messageId: 'm1', summary: 'new' }, at(2));
			await store.compactions.put('c1', { messageId: 'm2', summary: 'more' }, at(3));
			expect(await store.compactions.list('c1')).toEqual([
				{ messageId: 'm1', summary: 'new' },
				{ messageId: 'm2', summary: 'more' }
			]);
		});

		test('all of it goes with the conversation', async () => {
			await ask('r1');
			await store.queue.add('c1', { id: 'q1', text: 'x', files: [], createdAt: at(1) });
			await store.approvals.decide('c1', 'i1', { choice: 'once' }, at(1));
			await store.conversations.remove('c1');
			await store.conversations.create({ id: 'c1', title: 'again', createdAt: at(1) });
			expect(await ids()).toEqual([]);
			expect(await store.queue.list('c1')).toEqual([]);
			expect((await store.approvals.decisions('c1', ['i1'])).size).toBe(0);
		});
	});
}
