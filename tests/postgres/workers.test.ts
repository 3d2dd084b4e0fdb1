/** The whole app with SKILLS_RUN_ON=workers, and a worker that comes later. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putFile } from '../support/folder.ts';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillEvent } from '../../src/lib/server/skills/types.ts';
import { eventually } from '../support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { createWorkerRig, type WorkerRig } from '../support/worker-rig.ts';

async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address() as AddressInfo;
	server.close();
	return port;
}

describe.skipIf(lacksPostgres())('D33: the app with workers', () => {
	let postgres: TestPostgres;
	let rig: WorkerRig;
	let app: App;
	let count = 0;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres?.stop());
	beforeEach(async () => {
		rig = await createWorkerRig(await postgres.createDatabase(`app_workers_${(count += 1)}`));
		const skill = join(rig.dataDir, '../skills/demo');
		await putFile(
			skill,
			'SKILL.md',
			'---\nname: demo\ndescription: Shows things.\nmetadata:\n  env: TOKEN\n---\nRun scripts.\n'
		);
		await putFile(skill, 'scripts/say.sh', 'echo "said $1"; echo kept > "$1.txt"\n');
		await putFile(skill, 'scripts/secret.py', 'import os\nprint(len(os.environ["TOKEN"]), os.environ["TOKEN"])\n');
		await putFile(skill, 'scripts/wait.sh', 'while [ ! -e go ]; do sleep 0.05; done\n');
		await putFile(skill, 'scripts/add.mjs', 'export default ({ a }) => a + 2;\n');
		await putFile(
			skill,
			'tools.json',
			JSON.stringify([
				{ name: 'add', description: 'Adds.', script: 'scripts/add.mjs', parameters: { a: { type: 'number' } } }
			])
		);
		const folders = { SKILLS_DIRS: join(rig.dataDir, '../skills'), SKILLS_HOME: 'false' };
		app = await createApp(loadConfig({ ...rig.env, ...folders, SKILLS_TIMEOUT_MS: '60000' }));
	});
	afterEach(async () => {
		await app?.close();
		await rig.close();
	});

	async function call(tool: string, args: Record<string, unknown>) {
		const events: SkillEvent[] = [];
		const snapshot = app.skills.registry.snapshot();
		const session = app.skills.createSession({ snapshot, dialect: 'full', loaded: ['demo'] });
		const cwd = join(rig.dataDir, 'workspaces/chat');
		const ended = session.call(tool, args, { cwd, onEvent: (event) => events.push(event) });
		return { events, ended };
	}
	const script = (name: string, ...args: string[]) => call('use_skill', { skill: 'demo', script: name, args });
	const statuses = async () =>
		(await app.store.skillExecutions.list({}, { page: 1, limit: 10 })).data.map(({ status }) => status);

	test('a step waits for a worker, is recorded as running once it runs, and has its files', async () => {
		const { events, ended } = await script('scripts/say.sh', 'hello');
		await eventually(() => expect(events.map(({ type }) => type)).toEqual(['started', 'waiting']));
		expect(await statuses()).toEqual(['pending']);
		await rig.startWorker();
		expect(await ended).toMatchObject({ ok: true, output: expect.stringContaining('said hello') });
		expect(events).toMatchObject([
			{ type: 'started', sandbox: 'process' },
			{ type: 'waiting', isWaiting: true },
			{ type: 'waiting', isWaiting: false },
			{ type: 'output', text: 'said hello\n' },
			{ type: 'finished', exitCode: 0, files: [{ path: 'hello.txt', bytes: 5 }] }
		]);
		expect(await statuses()).toEqual(['success']);
	});

	test('F3: a saved secret reaches the script on the worker, and its output without it', async () => {
		await rig.startWorker();
		await app.vault.set('skills/demo', 'TOKEN', 'a-secret-value', new Date().toISOString());
		const { ended, events } = await script('scripts/secret.py');
		expect((await ended).output).toContain('14 [redacted]');
		expect(JSON.stringify(events)).not.toContain('a-secret-value');
	});

	test('E29: a worker says over HTTP that it lives, whether it can take scripts, and how many run', async () => {
		const port = await freePort();
		const token = 'a-token-for-metrics-only';
		const more = { WORKER_PORT: String(port), METRICS_TOKEN: token, SHUTDOWN_TIMEOUT_MS: '60000' };
		const worker = await rig.startWorker(more);
		const ask = async (path: string, headers: Record<string, string> = {}) => {
			const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
			return { status: response.status, text: await response.text() };
		};
		const metrics = async () => (await ask('/metrics', { authorization: `Bearer ${token}` })).text;
		expect(await ask('/health')).toEqual({ status: 200, text: '{"status":"ok"}' });
		expect(await ask('/ready')).toEqual({ status: 200, text: '{"status":"ready"}' });
		expect(await ask('/metrics')).toMatchObject({ status: 401 });
		expect(await ask('/metrics', { authorization: 'Bearer other' })).toMatchObject({ status: 401 });
		expect(await ask('/api/health')).toMatchObject({ status: 404 });
		expect(await metrics()).toContain('openrouter_skills_executions{state="running"} 0\n');
		expect(await metrics()).toContain('process_memory_usage');

		// A second one on the same port doesn't start, and says why.
		await expect(rig.startWorker(more)).rejects.toThrow('WORKER_PORT can’t be used');

		// Without its database it lives, but takes nothing.
		await postgres.shutDown();
		await eventually(async () => expect(await ask('/ready')).toMatchObject({ status: 503 }));
		expect(await ask('/health')).toMatchObject({ status: 200 });
		await postgres.startAgain();
		await eventually(async () => expect(await ask('/ready')).toMatchObject({ status: 200 }));

		const { ended } = await script('scripts/wait.sh');
		await eventually(async () => expect(await metrics()).toContain('executions{state="running"} 1\n'));
		const stopped = worker.stop();
		await eventually(async () =>
			expect(await ask('/ready')).toMatchObject({ status: 503, text: expect.stringContaining('is stopping') })
		);
		await writeFile(join(rig.dataDir, 'workspaces/chat/go'), '');
		expect(await ended).toMatchObject({ ok: true });
		expect(await stopped).toBe(0);
	});

	test('a tool answers from the worker', async () => {
		await rig.startWorker();
		const { ended } = await call('add', { a: 1 });
		expect(await ended).toMatchObject({ ok: true, output: expect.stringContaining('3') });
		expect(await app.scriptCounts?.()).toMatchObject({
			queued: 0,
			running: 0,
			workers: [{ slots: 16, sandbox: 'process' }]
		});
	});
});
