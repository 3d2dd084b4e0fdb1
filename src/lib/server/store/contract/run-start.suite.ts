/** Contract tests for the start of a run, run on every database. */
import { beforeEach, describe, expect, test } from 'vitest';
import { at, type Bench, events, question, startOf } from './fixtures.suite.ts';
import type { RunStart } from '../chat/store-runs.ts';
import type { Store } from '../store.ts';

export function testRunStart(bench: () => Bench): void {
	describe('starting a run', () => {
		let store: Store;
		beforeEach(() => {
			({ store } = bench());
		});

		test('conversation, question, empty answer and run appear together', async () => {
			const start = startOf('r1');
			const { outcome, run } = await store.runs.start(start);
			expect(outcome).toBe('started');
			expect(run).toEqual({
				id: 'r1',
				conversationId: 'c1',
				messageId: 'r1-answer',
				state: 'running',
				model: 'm/x',
				bootId: 'boot-1',
				epoch: 1,
				startedAt: at(10),
				finishedAt: null,
				lastSeq: 0,
				errorCode: null,
				task: 'task of r1'
			});
			expect(await store.runs.get('r1')).toEqual(run);
			expect(await store.messages.list('c1')).toEqual([start.place.question, start.place.answer]);
			expect(await store.messages.listForModel('c1')).toMatchObject([{ model: null }, { model: 'm/x' }]);
			expect(await store.conversations.get('c1')).toMatchObject({ title: 'Title of c1', activeRunId: 'r1' });
			expect((await store.conversations.list({ page: 1, limit: 10 })).data).toMatchObject([{ activeRunId: 'r1' }]);
		});

		test('a conversation that exists keeps its title and moves to the top', async () => {
			await store.conversations.create({ id: 'c1', title: 'Mine', createdAt: at(1) });
			await store.conversations.create({ id: 'c2', title: 'Newer', createdAt: at(5) });
			await store.runs.start(startOf('r1', { now: at(10) }));
			const { data } = await store.conversations.list({ page: 1, limit: 10 });
			expect(data[0]).toMatchObject({ id: 'c1', title: 'Mine', createdAt: at(1), updatedAt: at(10) });
		});

		test('a conversation that has only a placeholder for a title takes the new one', async () => {
			await store.conversations.create({ id: 'c1', title: 'Untitled', createdAt: at(1) });
			await store.conversations.create({ id: 'c2', title: 'Untitled', createdAt: at(1) });
			const start = startOf('r1');
			await store.runs.start({ ...start, conversation: { ...start.conversation, placeholder: 'Untitled' } });
			expect((await store.conversations.get('c1'))?.title).toBe('Title of c1');
			expect((await store.conversations.get('c2'))?.title).toBe('Untitled');
		});

		test('the same run a second time is that run, and nothing is written', async () => {
			await store.runs.start(startOf('r1', { now: at(10) }));
			await store.runs.appendEvents('r1', events(1, 2));
			const again = await store.runs.start(startOf('r1', { now: at(20) }));
			expect(again).toMatchObject({ outcome: 'exists', run: { id: 'r1', state: 'running', lastSeq: 2 } });
			await store.runs.finish('r1', { state: 'success', finishedAt: at(30), events: [] });
			expect(await store.runs.start(startOf('r1'))).toMatchObject({ outcome: 'exists', run: { state: 'success' } });
			expect(await store.messages.list('c1')).toHaveLength(2);
			expect((await store.conversations.get('c1'))?.updatedAt).toBe(at(10));
		});

		test('a run id that another conversation has is that run, and no conversation is created', async () => {
			await store.runs.start(startOf('r1', { conversationId: 'c1' }));
			const other = await store.runs.start(startOf('r1', { conversationId: 'c2' }));
			expect(other).toMatchObject({ outcome: 'exists', run: { conversationId: 'c1' } });
			expect(await store.conversations.get('c2')).toBeNull();
		});

		test('a second run of a conversation is busy until the first has ended', async () => {
			await store.runs.start(startOf('r1', { now: at(10) }));
			expect(await store.runs.start(startOf('r2', { now: at(20) }))).toMatchObject({
				outcome: 'busy',
				run: { id: 'r1' }
			});
			expect(await store.runs.get('r2')).toBeNull();
			expect(await store.messages.list('c1')).toHaveLength(2);
			expect((await store.conversations.get('c1'))?.updatedAt).toBe(at(10));
			await store.runs.finish('r1', { state: 'cancelled', finishedAt: at(30), events: [] });
			expect(await store.runs.start(startOf('r2'))).toMatchObject({ outcome: 'started', run: { id: 'r2' } });
			expect((await store.messages.list('c1')).map(({ id }) => id)).toEqual([
				'r1-question',
				'r1-answer',
				'r2-question',
				'r2-answer'
			]);
		});

		test('of two different runs at once in one conversation, one starts and one is busy', async () => {
			const results = await Promise.all([store.runs.start(startOf('r1')), store.runs.start(startOf('r2'))]);
			expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(['busy', 'started']);
			expect(results[0].run?.id).toBe(results[1].run?.id);
			expect(await store.messages.list('c1')).toHaveLength(2);
		});

		test('the same run started many times at once starts once', async () => {
			const results = await Promise.all(Array.from({ length: 8 }, () => store.runs.start(startOf('r1'))));
			expect(results.filter(({ outcome }) => outcome === 'started')).toHaveLength(1);
			expect(results.filter(({ outcome }) => outcome === 'exists')).toHaveLength(7);
			expect(await store.messages.list('c1')).toHaveLength(2);
		});

		test('runs of different conversations start at once', async () => {
			const results = await Promise.all(
				['c1', 'c2', 'c3'].map((conversationId) =>
					store.runs.start(startOf(`run-${conversationId}`, { conversationId }))
				)
			);
			expect(results.map(({ outcome }) => outcome)).toEqual(['started', 'started', 'started']);
		});

		test.each(['question', 'answer'] as const)(
			'a message id of %s that the conversation has already starts nothing',
			async (which) => {
				const start = startOf('r1');
				await store.conversations.create({ id: 'c1', title: 'c1', createdAt: at(1) });
				await store.messages.append('c1', question(start.place[which].id, 'older'));
				expect(await store.runs.start(start)).toEqual({ outcome: 'duplicate_message', run: null });
				expect(await store.runs.get('r1')).toBeNull();
				expect(await store.conversations.get('c1')).toMatchObject({ updatedAt: at(1), activeRunId: null });
			}
		);

		test('F11, F7: what was chosen is kept for the next runs, and what was pinned is pinned', async () => {
			const choose = async (runId: string, more: Partial<RunStart>) => {
				await store.runs.start({ ...startOf(runId), ...more });
				await store.runs.finish(runId, { state: 'success', finishedAt: at(20), events: [] });
				return store.runs.choiceOf('c1');
			};
			expect(await store.runs.choiceOf('c1')).toEqual({ model: null, effort: null });
			expect(await choose('r1', {})).toEqual({ model: null, effort: null });
			expect(await choose('r2', { choice: { model: 'a/b' }, pins: ['demo', 'demo'] })).toEqual({
				model: 'a/b',
				effort: null
			});
			expect(await choose('r3', { choice: { effort: 'low' } })).toEqual({ model: 'a/b', effort: 'low' });
			expect(await choose('r4', { choice: { model: null } })).toEqual({ model: null, effort: 'low' });
			expect(await store.conversationSkills.list('c1')).toMatchObject([{ skill: 'demo', state: 'pinned' }]);
		});

		test('F11, F7: a start that is refused chooses and pins nothing', async () => {
			await store.runs.start(startOf('r1'));
			const refused = await store.runs.start({ ...startOf('r2'), choice: { model: 'a/b' }, pins: ['demo'] });
			expect(refused.outcome).toBe('busy');
			expect(await store.runs.choiceOf('c1')).toEqual({ model: null, effort: null });
			expect(await store.conversationSkills.list('c1')).toEqual([]);
		});

		test('a start whose last statement fails leaves nothing', async () => {
			const start = startOf('r1');
			// One id for both messages breaks the key only when they are inserted, after conversation and run.
			await expect(
				store.runs.start({
					...start,
					place: { ...start.place, answer: { ...start.place.answer, id: start.place.question.id } }
				})
			).rejects.toThrow();
			expect(await store.conversations.get('c1')).toBeNull();
			expect(await store.runs.get('r1')).toBeNull();
			expect(await store.runs.start(start)).toMatchObject({ outcome: 'started' });
		});
	});
}
