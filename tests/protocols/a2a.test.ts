/** A2A over real HTTP with the @a2a-js/sdk client, in both versions it supports (E16). */
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskState, type Task } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
	a2aClient,
	all,
	atOnce,
	filePart,
	part,
	replayed,
	says,
	sendTask,
	textOfArtifact,
	type A2AClient
} from '../support/a2a-client.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';

const VERSIONS = ['1.0', '0.3'] as const;
const stateOf = (task: Task) => TaskState[task.status?.state ?? TaskState.UNRECOGNIZED];
const GET = { tenant: '' };

let model: ModelServer;
let rig: A2ARig;
beforeAll(async () => {
	model = await startModelServer();
	rig = await startA2ARig({ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a', OPENROUTER_MODEL: 'test/model' });
});
afterAll(async () => {
	await rig.close();
	await model.close();
});
afterEach(() => model.assertDone());

const use = (script: string, ...args: string[]) =>
	call('use_skill', { skill: 'demo', script: `scripts/${script}`, args });

describe.each(VERSIONS)('with the client of A2A %s', (version) => {
	let client: A2AClient;
	beforeAll(async () => {
		client = await a2aClient(rig.url, version);
	});

	test('a message names a model or a preset in its metadata; one that is gone is refused', async () => {
		const review = {
			name: 'Review',
			icon: null,
			model: 'acme/large',
			effort: null,
			web: null,
			routing: null,
			approval: null
		} as const;
		const presets = { review: { ...review, instructions: 'You review code.', skills: [] } };
		await rig.app.settings.change({ presets }, new Date().toISOString());
		model.push(text('Reviewed.'));
		const request = says('hi');
		if (request.message) request.message.metadata = { model: 'preset:review' };
		const before = model.requests.length;
		expect(textOfArtifact(await sendTask(client, request))).toBe('Reviewed.');
		expect(model.requests[before]?.body).toMatchObject({ model: 'acme/large' });
		expect(String(model.requests[before]?.body.instructions)).toMatch(/You review code\.$/);
		const gone = says('hi');
		if (gone.message) gone.message.metadata = { model: 'preset:gone' };
		await expect(sendTask(client, gone)).rejects.toThrow('There’s no preset “gone”');
	});

	test('E16: a message waits for the end of its run, and the task has the answer and the files that were made', async () => {
		model.push(use('say.sh', 'hello'), text('All ', 'said.'));
		const request = says('say hello');
		const task = await sendTask(client, request);
		expect(stateOf(task)).toBe('TASK_STATE_COMPLETED');
		expect(textOfArtifact(task)).toBe('All said.');
		const file = task.artifacts.find(({ name }) => name === 'made.txt')?.parts[0];
		expect(file).toMatchObject({ filename: 'made.txt', mediaType: 'text/plain' });
		expect(file?.content?.$case === 'raw' && Buffer.from(file.content.value).toString()).toBe('made for hello\n');
		expect(task.history.map(({ messageId }) => messageId)).toEqual([request.message?.messageId]);
		expect(await client.getTask({ ...GET, id: task.id })).toEqual(task);
		expect((await client.getTask({ ...GET, id: task.id, historyLength: 0 })).history).toEqual([]);
	});

	test('E16: the next message of the context is a task of its own that knows what was said', async () => {
		model.push(text('One.'), text('Two.'));
		const first = await sendTask(client, says('first'));
		const second = await sendTask(client, says('second', { contextId: first.contextId }));
		expect(second).toMatchObject({ contextId: first.contextId });
		expect(second.id).not.toBe(first.id);
		expect(JSON.stringify(model.requests.at(-1)?.body.input)).toContain('first');
		expect(textOfArtifact(second)).toBe('Two.');
	});

	test('E16: what a stream says is, put together, the task that is stored', async () => {
		model.push([text('Let me see.'), use('say.sh', 'x')], text('It is ', 'said', '.'));
		const events = await all(client.sendMessageStream(says('say x')));
		const states = events.flatMap(({ payload }) =>
			payload?.$case === 'statusUpdate' ? [payload.value.status?.state] : []
		);
		expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
		expect(states.length).toBeGreaterThan(1);
		const task = replayed(events);
		const stored = await client.getTask({ ...GET, id: task.id });
		expect(textOfArtifact(task)).toBe('Let me see.\n\nIt is said.');
		expect(textOfArtifact(stored)).toBe(textOfArtifact(task));
		expect(task.artifacts.find(({ name }) => name === 'made.txt')).toEqual(
			stored.artifacts.find(({ name }) => name === 'made.txt')
		);
		expect(task.status).toEqual(stored.status);
	});

	test('E16: who comes back in the middle gets all of it, and the first stream goes on as well', async () => {
		const held = gate();
		model.push(text('Half', held, ' and half.'));
		const stream = client.sendMessageStream(says('say it'));
		const first = (await stream.next()).value;
		const id = first?.payload?.$case === 'task' ? first.payload.value.id : '';
		const again = client.resubscribeTask({ ...GET, id });
		const begin = await again.next();
		held.open();
		const [rest, others] = [await all(again), await all(stream)];
		expect(textOfArtifact(replayed(begin.value ? [begin.value, ...rest] : rest))).toBe('Half and half.');
		expect(textOfArtifact(replayed(first ? [first, ...others] : others))).toBe('Half and half.');
	});

	test('E16: a client that goes away ends nothing: its task is done when it asks again', async () => {
		const held = gate();
		model.push(text('Still', held, ' here.'));
		const leaving = new AbortController();
		const stream = client.sendMessageStream(says('go on'), { signal: leaving.signal });
		const first = (await stream.next()).value;
		const id = first?.payload?.$case === 'task' ? first.payload.value.id : '';
		leaving.abort();
		await expect(all(stream)).rejects.toThrow();
		held.open();
		await expect.poll(async () => stateOf(await client.getTask({ ...GET, id }))).toBe('TASK_STATE_COMPLETED');
		expect(textOfArtifact(await client.getTask({ ...GET, id }))).toBe('Still here.');
	});

	test('E16: one that returns at once is working; cancelling it kills its script', async () => {
		const nap = `600.${randomInt(1e9)}`;
		model.push(use('wait.sh', nap));
		const begun = await sendTask(client, atOnce(says('wait')));
		expect(stateOf(begun)).toBe('TASK_STATE_WORKING');
		await expect.poll(() => processesWith(`sleep ${nap}`).length).toBeGreaterThan(0);
		const cancelled = await client.cancelTask({ ...GET, id: begun.id, metadata: undefined });
		expect(stateOf(cancelled)).toBe('TASK_STATE_CANCELED');
		expect(processesWith(`sleep ${nap}`)).toEqual([]);
		await expect(client.cancelTask({ ...GET, id: begun.id, metadata: undefined })).rejects.toThrow('is done');
		await expect(client.sendMessage(says('more', { taskId: begun.id }))).rejects.toThrow('This task is done');
	});

	test('E16: files of a message are in the workspace before the model is asked', async () => {
		model.push(text('Read.'));
		const task = await sendTask(client, says('read it', { parts: [filePart('in/data.csv', 'a,b\n1,2\n')] }));
		const path = join(rig.app.workspaces.path(task.contextId), 'in/data.csv');
		expect(await readFile(path, 'utf8')).toBe('a,b\n1,2\n');
		expect(JSON.stringify(model.requests.at(-1)?.body.input)).toContain('in/data.csv');
	});

	test('E16: a large file is told by its address', async () => {
		model.push(use('big.sh'), text('Made.'));
		const task = await sendTask(client, says('make it'));
		const file = task.artifacts.find(({ name }) => name === 'big.bin')?.parts[0];
		expect(file?.content).toEqual({
			$case: 'url',
			value: `${rig.url}/api/conversations/${task.contextId}/files/big.bin`
		});
	});

	test('E16: a file by address is named to the model, and not fetched', async () => {
		model.push(text('I can’t see it.'));
		const parts = [part({ $case: 'text', value: 'Look' }), part({ $case: 'url', value: 'http://127.0.0.1:1/x.png' })];
		await sendTask(client, says('', { parts }));
		const input = JSON.stringify(model.requests.at(-1)?.body.input);
		expect(input).toContain('Sent by address, not fetched: http://127.0.0.1:1/x.png');
	});

	test('E16: a model that fails is a task that failed, and says why', async () => {
		const fails = (exchange: { begin(status: number): void; end(data: string): void }) => {
			exchange.begin(401);
			exchange.end('{"error":{"code":401,"message":"bad key"}}');
		};
		model.push(fails);
		const task = await sendTask(client, says('fail'));
		expect(stateOf(task)).toBe('TASK_STATE_FAILED');
		expect(task.status?.message?.parts[0]?.content).toMatchObject({
			$case: 'text',
			value: expect.stringMatching(/\w/)
		});
	});

	test.each([
		['a path that leaves the workspace', { parts: [filePart('../x', 'x')] }, 'isn’t a valid file name'],
		['a task that is not there', { taskId: 'no-such-task' }, 'Task not found'],
		['a context that can be no id', { contextId: '../../x' }, 'id:'],
		['two files of one name', { parts: [filePart('x', '1'), filePart('x', '2')] }, 'same name']
	])('E16: a message with %s is refused in A2A’s words', async (_, more, expected) => {
		await expect(client.sendMessage(says('go', more))).rejects.toThrow(expected);
	});
});

test('E16: tasks are there after a restart', async () => {
	model.push(text('Kept.'));
	const client = await a2aClient(rig.url, '1.0');
	const task = await sendTask(client, says('keep this'));
	await rig.reopen();
	expect(await client.getTask({ ...GET, id: task.id })).toEqual(task);
});

test('E16: a run that the server’s stop cut short is a task that failed', async () => {
	const held = gate();
	model.push(text('Be', held, 'gun'));
	const client = await a2aClient(rig.url, '1.0');
	const number = model.requests.length + 1;
	const task = await sendTask(client, atOnce(says('begin')));
	await model.received(number);
	await rig.reopen();
	held.open();
	expect(stateOf(await client.getTask({ ...GET, id: task.id }))).toBe('TASK_STATE_FAILED');
});

test('E16: the card lists the enabled skills, and says where the agent is in the words of both versions', async () => {
	const read = async (headers: Record<string, string>) =>
		(await (await fetch(`${rig.url}/.well-known/agent-card.json`, { headers })).json()) as Record<string, unknown>;
	const card = await read({ 'a2a-version': '1.0' });
	expect(card).toMatchObject({
		name: 'openrouter-skills',
		supportedInterfaces: [
			{ url: `${rig.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
			{ url: `${rig.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
		],
		capabilities: { streaming: true },
		skills: [{ id: 'agent' }, { id: 'skill:demo', name: 'demo', description: 'Says things.' }]
	});
	expect(card).not.toHaveProperty('url');
	// Programs on this machine need no key here.
	for (const field of ['securitySchemes', 'securityRequirements']) expect(card[field] ?? {}).toEqual({});
	expect(await read({})).toMatchObject({
		url: `${rig.url}/a2a`,
		preferredTransport: 'JSONRPC',
		protocolVersion: '0.3.0'
	});
	expect(await read({})).not.toHaveProperty('security');
});
