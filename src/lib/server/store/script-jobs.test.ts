import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../../tests/support/postgres.ts';
import { startOf } from './contract/fixtures.suite.ts';
import { connectPostgres, openPostgres, openPostgresStore } from './postgres.ts';
import type { ScriptJobs } from './script-jobs.ts';
import { createStore, type Store } from './store.ts';

describe.skipIf(lacksPostgres())('D33: the queue of scripts', () => {
	let postgres: TestPostgres;
	let url: string;
	let store: Store;
	let jobs: ScriptJobs;
	let count = 0;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());
	beforeEach(async () => {
		url = await postgres.createDatabase(`jobs_${(count += 1)}`);
		store = await openPostgresStore(url);
		jobs = await store.openScriptJobs();
		for (const [lockKey, id] of ['server', 'other', 'worker', 'worker-2'].entries()) {
			await store.replicas.beat({ id, lockKey });
		}
	});
	afterEach(async () => {
		await jobs.close();
		await store.close();
	});

	async function add(owner = 'one', more: { serverId?: string; runId?: string } = {}): Promise<string> {
		const id = randomUUID();
		const isAdded = await jobs.add({ id, owner, serverId: 'server', runId: null, sealed: `job of ${owner}`, ...more });
		return isAdded ? id : 'refused';
	}
	const take = async (worker = 'worker', except: string[] = []) => (await jobs.take(worker, except))?.id ?? null;
	async function run(statement: ReturnType<typeof sql>): Promise<void> {
		const db = openPostgres(url);
		await statement.execute(db);
		await db.destroy();
	}

	test('an owner’s scripts come in order, and owners take turns however many one has', async () => {
		const many: string[] = [];
		for (let index = 0; index < 5; index += 1) many.push(await add('many'));
		expect(await take()).toBe(many[0]);
		const few = [await add('few'), await add('few')];
		const late = await add('late');
		const order = [];
		for (let id = await take(); id !== null; id = await take()) order.push(id);
		expect(order.filter((id) => many.includes(id))).toEqual(many.slice(1));
		expect(order.slice(0, 2).sort()).toEqual([few[0], late].sort());
		expect(order.indexOf(few[1]!)).toBeLessThan(order.indexOf(many[3]!));
	});

	test('whoever has waited isn’t overtaken for ever by newcomers', async () => {
		const many = [await add('many'), await add('many'), await add('many'), await add('many')];
		for (let index = 0; index < 20; index += 1) {
			// As if 30 s had passed.
			await run(sql`update pgboss.job set priority = priority + 30`);
			await add(`newcomer ${index}`);
			const id = await take();
			expect(id).not.toBeNull();
			await jobs.finish(id!, 'worker', '{}');
			await jobs.remove([id!]);
		}
		expect([...(await jobs.news(new Map(many.map((id) => [id, 0])))).values()].map(({ state }) => state)).toEqual(
			many.map(() => 'gone')
		);
	});

	test('rubbish in its tables holds up nobody: neither rows that are no jobs nor workers that say something else', async () => {
		const odd = [await add(), await add(), await add()];
		await run(sql`update pgboss.job set data = null where id = ${odd[0]}::uuid`);
		await run(sql`update pgboss.job set data = '{"sealed":{"a":[1]}}' where id = ${odd[1]}::uuid`);
		await run(sql`delete from script_jobs where id = ${odd[2]}`);
		const last = await add();
		expect([await take(), await take(), await take(), await take()]).toEqual([odd[0], odd[1], last, null]);
		for (const [id, facts] of [
			['worker', 'rubbish'],
			['worker-2', '{"host":"h","pid":1,"slots":1,"sandbox":"process"}']
		]) {
			await run(sql`insert into script_workers (id, facts, started_at) values (${id}, ${facts}, now())`);
		}
		expect((await jobs.counts()).workers).toEqual([]);
	});

	test('a hundred takes at once give each script to one worker', async () => {
		const added = await Promise.all(Array.from({ length: 40 }, (_, index) => add(`owner ${index % 3}`)));
		const taken = await Promise.all(Array.from({ length: 100 }, (_, index) => take(index % 2 ? 'worker' : 'worker-2')));
		// One that found a row locked by another comes back with nothing.
		const rest = [];
		for (let id = await take(); id !== null; id = await take()) rest.push(id);
		expect([...taken, ...rest].filter((id) => id !== null).sort()).toEqual(added.sort());
	});

	test('a run that another server has taken over, or that has ended, begins nothing, and what it runs ends', async () => {
		const start = startOf('r1');
		await store.runs.start({ ...start, run: { ...start.run, bootId: 'server' } } as typeof start);
		await run(sql`update runs set boot_id = 'server'`);
		const running = await add('one', { runId: 'r1' });
		expect(await take()).toBe(running);
		const waiting = await add('one', { runId: 'r1' });
		expect(waiting).not.toBe('refused');
		expect(await jobs.ofWorker('worker')).toEqual(new Map([[running, null]]));

		await run(sql`update runs set epoch = epoch + 1, boot_id = 'other'`);
		expect(await jobs.ofWorker('worker')).toEqual(new Map([[running, 'kill']]));
		expect(await take()).toBeNull();
		expect((await jobs.news(new Map([[waiting, 0]]))).get(waiting)).toMatchObject({ state: 'gone' });
		// Whoever has lost it can't add more; whoever has it can.
		expect(await add('one', { runId: 'r1' })).toBe('refused');
		expect(await add('one', { runId: 'r1', serverId: 'other' })).not.toBe('refused');
		await run(sql`update runs set state = 'success'`);
		expect(await take()).toBeNull();
		// What has no run in this table is nobody's to fence.
		expect(await add('one', { runId: 'a response' })).not.toBe('refused');
	});

	test('the scripts of a server that has stopped never begin, and those of a worker are lost once', async () => {
		const [lost, waiting] = [await add('a'), await add('b', { serverId: 'other' })];
		expect(await take()).toBe(lost);
		await store.replicas.bury('other');
		expect(await jobs.clear('other')).toEqual([]);
		expect(await take()).toBeNull();
		expect((await jobs.news(new Map([[waiting, 0]]))).get(waiting)).toMatchObject({ state: 'gone' });

		await store.replicas.bury('worker');
		// Even before anybody has cleaned up.
		expect((await jobs.news(new Map([[lost, 0]]))).get(lost)).toMatchObject({ state: 'lost' });
		expect(await jobs.clear('worker')).toEqual([lost]);
		expect(await jobs.clear('worker')).toEqual([]);
		await jobs.finish(lost, 'worker', '{"late":true}');
		expect((await jobs.news(new Map([[lost, 0]]))).get(lost)).toMatchObject({ state: 'lost', result: null });
		await add('c');
		expect(await take('worker')).toBeNull();
		expect(await take('worker-2', ['server'])).toBeNull();
		expect(await jobs.counts()).toMatchObject({ queued: 0 });
	});

	test('output and result come from the worker that has the job, and nothing of it stays', async () => {
		const id = await add();
		await take();
		await jobs.write('worker', [{ id, n: 1, texts: '[["stdout","a\\u0000"]]' }]);
		await jobs.write('worker', [{ id, n: 1, texts: 'twice' }]);
		await jobs.write('worker-2', [{ id, n: 2, texts: 'not mine' }]);
		await jobs.finish(id, 'worker-2', 'not mine');
		expect(await jobs.withdraw(id)).toBe(false);
		await jobs.finish(id, 'worker', '{}');
		await jobs.write('worker', [{ id, n: 2, texts: 'too late' }]);
		expect((await jobs.news(new Map([[id, 0]]))).get(id)).toEqual({
			state: 'ended',
			result: '{}',
			output: [{ n: 1, texts: '[["stdout","a\\u0000"]]' }]
		});
		await jobs.remove([id]);
		const db = openPostgres(url);
		for (const table of ['script_jobs', 'script_output', 'pgboss.job']) {
			expect((await sql`select * from ${sql.table(table)}`.execute(db)).rows).toEqual([]);
		}
		await db.destroy();
	});

	test('output isn’t refused because another script was removed at once, and nobody waits for each other', async () => {
		for (let round = 0; round < 5; round += 1) {
			const ids = await Promise.all(Array.from({ length: 30 }, () => add()));
			for (const _ of ids) await take();
			// A prime, so that each order has all.
			const inOrder = (index: number) => ids.map((_, each) => ids[(((each + 1) * (index + 1)) % 31) - 1] ?? '');
			await Promise.all(
				Array.from({ length: 16 }, (_, index) => {
					if (index % 4 === 3) return jobs.remove(inOrder(index));
					if (index === 8) return jobs.clear('worker');
					return jobs.write(
						'worker',
						inOrder(index).map((id) => ({ id, n: index, texts: '[]' }))
					);
				})
			);
			expect([...(await jobs.news(new Map(ids.map((id) => [id, 0])))).values()].map(({ state }) => state)).toEqual(
				ids.map(() => 'gone')
			);
			await run(sql`delete from pgboss.job`);
		}
		expect(await postgres.log()).not.toContain('deadlock detected');
	});

	test('whoever prepares the queue is waited for longer than for any other lock', async () => {
		const other = await connectPostgres(url);
		await other.query('begin; select pg_advisory_xact_lock(7, 0)');
		const waiting = createStore(openPostgres(url, { lockMs: 50 }));
		const opening = waiting.openScriptJobs();
		const waits = "wait_event_type = 'Lock' and now() - query_start > interval '200ms'";
		await eventually(async () => {
			expect(await postgres.sql(`select 1 from pg_stat_activity where ${waits}`)).toHaveLength(1);
		});
		await other.end();
		await (await opening).close();
		await waiting.close();
	});

	test('servers that start at once prepare the queue once', async () => {
		const other = await postgres.createDatabase(`jobs_${(count += 1)}`);
		const stores = [];
		for (let index = 0; index < 4; index += 1) stores.push(await openPostgresStore(other));
		const opened = await Promise.all(stores.map((each) => each.openScriptJobs()));
		for (const each of opened) expect(await each.counts()).toMatchObject({ queued: 0, running: 0, workers: [] });
		for (const each of opened) await each.close();
		for (const each of stores) await each.close();
	});
});
