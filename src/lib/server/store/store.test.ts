import { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testConcurrency } from './contract/concurrency.suite.ts';
import { at, events, startOf } from './contract/fixtures.suite.ts';
import { migrate } from './migrations.ts';
import { migrations001to005 } from './migrations/001-005.ts';
import type { Database } from './schema.ts';
import { openSqlite, openSqliteStore } from './sqlite.ts';
import { createStore } from './store.ts';
import { testStore } from './contract/store.suite.ts';

testStore('SQLite', async () => {
	const db = openSqlite(':memory:');
	await migrate(db);
	return db;
});

describe('a SQLite file that is open twice', () => {
	let folder: string;
	beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'store-twice-'))));
	afterAll(() => rm(folder, { recursive: true, force: true }));

	testConcurrency('SQLite', async () => {
		const path = join(folder, 'app.db');
		await (await openSqliteStore(path)).close();
		return [openSqlite(path), openSqlite(path)];
	});
});

testStore('Postgres (PGlite)', async () => {
	const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite: new PGlite() }) });
	await migrate(db);
	// On the same database again, there's nothing to do.
	await migrate(db);
	return db;
});

describe('a SQLite file', () => {
	let folder: string;
	let path: string;

	beforeEach(async () => {
		folder = await mkdtemp(join(tmpdir(), 'store-'));
		path = join(folder, 'data', 'deep', 'app.db');
	});
	afterEach(() => rm(folder, { recursive: true, force: true }));

	test('is created with its folder, and keeps everything when it is opened again', async () => {
		const first = await openSqliteStore(path);
		await first.runs.start(startOf('r1'));
		await first.runs.appendEvents('r1', events(1, 3));
		const before = [await first.conversations.get('c1'), await first.messages.list('c1'), await first.runs.get('r1')];
		await first.close();

		const second = await openSqliteStore(path);
		expect([
			await second.conversations.get('c1'),
			await second.messages.list('c1'),
			await second.runs.get('r1')
		]).toEqual(before);
		expect(await second.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual(events(1, 3));
		await second.close();
	});

	// Windows doesn't have these modes.
	test.skipIf(process.platform === 'win32')('is in a folder that only its owner can read', async () => {
		await (await openSqliteStore(path)).close();
		expect((await stat(join(folder, 'data', 'deep'))).mode & 0o777).toBe(0o700);
	});

	test('is in WAL mode, synced at every commit, with foreign keys, and never waits by itself', async () => {
		const db = openSqlite(path);
		const pragma = async (name: string) => Object.values((await sql`pragma ${sql.raw(name)}`.execute(db)).rows[0]!)[0];
		expect(await pragma('journal_mode')).toBe('wal');
		expect(await pragma('synchronous')).toBe(2);
		expect(await pragma('foreign_keys')).toBe(1);
		expect(await pragma('busy_timeout')).toBe(0);
		await db.destroy();
	});

	test('migrations that ran are not run again', async () => {
		const db = openSqlite(path);
		await migrate(db);
		await createStore(db).conversations.create({ id: 'c1', title: 'kept', createdAt: at(1) });
		await migrate(db);
		expect(await createStore(db).conversations.get('c1')).toMatchObject({ title: 'kept' });
		await db.destroy();
	});

	test('of the version before is brought up to date: its messages are one branch, its runs and events are kept', async () => {
		mkdirSync(dirname(path), { recursive: true });
		const file = new DatabaseSync(path);
		file.exec(VERSION_1);
		file.close();
		const store = await openSqliteStore(path);
		expect((await store.messages.list('c1')).map(({ id, parentId }) => [id, parentId])).toEqual([
			['m1', null],
			['m2', 'm1'],
			['m3', 'm2']
		]);
		expect(await store.messages.list('c2')).toEqual([]);
		expect(await store.runs.get('r1')).toMatchObject({ state: 'success', lastSeq: 2 });
		expect(await store.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual([
			{ seq: 1, data: '{"a":1}' },
			{ seq: 2, data: '{"a":2}' }
		]);
		expect(await store.conversations.remove('c1')).toBe(true);
		expect(await store.runs.get('r1')).toBeNull();
		await store.close();
	});

	test('of a version without an index: what was said is found, titles too', async () => {
		mkdirSync(dirname(path), { recursive: true });
		const file = new DatabaseSync(path);
		file.exec(VERSION_1);
		file.exec(`update messages set body = replace(body, '"parts":[]', '"parts":[{"type":"text","id":"t","text":"Grüße"}]')
			where id = 'm3'; update conversations set title = 'Façade' where id = 'c2'`);
		file.close();
		const store = await openSqliteStore(path);
		const found = async (query: string) => (await store.conversations.list({ page: 1, limit: 10, query })).data;
		expect(await found('grusse')).toEqual([]);
		expect(await found('gruße')).toMatchObject([{ id: 'c1', snippet: { messageId: 'm3', matches: [[0, 5]] } }]);
		expect(await found('facade')).toMatchObject([{ id: 'c2' }]);
		await store.close();
	});

	test('E14, F4: a database of the version before this one keeps its trust by the files’ digest, and counts what ran', async () => {
		mkdirSync(dirname(path), { recursive: true });
		const before = openSqlite(path);
		await new Migrator({ db: before, provider: { getMigrations: async () => UNTIL_3 } }).migrateToLatest();
		await sql.raw(TRUSTED_3).execute(before);
		for (const [index, [skill, status, finished]] of EXECUTIONS_3.entries()) {
			const columns = sql`id, skill_id, skill, version, argv, digest, sandbox, limits, status, created_at, finished_at`;
			const values = sql`${`e${index}`}, ${skill}, 'x', '1.0.0', '[]', 'd', 'process', '{}', ${status}, ${at(index)}`;
			await sql`insert into skill_executions (${columns}) values (${values}, ${finished})`.execute(before);
		}
		await before.destroy();
		const store = await openSqliteStore(path);
		expect(await store.trustedSkills.digestsOf('installed/demo')).toEqual(['d1']);
		expect(await store.trustedSkills.get('installed/demo', '1.0.0')).toMatchObject({ digest: 'd1', version: '' });
		expect(await store.skillExecutions.usage()).toEqual(
			new Map([
				['local/a', { executions: 3, failures: 2, lastUsedAt: at(2) }],
				['local/b', { executions: 1, failures: 0, lastUsedAt: at(3) }]
			])
		);
		expect(await store.skillExecutions.endUnfinished('The server was stopped.', at(9))).toBe(1);
		expect((await store.skillExecutions.usage()).get('local/a')).toEqual({
			...{ executions: 4, failures: 3, lastUsedAt: at(4) }
		});
		expect((await store.skillExecutions.list({}, { page: 1, limit: 9 })).total).toBe(5);
		await store.close();
	});

	test('of a newer version is refused with what to do, and left as it is', async () => {
		await (await openSqliteStore(path)).close();
		const file = new DatabaseSync(path);
		file.prepare('insert into kysely_migration values (?, ?)').run('999_future', at(1));
		const applied = file.prepare('select * from kysely_migration').all();
		await expect(openSqliteStore(path)).rejects.toThrow(
			/newer version of this app \(it has the migration 999_future\)\. Start that version.*restore a backup from before/
		);
		expect(file.prepare('select * from kysely_migration').all()).toEqual(applied);
		file.close();
	});

	test('that is no database is refused by its name', async () => {
		const text = join(folder, 'notes.txt');
		await writeFile(text, 'not a database, '.repeat(1000));
		await expect(openSqliteStore(text)).rejects.toThrow(
			`Couldn’t open the database ${text}: file is not a database. Check the file`
		);
	});

	test('on a full disk is storage_full, and takes writes again when there is room', async () => {
		const db = openSqlite(path);
		await migrate(db);
		const store = createStore(db);
		await store.runs.start(startOf('r1'));
		const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
		await sql`pragma max_page_count = ${sql.lit(rows[0]!.page_count + 2)}`.execute(db);
		const large = [{ seq: 1, data: 'x'.repeat(1_000_000) }];
		await expect(store.runs.appendEvents('r1', large)).rejects.toMatchObject({ code: 'storage_full', status: 507 });
		expect(await store.runs.readEvents('r1', { after: 0, limit: 10 })).toEqual([]);

		await sql`pragma max_page_count = 1000000`.execute(db);
		expect(await store.runs.appendEvents('r1', large)).toBe(true);
		await db.destroy();
	});

	test('that another process is writing to: who reads goes on, who writes waits for it, and the process does neither', async () => {
		const store = await openSqliteStore(path);
		await store.conversations.create({ id: 'c1', title: 'Before', createdAt: at(1) });
		const other = new DatabaseSync(path);
		other.exec('begin immediate');
		let started: unknown = null;
		const starting = store.runs.start(startOf('r1')).then((result) => (started = result.outcome));
		const renaming = store.conversations.create({ id: 'c2', title: 'x', createdAt: at(2) });
		for (let count = 0; count < 20; count += 1) {
			expect(await store.conversations.get('c1')).toMatchObject({ title: 'Before' });
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect(started).toBeNull();
		other.exec('commit');
		expect(await starting).toBe('started');
		await renaming;
		expect(await store.conversations.get('c2')).toMatchObject({ title: 'x' });
		other.close();
		await store.close();
	});

	test('that another process is writing to is unavailable once the wait is over', async () => {
		const store = await openSqliteStore(path, { busyTimeoutMs: 1 });
		const other = new DatabaseSync(path);
		other.exec('begin immediate');
		await expect(store.runs.start(startOf('r1'))).rejects.toMatchObject({ code: 'unavailable', status: 503 });
		await expect(store.conversations.create({ id: 'c1', title: 'x', createdAt: at(1) })).rejects.toMatchObject({
			code: 'unavailable'
		});
		other.exec('rollback');
		expect(await store.runs.start(startOf('r1'))).toMatchObject({ outcome: 'started' });
		other.close();
		await store.close();
	});
});

/** The migrations up to the previous version. */
const UNTIL_3 = Object.fromEntries(Object.entries(migrations001to005).slice(0, 3));
const TRUSTED_3 = `insert into trusted_skills values ('installed/demo', 'd1', '[]', '2026-01-01T00:00:00.000Z')`;
/** Skill, status and end time. */
const EXECUTIONS_3 = [
	['local/a', 'success', at(5)],
	['local/a', 'error', at(5)],
	['local/a', 'timeout', at(5)],
	['local/b', 'success', at(5)],
	['local/a', 'running', null]
] as const;

/** A database of the first version, written out by hand instead of created by current code. */
const VERSION_1 = `
create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);
create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer not null default 0);
insert into kysely_migration_lock values ('migration_lock', 0);
insert into kysely_migration values ('001_conversations', '2026-01-01T00:00:00.000Z');
create table conversations (id text not null primary key, title text not null, created_at text not null, updated_at text not null);
create index conversations_by_update on conversations (updated_at);
create table messages (id text not null, conversation_id text not null references conversations (id) on delete cascade,
	position integer not null, role text not null, status text not null, body text not null, items text, model text,
	run_id text, created_at text not null, constraint messages_key primary key (conversation_id, id),
	constraint messages_order unique (conversation_id, position));
create table runs (id text not null primary key, conversation_id text not null references conversations (id) on delete cascade,
	message_id text not null, state text not null, model text not null, boot_id text not null, started_at text not null,
	finished_at text, last_seq integer default 0 not null, error_code text,
	constraint runs_state_known check (state in ('running', 'success', 'cancelled', 'failed', 'interrupted')));
create index runs_by_conversation on runs (conversation_id, state);
create index runs_by_state on runs (state);
create unique index runs_one_running on runs (conversation_id) where state = 'running';
create table run_events (run_id text not null references runs (id) on delete cascade, seq integer not null, data text not null,
	constraint run_events_key primary key (run_id, seq));
insert into conversations values ('c1', 'One', '2026-01-01', '2026-01-02'), ('c2', 'Empty', '2026-01-01', '2026-01-02');
insert into messages values
	('m1', 'c1', 1, 'user', 'complete', '{"parts":[],"files":[],"error":null,"usage":null,"retry":null}', null, null, null, '2026-01-01'),
	('m2', 'c1', 3, 'assistant', 'complete', '{"parts":[],"files":[],"error":null,"usage":null,"retry":null}', null, 'm/x', 'r1', '2026-01-01'),
	('m3', 'c1', 4, 'user', 'complete', '{"parts":[],"files":[],"error":null,"usage":null,"retry":null}', null, null, null, '2026-01-01');
insert into runs values ('r1', 'c1', 'm2', 'success', 'm/x', 'b', '2026-01-01', '2026-01-01', 2, null);
insert into run_events values ('r1', 1, '{"a":1}'), ('r1', 2, '{"a":2}');
`;
