import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../../../../tests/support/postgres.ts';
import { processesWith } from '../../../../tests/support/processes.ts';
import { createWorkerRig, jobKeyOf, startProcess, type WorkerRig } from '../../../../tests/support/worker-rig.ts';
import { createLog } from '../log.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { startWorker } from './worker.ts';

/** Real worker processes on a real Postgres. */
describe.skipIf(lacksPostgres())('D33: scripts on workers', () => {
	let postgres: TestPostgres;
	let rig: WorkerRig;
	/** In the command line of a script that waits. */
	let mark: string;
	let count = 0;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());
	beforeEach(async () => {
		mark = `mark-${randomUUID()}`;
		rig = await createWorkerRig(await postgres.createDatabase(`workers_${(count += 1)}`));
	});
	afterEach(() => rig.close());

	/** Says that it's there, and goes on until it's ended. */
	const patient = () => `echo begun; : ${mark}; while true; do sleep 0.1; done`;
	/** Waits for this file. */
	const untilGo = (file = 'go') => `until [ -e ${file} ]; do sleep 0.02; done`;
	const read = (workspace: string, name: string) => readFile(rig.fileOf(workspace, name), 'utf8');

	/** Starts it, and resolves once it has printed something. */
	async function begin(run: (onOutput: () => void) => Promise<unknown>): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		void run(resolve).catch(() => undefined);
		await promise;
	}

	test('output comes in order while it runs, then the exit code, and files are in the workspace', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		const seen: string[] = [];
		const waits: boolean[] = [];
		const numbers = 'i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); done';
		const result = await server.sh(`echo one; echo two >&2; ${untilGo()}; ${numbers}; pwd > here.txt; exit 3`, {
			id: 'first',
			onOutput(stream, text) {
				seen.push(`${stream}:${text}`);
				void writeFile(rig.fileOf('first', 'go'), '');
			},
			onWait: (isWaiting) => waits.push(isWaiting)
		});
		expect(result).toMatchObject({ ended: 'exit', exitCode: 3, stderr: 'two\n' });
		const lines = ['one', ...Array.from({ length: 50 }, (_, index) => String(index))];
		expect(result.stdout).toBe(`${lines.join('\n')}\n`);
		const stdout = seen.filter((each) => each.startsWith('stdout:')).map((each) => each.slice('stdout:'.length));
		expect(stdout.join('')).toBe(result.stdout);
		expect(stdout.length).toBeGreaterThan(1);
		expect(waits).toEqual([false]);
		expect(await read('first', 'here.txt')).toContain('first');
		expect(await server.scriptCounts?.()).toMatchObject({
			queued: 0,
			running: 0,
			workers: [{ slots: 16, running: 0 }]
		});
	});

	test('a script that takes too long is ended by its worker, and one that can’t be started says why', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		expect(await server.sh(patient(), { timeoutMs: 500 })).toMatchObject({ ended: 'timeout', stdout: 'begun\n' });
		expect(processesWith(mark)).toEqual([]);
		expect(await server.sh('', { file: '/no/such/program' })).toMatchObject({
			ended: 'spawn-failed',
			spawnError: expect.stringContaining('/no/such/program')
		});
	});

	test('a script that is stopped may clean up, and is gone', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		const stop = new AbortController();
		const result = server.sh(`trap 'echo cleaned > end.txt; exit 0' TERM; ${patient()}`, {
			...{ id: 'stopped', signal: stop.signal },
			onOutput: () => stop.abort()
		});
		expect(await result).toMatchObject({ ended: 'aborted', stdout: 'begun\n' });
		expect(await read('stopped', 'end.txt')).toBe('cleaned\n');
		expect(processesWith(mark)).toEqual([]);

		const killed = server.sh(patient(), { id: 'killed', onOutput: () => server.sandbox.kill('killed') });
		expect(await killed).toMatchObject({ ended: 'killed' });
		expect(processesWith(mark)).toEqual([]);
		expect(server.sandbox.runningCount).toBe(0);
	});

	test('without a worker, a script waits and says so, and one that comes runs it', async () => {
		const server = await rig.startServer();
		const waits: boolean[] = [];
		const result = server.sh('echo done', { onWait: (isWaiting) => waits.push(isWaiting) });
		await eventually(() => expect(waits).toEqual([true]));
		expect(await server.scriptCounts?.()).toMatchObject({ queued: 1, running: 0, workers: [] });
		await rig.startWorker();
		expect(await result).toMatchObject({ exitCode: 0, stdout: 'done\n' });
		expect(waits).toEqual([true, false]);
	});

	test('where no worker comes in time, the script fails with what to do', async () => {
		const server = await rig.startServer();
		expect(await server.sh('echo done', { timeoutMs: 1000 })).toMatchObject({
			ended: 'spawn-failed',
			spawnError: 'no worker took it within 1 s. Start one with “npm run worker”'
		});
		await rig.startWorker();
		expect(await server.scriptCounts?.()).toMatchObject({ queued: 0 });
	});

	test('a script that was stopped in the queue never starts', async () => {
		const server = await rig.startServer();
		const stop = new AbortController();
		const line = 'echo ran >> ran.txt';
		const result = server.sh(line, { id: 'one', signal: stop.signal });
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 1 }));
		stop.abort();
		expect(await result).toMatchObject({ ended: 'aborted' });
		await rig.startWorker();
		expect(await server.sh(line, { id: 'two' })).toMatchObject({ exitCode: 0 });
		await expect(read('one', 'ran.txt')).rejects.toThrow('ENOENT');
	});

	test('a worker that is killed takes its script with it: its end isn’t known, and nobody runs it again', async () => {
		const worker = await rig.startWorker();
		const server = await rig.startServer();
		let result: ReturnType<typeof server.sh> | undefined;
		await begin((onOutput) => (result = server.sh(`echo ran >> ran.txt; ${patient()}`, { id: 'lost', onOutput })));
		await rig.startWorker();
		await worker.stop('SIGKILL');
		expect(await result).toMatchObject({ ended: 'lost', exitCode: null, stdout: 'begun\n' });
		await eventually(() => expect(processesWith(mark)).toEqual([]));
		expect(await server.sh('cat ran.txt', { id: 'lost' })).toMatchObject({ stdout: 'ran\n' });
		expect(await server.scriptCounts?.()).toMatchObject({ queued: 0, running: 0, workers: [{ running: 0 }] });
	});

	test('a server that is killed takes its scripts with it, also if it’s the only one', async () => {
		const worker = await rig.startWorker({ SKILLS_MAX_SCRIPTS: '1' });
		const script = ['tests/support/worker-server.ts', rig.env, 'begun'] as const;
		const running = await startProcess(...script, [patient()]);
		expect(processesWith(mark)).not.toEqual([]);
		await running.stop('SIGKILL');
		await eventually(() => expect(processesWith(mark)).toEqual([]));
		// The worker goes on with others', and of that server nothing is left.
		const server = await rig.startServer();
		expect(await server.sh('echo next')).toMatchObject({ ended: 'exit', stdout: 'next\n' });
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 0, running: 0 }));
		expect(await worker.stop()).toBe(0);
	});

	test('two workers run 50 scripts at once, each once', async () => {
		await Promise.all([rig.startWorker({ SKILLS_MAX_SCRIPTS: '4' }), rig.startWorker({ SKILLS_MAX_SCRIPTS: '4' })]);
		const server = await rig.startServer();
		const shared = join(rig.dataDir, 'all.txt');
		await writeFile(shared, '', { mode: 0o666 });
		const go = join(rig.dataDir, 'go');
		const numbers = Array.from({ length: 50 }, (_, index) => index);
		const line = (number: number) => `echo ${number} >> ${shared}; ${untilGo(go)}; echo out ${number}`;
		const all = numbers.map((number) => server.sh(line(number)));
		const workers = [{ running: 4 }, { running: 4 }];
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 42, workers }));
		await writeFile(go, '');
		const results = await Promise.all(all);
		expect(results.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `out ${number}\n`));
		const ran = (await readFile(shared, 'utf8')).trim().split('\n').map(Number);
		expect(ran.sort((a, b) => a - b)).toEqual(numbers);
	});

	test('a caller with many scripts doesn’t hold up another’s', async () => {
		await rig.startWorker({ SKILLS_MAX_SCRIPTS: '1' });
		const server = await rig.startServer();
		const order = join(rig.dataDir, 'order.txt');
		const go = join(rig.dataDir, 'go');
		await writeFile(order, '', { mode: 0o666 });
		const line = (key: string) => `${untilGo(go)}; echo ${key} >> ${order}`;
		const asked: unknown[] = [];
		const ask = async (key: string) => {
			asked.push(server.sh(line(key), { caller: { key } }));
			const counts = { running: 1, queued: asked.length - 1 };
			await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject(counts));
		};
		for (let number = 0; number < 12; number += 1) await ask('many');
		await ask('few');
		await writeFile(go, '');
		await Promise.all(asked);
		const ran = (await readFile(order, 'utf8')).trim().split('\n');
		expect(ran.indexOf('few')).toBe(1);
	});

	test('a worker that is told to stop ends what it has begun, and takes nothing more', async () => {
		const worker = await rig.startWorker({ SHUTDOWN_TIMEOUT_MS: '20000' });
		const server = await rig.startServer();
		let result: ReturnType<typeof server.sh> | undefined;
		const line = `echo begun; ${untilGo()}; echo ended`;
		await begin((onOutput) => (result = server.sh(line, { id: 'long', onOutput })));
		const stopped = worker.stop();
		const next = server.sh('echo next');
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 1 }));
		await writeFile(rig.fileOf('long', 'go'), '');
		expect(await result).toMatchObject({ exitCode: 0, stdout: 'begun\nended\n' });
		expect(await stopped).toBe(0);
		expect(await server.scriptCounts?.()).toMatchObject({ queued: 1, workers: [] });
		await rig.startWorker();
		expect(await next).toMatchObject({ stdout: 'next\n' });
	});

	test('a database that restarts loses no script, no output and no result', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		let result: ReturnType<typeof server.sh> | undefined;
		const line = 'echo begun; while [ ! -e go ]; do echo more; sleep 0.05; done; echo ended';
		await begin((onOutput) => (result = server.sh(line, { id: 'over', onOutput })));
		await postgres.restart();
		await writeFile(rig.fileOf('over', 'go'), '');
		const { stdout, ended } = (await result) ?? {};
		expect(ended).toBe('exit');
		expect(stdout).toMatch(/^begun\n(more\n)*ended\n$/);
	});

	test('without the database for long, a worker ends its scripts: servers may have given it up', async () => {
		const worker = await rig.startWorker();
		const server = await rig.startServer();
		let result: ReturnType<typeof server.sh> | undefined;
		await begin((onOutput) => (result = server.sh(patient(), { id: 'alone', onOutput })));
		await postgres.shutDown();
		await eventually(() => expect(processesWith(mark)).toEqual([]));
		await postgres.startAgain();
		expect(await result).toMatchObject({ ended: 'lost', stdout: 'begun\n' });
		expect(await server.sh('echo next')).toMatchObject({ ended: 'exit', stdout: 'next\n' });
		// Each second something failed.
		const said = worker.logs
			.map((line) => / (?:info|error) ((?:Can’t|Couldn’t) .*?)(?= reason=)/.exec(line)?.[1])
			.filter((sentence) => sentence !== undefined);
		expect(said.length).toBeGreaterThan(0);
		expect(new Set(said).size).toBe(said.length);
	});

	test('workers that are killed at any moment run no script twice, and none is forgotten', async () => {
		const server = await rig.startServer();
		const numbers = Array.from({ length: 40 }, (_, index) => index);
		const shared = join(rig.dataDir, 'all.txt');
		await writeFile(shared, '', { mode: 0o666 });
		const go = join(rig.dataDir, 'go');
		// In the first round none ends.
		const line = (number: number) => `echo ${number} >> ${shared}; ${untilGo(go)}; sleep 0.1; echo out ${number}`;
		const all = numbers.map((number) => server.sh(line(number)));
		let isOver = false;
		const results = Promise.all(all).finally(() => (isOver = true));
		for (let round = 0; round < 3 && !isOver; round += 1) {
			const worker = await rig.startWorker({ SKILLS_MAX_SCRIPTS: '4' });
			const before = (await readFile(shared, 'utf8')).length;
			await eventually(async () =>
				expect((await readFile(shared, 'utf8')).length > before + round * 9 || isOver).toBe(true)
			);
			await worker.stop('SIGKILL');
			await writeFile(go, '');
		}
		await rig.startWorker({ SKILLS_MAX_SCRIPTS: '4' });
		const ends = (await results).map(({ ended, stdout }, number) => `${ended} ${stdout === `out ${number}\n`}`);
		const ran = (await readFile(shared, 'utf8')).trim().split('\n').map(Number);
		expect(new Set(ran).size).toBe(ran.length);
		for (const [number, end] of ends.entries()) {
			expect(['exit true', 'lost false', 'lost true']).toContain(end);
			if (end === 'exit true') expect(ran).toContain(number);
		}
		expect(ends).toContain('exit true');
		expect(ends.some((end) => end.startsWith('lost'))).toBe(true);
		expect(await server.scriptCounts?.()).toMatchObject({ queued: 0, running: 0 });
	});

	test('a worker without the servers’ folder or sandbox refuses, and says what to set', async () => {
		const other = await createWorkerRig(rig.env.DATABASE_URL ?? '');
		const worker = await other.startWorker();
		const server = await rig.startServer();
		const refused = await server.sh('echo done');
		expect(refused).toMatchObject({ ended: 'spawn-failed', spawnError: expect.stringContaining('DATA_DIR') });
		expect(refused.spawnError).toContain(other.dataDir);
		await worker.stop();
		await other.close();
		await rig.startWorker({ SKILLS_SANDBOX: 'process' });
		const strict = await createWorkerRig(rig.env.DATABASE_URL ?? '', 'bubblewrap');
		expect(await (await strict.startServer()).sh('echo done')).toMatchObject({
			spawnError: expect.stringMatching(/expects workers with “bubblewrap”.*Set SKILLS_SANDBOX/)
		});
		await strict.close();
	});

	test('a job that comes back into the queue, by a failover or by somebody who writes to it, isn’t run again', async () => {
		const server = await rig.startServer();
		const result = server.sh('echo ran >> runs.txt', { id: 'once' });
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 1 }));
		await inDatabase('create table kept_jobs as select * from script_jobs');
		await inDatabase('create table kept_queue as select * from pgboss.job');
		const worker = await rig.startWorker();
		expect(await result).toMatchObject({ exitCode: 0 });
		const again = async () => {
			await eventually(async () => expect(await inDatabase('select 1 from script_jobs')).toEqual([]));
			await inDatabase('delete from pgboss.job');
			await inDatabase('insert into script_jobs select * from kept_jobs');
			await inDatabase('insert into pgboss.job select * from kept_queue');
			const ended = "select result from script_jobs where state = 'ended'";
			const [row] = await eventually(async () => {
				const rows = await inDatabase(ended);
				expect(rows).toHaveLength(1);
				return rows;
			});
			await inDatabase('delete from script_jobs');
			return JSON.stringify(row);
		};
		expect(await again()).toContain('The job was begun before.');
		await worker.stop();
		await rig.startWorker();
		expect(await again()).toContain('The job was begun before.');
		expect(await read('once', 'runs.txt')).toBe('ran\n');
	});

	test('what a worker of another version writes as result or output ends its script, and holds up no other', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		for (const result of [
			'{"result":{}}',
			'null',
			'rubbish',
			'[]',
			'{"result":{"ended":"done"},"refused":[],"unreached":[]}'
		]) {
			let odd = server.sh('');
			await begin((onOutput) => (odd = server.sh(patient(), { onOutput })));
			// Only this job's: the one before it may be removed at this moment.
			const of = "from script_jobs where state <> 'ended'";
			await inDatabase(`insert into script_output select id, 1000, 'rubbish' ${of}`);
			await inDatabase(`insert into script_output select id, 1001, '[["stdin",3]]' ${of}`);
			await inDatabase("update script_jobs set state = 'ended', result = $1", [result]);
			expect(await odd).toMatchObject({
				ended: 'spawn-failed',
				spawnError: 'the worker’s result can’t be read: servers and workers need the same version'
			});
			expect(await server.sh('echo next')).toMatchObject({ ended: 'exit', stdout: 'next\n' });
		}
		await eventually(() => expect(processesWith(mark)).toEqual([]));
	});

	test.each([
		['doesn’t begin if it was given up', true],
		['begins if it’s still the worker’s', false]
	])('a script whose worker was paused between taking and beginning it %s', async (_, isGivenUp) => {
		const server = await rig.startServer();
		const jobs = await server.store.openScriptJobs();
		const paused = Promise.withResolvers<void>();
		let isTaken = false;
		const take: typeof jobs.take = async (...values) => {
			const job = await jobs.take(...values);
			if (!job) return null;
			isTaken = true;
			await paused.promise;
			return job;
		};
		const ran: string[] = [];
		const sandbox = {
			...{ name: 'process', isolation: { files: false, network: false, processes: false, limits: false } },
			...{ kill: () => false, run: async ({ id = '' }) => Promise.reject(new Error(String(ran.push(id)))) }
		} as unknown as Sandbox;
		const worker = await startWorker({
			...{ jobs: { ...jobs, take }, replica: server.replica, sandbox, slots: 1, dataDir: rig.dataDir },
			...{ key: await jobKeyOf(rig), openReach: async () => Promise.reject(new Error('no network')) },
			log: createLog(() => undefined)
		});
		const result = server.sh('echo late', { id: 'late' });
		await eventually(() => expect(isTaken).toBe(true));
		const now = performance.now.bind(performance);
		const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 5_000);
		if (isGivenUp) await jobs.clear(server.replica.id);
		paused.resolve();
		expect(await result).toMatchObject({ ended: isGivenUp ? 'lost' : 'spawn-failed' });
		await worker.close(0);
		expect(ran).toEqual(isGivenUp ? [] : ['late']);
		clock.mockRestore();
		await jobs.close();
	});

	test('F3: what a script gets can only be read by workers with the key', async () => {
		const server = await rig.startServer();
		const secret = `secret-${randomUUID()}`;
		const env = { PATH: '/usr/bin:/bin', TOKEN: secret };
		const result = server.sh('echo "$TOKEN" "$(printf %s "$TOKEN" | wc -c)"', { env, redact: [secret], input: secret });
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ queued: 1 }));
		const rows = await inDatabase(
			'select data::text as text from pgboss.job union all select j::text from script_jobs j'
		);
		expect(JSON.stringify(rows)).toContain('ciphertext');
		expect(JSON.stringify(rows)).not.toContain(secret);
		const stranger = await rig.startWorker({ SECRETS_KEY: 'the key of somebody else' });
		expect(await result).toMatchObject({
			ended: 'spawn-failed',
			spawnError: 'The worker can’t read this job: servers and workers need the same SECRETS_KEY and version.'
		});
		await stranger.stop();
		await rig.startWorker();
		const own = await server.sh('echo "$TOKEN" "$(printf %s "$TOKEN" | wc -c)"', { env, redact: [secret] });
		expect(own.stdout).toBe(`[redacted] ${secret.length}\n`);
	});

	test('F3: a script sees nothing of another one on the same worker', async ({ skip }) => {
		const worker = await rig.startWorker();
		const server = await rig.startServer();
		await eventually(async () => expect(await server.scriptCounts?.()).toMatchObject({ workers: [{ running: 0 }] }));
		const secret = `secret-${randomUUID()}`;
		const stop = new AbortController();
		const env = { PATH: '/usr/bin:/bin', TOKEN: secret };
		const keeper = begin((onOutput) =>
			server.sh(patient(), { id: 'keeper', env, input: secret, onOutput, signal: stop.signal })
		);
		await keeper;
		const { workers = [] } = (await server.scriptCounts?.()) ?? {};
		skip(workers[0]?.isolation.processes !== true, 'this machine has no namespaces');
		const spy = 'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; env';
		const { stdout } = await server.sh(`${spy}; ls /proc | grep -c '^[0-9]'`, { maxOutputBytes: 500_000 });
		expect(stdout).toContain('PATH=');
		for (const word of [secret, mark, rig.env.SECRETS_KEY ?? '', rig.env.DATABASE_URL ?? '']) {
			expect(stdout).not.toContain(word);
		}
		stop.abort();
		expect(worker.logs.join('\n')).not.toContain(secret);
	});

	test('D35: what a script may reach is decided on its worker, and what was refused is known', async () => {
		await rig.startWorker();
		const server = await rig.startServer();
		const session = await server.openReach?.('reaching', ['granted.example']);
		const ask = `for (const host of ['granted.example', 'other.example'])
			fetch('http://' + host).then(console.log, ({ cause }) => console.log(host, String(cause.cause)));`;
		const result = await server.sh('', {
			...{ id: 'reaching', file: process.execPath, args: ['-e', ask], proxySocket: session?.socket },
			env: { PATH: '/usr/bin:/bin', NODE_USE_ENV_PROXY: '1' }
		});
		expect(result.stderr).toBe('');
		expect(result.stdout).toMatch(/other.example .*403/);
		expect(session?.refused()).toEqual(['other.example:80']);
		await session?.close();
	});

	async function inDatabase(query: string, values: unknown[] = []): Promise<unknown[]> {
		const { Client } = await import('pg');
		const client = new Client(rig.env.DATABASE_URL);
		await client.connect();
		try {
			return (await client.query(query, values)).rows as unknown[];
		} finally {
			await client.end();
		}
	}
});
