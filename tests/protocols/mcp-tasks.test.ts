/** Long calls as tasks: asked for by clients of 2025-11-25, decided by the server for clients of 2026-07-28. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createMcp } from '../../src/lib/server/protocols/mcp/mcp.ts';
import type { Asker } from '../../src/lib/server/turns/toolbox.ts';
import { MODERN, openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { processesWith } from '../support/processes.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
let rig: McpRig;

async function putSkill({ put, app }: McpRig): Promise<void> {
	await put('slow/SKILL.md', '---\nname: slow\ndescription: Takes its time.\n---\nText.');
	await put('slow/scripts/say.sh', 'echo "said: $*"\n');
	await put('slow/scripts/fail.sh', 'echo "no luck" >&2; exit 3\n');
	// Waits until the skill’s folder has the file, so that no test depends on the time.
	await put(
		'slow/scripts/until.sh',
		'echo "waits for $1"; until [ -e "$1" ]; do sleep 0.02; done; echo "it is there"\n'
	);
	await put('slow/scripts/wait.sh', 'echo "waits $1"; exec sleep "$1"\n');
	await app.skills.registry.reload();
}

beforeAll(async () => {
	rig = await openMcpRig();
	await putSkill(rig);
});
afterAll(() => rig.close());

const taskShape = z.looseObject({
	taskId: z.string(),
	status: z.string(),
	statusMessage: z.string().optional(),
	createdAt: z.iso.datetime(),
	lastUpdatedAt: z.iso.datetime()
});
const anything = z.looseObject({});
const run = (script: string, ...args: string[]) => ({
	name: 'use_skill',
	arguments: { skill: 'slow', script: `scripts/${script}.sh`, args }
});

describe('2025-11-25', () => {
	const start = async (client: Client, call: object, ttl = 60_000) => {
		const shape = z.looseObject({ task: taskShape });
		const params = { ...call, task: { ttl } };
		const { task } = await client.request({ method: 'tools/call', params }, shape);
		return task;
	};
	const get = (client: Client, taskId: string) =>
		client.request({ method: 'tasks/get', params: { taskId } }, taskShape);
	const resultOf = (client: Client, taskId: string) =>
		client.request({ method: 'tasks/result', params: { taskId } }, anything);

	test('E15: a call with a task is answered at once, goes on, and tasks/result waits for what it comes to', async () => {
		const client = await rig.connect();
		expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
		const { tools } = await client.listTools();
		const taskSupport = Object.fromEntries(tools.map(({ name, execution }) => [name, execution?.taskSupport]));
		expect(taskSupport).toMatchObject({ use_skill: 'optional', skills_execute: 'optional', count_words: 'optional' });
		expect(taskSupport.skills_list).toBeUndefined();

		const flag = join(rig.dataDir, 'flag-1');
		const task = await start(client, run('until', flag));
		expect(task).toMatchObject({ status: 'working', ttl: 60_000, pollInterval: expect.any(Number) });
		await expect.poll(async () => (await get(client, task.taskId)).statusMessage).toContain('waits for');
		const waiting = resultOf(client, task.taskId);
		await writeFile(join(rig.dataDir, 'flag-1'), '');
		expect(await waiting).toMatchObject({
			structuredContent: { stdout: expect.stringContaining('it is there') },
			_meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } }
		});
		expect(await get(client, task.taskId)).toMatchObject({ status: 'completed' });
		expect(await resultOf(client, task.taskId)).toMatchObject({ structuredContent: { exitCode: 0 } });
		await expect(client.request({ method: 'tasks/cancel', params: { taskId: task.taskId } }, anything)).rejects.toThrow(
			'over already'
		);
	});

	test('E15: a task that is cancelled ends its script, and stays cancelled', async () => {
		const client = await rig.connect();
		const task = await start(client, run('wait', '98765.0401'));
		await expect.poll(() => processesWith('sleep 98765.0401')).not.toEqual([]);
		const waiting = expect(resultOf(client, task.taskId)).rejects.toThrow('cancelled');
		const cancelled = await client.request({ method: 'tasks/cancel', params: { taskId: task.taskId } }, taskShape);
		expect(cancelled.status).toBe('cancelled');
		await waiting;
		await expect.poll(() => processesWith('sleep 98765.0401')).toEqual([]);
		expect((await get(client, task.taskId)).status).toBe('cancelled');
	});

	test('E15: a script that fails is a task that was completed with an error of the tool', async () => {
		const client = await rig.connect();
		const task = await start(client, run('fail'));
		expect(await resultOf(client, task.taskId)).toMatchObject({ isError: true });
		expect((await get(client, task.taskId)).status).toBe('completed');
	});

	test('E15: tools that run no script take no task', async () => {
		const client = await rig.connect();
		for (const call of [
			{ name: 'skills_list', arguments: {} },
			{ name: 'load_skill', arguments: { skill: 'slow' } }
		]) {
			await expect(start(client, call)).rejects.toMatchObject({ code: -32601 });
		}
		await expect(start(client, { name: 'no_such_tool', arguments: {} })).rejects.toMatchObject({ code: -32602 });
		expect(await client.request({ method: 'tasks/list', params: {} }, anything)).toMatchObject({ tasks: [] });
	});

	test('E15: half requests are refused as such, and nothing is left of them', async () => {
		const client = await rig.connect();
		const task = { ttl: 1000 };
		const halves = [
			...['tasks/get', 'tasks/result', 'tasks/cancel'].flatMap((method) => [
				{ method },
				{ method, params: {} },
				{ method, params: { taskId: { a: 1 } } },
				{ method, params: { taskId: '' } },
				{ method, params: { taskId: 'x'.repeat(100_000) } }
			]),
			{ method: 'tasks/list', params: { cursor: 'not one of ours' } },
			{ method: 'tools/call', params: { task } },
			{ method: 'tools/call', params: { ...run('say'), task: { ttl: 'long' } } },
			{ method: 'tools/call', params: { ...run('say'), task: 'yes' } }
		];
		for (const half of halves) {
			await expect(client.request(half, anything), JSON.stringify(half).slice(0, 80)).rejects.toMatchObject({
				code: -32602
			});
		}
		const endless = await start(client, run('say'), Number.MAX_VALUE);
		expect(endless).toMatchObject({ ttl: 24 * 3_600_000 });
		const listed = await client.request(
			{ method: 'tasks/list', params: {} },
			z.looseObject({ tasks: z.array(taskShape) })
		);
		expect(listed.tasks.map(({ taskId }) => taskId)).toEqual([endless.taskId]);
	});

	test('E15: a key has its tasks in all its sessions; others and other sessions without a key see none', async () => {
		const [one, other] = await Promise.all(
			['one', 'other'].map((name) => rig.app.apiKeys.create({ name, scopes: ['read', 'execute'] }))
		);
		const [first, second, stranger, nobody] = await Promise.all(
			[one?.key, one?.key, other?.key, undefined].map((key) => rig.connect(key === undefined ? {} : { key }))
		);
		if (!first || !second || !stranger || !nobody) throw new Error('not connected');
		const { taskId } = await start(first, run('wait', '98765.0402'));
		const list = async (client: Client) =>
			(await client.request({ method: 'tasks/list', params: {} }, z.looseObject({ tasks: z.array(taskShape) }))).tasks;
		expect((await list(second)).map((task) => task.taskId)).toEqual([taskId]);
		for (const client of [stranger, nobody]) {
			expect(await list(client)).toEqual([]);
			for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
				await expect(client.request({ method, params: { taskId } }, anything)).rejects.toMatchObject({ code: -32602 });
			}
		}
		// The session that began it ends; its key still has the task.
		await first.close();
		expect((await get(second, taskId)).status).toBe('working');
		await second.request({ method: 'tasks/cancel', params: { taskId } }, anything);
		await expect.poll(() => processesWith('sleep 98765.0402')).toEqual([]);
	});

	test('E15: the tasks of a session without a key end with it', async () => {
		const client = await rig.connect();
		await start(client, run('wait', '98765.0403'));
		await expect.poll(() => processesWith('sleep 98765.0403')).not.toEqual([]);
		await (client.transport as { terminateSession?: () => Promise<void> }).terminateSession?.();
		await expect.poll(() => processesWith('sleep 98765.0403')).toEqual([]);
	});

	test('E15: an owner has 32 tasks; one that is over makes room, and beyond that none is begun', async () => {
		const client = await rig.connect();
		const done = await start(client, run('say', 'first'));
		await resultOf(client, done.taskId);
		const flag = join(rig.dataDir, 'flag-2');
		const tasks = await Promise.all(Array.from({ length: 32 }, () => start(client, run('until', flag))));
		await expect(get(client, done.taskId)).rejects.toMatchObject({ code: -32602 });
		await expect(start(client, run('say', 'one more'))).rejects.toThrow('too many tasks');
		await writeFile(join(rig.dataDir, 'flag-2'), '');
		await Promise.all(tasks.map(({ taskId }) => resultOf(client, taskId)));
	});

	test('F15: progress goes on after the call was answered', async () => {
		const client = await rig.connect();
		const seen: string[] = [];
		const related: unknown[] = [];
		const { promise: heard, resolve } = Promise.withResolvers<void>();
		client.fallbackNotificationHandler = async ({ method, params }) => {
			if (method === 'notifications/progress') {
				const { message, _meta } = params as { message?: string; _meta?: object };
				seen.push(String(message));
				related.push(_meta);
			}
			if (seen.join('').includes('it is there')) resolve();
		};
		client.removeNotificationHandler('notifications/progress');
		const flag = join(rig.dataDir, 'flag-3');
		const { taskId } = await start(client, { ...run('until', flag), _meta: { progressToken: 'mine' } });
		await writeFile(join(rig.dataDir, 'flag-3'), '');
		await heard;
		expect(related.at(-1)).toMatchObject({ 'io.modelcontextprotocol/related-task': { taskId } });
	});
});

/** A server of its own on the same parts, and a session of a key there. */
async function openServer(now: () => number = () => 0) {
	const log = { info: () => undefined, error: () => undefined };
	const mcp = createMcp({ ...rig.app, log }, { now });
	const caller: Asker = { apiKeyId: 'key', scopes: ['read', 'execute'] };
	let session = '';
	const ask = async (method: string, params: object): Promise<string> => {
		const headers = {
			...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
			...(session === '' ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' })
		};
		const init = { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) };
		const response = await mcp.handle(new Request('http://localhost/mcp', init), caller);
		session ||= response.headers.get('mcp-session-id') ?? '';
		return response.text();
	};
	const clientInfo = { name: 'raw', version: '1' };
	await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
	const start = async (seconds: string, ttl: number): Promise<string> => {
		const answer = await ask('tools/call', { ...run('wait', seconds), task: { ttl } });
		return /"taskId":"([^"]+)"/.exec(answer)?.[1] ?? '';
	};
	return { close: () => mcp.close(), start, get: (taskId: string) => ask('tasks/get', { taskId }) };
}

test('E15: a task’s time is bounded: then its script is ended, and its id isn’t known', async () => {
	let now = 0;
	const server = await openServer(() => now);
	const taskId = await server.start('98765.0404', 10_000);
	expect(await server.get(taskId)).toContain('"status":"working"');
	now = 10_000;
	expect(await server.get(taskId)).toContain('-32602');
	await expect.poll(() => processesWith('sleep 98765.0404')).toEqual([]);
	await server.close();
});

test('E15: a server that stops ends its tasks, and the next one says so', async () => {
	const server = await openServer();
	const taskId = await server.start('98765.0408', 60_000);
	await expect.poll(() => processesWith('sleep 98765.0408')).not.toEqual([]);
	await server.close();
	await expect.poll(() => processesWith('sleep 98765.0408')).toEqual([]);
	const next = await openServer();
	expect(await next.get(taskId)).toContain('the server was restarted, which ends all tasks. Call the tool again.');
	await next.close();
});

describe('2026-07-28', () => {
	let id = 0;
	const send = async (method: string, params: Record<string, unknown>, { knows = true, key = '' } = {}) => {
		const meta = {
			'io.modelcontextprotocol/protocolVersion': MODERN,
			'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
			'io.modelcontextprotocol/clientCapabilities': knows ? { extensions: { [EXTENSION]: {} } } : {}
		};
		id += 1;
		const response = await rig.send({
			method: 'POST',
			headers: {
				...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
				...{ 'mcp-protocol-version': MODERN, 'mcp-method': method },
				...{ 'mcp-name': String(params.taskId ?? params.name ?? '') },
				...(key === '' ? {} : { authorization: `Bearer ${key}` })
			},
			body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })
		});
		const text = await response.text();
		const [, data = text] = /^data: (.*"(?:result|error)".*)$/m.exec(text) ?? [];
		return z
			.looseObject({ result: anything.optional(), error: z.looseObject({ code: z.number() }).optional() })
			.parse(JSON.parse(data));
	};

	test('E15: a call that takes long becomes a task if the client knows tasks; a quick one is answered', async () => {
		const quick = await send('tools/call', { name: 'skills_list', arguments: {} });
		expect(quick.result).toMatchObject({ resultType: 'complete' });
		const flag = join(rig.dataDir, 'flag-4');
		const { result: created } = await send('tools/call', run('until', flag));
		expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 3_600_000 });
		const taskId = String(created?.taskId);
		await writeFile(join(rig.dataDir, 'flag-4'), '');
		const state = async () => (await send('tasks/get', { taskId })).result;
		await expect.poll(state).toMatchObject({ status: 'completed' });
		expect(await state()).toMatchObject({ resultType: 'complete', result: { structuredContent: { exitCode: 0 } } });
	});

	test('E15: a client that doesn’t know tasks gets the result, and no task of others', async () => {
		const flag = join(rig.dataDir, 'flag-5');
		const waiting = send('tools/call', run('until', flag), { knows: false });
		const { result: created } = await send('tools/call', run('wait', '98765.0405'), { key: await executeKey('a') });
		const taskId = String(created?.taskId);
		await writeFile(join(rig.dataDir, 'flag-5'), '');
		expect((await waiting).result).toMatchObject({ resultType: 'complete' });
		for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
			expect((await send(method, { taskId, inputResponses: {} })).error?.code, method).toBe(-32602);
			expect((await send(method, { taskId, inputResponses: {} }, { knows: false })).error?.code, method).toBe(-32021);
		}
		expect((await send('tasks/list', {})).error?.code).toBe(-32601);
		expect((await send('tasks/get', { taskId: 7 })).error).toBeDefined();
		await expect.poll(() => processesWith('sleep 98765.0405')).not.toEqual([]);
	});

	test('E15: tasks/cancel is taken note of once and again, and ends the script', async () => {
		const key = await executeKey('b');
		const { result: created } = await send('tools/call', run('wait', '98765.0406'), { key });
		const taskId = String(created?.taskId);
		for (const _time of [1, 2]) {
			const { result } = await send('tasks/cancel', { taskId }, { key });
			expect(result).toMatchObject({ resultType: 'complete' });
			expect(result).not.toHaveProperty('taskId');
		}
		expect((await send('tasks/get', { taskId }, { key })).result).toMatchObject({ status: 'cancelled' });
		await expect.poll(() => processesWith('sleep 98765.0406')).toEqual([]);
	});

	async function executeKey(name: string): Promise<string> {
		return (await rig.app.apiKeys.create({ name, scopes: ['read', 'execute'] })).key;
	}
});

test('E15: tasks over stdio, which end with the connection', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'mcp-tasks-'));
	try {
		const { PATH = '', HOME = '' } = process.env;
		const root = join(import.meta.dirname, '../..');
		const env = { PATH, HOME, DATA_DIR: folder, SKILLS_SANDBOX: 'process', SKILLS_DIRS: rig.skills };
		const client = new Client({ name: 'stdio', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
		const program = { command: 'npm', args: ['run', '--silent', 'mcp'], cwd: root, stderr: 'ignore' as const, env };
		await client.connect(new StdioClientTransport(program));
		const begin = (call: object) =>
			client.request({ method: 'tools/call', params: { ...call, task: {} } }, z.looseObject({ task: taskShape }));
		const { task } = await begin(run('say', 'hello'));
		const result = await client.request({ method: 'tasks/result', params: { taskId: task.taskId } }, anything);
		expect(result).toMatchObject({ structuredContent: { stdout: 'said: hello\n' } });
		await begin(run('wait', '98765.0407'));
		await expect.poll(() => processesWith('sleep 98765.0407')).not.toEqual([]);
		await client.close();
		await expect.poll(() => processesWith('sleep 98765.0407')).toEqual([]);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
});
