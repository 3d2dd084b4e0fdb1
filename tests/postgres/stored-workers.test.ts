/** D33, F5: servers and workers that have a bucket in common and a data folder each. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { CHOICE, skillOf, uploadOf } from '../../src/lib/server/install/install-rig.suite.ts';
import type { SkillEvent } from '../../src/lib/server/skills/types.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { eventually } from '../support/eventually.ts';
import { openPackageIndex, type PackageIndex, wheel } from '../support/package-index.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { lacks } from '../support/sandbox-packages.ts';
import { startProcess, type WorkerProcess } from '../support/worker-rig.ts';

describe.skipIf(lacksPostgres() || lacks('bubblewrap'))('D33: workers with a data folder of their own', () => {
	let postgres: TestPostgres;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());

	const root = emptyFolder();
	let env: Record<string, string>;
	let bucket: BucketServer;
	let index: PackageIndex;
	let app: App;
	const closing: (() => Promise<unknown>)[] = [];
	let count = 0;
	beforeEach(async () => {
		bucket = await startBucketServer();
		env = {
			...{ DATABASE_URL: await postgres.createDatabase(`sent_${(count += 1)}`), S3_URL: bucket.url },
			...{ SECRETS_KEY: 'a key of servers and workers', SKILLS_SANDBOX: 'bubblewrap', SKILLS_RUN_ON: 'workers' },
			...{ SKILLS_HOME: 'false', SKILLS_TIMEOUT_MS: '60000', CHAT_TITLES: 'false' }
		};
		// The operator's own skill: on the server alone.
		const skill = join(root, 'skills/demo');
		await putFile(skill, 'SKILL.md', '---\nname: demo\ndescription: Shows things.\n---\nRun scripts.\n');
		await putFile(skill, 'scripts/copy.sh', 'cat in.txt; cat in.txt > "$1"\n');
		await putFile(skill, 'scripts/twice.sh', 'cat in.txt in.txt > "$1"; echo done\n');
		await putFile(skill, 'scripts/remove.sh', 'rm -- "$1"\n');
		await putFile(skill, 'scripts/hang.sh', 'echo half > half.txt; echo begun; sleep 600\n');
		index = await openPackageIndex(
			[
				{ name: 'tiny-lib', requires: ['helper'] },
				{ name: 'helper' },
				// The download, which is there beside the files for a moment, is small.
				{ name: 'large', padding: Buffer.alloc(2 * 1024 ** 2, 'large') },
				{ name: 'larger', padding: Buffer.alloc(2 * 1024 ** 2, 'larger') }
			],
			[{ name: 'right', version: '1.1.0' }]
		);
		Object.assign(env, { SKILLS_PIP_INDEX_URL: index.pipIndexUrl, SKILLS_NPM_REGISTRY: index.npmRegistry });
		await writePacked('packed', 'tiny-lib', { dependencies: { right: '^1.0.0' } });
		await writePacked('large', 'large');
		await writePacked('larger', 'larger');
		app = await open('server');
	});
	afterEach(async () => {
		bucket.fail('none');
		for (const close of closing.splice(0).reverse()) await close();
		await bucket.close();
		await index.close();
	});

	/** A skill whose scripts need packages. */
	async function writePacked(name: string, wants: string, manifest: object | null = null): Promise<void> {
		const skill = join(root, 'skills', name);
		await putFile(skill, 'SKILL.md', `---\nname: ${name}\ndescription: Needs packages.\n---\nRun scripts.\n`);
		await putFile(skill, 'requirements.txt', `${wants}\n`);
		if (manifest) await putFile(skill, 'package.json', JSON.stringify(manifest));
		const module = wants.replace('-', '_');
		const says = manifest ? 'python' : name;
		await putFile(
			skill,
			'scripts/use.py',
			`import ${module}\nprint('${says}', ${module}.VERSION, ${module}.__file__)\n`
		);
		await putFile(skill, 'scripts/use.mjs', "import { version } from 'right';\nconsole.log('javascript', version);\n");
	}
	async function open(name: string): Promise<App> {
		const opened = await createApp(
			loadConfig({ ...env, DATA_DIR: join(root, name), SKILLS_DIRS: join(root, 'skills') })
		);
		closing.push(() => opened.close());
		return opened;
	}
	async function startWorker(name: string, more: Record<string, string> = {}): Promise<WorkerProcess> {
		const own = { ...env, DATA_DIR: join(root, name), SKILLS_DIRS: join(root, 'none'), ...more };
		const worker = await startProcess('src/lib/server/cli/worker.ts', own, 'Worker ready');
		closing.push(() => worker.stop('SIGKILL'));
		return worker;
	}
	const upload = (path: string, text: string, on = app) => on.workspaces.write('chat', path, new Blob([text]).stream());
	const run = (
		script: string,
		args: string[] = [],
		{
			on = app,
			skill = 'demo',
			onEvent = () => undefined,
			signal
		}: { on?: App; skill?: string; onEvent?: (event: SkillEvent) => unknown; signal?: AbortSignal } = {}
	) =>
		on.workspaces.use('chat', (cwd) => {
			const session = on.skills.createSession({
				snapshot: on.skills.registry.snapshot(),
				dialect: 'full',
				loaded: [skill]
			});
			return session.call('use_skill', { skill, script: `scripts/${script}`, args }, { cwd, onEvent, signal });
		});
	const filesOn = async (on = app) => (await on.workspaces.list('chat')).map(({ path }) => path);
	const textAt = async (path: string, on = app) => {
		const { file } = await on.workspaces.read('chat', path);
		return file.readFile('utf8').finally(() => file.close());
	};

	test('F5: a script reads what was uploaded and writes a file, which servers and the next worker have', async () => {
		await upload('in.txt', 'from the server\n');
		const first = await startWorker('worker-1');
		const events: SkillEvent[] = [];
		const { result, unkept } = await run('copy.sh', ['out.txt'], { onEvent: (event) => events.push(event) });
		expect(result).toMatchObject({ ok: true, output: expect.stringContaining('from the server') });
		expect(events.at(-1)).toMatchObject({ type: 'finished', exitCode: 0, files: [{ path: 'out.txt', bytes: 16 }] });
		expect(unkept).toBeNull();
		expect(await readFile(join(root, 'server/workspaces/chat/out.txt'), 'utf8')).toBe('from the server\n');
		const other = await open('other');
		expect(await textAt('out.txt', other)).toBe('from the server\n');
		await first.stop();

		// What was changed on a server meanwhile is there, and what a script deletes is gone.
		await startWorker('worker-2');
		await upload('in.txt', 'changed', other);
		expect((await run('copy.sh', ['more.txt'])).result).toMatchObject({ ok: true });
		expect((await run('remove.sh', ['out.txt'])).result).toMatchObject({ ok: true });
		expect(await filesOn(other)).toEqual(['in.txt', 'more.txt']);
		expect(await textAt('more.txt', other)).toBe('changed');
	});

	test('E28: an installed skill runs on the worker, and after an update its new files', async () => {
		await startWorker('worker');
		const { signal } = new AbortController();
		const install = (says: string, conflict: 'fail' | 'overwrite') => {
			const files = skillOf('pdf', {
				more: { 'scripts/say.sh': `. "$SKILL_DIR/lib/words.sh"`, 'lib/words.sh': `echo ${says}` }
			});
			return app.installer.install(uploadOf(files), { ...CHOICE, conflict }, signal);
		};
		await install('first', 'fail');
		const say = () => run('say.sh', [], { skill: 'pdf' });
		expect((await say()).result).toMatchObject({ ok: true, output: expect.stringContaining('first') });
		await install('second', 'overwrite');
		expect((await say()).result).toMatchObject({ ok: true, output: expect.stringContaining('second') });
	});

	test('F4: a skill whose files aren’t those that were checked doesn’t run, whoever changed the database', async () => {
		const first = await startWorker('worker-1');
		await upload('in.txt', 'in');
		expect((await run('copy.sh', ['out.txt'])).result).toMatchObject({ ok: true });
		await first.stop();
		const client = new Client({ connectionString: env.DATABASE_URL });
		await client.connect();
		const { rowCount } = await client.query(
			`update stored_files set sha256 = other.sha256 from stored_files as other
			where other.folder = stored_files.folder and other.path = 'scripts/remove.sh'
			and stored_files.folder like 'sent-folders/%' and stored_files.path = 'scripts/copy.sh'`
		);
		await client.end();
		expect(rowCount).toBe(1);
		await startWorker('worker-2');
		const { result } = await run('copy.sh', ['out.txt']);
		expect(result).toMatchObject({ ok: false, output: expect.stringContaining('aren’t those that were checked') });
		expect(await filesOn()).toEqual(['in.txt', 'out.txt']);
	});

	test('what isn’t a chat’s workspace comes back, too, and leaves nothing behind', async () => {
		await startWorker('worker');
		const workspace = join(root, 'server/elsewhere');
		await mkdir(workspace);
		await writeFile(join(workspace, 'in.txt'), 'in');
		const result = await app.sandbox.run({
			...{ file: '/bin/sh', args: ['-c', 'cat in.txt; rm in.txt; mkdir deep; echo made > deep/out.txt'] },
			...{ env: { PATH: '/usr/bin:/bin' }, cwd: '/workspace', folders: { workspace } },
			...{ timeoutMs: 60_000, maxOutputBytes: 1000 }
		});
		expect(result).toMatchObject({ exitCode: 0, stdout: 'in' });
		expect(await readdir(workspace)).toEqual(['deep']);
		expect(await readFile(join(workspace, 'deep/out.txt'), 'utf8')).toBe('made\n');
		expect(await readdir(join(root, 'server/sent-folders'))).toEqual([]);
	});

	/** As a person does on the skill's page: looked up, shown, allowed. */
	async function installPackages(name: string, on = app): Promise<string> {
		const skill = on.skills.registry.snapshot().skills.find((each) => each.name === name);
		if (!skill) throw new Error(`There is no skill ${name}.`);
		await on.packages.lookUp(skill, []);
		await on.packages.settled(skill);
		const { proposed, problem } = await on.packages.stateOf(skill);
		if (!proposed) throw new Error(problem?.message);
		await on.packages.install(skill, proposed.digest);
		await on.packages.settled(skill);
		return proposed.digest;
	}
	const environmentsOn = (worker: string) => readdir(join(root, worker, 'environments')).catch(() => []);
	const downloads = () => index.asked.filter((path) => path.startsWith('/files/tiny'));
	const isInstalling = (event: SkillEvent) => event.type === 'waiting' && event.waitsFor === 'packages';

	test('D46: packages that were allowed are installed on the worker, once for two scripts, and the step says so', async () => {
		const digest = await installPackages('packed');
		await startWorker('worker');
		index.asked.splice(0);
		const events: SkillEvent[] = [];
		const onEvent = (event: SkillEvent) => events.push(event);
		const both = await Promise.all([
			run('use.py', [], { skill: 'packed', onEvent }),
			run('use.mjs', [], { skill: 'packed' })
		]);
		expect(both.map(({ result }) => result)).toMatchObject([
			{ ok: true, output: expect.stringContaining('python 1.0.0 /packages/python') },
			{ ok: true, output: expect.stringContaining('javascript 1.1.0') }
		]);
		expect(await environmentsOn('worker')).toEqual([digest]);
		expect(downloads()).toHaveLength(1);
		expect(events.map(({ type }) => type).filter((type) => type !== 'output')).toEqual([
			...['started', 'waiting', 'waiting', 'finished']
		]);
		expect(events.filter(({ type }) => type === 'waiting')).toEqual([
			{ type: 'waiting', isWaiting: true, waitsFor: 'packages' },
			{ type: 'waiting', isWaiting: false }
		]);

		// Another server never installed them, and what is there isn't installed again.
		const other = await open('other');
		expect(await environmentsOn('other')).toEqual([]);
		const again = await run('use.py', [], { skill: 'packed', on: other });
		expect(again.result).toMatchObject({ ok: true, output: expect.stringContaining('python 1.0.0') });
		expect(downloads()).toHaveLength(1);
		expect(await readdir(join(root, 'server/workspaces/chat'))).toEqual([]);
	});

	test('D46: a worker that is killed while it installs leaves nothing half, and the next one installs anew', async () => {
		const digest = await installPackages('packed');
		const worker = await startWorker('worker');
		index.intercept = (request) => request.url?.startsWith('/files/tiny') === true;
		const installing = Promise.withResolvers<void>();
		const ended = run('use.py', [], {
			skill: 'packed',
			onEvent: (event) => isInstalling(event) && installing.resolve()
		});
		await installing.promise;
		await eventually(async () => expect(await environmentsOn('worker')).toEqual([expect.stringMatching(/\.part$/)]));
		await worker.stop('SIGKILL');
		expect((await ended).result).toMatchObject({ ok: false });
		index.intercept = null;
		await startWorker('worker');
		const { result } = await run('use.py', [], { skill: 'packed' });
		expect(result).toMatchObject({ ok: true, output: expect.stringContaining('python 1.0.0') });
		expect(await environmentsOn('worker')).toEqual([digest]);
	});

	test('D46: a script that is stopped while its packages are installed never begins, and the installing ends', async () => {
		await installPackages('packed');
		await startWorker('worker');
		index.intercept = (request) => request.url?.startsWith('/files/tiny') === true;
		const stop = new AbortController();
		const { signal } = stop;
		const { result } = await run('use.py', [], {
			...{ skill: 'packed', signal },
			onEvent: (event) => isInstalling(event) && stop.abort()
		});
		expect(result).toMatchObject({ ok: false, output: expect.stringContaining('Cancelled') });
		await eventually(async () => expect(await environmentsOn('worker')).toEqual([]));
		expect(await app.scriptCounts?.()).toMatchObject({ queued: 0, running: 0 });
	});

	test('D46: packages that aren’t those that were allowed are not installed, whoever changed the index or the database', async () => {
		await installPackages('packed');
		await startWorker('worker');
		index.replaced.set('tiny_lib-1.0.0-py3-none-any.whl', wheel({ name: 'tiny-lib', code: 'print("evil")' }).bytes);
		const replaced = await run('use.py', [], { skill: 'packed' });
		expect(replaced.result).toMatchObject({
			ok: false,
			output: expect.stringMatching(/couldn’t be installed on the worker: .* isn’t the one that was looked up/)
		});
		index.replaced.clear();
		const client = new Client({ connectionString: env.DATABASE_URL });
		await client.connect();
		const other = `'"name":"tiny-lib","version":"1.0.0"', '"name":"helper","version":"1.0.0"'`;
		const { rowCount } = await client.query(`update skill_packages set lock = replace(lock, ${other})`);
		await client.end();
		expect(rowCount).toBe(1);
		const changed = await run('use.py', [], { skill: 'packed' });
		expect(changed.result).toMatchObject({
			ok: false,
			output: expect.stringContaining('The list of packages isn’t the one that was looked up')
		});
		expect(await environmentsOn('worker')).toEqual([]);
	});

	test('D46: without room on the worker, packages that no script uses give way', async () => {
		const large = await installPackages('large');
		await startWorker('worker', { SKILLS_PACKAGES_MB: '3' });
		const large1 = await run('use.py', [], { skill: 'large' });
		expect(large1.result).toMatchObject({ ok: true, output: expect.stringContaining('large 1.0.0') });
		expect(await environmentsOn('worker')).toEqual([large]);
		const larger = await installPackages('larger');
		const larger1 = await run('use.py', [], { skill: 'larger' });
		expect(larger1.result).toMatchObject({ ok: true, output: expect.stringContaining('larger 1.0.0') });
		expect(await environmentsOn('worker')).toEqual([larger]);
	});

	test('while the bucket is away no script begins, and the step says so; then it runs once', async () => {
		await startWorker('worker');
		await upload('in.txt', 'one\n');
		expect((await run('copy.sh', ['out.txt'])).result).toMatchObject({ ok: true });
		bucket.fail('error');
		const { result } = await run('remove.sh', ['out.txt']);
		expect(result).toMatchObject({ ok: false, output: expect.stringContaining('file storage can’t be used') });
		expect(await readdir(join(root, 'server/workspaces/chat'))).toEqual(['in.txt', 'out.txt']);
		bucket.fail('none');
		expect((await run('remove.sh', ['out.txt'])).result).toMatchObject({ ok: true });
		expect(await filesOn()).toEqual(['in.txt']);
	});

	test('what a script has written when the bucket goes away stays on the worker, is said, and is stored later', async () => {
		const worker = await startWorker('worker');
		await upload('in.txt', 'one\n');
		expect((await run('copy.sh', ['first.txt'])).result).toMatchObject({ ok: true });
		// That it begins can still be put, its file can't.
		bucket.fail('error', { method: 'PUT', after: 1 });
		const { result, unkept } = await run('twice.sh', ['second.txt']);
		expect(result).toMatchObject({ ok: true, output: expect.stringContaining('done') });
		expect(unkept).toContain('They are on the worker');
		expect(await filesOn()).toEqual(['first.txt', 'in.txt']);
		// Another one would lose them if the worker were killed meanwhile.
		expect((await run('remove.sh', ['first.txt'])).result).toMatchObject({ ok: false });
		bucket.fail('none');
		await worker.stop();
		expect(await textAt('second.txt')).toBe('one\none\n');
		expect(await filesOn()).toEqual(['first.txt', 'in.txt', 'second.txt']);
	});

	test('D33: a job that comes back into the queue isn’t run again by a worker that shares only the bucket', async () => {
		await upload('in.txt', 'in');
		const client = new Client({ connectionString: env.DATABASE_URL });
		await client.connect();
		const rows = async (query: string) => (await client.query<Record<string, string>>(query)).rows;
		try {
			const ended = run('twice.sh', ['out.txt']);
			await eventually(async () => expect(await app.scriptCounts?.()).toMatchObject({ queued: 1 }));
			await rows('create table kept_jobs as select * from script_jobs');
			await rows('create table kept_queue as select * from pgboss.job');
			const first = await startWorker('worker-1');
			expect((await ended).result).toMatchObject({ ok: true });
			await first.stop();
			await rows('delete from pgboss.job');
			await rows('insert into script_jobs select * from kept_jobs');
			await rows('insert into pgboss.job select * from kept_queue');
			await startWorker('worker-2');
			const result = await eventually(async () => {
				const [row] = await rows("select result from script_jobs where state = 'ended'");
				return row?.result ?? expect.fail('It has no result yet.');
			});
			expect(result).toContain('The job was begun before.');
		} finally {
			await client.end();
		}
	});

	test('of a script whose worker is killed nothing is stored, it isn’t run again, and the worker that comes back forgets it', async () => {
		const worker = await startWorker('worker');
		await upload('in.txt', 'in');
		const begun = Promise.withResolvers<void>();
		const ended = run('hang.sh', [], { onEvent: ({ type }) => type === 'output' && begun.resolve() });
		await begun.promise;
		expect(await readFile(join(root, 'worker/workspaces/chat/half.txt'), 'utf8')).toBe('half\n');
		await worker.stop('SIGKILL');
		expect((await ended).result).toMatchObject({ ok: false });
		expect(await filesOn()).toEqual(['in.txt']);
		await startWorker('worker');
		expect((await run('copy.sh', ['out.txt'])).result).toMatchObject({ ok: true });
		expect(await filesOn()).toEqual(['in.txt', 'out.txt']);
		expect(await readdir(join(root, 'worker/workspaces/chat'))).toEqual(['in.txt', 'out.txt']);
	});

	test('a worker without the bucket runs nothing, and one whose sandbox shows the machine’s paths doesn’t start', async () => {
		const own = { ...env, DATA_DIR: join(root, 'worker'), SKILLS_SANDBOX: 'process' };
		await expect(startProcess('src/lib/server/cli/worker.ts', own, 'Worker ready')).rejects.toThrow('isolates files');
		const without: Record<string, string> = { ...env, DATA_DIR: join(root, 'server') };
		delete without.S3_URL;
		const worker = await startProcess('src/lib/server/cli/worker.ts', without, 'Worker ready');
		closing.push(() => worker.stop('SIGKILL'));
		expect((await run('copy.sh')).result).toMatchObject({ ok: false, output: expect.stringContaining('S3_URL') });
	});
});
