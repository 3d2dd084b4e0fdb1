/** The app on Postgres instead of SQLite. */
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { createApp } from '../../src/lib/server/app.ts';
import { backUp } from '../../src/lib/server/backup/back-up.ts';
import { restore } from '../../src/lib/server/backup/restore.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { createLog } from '../../src/lib/server/log.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

describe.skipIf(lacksPostgres())('with DATABASE_URL', () => {
	const root = sharedFolder();
	let postgres: TestPostgres;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(async () => {
		await postgres?.stop();
	});

	/** A folder for each database. `url` null: SQLite. */
	const configOf = (url: string | null, dataDir = join(root, url?.split('?')[0]?.split('/').at(-1) ?? 'sqlite')) =>
		loadConfig({
			...{ DATA_DIR: dataDir, SECRETS_KEY: 'a key of all servers', SKILLS_HOME: 'false' },
			...{ SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process', ...(url !== null && { DATABASE_URL: url }) }
		});
	const start = async (...given: Parameters<typeof configOf>) => (await createApp(configOf(...given))).close();
	const query = async (url: string, ...statements: string[]) => {
		const client = new Client(url);
		await client.connect();
		for (const statement of statements) await client.query(statement);
		await client.end();
	};
	const NOW = new Date().toISOString();

	test('all that was said and set is in the database, and nothing of it in the data folder', async () => {
		const config = configOf(await postgres.createDatabase('app'));
		const first = await createApp(config);
		await first.settings.change({ autoMaxSkills: 7 }, new Date().toISOString());
		await first.store.conversations.create({ id: 'c1', title: 'One', createdAt: new Date().toISOString() });
		await first.close();
		expect((await readdir(config.dataDir)).filter((name) => /sqlite|secrets/.test(name))).toEqual([]);

		const second = await createApp(config);
		expect(await second.store.conversations.get('c1')).toMatchObject({ title: 'One' });
		expect(second.settings.current().autoMaxSkills).toBe(7);
		await second.close();
	});

	test('when a newer version has updated the database, a server goes on, and one that starts refuses to', async () => {
		const url = await postgres.createDatabase('newer');
		const older = await createApp(configOf(url));
		await query(
			url,
			`insert into kysely_migration values ('999_of_a_newer_version', now()::text)`,
			'alter table conversations add column newer text'
		);
		const at = new Date().toISOString();
		await older.store.conversations.create({ id: 'c1', title: 'One', createdAt: at });
		expect(await older.store.conversations.get('c1')).toMatchObject({ title: 'One' });
		await older.close();
		await expect(createApp(configOf(url))).rejects.toThrow('written by a newer version');
	});

	test('a server that isn’t there stops the start, and leaves the data folder to others', async () => {
		const config = configOf(postgres.urlOf('nowhere'));
		await expect(createApp(config)).rejects.toThrow('has no database “nowhere”');
		await start(await postgres.createDatabase('other'), config.dataDir);
	});

	test('a data folder is one database’s: no other server starts on it, and its own goes on after a move or a restore', async () => {
		const url = await postgres.createDatabase('owner');
		const { dataDir } = configOf(url);
		const first = await createApp(configOf(url));
		await first.store.conversations.create({ id: 'c1', title: 'One', createdAt: NOW });
		await first.workspaces.write('c1', 'a.txt', new Blob(['kept']).stream());
		await first.close();
		const files = async () => (await readdir(dataDir, { recursive: true })).filter((name) => name !== 'server.json');
		const before = await files();
		const stranger = await postgres.createDatabase('stranger');
		await expect(createApp(configOf(stranger, dataDir))).rejects.toThrow(
			`The data folder ${dataDir} belongs to another Postgres database than that of DATABASE_URL. Choose another folder with ` +
				'DATA_DIR, or the other database with DATABASE_URL.'
		);
		await expect(createApp(configOf(null, dataDir))).rejects.toThrow(
			`The data folder ${dataDir} belongs to a Postgres database, and DATABASE_URL isn’t set. Set it, or choose another`
		);
		expect(await files()).toEqual(before);
		// As with pg_dump and pg_restore to another server.
		await start(await postgres.createDatabase('moved', 'owner'), dataDir);
		// The files from their backup, which has no mark.
		const restored = join(root, 'restored');
		const file = join(root, 'files.backup');
		backUp(dataDir, file, { hasDatabase: false });
		restore(
			file,
			restored,
			createLog(() => undefined)
		);
		expect(await readdir(restored)).not.toContain('database.json');
		await start(url, restored);
		// A dump from before databases had ids gets a new one at its next start.
		const old = await postgres.createDatabase('old', 'owner');
		await query(old, `update database_identity set id = 'another'`);
		await start(old, restored);
		await start(old, restored);
		await query(old, `update kysely_migration set timestamp = '2020-01-02T03:04:05.678Z' where name like '001%'`);
		await start(old, restored);
		await expect(createApp(configOf(stranger, restored))).rejects.toThrow(
			/belongs to another .* created at 2020-01-02 03:04, this one at 20.* for good, delete .*database\.json\.$/
		);
		// What the message says.
		await rm(join(restored, 'database.json'));
		await start(stranger, restored);
		await writeFile(join(restored, 'database.json'), '{');
		await expect(createApp(configOf(stranger, restored))).rejects.toThrow('database.json is damaged');
	});

	test('of two databases that take a new folder at once, one has it', async () => {
		const urls = [await postgres.createDatabase('one'), await postgres.createDatabase('two')];
		// Made one after the other: those of the same millisecond are taken for one that was restored.
		for (const url of urls)
			await (await createApp(configOf(url, join(root, 'other', String(urls.indexOf(url)))))).close();
		const dataDir = join(root, 'new');
		const started = await Promise.allSettled(urls.map((url) => createApp(configOf(url, dataDir))));
		const apps = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
		for (const app of apps) await app.close();
		expect(apps).toHaveLength(1);
	});

	test('whoever changes from SQLite is told what isn’t taken along, before anything is lost', async () => {
		const sqlite = await createApp(configOf(null));
		const { dataDir } = sqlite.config;
		await sqlite.store.conversations.create({ id: 'c1', title: 'One', createdAt: NOW });
		await sqlite.close();
		const url = await postgres.createDatabase('empty');
		const changing = createApp(configOf(url, dataDir));
		await expect(changing).rejects.toThrow('Chats, settings, API keys, saved secrets');
		await start(null, dataDir);
		// Whoever has changed long ago has both.
		const long = await createApp(configOf(url, join(root, 'long-ago')));
		await long.store.conversations.create({ id: 'c2', title: 'Two', createdAt: NOW });
		await long.close();
		await start(url, dataDir);
		await expect(createApp(configOf(null, dataDir))).rejects.toThrow('belongs to a Postgres database');
	});
});
