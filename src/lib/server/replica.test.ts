import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../tests/support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../tests/support/postgres.ts';
import { createLog } from './log.ts';
import { openReplica } from './replica.ts';
import { connectPostgres, openPostgresStore } from './store/postgres.ts';

describe.skipIf(lacksPostgres())('F14: a server among others', () => {
	let postgres: TestPostgres;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());

	test('that is silent keeps nothing from the others: its connection is ended, with the locks of what it was doing', async () => {
		const url = await postgres.createDatabase('silent');
		const store = await openPostgresStore(url);
		const log = createLog(() => undefined);
		const connect = () => connectPostgres(url, { startMs: 0 });
		// As if it were paused: its connections stay, but nothing comes from it any more.
		const paused = await openReplica({ connect, replicas: store.replicas, log });
		const inWork = Promise.withResolvers<void>();
		const isOver = Promise.withResolvers<void>();
		const work = paused.exclusively('installs', async () => {
			inWork.resolve();
			await isOver.promise;
		});
		await inWork.promise;
		const client = new Client(url);
		await client.connect();
		await client.query("update replicas set beat_at = now() - interval '1 minute'");

		const other = await openReplica({ connect, replicas: store.replicas, log });
		const gone: string[] = [];
		other.onGone(async (id) => gone.push(id));
		await other.start();
		expect(await other.exclusively('installs', async () => 'done')).toBe('done');
		await eventually(() => expect(gone).toEqual([paused.id]));
		await eventually(() => expect(paused.mayJudge()).toBe(false));
		expect(other.mayJudge()).toBe(true);

		isOver.resolve();
		await work;
		for (const each of [paused, other]) await each.close();
		await client.end();
		await store.close();
	});

	test('starts, and does all else, if something that a stopped one left can’t be cleaned up', async () => {
		const url = await postgres.createDatabase('left');
		const store = await openPostgresStore(url);
		const lines: string[] = [];
		const log = createLog((line) => void lines.push(line));
		const replica = await openReplica({
			...{ connect: () => connectPostgres(url), log },
			replicas: { ...store.replicas, unknown: async () => ['gone'] }
		});
		const cleaned: string[] = [];
		replica.onGone(async () => Promise.reject(new Error('rubbish')));
		replica.onGone(async (id) => cleaned.push(id));
		await replica.start();
		expect(cleaned).toEqual(['gone']);
		expect(lines.filter((line) => line.includes('rubbish'))).toHaveLength(1);
		await replica.close();
		await store.close();
	});
});
