/** Migrates databases of every released version; each was created by that version and has a row in each table. */
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { evalRun } from '../../shared/try-out.ts';
import { openSqliteStore } from './sqlite.ts';

const FIXTURES = join(import.meta.dirname, '../../../../tests/fixtures/databases');
const MIGRATIONS = join(import.meta.dirname, 'migrations');

/** SHA-256 of the files of landed migrations. Add new ones; never change existing lines. */
const LANDED: Record<string, string> = {
	'001-005.ts': '2a63da34a04477e6d5a593fbfed5c2855b7dfdd168e3a7084e50baff70151ed5',
	'006-019.ts': 'faeda304f9c455568407ac416f9b2c9abf1f33d2ba754dccaf84e93e8f65ac3e',
	'020-028.ts': '9f272dc4931ad20258134bfa6a43079c150b48292c8844964ce047987b15b07e',
	'029-removed-messages.ts': '6ab12126c737654fa047787b13aea93fd15cd4b2c75637ab05f03bc085a068d9'
};

/** From before several servers could share a database. */
const TAKES_AWAY = ['001-005.ts'];
const TAKING_AWAY = /\bdrop ?(table|column)\b|\brename ?(to|column)\b|\bset ?not ?null\b/i;

/** Tables a later migration replaced. */
const MOVED: Record<string, string> = { trusted_skills: 'trusted_versions' };

let root: string;
beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), 'old-databases-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Row counts by table, without the search index and internal tables. */
function rowsOf(path: string): Record<string, number> {
	const database = new DatabaseSync(path);
	try {
		const tables = database
			.prepare("select name from sqlite_master where type = 'table' and name not like 'kysely%'")
			.all() as { name: string }[];
		const own = tables.filter(({ name }) => !/^(sqlite_|message_search|message_words)/.test(name));
		return Object.fromEntries(
			own.map(({ name }) => [name, Number(database.prepare(`select count(*) as n from "${name}"`).get()?.['n'])])
		);
	} finally {
		database.close();
	}
}

/** Tables, columns and indexes, regardless of order. */
function schemaOf(path: string): string[] {
	const database = new DatabaseSync(path);
	try {
		const columns =
			database.prepare(`select t.name || '.' || c.name || ' ' || lower(c.type) || ' ' || c."notnull" || ' ' || c.pk as line
			from sqlite_master as t, pragma_table_info(t.name) as c where t.type = 'table' and t.name not like 'kysely%'`);
		const indexes = database.prepare(`select 'index ' || i.tbl_name || '.' || i.name || ': ' || (
			select group_concat(name) from pragma_index_info(i.name)) as line from sqlite_master as i where i.type = 'index'`);
		const checks = database.prepare(
			"select 'check ' || name || ': ' || sql as line from sqlite_master where type = 'trigger'"
		);
		return [columns, indexes, checks].flatMap((query) => query.all().map((row) => String(row['line']))).sort();
	} finally {
		database.close();
	}
}

const databases = readdirSync(FIXTURES).filter((name) => name.endsWith('.sqlite.gz'));

describe('F14: a database of every version that was released opens', () => {
	test.each(databases)('%s: nothing is lost, what it lacks is added, and it is written to', async (name) => {
		const path = join(root, 'app.sqlite');
		writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, name))));
		const before = rowsOf(path);
		const store = await openSqliteStore(path);
		expect(await store.conversations.get('conversation-1')).toMatchObject({ title: 'An old conversation' });
		const found = await store.conversations.list({ page: 1, limit: 10, query: 'old conversation' });
		expect(found.data.map(({ id }) => id)).toEqual(['conversation-1']);
		const messages = await store.messages.list('conversation-1');
		expect(messages.map(({ role, parts }) => [role, parts[0]])).toEqual([
			['user', { type: 'text', id: 'text-1', text: 'An old question' }],
			['assistant', { type: 'text', id: 'text-1', text: 'An old answer' }]
		]);
		await store.conversations.rename('conversation-1', 'Renamed', '2026-11-22T10:00:00.000Z');
		expect(await store.conversations.get('conversation-1')).toMatchObject({ title: 'Renamed' });
		await store.close();
		const after = rowsOf(path);
		for (const [table, count] of Object.entries(before)) {
			expect([table, after[MOVED[table] ?? table]]).toEqual([table, count]);
		}

		const fresh = join(root, 'fresh.sqlite');
		await (await openSqliteStore(fresh)).close();
		expect(schemaOf(path)).toEqual(schemaOf(fresh));
	});

	test('an untitled chat is renamed, so that its first message still names it', async () => {
		const path = join(root, 'app.sqlite');
		writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, '008.sqlite.gz'))));
		const database = new DatabaseSync(path);
		database.exec("update conversations set title = 'New conversation', folded_title = 'new conversation'");
		database.close();
		const store = await openSqliteStore(path);
		const { data } = await store.conversations.list({ page: 1, limit: 10, query: 'new chat' });
		expect(data.map(({ title }) => title)).toContain('New chat');
		await store.close();
	});

	test('F12: what the keys of the Responses API had stored is known', async () => {
		const path = join(root, 'app.sqlite');
		writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, '021.sqlite.gz'))));
		const store = await openSqliteStore(path);
		expect(await store.responseConversations.hasRoom(null, 512 + 512 + '{"a":"é"}'.length + 50)).toBe(true);
		expect(await store.responseConversations.hasRoom(null, 512 + 512 + '{"a":"é"}'.length)).toBe(false);
		await store.close();
		const database = new DatabaseSync(path);
		const sizes = `select bytes - octet_length(items) - octet_length(body) as events from responses`;
		expect(database.prepare(sizes).all()).toEqual([expect.objectContaining({ events: 27 })]);
		database.close();
	});

	test('E28: paths of installed and removed skills are relative to the data folder, wherever it was', async () => {
		const path = join(root, 'app.sqlite');
		writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, '026.sqlite.gz'))));
		const database = new DatabaseSync(path);
		database.exec('delete from skill_installs; delete from skill_trash');
		const install = database.prepare(`insert into skill_installs values
			(?, 'system', 's/' || ?, 'n', '1', 'kept', ?, '{}', 'd', '[]', 'h', '2026', '2026')`);
		const key = `key.${'0f'.repeat(12)}`;
		const dirs = ['/old/data/skills/a@1', `/data/owned/${key}/a@1`, '/skills/kept/i', 'C:\\app\\trash\\t', '/srv/a'];
		for (const [index, dir] of dirs.entries()) install.run(String(index), String(index), dir);
		const trash = database.prepare(`insert into skill_trash (id, skill_id, name, path, stored, install_id, removed_at)
			values (?, 's/a', 'a', ?, ?, ?, '2026')`);
		trash.run('1', '/old/data/skills/a@1', '/old/data/trash/1', 'i');
		trash.run('2', '/old/data/skills/deep/a', '/old/data/trash/2', null);
		trash.run('3', '/srv/skills/a', '/old/data/trash/3', null);
		trash.run('4', '/older/data/skills/a@2', '/old/data/trash/4', 'i');
		database.close();
		const store = await openSqliteStore(path);
		const installs = await store.skillInstalls.list();
		expect(installs.map(({ dir }) => dir)).toEqual(['skills/a@1', `owned/${key}/a@1`, 'kept/i', 'trash/t', '/srv/a']);
		const removed = await store.skillTrash.list();
		expect(removed.map((row) => [row.stored, row.path])).toEqual([
			['trash/1', 'skills/a@1'],
			['trash/2', 'skills/deep/a'],
			['trash/3', '/srv/skills/a'],
			['trash/4', 'skills/a@2']
		]);
		await store.close();
	});

	test('F16: runs of evals keep their answers and figures, by side', async () => {
		const path = join(root, 'app.sqlite');
		writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, '014.sqlite.gz'))));
		const database = new DatabaseSync(path);
		const answer = (isMet: boolean | null) => ({
			...{ status: 'success', text: 'Hi', loaded: ['demo'], calls: [], durationMs: 100, tokens: 7, error: null },
			expectations: [{ text: 'It is kind.', isMet, reason: 'r' }]
		});
		const results = [
			{ id: '1', prompt: 'Hi?', expected: null, withSkill: [answer(true), answer(true)], withoutSkill: [answer(false)] }
		];
		const run = {
			...{ id: 'r1', skillId: 'local/demo', version: '1.0.0', model: 'm/x', state: 'done', error: null },
			...{ progress: { done: 3, total: 4 }, results, passRate: { withSkill: 1, withoutSkill: 0 } },
			...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: null }
		};
		const add = database.prepare(
			'insert into eval_runs (id, skill_id, state, body, started_at) values (?, ?, ?, ?, ?)'
		);
		add.run('r1', 'local/demo', 'done', JSON.stringify(run), run.startedAt);
		database.close();
		const store = await openSqliteStore(path);
		const found = await store.evalRuns.get('r1');
		expect(evalRun.parse(found)).toEqual(found);
		expect(found?.sides).toMatchObject([
			{
				id: '1',
				kind: 'with',
				version: '1.0.0',
				model: 'm/x',
				figures: { passRate: { value: 1, high: 1 }, tokens: 7 }
			},
			{ id: '2', kind: 'without', version: null, figures: { met: 0, judged: 1 } }
		]);
		expect(found?.results[0]?.answers.map(({ side, round }) => `${side} ${round}`)).toEqual(['1 1', '2 1', '1 2']);
		expect((await store.evalRuns.list('local/demo', 9)).map(({ id }) => id)).toEqual(['r1']);
		await store.close();
	});

	test('there is one of each migration but the newest, which the next one needs', async () => {
		const path = join(root, 'fresh.sqlite');
		await (await openSqliteStore(path)).close();
		const database = new DatabaseSync(path);
		const rows = database.prepare('select name from kysely_migration order by name').all();
		database.close();
		const numbers = rows.map(({ name }) => String(name).slice(0, 3));
		expect(numbers.length).toBeGreaterThan(26);
		expect(databases.map((name) => name.slice(0, 3))).toEqual(expect.arrayContaining(numbers.slice(0, -1)));
	});
});

test('F14: a migration that was released is never edited: what it lacks is a new one', () => {
	// Their imports may move to another folder.
	const bodyOf = (name: string) => readFileSync(join(MIGRATIONS, name), 'utf8').replace(/^import .*\n/gm, '');
	const digests = readdirSync(MIGRATIONS).map((name) => [name, hash('sha256', bodyOf(name))]);
	expect(Object.fromEntries(digests)).toEqual(LANDED);
});

test('F14: a migration takes away nothing that a server of the version before still uses', () => {
	const taking = readdirSync(MIGRATIONS).filter((name) =>
		TAKING_AWAY.test(readFileSync(join(MIGRATIONS, name), 'utf8'))
	);
	expect(taking).toEqual(TAKES_AWAY);
});
