import { sql } from 'kysely';
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../../tests/support/postgres.ts';
import { testConcurrency } from './contract/concurrency.suite.ts';
import { evalRun } from './contract/eval-runs.suite.ts';
import { at, events, startOf } from './contract/fixtures.suite.ts';
import { testStore } from './contract/store.suite.ts';
import { connectPostgres, openPostgres, openPostgresStore } from './postgres.ts';
import { createStore, type Store } from './store.ts';

describe.skipIf(lacksPostgres())('a real Postgres', () => {
	let postgres: TestPostgres;
	let count = 0;
	/** A new database; it has the tables. */
	const migrated = () => postgres.createDatabase(`d${(count += 1)}`, 'migrated');

	beforeAll(async () => {
		postgres = await startPostgres();
		// Not the order of bytes, as SQLite has it.
		await postgres.sql("create database migrated template template0 locale_provider icu icu_locale 'en-US'");
		await (await openPostgresStore(postgres.urlOf('migrated'))).close();
	});
	afterAll(() => postgres?.stop());

	testStore('Postgres', async () => openPostgres(await migrated()));

	testConcurrency(
		'Postgres',
		async () => {
			const url = await migrated();
			return [openPostgres(url), openPostgres(url)];
		},
		async () => (await postgres.log()).split('deadlock detected').length
	);

	/** Holds what the statement locks until `release`; says when somebody waits for it. */
	const hold = async (url: string, statement: string) => {
		const client = await connectPostgres(url);
		client.on('error', () => undefined);
		await client.query(`begin; ${statement}`);
		return {
			isWaitedFor: () =>
				eventually(async () => {
					const waiting = await postgres.sql("select pid from pg_stat_activity where wait_event_type = 'Lock'");
					expect(waiting).toHaveLength(1);
					return (waiting as { pid: number }[])[0]?.pid;
				}),
			async release() {
				await client.query('rollback');
				await client.end();
			}
		};
	};

	describe('several rows that others may lock, too', () => {
		const execution = (id: string) => ({
			...{ id, skillId: 'skills/demo', skill: 'demo', version: '1.0.0', script: 'run.sh', argv: [], digest: 'd' },
			...{ sandbox: 'process' as const, limits: { timeoutMs: 1 }, caller: {} }
		});
		const response = (id: string) => ({
			...{ id, apiKeyId: null, previousId: null, sessionId: 's', items: [], body: {}, createdAt: at(1) },
			...{ inputCount: 0, isRunning: true }
		});
		const push = (id: string) => ({
			...{ contextId: 'c1', messageId: 'm', id, taskId: 't', sealed: '', isOpen: true }
		});
		interface Case {
			put(store: Store, id: string): Promise<unknown>;
			change(store: Store): Promise<unknown>;
			/** Condition for rows that weren't changed. */
			left?: string;
		}
		const each = (cases: Record<string, Case>) => Object.entries(cases);
		/** With `z` and `a` in this order in the table, and the second one locked. */
		const openWith = async (table: string, { put }: Case) => {
			const url = await migrated();
			const store = createStore(openPostgres(url));
			await store.conversations.create(made);
			for (const id of ['z', 'a']) await put(store, id);
			return { url, store, other: await hold(url, `select 1 from ${table} order by ctid desc limit 1 for update`) };
		};

		test.each(
			each({
				skill_executions: {
					put: (store, id) => store.skillExecutions.start(execution(id), at(1)),
					change: (store) => store.skillExecutions.endUnfinished('x', at(2))
				},
				responses: {
					put: (store, id) => store.responses.put(response(id)),
					change: (store) => store.responses.appendAll(['z', 'a'].map((runId) => ({ runId, events: events(1, 1) })))
				},
				eval_runs: {
					put: (store, id) => store.evalRuns.put(evalRun(id)),
					change: (store) => store.evalRuns.removeOlder(evalRun('a').skillId, 0)
				}
			})
		)('are locked by their key, not as they are found: %s', async (table, one) => {
			const { url, store, other } = await openWith(table, one);
			const changing = one.change(store);
			await other.isWaitedFor();
			const client = await connectPostgres(url);
			const { rows } = await client.query(`select 1 from ${table} for update skip locked`);
			expect(rows).toHaveLength(1);
			await client.end();
			await other.release();
			await changing;
			await store.close();
		});

		test.each(
			each({
				responses: {
					put: (store, id) => store.responses.put({ ...response(id), isRunning: false }),
					change: (store) => store.responses.removeBefore(at(2)),
					left: 'true'
				},
				login_sessions: {
					put: (store, id) => store.loginSessions.create({ tokenHash: id, createdAt: at(1), expiresAt: at(2) }),
					change: (store) => store.loginSessions.create({ tokenHash: 'new', createdAt: at(3), expiresAt: at(4) }),
					left: "token_hash <> 'new'"
				},
				task_pushes: {
					put: (store, id) => store.tasks.putPush(push(id), at(1)),
					change: (store) => store.tasks.claimPushes('server', 9),
					left: 'boot_id is null'
				}
			})
		)('are left to whoever has them, where that is enough: %s', async (table, one) => {
			const { url, store, other } = await openWith(table, one);
			await one.change(store);
			const client = await connectPostgres(url);
			const { rows } = await client.query(`select 1 from ${table} where ${one.left}`);
			expect(rows).toHaveLength(1);
			await client.end();
			await other.release();
			await store.close();
		});
	});

	test('what waits in a conversation changes only once the conversation is locked', async () => {
		const url = await migrated();
		const store = createStore(openPostgres(url));
		await store.conversations.create(made);
		const other = await hold(url, LOCK);
		const changing = store.queue.notDue('c1');
		await other.isWaitedFor();
		await other.release();
		await changing;
		await store.close();
	});

	describe('at the start', () => {
		const log = {
			told: [] as string[],
			info: (_: unknown, sentence: string) => void log.told.push(sentence),
			error() {}
		};

		test('several servers that find it empty at once: each works', async () => {
			const url = await postgres.createDatabase('empty');
			const stores = await Promise.all(Array.from({ length: 5 }, () => openPostgresStore(url)));
			await Promise.all(stores.map((store, index) => store.conversations.create({ ...made, id: `c${index}` })));
			for (const store of stores) {
				expect((await store.conversations.list({ page: 1, limit: 9 })).total).toBe(5);
				await store.close();
			}
		});

		test('of a newer version it’s refused with what to do', async () => {
			const url = await migrated();
			const db = openPostgres(url);
			await sql`insert into kysely_migration values ('999_future', ${at(1)})`.execute(db);
			await db.destroy();
			await expect(openPostgresStore(url)).rejects.toThrow(
				/newer version of this app \(it has the migration 999_future\)/
			);
		});

		test('a wrong password is said, and not which', async () => {
			await postgres.sql("create role locked login password 'the right one'");
			const opening = (password: string) => openPostgresStore(`${postgres.urlOf('migrated', 'locked')}${password}`);
			const refused = await opening('&password=the-wrong-one').catch((error: unknown) => error);
			expect(refused).toMatchObject({
				message: expect.stringMatching(
					/refused the user “locked” \(password authentication failed.*\)\. Check the user and the password in DATABASE_URL\.$/
				) as string
			});
			expect(JSON.stringify(refused) + String((refused as Error).stack)).not.toContain('the-wrong-one');
			await expect(opening('')).rejects.toThrow('refused the user “locked”');
		});

		test('a database that isn’t there is named', async () => {
			await expect(openPostgresStore(postgres.urlOf('nowhere'))).rejects.toThrow(
				'has no database “nowhere”. Create it with createdb nowhere, or name another one in DATABASE_URL.'
			);
		});

		test('a database that can’t hold every text is refused', async () => {
			await postgres.sql("create database narrow template template0 encoding 'LATIN1' locale 'C'");
			await expect(openPostgresStore(postgres.urlOf('narrow'))).rejects.toThrow(
				'The database “narrow” can’t hold every text: its encoding is LATIN1. Create one with createdb --encoding=UTF8'
			);
		});

		test('an old server is refused', async () => {
			const url = await postgres.createDatabase('old');
			const client = await connectPostgres(url);
			await client.query(`create schema old; alter database old set search_path = old, pg_catalog, public;
				create function old.current_setting(text) returns text language sql as $$ select '12.22 (Debian)' $$`);
			await client.end();
			await expect(openPostgresStore(url)).rejects.toThrow(
				'Postgres 12.22 (Debian) is too old. Use version 13 or newer.'
			);
		});

		test('a server that’s down is waited for, and then named', async () => {
			const url = await migrated();
			await postgres.shutDown();
			log.told = [];
			const opening = openPostgresStore(url, { log });
			await eventually(() => expect(log.told).toEqual(['Waiting for Postgres']));
			await postgres.startAgain();
			await (await opening).close();
			expect(log.told).toEqual(['Waiting for Postgres']);

			await postgres.shutDown();
			await expect(openPostgresStore(url, { startMs: 1 })).rejects.toThrow(
				/^Couldn’t reach Postgres at \/.*\(connect (ENOENT|ECONNREFUSED) .*\)\. Start it, or correct DATABASE_URL\.$/
			);
			await postgres.startAgain();
		});
	});

	describe('when connections are lost', () => {
		test('while nothing is under way, the process goes on, and so does the store', async () => {
			const store = await openPostgresStore(await migrated());
			await store.conversations.create(made);
			await postgres.restart();
			expect(await store.conversations.get('c1')).toMatchObject({ title: 'One' });
			await store.close();
		});

		test('a query waits for a server that comes back', async () => {
			const store = await openPostgresStore(await migrated());
			await store.conversations.create(made);
			await postgres.shutDown();
			const reading = store.conversations.get('c1');
			await postgres.startAgain();
			expect(await reading).toMatchObject({ title: 'One' });
			await store.close();
		});

		test('without a server the store is unavailable, for reads and for writes', async () => {
			const store = await openPostgresStore(await migrated(), { reconnectMs: 1 });
			await postgres.shutDown();
			const unavailable = { code: 'unavailable', status: 503 };
			await expect(store.conversations.get('c1')).rejects.toMatchObject(unavailable);
			await expect(store.runs.start(startOf('r1'))).rejects.toMatchObject(unavailable);
			await postgres.startAgain();
			expect(await store.runs.start(startOf('r1'))).toMatchObject({ outcome: 'started' });
			await store.close();
		});

		const cut = (pid: number | undefined) => postgres.sql(`select pg_terminate_backend(${pid})`);
		test('a read is done again', async () => {
			const url = await migrated();
			const store = await openPostgresStore(url);
			await store.conversations.create(made);
			const other = await hold(url, 'lock table conversations in access exclusive mode');
			const reading = store.conversations.get('c1');
			await cut(await other.isWaitedFor());
			await other.isWaitedFor();
			await other.release();
			expect(await reading).toMatchObject({ title: 'One' });
			await store.close();
		});

		test('a transaction is done again, once', async () => {
			const url = await migrated();
			const store = await openPostgresStore(url);
			await store.conversations.create(made);
			const other = await hold(url, LOCK);
			const starting = store.runs.start(startOf('r1'));
			await cut(await other.isWaitedFor());
			await other.isWaitedFor();
			await other.release();
			expect(await starting).toMatchObject({ outcome: 'started' });
			expect(await store.messages.list('c1')).toHaveLength(2);
			await store.close();
		});

		test('a statement alone isn’t done again, since it may have been written', async () => {
			const url = await migrated();
			const store = await openPostgresStore(url);
			await store.conversations.create(made);
			const other = await hold(url, LOCK);
			const renaming = store.conversations.rename('c1', 'Two', at(2));
			const isRefused = expect(renaming).rejects.toMatchObject({ code: 'unavailable' });
			await cut(await other.isWaitedFor());
			await isRefused;
			await other.release();
			expect(await store.conversations.get('c1')).toMatchObject({ title: 'One' });
			await store.close();
		});

		test('a commit whose answer didn’t come isn’t done again', async () => {
			const url = await migrated();
			const relay = await createRelay(join(postgres.folder, '.s.PGSQL.5432'));
			const store = createStore(openPostgres(relay.through(url)));
			expect(await store.runs.start(startOf('r1'))).toMatchObject({ outcome: 'started' });
			relay.cutAt('commit');
			await expect(store.runs.appendEvents('r1', events(1, 1))).rejects.toMatchObject({ code: 'unavailable' });
			// It did arrive.
			await eventually(async () => {
				expect(await store.runs.readEvents('r1', { after: 0, limit: 9 })).toEqual(events(1, 1));
			});
			await store.close();
			await relay.close();
		});

		test('a server that says nothing any more is given up', async () => {
			const url = await migrated();
			const relay = await createRelay(join(postgres.folder, '.s.PGSQL.5432'));
			const store = createStore(openPostgres(relay.through(url), { silenceMs: 100 }));
			await store.conversations.create(made);
			relay.fallSilentAt('insert');
			await expect(store.conversations.create({ ...made, id: 'c2' })).rejects.toMatchObject({ code: 'unavailable' });
			expect(await store.conversations.get('c2')).toBeNull();
			await store.close();
			await relay.close();
		});

		test('a statement that takes too long is ended, and the connection goes on', async () => {
			const url = await migrated();
			const store = createStore(openPostgres(url, { statementMs: 50 }));
			await store.conversations.create(made);
			const other = await hold(url, LOCK);
			await expect(store.conversations.rename('c1', 'Two', at(2))).rejects.toMatchObject({ code: 'unavailable' });
			await other.release();
			expect(await store.conversations.rename('c1', 'Two', at(2))).toBe(true);
			await store.close();
		});
	});

	test('what somebody keeps locked holds up neither who waits for it nor the others', async () => {
		const url = await migrated();
		const store = createStore(openPostgres(url, { lockMs: 100 }));
		await store.conversations.create(made);
		const other = await hold(url, 'lock table runs in access exclusive mode');
		// More than there are connections.
		const starting = Array.from({ length: 30 }, (_, index) =>
			store.runs.start(startOf(`r${index}`, { conversationId: `c${index}` }))
		);
		const busy = { code: 'unavailable', message: expect.stringContaining('The database is busy') as string };
		const refused = Promise.all(starting.map((each) => expect(each).rejects.toMatchObject(busy)));
		expect(await store.settings.list()).toEqual(new Map());
		await refused;
		await other.release();
		expect(await store.runs.start(startOf('r1'))).toMatchObject({ outcome: 'started' });
		await store.close();
	});

	test('what Postgres undid because somebody else waited for it, it does again', async () => {
		const url = await migrated();
		const store = createStore(openPostgres(url));
		await store.settings.set({ a: 0, b: 0, c: 0 }, at(1));
		const [first, other] = [await connectPostgres(url), await connectPostgres(url)];
		const change = (key: string) => `update settings set value = '9' where key = '${key}'`;
		const waiting = async (count: number) =>
			eventually(async () => {
				const found = await postgres.sql("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
				expect(found).toHaveLength(count);
			});
		await first.query(`begin; ${change('b')}`);
		// The store looks for deadlocks before this one does, and so is the one that ends.
		await other.query(`set deadlock_timeout = '1min'; begin; ${change('c')}`);
		const setting = store.settings.set({ a: 1, b: 1, c: 1 }, at(2));
		await waiting(1);
		const others = other.query(change('a'));
		await waiting(2);
		await first.query('rollback');
		await others;
		expect(await postgres.log()).toContain('deadlock detected');
		await other.query('commit');
		await setting;
		expect(await store.settings.list()).toEqual(new Map(Object.entries({ a: 1, b: 1, c: 1 })));
		for (const client of [first, other]) await client.end();
		await store.close();
	});

	test('takes at most ten connections, however many ask', async () => {
		const url = await migrated();
		const store = await openPostgresStore(url);
		await Promise.all(
			Array.from({ length: 60 }, (_, index) => store.conversations.create({ ...made, id: `c${index}` }))
		);
		const name = new URL(url).pathname.slice(1);
		const [open] = await postgres.sql(`select count(*)::int as open from pg_stat_activity where datname = '${name}'`);
		expect(open).toEqual({ open: 10 });
		await store.close();
	});

	test('counts are numbers', async () => {
		const db = openPostgres(await migrated());
		const { rows } = await sql`select count(*) as few, 9007199254740993::bigint as many from conversations`.execute(db);
		expect(rows).toEqual([{ few: 0, many: '9007199254740993' }]);
		await db.destroy();
	});
});

/** Between a store and its server, on a port of 127.0.0.1. */
async function createRelay(socketPath: string) {
	let drops: { word: string; isSent: boolean } | null = null;
	const sockets = new Set<Socket>();
	const relay = createServer((client) => {
		const server = connectTo(socketPath);
		let isSilent = false;
		for (const socket of [client, server]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => (client.destroy(), server.destroy()));
		}
		client.on('data', (bytes) => {
			if (drops && bytes.includes(drops.word)) {
				isSilent = true;
				if (drops.isSent) server.once('data', () => client.destroy());
				const { isSent } = drops;
				drops = null;
				if (!isSent) return;
			}
			server.write(bytes);
		});
		server.on('data', (bytes) => void (isSilent || client.write(bytes)));
	});
	await once(relay.listen(0, '127.0.0.1'), 'listening');
	const { port } = relay.address() as AddressInfo;
	return {
		through: (url: string) => `postgres://postgres@127.0.0.1:${port}${new URL(url).pathname}`,
		/** The next statement with this word arrives; its answer doesn’t, and the connection breaks. */
		cutAt: (word: string) => void (drops = { word, isSent: true }),
		/** The next statement with this word doesn’t arrive, and nothing comes back. */
		fallSilentAt: (word: string) => void (drops = { word, isSent: false }),
		async close() {
			for (const socket of sockets) socket.destroy();
			relay.close();
			await once(relay, 'close');
		}
	};
}

const LOCK = "select 1 from conversations where id = 'c1' for update";
const made = { id: 'c1', title: 'One', createdAt: at(1) };
