/** Whole apps in this process, on one Postgres, with one data folder and one folder of skills. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { startPostgres, type TestPostgres } from './postgres.ts';

export interface SharedApps {
	/** Of the test that runs; the data folder is `data` in it, that of skills `skills`. */
	readonly root: string;
	/** Of its database. */
	readonly url: string;
	/** Opens one more, which is closed after the test. `environment`: default is the database. */
	open(environment?: Record<string, string>): Promise<App>;
	close(app: App): Promise<void>;
	/** Writes a file of a skill, such as `greeter/SKILL.md`. */
	put(path: string, content: string): Promise<void>;
}

/** Call it in a `describe`: each test has folders and a database of its own. `settings`: of all apps, read when one opens. */
export function createSharedApps(settings: () => Record<string, string> = () => ({})): SharedApps {
	let postgres: TestPostgres;
	let root = '';
	let url = '';
	let apps: App[] = [];
	let count = 0;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres?.stop());
	beforeEach(async () => {
		root = await mkdtemp(join(tmpdir(), 'shared-apps-'));
		url = await postgres.createDatabase(`shared_${(count += 1)}`);
	});
	afterEach(async () => {
		for (const app of apps) await app.close();
		apps = [];
		await rm(root, { recursive: true, force: true });
	});
	return {
		get root() {
			return root;
		},
		get url() {
			return url;
		},
		async open(environment = { DATABASE_URL: url }) {
			const app = await createApp(
				loadConfig({
					...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_HOME: 'false' },
					...{ SKILLS_SANDBOX: 'process', SECRETS_KEY: 'a key of all servers' },
					...settings(),
					...environment
				})
			);
			apps.push(app);
			return app;
		},
		async close(app) {
			apps = apps.filter((each) => each !== app);
			await app.close();
		},
		async put(path, content) {
			const file = join(root, 'skills', path);
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, content);
		}
	};
}
