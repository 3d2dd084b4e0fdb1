/** The app on Postgres instead of SQLite. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

describe.skipIf(lacksPostgres())('with DATABASE_URL', () => {
	let root: string;
	let postgres: TestPostgres;
	beforeAll(async () => {
		root = await mkdtemp(join(tmpdir(), 'app-on-postgres-'));
		postgres = await startPostgres();
	});
	afterAll(async () => {
		await postgres?.stop();
		await rm(root, { recursive: true, force: true });
	});

	const configOf = (url: string) =>
		loadConfig({
			...{ DATA_DIR: join(root, 'data'), DATABASE_URL: url, SECRETS_KEY: 'a key of all servers', SKILLS_HOME: 'false' },
			...{ SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' }
		});

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

	test('a server that isn’t there stops the start, and leaves the data folder to others', async () => {
		const config = configOf(postgres.urlOf('nowhere'));
		await expect(createApp(config)).rejects.toThrow('has no database “nowhere”');
		const other = await createApp(configOf(await postgres.createDatabase('other')));
		await other.close();
	});
});
