/** What a task asks its client's user, and what clients are told of their tasks without asking. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ElicitRequest, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import { gate } from '../support/gate.ts';
import { MODERN, openMcpRig, type McpRig } from '../support/mcp-rig.ts';

const EXTENSION = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
/** Trusts what is there. */
let rig: McpRig;
/** Asks before anything runs. */
let asking: McpRig;

beforeAll(async () => {
	[rig, asking] = await Promise.all([openMcpRig(), openMcpRig({ SKILLS_APPROVAL: 'ask' })]);
	for (const { put, app } of [rig, asking]) {
		await put('slow/SKILL.md', '---\nname: slow\ndescription: Takes its time.\n---\nText.');
		await put('slow/scripts/say.sh', 'echo "said: $*"\n');
		await put('slow/scripts/wait.sh', 'exec sleep "$1"\n');
		// A script chooses what its output says; nothing was refused here.
		const lack = 'echo "getaddrinfo ENOTFOUND api.example.org" >&2; exit 1';
		await put('slow/scripts/lack.sh', `${lack}\n`);
		await put('slow/scripts/lack-late.sh', `until [ -e "$1" ]; do sleep 0.02; done; ${lack}\n`);
		await app.skills.registry.reload();
	}
});
afterAll(() => Promise.all([rig.close(), asking.close()]));
beforeEach(() => rig.app.network.grant('skills/slow', [], new Date().toISOString()));

type Empty = Record<string, never>;
const anything = z.looseObject({});
const taskShape = z.looseObject({ taskId: z.string(), status: z.string(), statusMessage: z.string().optional() });
const run = (script: string, ...args: string[]) => ({
	name: 'use_skill',
	arguments: { skill: 'slow', script: `scripts/${script}.sh`, args }
});
const runs = async (of: McpRig) => (await of.app.store.skillExecutions.list({}, { page: 1, limit: 1 })).total;
const granted = () => rig.app.network.granted('skills/slow');
const keyOf = async (of: McpRig, scopes: ApiScope[] = ['read', 'execute']) =>
	(await of.app.apiKeys.create({ name: 'client', scopes })).key;
const TICKED = { action: 'accept', content: { allow: true } } as const;
const YES = { action: 'accept', content: {} } as const;

describe('2025-11-25', () => {
	type Answer = (asked: ElicitRequest['params'], signal: AbortSignal) => ElicitResult | Promise<ElicitResult>;

	/** A client, what its user was asked, and the status of its tasks as it was told. */
	async function open(
		of: McpRig,
		answer: Answer,
		options: { key?: string; stream?: boolean; elicitation?: { form?: Empty; url?: Empty } } = {}
	) {
		const { elicitation = {}, ...more } = options;
		const client = await of.connect({ capabilities: { elicitation }, ...more });
		const asked: ElicitRequest['params'][] = [];
		client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
			asked.push(params);
			return answer(params, mcpReq.signal);
		});
		const heard: z.infer<typeof taskShape>[] = [];
		client.fallbackNotificationHandler = async ({ method, params }) => {
			if (method === 'notifications/tasks/status') heard.push(taskShape.parse(params));
		};
		return { client, asked, heard, told: () => heard.map(({ status }) => status) };
	}

	const start = async (client: Client, call: object) => {
		const params = { ...call, task: { ttl: 60_000 } };
		return (await client.request({ method: 'tools/call', params }, z.looseObject({ task: taskShape }))).task;
	};
	const get = (client: Client, taskId: string) =>
		client.request({ method: 'tasks/get', params: { taskId } }, taskShape);
	const cancel = (client: Client, taskId: string) =>
		client.request({ method: 'tasks/cancel', params: { taskId } }, taskShape);
	const resultOf = (client: Client, taskId: string) =>
		client.request({ method: 'tasks/result', params: { taskId } }, anything);
	const status = (client: Client, taskId: string) => async () => (await get(client, taskId)).status;

	test('C16, E15: a task that has to ask is input_required, asks who waits for its result, and goes on', async () => {
		const { client, asked } = await open(asking, () => YES, { stream: false });
		const before = await runs(asking);
		const { taskId } = await start(client, run('say', 'hello'));
		await expect.poll(status(client, taskId)).toBe('input_required');
		expect(asked).toEqual([]);
		expect(await runs(asking)).toBe(before);
		expect(await resultOf(client, taskId)).toMatchObject({
			structuredContent: { stdout: 'said: hello\n' },
			_meta: { [RELATED]: { taskId } }
		});
		const message = expect.stringContaining('hello') as string;
		expect(asked).toMatchObject([{ message, _meta: { [RELATED]: { taskId } } }]);
		expect(await runs(asking)).toBe(before + 1);
	});

	test('C16, E15: a client with an open stream is asked there while it polls, and told each status', async () => {
		const { client, asked, told, heard } = await open(asking, () => YES);
		const { taskId } = await start(client, run('say', 'hello'));
		await expect.poll(status(client, taskId)).toBe('completed');
		expect(asked).toMatchObject([{ _meta: { [RELATED]: { taskId } } }]);
		await expect.poll(told).toEqual(['input_required', 'working', 'completed']);
		expect(heard[2]).toMatchObject({ taskId, ttl: 60_000, pollInterval: expect.any(Number) as number });
	});

	test('C16, E15: a stream that breaks takes its question along, and the next stream is asked again', async () => {
		const isAsked = gate();
		let times = 0;
		const { client, asked } = await open(asking, () => {
			times += 1;
			if (times > 1) return YES;
			isAsked.open();
			return new Promise<never>(() => undefined);
		});
		const { taskId } = await start(client, run('say', 'again'));
		await isAsked.opened;
		asking.breakStreams();
		await expect.poll(status(client, taskId), { timeout: 10_000 }).toBe('completed');
		expect(asked).toHaveLength(2);
		expect(await resultOf(client, taskId)).toMatchObject({ structuredContent: { stdout: 'said: again\n' } });
	});

	test.each<[string, Answer]>([
		['declines', () => ({ action: 'decline' })],
		['closes the question', () => ({ action: 'cancel' })],
		['answers with an error', () => Promise.reject(new Error('no form here'))],
		['answers with nonsense', () => 'yes' as unknown as ElicitResult]
	])('C16: nothing runs for a client that %s, and the task ends with that', async (_what, answer) => {
		for (const stream of [true, false]) {
			const { client, asked } = await open(asking, answer, { stream });
			const before = await runs(asking);
			const { taskId } = await start(client, run('say'));
			const result = await resultOf(client, taskId);
			expect(result).toMatchObject({ isError: true });
			expect(JSON.stringify(result)).toContain('ApprovalDenied');
			expect((await get(client, taskId)).status).toBe('completed');
			expect(asked).toHaveLength(1);
			expect(await runs(asking)).toBe(before);
		}
	});

	test('C16, E15: a task that is cancelled while it asks withdraws its question, and nothing runs', async () => {
		const [isAsked, isWithdrawn] = [gate(), gate()];
		const { client, told } = await open(asking, (_asked, signal) => {
			signal.addEventListener('abort', isWithdrawn.open);
			isAsked.open();
			return new Promise<never>(() => undefined);
		});
		const before = await runs(asking);
		const { taskId } = await start(client, run('say'));
		const waiting = expect(resultOf(client, taskId)).rejects.toThrow('cancelled');
		await isAsked.opened;
		expect((await cancel(client, taskId)).status).toBe('cancelled');
		await waiting;
		await isWithdrawn.opened;
		await expect.poll(told).toEqual(['input_required', 'cancelled']);
		expect(await runs(asking)).toBe(before);
	});

	test('C16, E15: whoever of a key waits is asked, one at a time; if that client leaves, the next one is, and no other key', async () => {
		const key = await keyOf(asking, ['read', 'execute', 'approve']);
		const isAsked = gate();
		const first = await open(asking, () => (isAsked.open(), new Promise<never>(() => undefined)), { key });
		const second = await open(asking, () => YES, { key });
		const mute = await asking.connect({ key });
		const { taskId } = await start(first.client, run('say', 'twice'));
		const left = resultOf(first.client, taskId).catch(() => 'left');
		await isAsked.opened;
		const results = [second.client, mute].map((client) => resultOf(client, taskId));
		const stranger = await asking.connect({ key: await keyOf(asking), capabilities: { elicitation: {} } });
		await expect(resultOf(stranger, taskId)).rejects.toMatchObject({ code: -32602 });
		expect(second.asked).toEqual([]);
		await (first.client.transport as { terminateSession?: () => Promise<void> }).terminateSession?.();
		for (const result of await Promise.all(results)) {
			expect(result).toMatchObject({ structuredContent: { stdout: 'said: twice\n' } });
		}
		expect(second.asked).toHaveLength(1);
		await expect.poll(second.told).toEqual(['input_required', 'working', 'completed']);
		await first.client.close();
		expect(await left).toBe('left');
	});

	test('D13, E15: a task asks for what its script lacked, and runs it again', async () => {
		const { client, asked, told } = await open(rig, async () => {
			expect(await granted()).toEqual([]);
			return TICKED;
		});
		const before = await runs(rig);
		const { taskId } = await start(client, run('lack'));
		expect(await resultOf(client, taskId)).toMatchObject({ isError: true });
		expect(asked).toMatchObject([{ mode: 'form', message: expect.stringContaining('api.example.org') as string }]);
		expect(await granted()).toEqual(['api.example.org']);
		expect(await runs(rig)).toBe(before + 2);
		await expect.poll(told).toEqual(['input_required', 'working', 'completed']);
	});

	test('D13, E15: a client that opens pages gets the page of the skill, with an id as its version wants', async () => {
		const { client, asked } = await open(rig, () => ({ action: 'decline' }), { elicitation: { form: {}, url: {} } });
		const { taskId } = await start(client, run('lack'));
		expect(await resultOf(client, taskId)).toMatchObject({
			isError: true,
			structuredContent: { missing: { kind: 'host' } }
		});
		expect(asked).toMatchObject([
			{ mode: 'url', url: new URL('/skills/skills/slow', rig.url).href, elicitationId: expect.any(String) as string }
		]);
	});

	test('C16, E15: a task asks 8 times at most, even if what would run is another each time', async () => {
		let version = 0;
		const { client, asked } = await open(asking, async () => {
			version += 1;
			await asking.put('changing/scripts/say.sh', `echo "version ${version}"\n`);
			await asking.app.skills.registry.reload();
			return YES;
		});
		await asking.put('changing/SKILL.md', '---\nname: changing\ndescription: Changes.\n---\nText.');
		await asking.put('changing/scripts/say.sh', 'echo "version 0"\n');
		await asking.app.skills.registry.reload();
		const before = await runs(asking);
		const call = { name: 'use_skill', arguments: { skill: 'changing', script: 'scripts/say.sh' } };
		const { taskId } = await start(client, call);
		expect(JSON.stringify(await resultOf(client, taskId))).toContain('asked 8 times');
		expect(asked).toHaveLength(8);
		expect(await runs(asking)).toBe(before);
	});

	test('C16: who can’t be asked is refused by a task as by a call', async () => {
		const client = await asking.connect();
		const { taskId } = await start(client, run('say'));
		expect(await resultOf(client, taskId)).toMatchObject({ isError: true });
	});

	test('E15: nobody hears of another’s task', async () => {
		const [mine, other] = [await open(rig, () => YES), await open(rig, () => YES)];
		const { taskId } = await start(mine.client, run('say'));
		await resultOf(mine.client, taskId);
		await expect.poll(mine.told).toEqual(['completed']);
		const { taskId: last } = await start(other.client, run('say'));
		await expect.poll(other.told).toEqual(['completed']);
		expect(other.heard[0]?.taskId).toBe(last);
		expect(mine.told()).toEqual(['completed']);
	});
});

describe('2026-07-28', () => {
	let id = 0;
	/** As the client of the rig: the SDK's takes no `resultType: "task"`, so calls are sent without it. */
	async function send(method: string, params: Record<string, unknown>, key: string) {
		id += 1;
		const _meta = {
			'io.modelcontextprotocol/protocolVersion': MODERN,
			'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
			'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [EXTENSION]: {} } }
		};
		const response = await rig.send({
			method: 'POST',
			headers: {
				...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
				...{ 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': String(params.taskId ?? params.name) },
				...(key === '' ? {} : { authorization: `Bearer ${key}` })
			},
			body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
		});
		const text = await response.text();
		const [, data = text] = /^data: (.*"(?:result|error)".*)$/m.exec(text) ?? [];
		const error = z.looseObject({ code: z.number(), message: z.string() });
		return z.looseObject({ result: anything.optional(), error: error.optional() }).parse(JSON.parse(data));
	}

	async function start(call: object, key = ''): Promise<string> {
		const { result } = await send('tools/call', call as Record<string, unknown>, key);
		expect(result).toMatchObject({ resultType: 'task', status: 'working' });
		expect(result).not.toHaveProperty('inputRequests');
		return String(result?.taskId);
	}

	const get = async (taskId: string, key = '') => (await send('tasks/get', { taskId }, key)).result;
	const update = (taskId: string, inputResponses: unknown, key = '') =>
		send('tasks/update', { taskId, inputResponses }, key);

	/** The SDK's client, and the tasks that it heard of while it listens. */
	async function listen(taskIds: string[], key?: string, extensions: Record<string, Empty> = { [EXTENSION]: {} }) {
		const client = await rig.connect({
			modern: true,
			capabilities: { extensions },
			...(key === undefined ? {} : { key })
		});
		const heard: Record<string, unknown>[] = [];
		client.setNotificationHandler('notifications/tasks', { params: anything }, (task) => void heard.push(task));
		const { close } = await client.listen({ taskIds } as object);
		return { client, heard, close, told: () => heard.map((task) => task.status) };
	}

	test('D13, E15: a task asks in the middle: tasks/update answers, once, and only what is asked', async () => {
		const flag = join(rig.dataDir, 'asked-1');
		const before = await runs(rig);
		const taskId = await start(run('lack-late', flag));
		await writeFile(flag, '');
		await expect.poll(() => get(taskId)).toMatchObject({ status: 'input_required' });
		const waiting = await get(taskId);
		expect(waiting).toMatchObject({
			resultType: 'complete',
			inputRequests: { 'consent-1': { method: 'elicitation/create', params: { mode: 'form' } } }
		});
		expect(waiting).not.toHaveProperty('requestState');

		// None of these is an answer.
		for (const none of [{}, { 'consent-2': TICKED, consent: TICKED }, { '': TICKED, ['x'.repeat(10_000)]: TICKED }]) {
			expect((await update(taskId, none)).result).toMatchObject({ resultType: 'complete' });
		}
		for (const bad of [undefined, { 'consent-1': {} }, { 'consent-1': 'yes' }, { 'consent-1': { action: 'allow' } }]) {
			expect((await update(taskId, bad)).error?.code, JSON.stringify(bad)).toBe(-32602);
		}
		expect((await update(taskId, { 'consent-1': TICKED }, await keyOf(rig))).error?.code).toBe(-32602);
		expect(await get(taskId)).toMatchObject({ status: 'input_required' });
		expect(await granted()).toEqual([]);

		const { result } = await update(taskId, { 'consent-1': TICKED });
		expect(Object.keys(result ?? {}).sort()).toEqual(['_meta', 'resultType']);
		await expect.poll(() => get(taskId)).toMatchObject({ status: 'completed', result: { isError: true } });
		expect(await get(taskId)).not.toHaveProperty('inputRequests');
		expect(await granted()).toEqual(['api.example.org']);
		expect(await runs(rig)).toBe(before + 2);
		// Again, and too late.
		expect((await update(taskId, { 'consent-1': { action: 'decline' } })).result).toMatchObject({
			resultType: 'complete'
		});
		expect(await get(taskId)).toMatchObject({ status: 'completed' });
		expect(await runs(rig)).toBe(before + 2);
	});

	test('D13: an answer that allows nothing ends the task with what the script lacked', async () => {
		const flag = join(rig.dataDir, 'asked-2');
		const before = await runs(rig);
		const taskId = await start(run('lack-late', flag));
		await writeFile(flag, '');
		await expect.poll(() => get(taskId)).toMatchObject({ status: 'input_required' });
		await update(taskId, { 'consent-1': YES });
		await expect
			.poll(() => get(taskId))
			.toMatchObject({ result: { structuredContent: { missing: { name: 'api.example.org' } } } });
		expect(await granted()).toEqual([]);
		expect(await runs(rig)).toBe(before + 1);
	});

	test('E15: a client that listens for a task is told its status, what it asks, and what it comes to', async () => {
		const flag = join(rig.dataDir, 'asked-3');
		const taskId = await start(run('lack-late', flag));
		const stranger = await listen([taskId, 'no such task'], await keyOf(rig));
		const { told, heard, close } = await listen([taskId, taskId, 'no such task', '', 'x'.repeat(10_000)]);
		await expect.poll(told).toEqual(['working']);
		await writeFile(flag, '');
		await expect.poll(told).toEqual(['working', 'input_required']);
		const { resultType: _type, _meta, ...state } = (await get(taskId)) ?? {};
		expect(heard[1]).toMatchObject(state);
		await update(taskId, { 'consent-1': TICKED });
		await expect.poll(told).toEqual(['working', 'input_required', 'working', 'completed']);
		expect(heard[3]).toMatchObject({ taskId, result: { isError: true }, pollIntervalMs: expect.any(Number) as number });
		expect(stranger.heard).toEqual([]);
		// Who comes late is told how it ended.
		const late = await listen([taskId]);
		await expect.poll(late.told).toEqual(['completed']);
		await Promise.all([close(), late.close()]);
	});

	test('E15: listening for tasks and files at once, and nothing by the name that tasks have inside', async () => {
		const taskId = await start(run('wait', '98765.0501'));
		const file = 'skill://slow/SKILL.md';
		const client = await rig.connect({ modern: true, capabilities: { extensions: { [EXTENSION]: {} } } });
		const heard: string[] = [];
		client.setNotificationHandler(
			'notifications/tasks',
			{ params: anything },
			({ status }) => void heard.push(`${status}`)
		);
		client.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri));
		const both = await client.listen({ taskIds: [taskId], resourceSubscriptions: [file] } as object);
		expect(both.honoredFilter.resourceSubscriptions).toEqual([file]);
		const inside = await client.listen({ resourceSubscriptions: [`task:${taskId}`, file] });
		expect(inside.honoredFilter.resourceSubscriptions).toEqual([file]);
		await send('tasks/cancel', { taskId }, '');
		await rig.put('slow/SKILL.md', '---\nname: slow\ndescription: Takes its time.\n---\nOther text.');
		await rig.app.skills.registry.reload();
		await expect.poll(() => heard.toSorted()).toEqual(['cancelled', file, file, 'working']);
		await Promise.all([both.close(), inside.close()]);
	});

	test('E15: who doesn’t know tasks, or wants hundreds, or names none, isn’t told of any', async () => {
		const { error } = await send('subscriptions/listen', { notifications: { taskIds: 'all' } }, '');
		expect(error).toMatchObject({ code: -32602, message: 'taskIds must be a list of at most 100 ids.' });
		await expect(listen([], undefined, {})).rejects.toMatchObject({
			code: -32021,
			data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } }
		});
		await expect(listen(Array.from({ length: 101 }, (_, index) => `${index}`))).rejects.toMatchObject({ code: -32602 });
		await expect(listen([7 as unknown as string])).rejects.toMatchObject({ code: -32602 });
		const { heard } = await listen([]);
		expect(heard).toEqual([]);
	});
});

test('E15: over stdio, a client that listens is told of its tasks, too', async () => {
	const folder = await mkdtemp(join(tmpdir(), 'mcp-task-questions-'));
	const { PATH = '', HOME = '' } = process.env;
	const env = { PATH, HOME, DATA_DIR: folder, SKILLS_SANDBOX: 'process', SKILLS_DIRS: rig.skills };
	const root = join(import.meta.dirname, '../..');
	const client = new Client(
		{ name: 'stdio', version: '1.0.0' },
		{
			versionNegotiation: { mode: { pin: MODERN } },
			capabilities: { elicitation: {}, extensions: { [EXTENSION]: {} } }
		}
	);
	const transport = new StdioClientTransport({
		...{ command: 'npm', args: ['run', '--silent', 'mcp'], cwd: root, stderr: 'ignore' as const, env }
	});
	const heard: Record<string, unknown>[] = [];
	client.setNotificationHandler('notifications/tasks', { params: anything }, (task) => void heard.push(task));
	const told = () => heard.map(({ status }) => status);
	try {
		await client.connect(transport);
		// The SDK's client refuses the answer, which has been seen by then.
		const { promise: created, resolve } = Promise.withResolvers<string>();
		const onmessage = transport.onmessage;
		transport.onmessage = (message) => {
			if ('result' in message && message.result.resultType === 'task') resolve(String(message.result.taskId));
			onmessage?.(message);
		};
		const flag = join(folder, 'asked');
		client.callTool(run('lack-late', flag)).catch(() => undefined);
		const taskId = await created;
		await expect(client.listen({ taskIds: [7] } as object)).rejects.toMatchObject({ code: -32602 });
		const listening = await client.listen({ taskIds: [taskId, 'no such task'] } as object);
		await expect.poll(told).toEqual(['working']);
		await writeFile(flag, '');
		await expect.poll(told).toEqual(['working', 'input_required']);
		const params = { taskId, inputResponses: { 'consent-1': YES } };
		await client.request({ method: 'tasks/update', params }, anything);
		await expect.poll(told).toEqual(['working', 'input_required', 'working', 'completed']);
		await listening.close();
	} finally {
		await client.close();
		await rm(folder, { recursive: true, force: true });
	}
});
