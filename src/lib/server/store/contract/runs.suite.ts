/** Contract tests for a run's log and its end, run on every database. */
import type { Kysely } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Message } from '../../../shared/message.ts';
import { at, type Bench, events, fullAnswer, startOf } from './fixtures.suite.ts';
import type { Database } from '../schema.ts';
import type { Store } from '../store.ts';
import type { RunFinish } from '../chat/store-runs.ts';

export function testRuns(bench: () => Bench): void {
	describe('the events of a run', () => {
		let store: Store;
		let db: Kysely<Database>;
		beforeEach(() => {
			({ store, db } = bench());
		});

		beforeEach(() => store.runs.start(startOf('r1')));

		test('E36: a chat whose tool asks something says so, until that is answered, or the run is over', async () => {
			const mark = async () => (await store.conversations.get('c1'))?.isWaiting;
			const append = (first: number, isAsking?: boolean) =>
				store.runs.appendAll([{ runId: 'r1', events: events(first, 2), isAsking }]);
			expect(await mark()).toBe(false);
			await append(1, true);
			expect(await mark()).toBe(true);
			expect((await store.conversations.list({ page: 1, limit: 9 })).data).toMatchObject([{ isWaiting: true }]);
			await append(3, false);
			expect(await mark()).toBe(false);
			await append(5, true);
			await store.runs.finish('r1', { state: 'interrupted', finishedAt: at(20), events: events(7, 1) });
			expect(await mark()).toBe(false);
		});

		test('events come back in order, after any of them, as many as asked for', async () => {
			expect(await store.runs.appendEvents('r1', events(1, 3))).toBe(true);
			expect(await store.runs.appendEvents('r1', events(4, 9))).toBe(true);
			expect((await store.runs.get('r1'))?.lastSeq).toBe(12);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 100 })).toEqual(events(1, 12));
			expect(await store.runs.readEvents('r1', { after: 2, limit: 4 })).toEqual(events(3, 4));
			expect(await store.runs.readEvents('r1', { after: 12, limit: 4 })).toEqual([]);
			// By size, but always at least one.
			const weight = (count: number) =>
				Buffer.byteLength(
					events(1, count)
						.map(({ data }) => data)
						.join('')
				);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 100, maxBytes: weight(5) })).toEqual(events(1, 5));
			expect(await store.runs.readEvents('r1', { after: 0, limit: 100, maxBytes: weight(5) - 1 })).toEqual(
				events(1, 4)
			);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 3, maxBytes: weight(5) })).toEqual(events(1, 3));
			expect(await store.runs.readEvents('r1', { after: 5, limit: 100, maxBytes: 1 })).toEqual(events(6, 1));
			expect(await store.runs.readEvents('r1', { after: 12, limit: 4, maxBytes: 1 })).toEqual([]);
		});

		test('a batch of 3,000 events is stored whole', async () => {
			await store.runs.appendEvents('r1', events(1, 3000));
			expect(await store.runs.readEvents('r1', { after: 0, limit: 5000 })).toEqual(events(1, 3000));
		});

		test.each([
			['leave a gap', [events(4, 1)]],
			['repeat a number', [events(2, 1)]],
			['have a gap among them', [events(3, 1), events(5, 1)]]
		])('events that %s are refused, and the log stays as it was', async (_, batches) => {
			await store.runs.appendEvents('r1', events(1, 2));
			await expect(store.runs.appendEvents('r1', batches.flat())).rejects.toThrow('expected event');
			expect((await store.runs.get('r1'))?.lastSeq).toBe(2);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual(events(1, 2));
			expect((await store.messages.list('c1'))[1]).toEqual(startOf('r1').place.answer);
		});

		test('finish writes the last events, the message and the end together, once', async () => {
			await store.runs.appendEvents('r1', events(1, 2));
			const message: Message = { ...fullAnswer('r1-answer'), parentId: 'r1-question', status: 'failed' };
			const finished = await store.runs.finish('r1', {
				state: 'failed',
				errorCode: 'timeout',
				finishedAt: at(40),
				events: events(3, 2),
				message: { conversationId: 'c1', message }
			});
			expect(finished).toBe(true);
			const run = await store.runs.get('r1');
			expect(run).toMatchObject({ state: 'failed', errorCode: 'timeout', finishedAt: at(40), lastSeq: 4 });
			expect((await store.messages.list('c1'))[1]).toEqual(message);

			expect(await store.runs.finish('r1', { state: 'success', finishedAt: at(50), events: events(5, 1) })).toBe(false);
			expect(await store.runs.appendEvents('r1', events(5, 1))).toBe(false);
			expect(await store.runs.get('r1')).toEqual(run);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual(events(1, 4));
			expect((await store.conversations.get('c1'))?.activeRunId).toBeNull();
		});

		test('F11: how fast a model was is the median of its last answers; a fallback’s speed is its own', async () => {
			const finish = async (id: string, speed: RunFinish['speed'], minute = 10) => {
				if (id !== 'r1') await store.runs.start(startOf(id, { conversationId: id, now: at(minute) }));
				await store.runs.finish(id, { state: 'success', finishedAt: at(50), events: [], speed });
			};
			const used = { model: 'm/x', inputTokens: 1, outputTokens: 2 };
			await finish('r1', { ...used, firstTokenMs: 900, tokensPerSecond: 50.5 });
			expect(await store.runs.speeds()).toEqual(
				new Map([['m/x', { answers: 1, firstTokenMs: 900, tokensPerSecond: 50.5 }]])
			);
			await finish('r2', { ...used, firstTokenMs: 100, tokensPerSecond: 20 });
			await finish('r3', { ...used, firstTokenMs: 500 });
			await finish('r4', { ...used, answeredBy: 'm/y', firstTokenMs: 7 });
			await finish('r5', used);
			expect(await store.runs.speeds()).toEqual(
				new Map([
					['m/x', { answers: 3, firstTokenMs: 500, tokensPerSecond: 50.5 }],
					['m/y', { answers: 1, firstTokenMs: 7, tokensPerSecond: null }]
				])
			);
			for (let number = 0; number < 20; number += 1) await finish(`n${number}`, { ...used, firstTokenMs: 40 }, 20);
			const newest = { answers: 20, firstTokenMs: 40, tokensPerSecond: null };
			expect((await store.runs.speeds()).get('m/x')).toEqual(newest);
		});

		test('of several that finish a run at once, one does', async () => {
			const ends = (['success', 'cancelled', 'interrupted'] as const).map((state) =>
				store.runs.finish('r1', { state, finishedAt: at(40), events: events(1, 1) })
			);
			expect((await Promise.all(ends)).filter(Boolean)).toHaveLength(1);
			expect(await store.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual(events(1, 1));
		});

		test('a finish whose events do not follow leaves the run running', async () => {
			await expect(
				store.runs.finish('r1', { state: 'success', finishedAt: at(40), events: events(2, 1) })
			).rejects.toThrow('Run r1: expected event 1 next, received 2.');
			expect(await store.runs.get('r1')).toMatchObject({ state: 'running', finishedAt: null });
		});

		test('running runs of other starts of the server are listed for recovery', async () => {
			await store.runs.start(startOf('r2', { conversationId: 'c2', bootId: 'boot-2' }));
			await store.runs.start(startOf('r3', { conversationId: 'c3' }));
			await store.runs.finish('r3', { state: 'success', finishedAt: at(40), events: [] });
			expect((await store.runs.listRunning('boot-2')).map(({ id }) => id)).toEqual(['r1']);
			expect((await store.runs.listRunning('boot-3')).map(({ id }) => id).toSorted()).toEqual(['r1', 'r2']);
		});

		test('the database itself refuses a second running run for an answer, and a state that nobody knows', async () => {
			const row = { conversation_id: 'c1', message_id: 'r1-answer', model: 'm/x', boot_id: 'b', started_at: at(1) };
			const insert = (id: string, state: string) =>
				db
					.insertInto('runs')
					.values({ ...row, id, state: state as 'running' })
					.execute();
			await expect(insert('r2', 'running')).rejects.toThrow(/unique/i);
			await expect(insert('r2', 'sideways')).rejects.toThrow(/check/i);
			await insert('r2', 'success');
		});
	});
}
