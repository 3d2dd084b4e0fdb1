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

/** SHA-256 of each landed migration. Add new ones; never change existing lines. */
const LANDED: Record<string, string> = {
	'001-conversations.ts': '70e8d72f8cb3bc18dd7a8a1691539ff07639ac724445007097f992d2897d7308',
	'002-branches.ts': 'b52ccc61e886cfb9ab70ab336dd7e0fc1f02a400e68ccb7afd374ab8743b1ad2',
	'003-executions.ts': '74380e468dea80a9e79007894790e6a465e29196eff1137e0590289cd89ca4d2',
	'004-registry.ts': 'b2cc8961570df133a227723de119ea7daf259b2a1e0e31053ace43b181fe0ca4',
	'005-chat.ts': '5d70618fcb7ecfaf5f7dcb0df1547b3a400eda9d18dd762c3f10f9bd6142e8e0',
	'006-protocols.ts': 'b9aaa5502c7f82ca3ebe04593b14ddc8bb0f213815db15679b07794c7ab64981',
	'007-run-tasks.ts': 'e6683d641bf73d4d0d0a9dc1e9056f943ad7c3f0d54108cdb768017a0bafa781',
	'008-early-databases.ts': 'cc9ba248ff6b2f531dbabef4c1dd7a60c9cf71f2de1c78bf6ee49d88e77875b3',
	'009-untitled.ts': '4fade4e63cefcdeb590347639c335db64194909f0d58964f262dd030c6a475d5',
	'010-choices.ts': 'cdd67121f6c289b857f6d034f66d6fa4c13bd7cda5fe597adc7d9debd6bb2159',
	'011-summaries-and-speed.ts': 'd2ee350d609066f0e7011bdc63242a80730412083e140364a3cb916c1dfc282f',
	'012-comparisons.ts': 'c789da758cb0f3ff8f944ce7d8a29e9670b903d401d66c164ce303a9da5888c7',
	'013-missing.ts': 'b3f79b856b8229976333035c5a3f546aefa5b4e5172cfe5a6e7ddcccb8a71723',
	'014-skill-packages.ts': '2e89fc9c07b16a611b99c958477e0e6d33e68a79118bd65e1496dc65fe414088',
	'015-eval-answers.ts': '4a9de42da1caf4f298a9e0991d2631ee65705810d5f57b18fbb23f5f40cde515',
	'016-skill-drafts.ts': '393e832b331a9eeb014b0f0b1d38e6ebbc23ffd58b40d5b1a3dca7a030ad8236',
	'017-answer-costs.ts': 'b5120822e9ed08e3a56e8a75d5f48a9663c19ec7ba23cd3ff988c5d7f31e6ea8',
	'018-responses-api.ts': 'bd4290101095359c5635e5c67f59dbb748a26fd51cc4801d0fb142b0ba808c5c',
	'019-task-pushes.ts': '4eaca0ca2a945213c358f08fb706a3b8a841da8cd80057f033edc2a6b3d3a3f3',
	'020-replicas.ts': '12129a2d9a546ae548a8b93d450e533d0754243543effb718f13c5f2a13959ff',
	'021-wide-numbers.ts': '3bd466e121d2bd51cb42dd540db5038525bd07f01b88b3c21965d50c92f0cd92',
	'022-key-storage.ts': 'fcc4ee64a484e11fa27d72df399d98092937a6944f56927c326213e435ccb680',
	'026-script-jobs.ts': 'c2208dc96b5a2563bcb17c4688cbb9ed163c85e9d8f5f60fb2b197ecba928b12',
	'023-wishes.ts': '9362f4dfee47c4abdd133993e892cb2019aa73a08fce0d7000599089e0f31504',
	'024-stored-files.ts': '99519c5da465d32497fc1e0671438e597d51f0d8d5c6e38771a7bd56dc1ee95a',
	'027-relative-paths.ts': '3ad8273efdd46a3fe4d650dad39de298ec1cf9bc79fae99b124dc51b4f696852',
	'028-shared-state.ts': 'ac95a1ad12c9458c233c83eaef9c2236e09c2491809c72d450cd6889a26a0dee',
	'029-removed-messages.ts': '6ab12126c737654fa047787b13aea93fd15cd4b2c75637ab05f03bc085a068d9',
	'index-runs.ts': '52d6595bdd15568f0a8a5c1c5a9fc7d72fe00d340f26e2e626ef474830aaae90',
	'search-tables.ts': '47576796c7fff46685124df87e948621f2a85c1d55d21cc9abe3d99c1bef99ab'
};

/** From before several servers could share a database. */
const TAKES_AWAY = ['002-branches.ts', '004-registry.ts'];
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

	test('there is one of each migration but the newest, which the next one needs', () => {
		const numbers = (names: string[]) => [...new Set(names.map((name) => name.slice(0, 3)))].filter(Number).sort();
		const released = numbers(readdirSync(MIGRATIONS)).slice(0, -1);
		expect(numbers(databases)).toEqual(expect.arrayContaining(released));
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
