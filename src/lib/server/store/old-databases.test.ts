/** Databases of earlier versions: one of each that was ever released, made by that version, with a row in each table. */
import { hash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteStore } from './sqlite.ts';

const FIXTURES = join(import.meta.dirname, '../../../../tests/fixtures/databases');
const MIGRATIONS = join(import.meta.dirname, 'migrations');

/** SHA-256 of each migration that has landed. A new one is added here; a line that is there stays as it is. */
const LANDED: Record<string, string> = {
	'001-conversations.ts': '25780fe8804275acb8c923e69006f341fea1df80df5b8be79de35f9752ad5984',
	'002-branches.ts': '5844d2a4cfd18b7a80902fd84e65752f56780fab41999107bcbefb7cc117c1b6',
	'003-executions.ts': 'dbeaff52f08bb5238804e1154f830b0e0f44feb5c876c92b4b3aa8a7646e0651',
	'004-registry.ts': 'd78fd53fe17d1dc9b70480cb3149423e99baa1bf2ceb4c4d6f7c5e0a1858601b',
	'005-chat.ts': '6d770519e167aa8d76cda6ad10e34e4822aad3d6e7bfedf883ef4fe75977e347',
	'006-protocols.ts': '5bdae3fd04b6fb0d26a2172b2813097953ab2e609b187e7bafcd8bc9e35294f6',
	'007-run-tasks.ts': 'fda68174b2fe3ccc1acbaac6d7fa1ee73c9a23041f6b448e3b9688273105194b',
	'008-early-databases.ts': '7a757fddb6aacd54195bc5f088e9f9abb97ea8b899885122fc3043a0173965e6',
	'index-runs.ts': 'ce9537956c43dea4f0ef8e90ef1b2292008b1d9519dce916aa8eb1285d28574e',
	'search-tables.ts': '7fef791e5f3c23f3d792afc2af164db341912b51ee6212d1fe84e1fc63a062a4'
};

/** Tables that a migration has replaced. */
const MOVED: Record<string, string> = { trusted_skills: 'trusted_versions' };

let root: string;
beforeEach(() => {
	root = mkdtempSync(join(tmpdir(), 'old-databases-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What is there to be kept: rows by table, without the index of the search and what the database is for itself. */
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

/** Tables, columns and indexes, in whatever order they came to be. */
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

	test('there is one of each migration but the newest, which the next one needs', () => {
		const numbers = (names: string[]) => [...new Set(names.map((name) => name.slice(0, 3)))].filter(Number).sort();
		const released = numbers(readdirSync(MIGRATIONS)).slice(0, -1);
		expect(numbers(databases)).toEqual(expect.arrayContaining(released));
	});
});

test('F14: a migration that was released is never edited: what it lacks is a new one', () => {
	const digests = readdirSync(MIGRATIONS).map((name) => [name, hash('sha256', readFileSync(join(MIGRATIONS, name)))]);
	expect(Object.fromEntries(digests)).toEqual(LANDED);
});
