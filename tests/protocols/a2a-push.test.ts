/** Push notifications of A2A: programs are told of their tasks, and nobody else is reached (E16). */
import { randomUUID } from 'node:crypto';
import { StreamResponse, type Task, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { message, rpcCaller, type RpcCaller } from '../support/a2a-call.ts';
import { a2aClient, atOnce, replayed, says, sendTask, textOfArtifact } from '../support/a2a-client.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { startPushReceiver, type PushReceiver } from '../support/push-receiver.ts';

let model: ModelServer;
let rig: A2ARig;
let rpc: RpcCaller;
let good: PushReceiver;
let silent: PushReceiver;
let failing: PushReceiver;
let moved: PushReceiver;
let unlisted: PushReceiver;
let slow: PushReceiver;
let isSlow = gate();

beforeAll(async () => {
	model = await startModelServer();
	good = await startPushReceiver();
	silent = await startPushReceiver(() => {});
	unlisted = await startPushReceiver();
	slow = await startPushReceiver((response) => void isSlow.opened.then(() => response.end()));
	failing = await startPushReceiver((response, index) => {
		response.statusCode = index === 0 ? 500 : 200;
		response.end();
	});
	moved = await startPushReceiver((response) => {
		response.writeHead(307, { location: unlisted.url }).end();
	});
	rig = await startA2ARig({
		...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a', OPENROUTER_MODEL: 'test/model' },
		...{ SKILLS_APPROVAL: 'ask' },
		A2A_PUSH_HOSTS: [good, silent, failing, moved, slow].map(({ host }) => host).join(', ')
	});
	rpc = rpcCaller(rig.url);
});
afterAll(async () => {
	await rig.close();
	await model.close();
	for (const each of [good, silent, failing, moved, unlisted, slow]) await each.close();
});
afterEach(() => model.assertDone());

const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hi'] });
const push = (receiver: PushReceiver, token: string) => ({ taskPushNotificationConfig: { url: receiver.url, token } });
const send = async (words: string, configuration: object, more = {}): Promise<Task> => {
	const { result, error } = await rpc('SendMessage', { message: message(words, more), configuration });
	expect(error).toBeUndefined();
	return result['task'] as Task;
};
/** Of one task, in order. */
const toldOf = (receiver: PushReceiver, token: string) =>
	receiver.told.filter(({ headers }) => headers['x-a2a-notification-token'] === token);
/** The task as the receiver knows it. */
function known(receiver: PushReceiver, token: string): Task {
	const bodies = toldOf(receiver, token).map(({ body }) => body);
	const from = bodies.findLastIndex(({ task }) => task !== undefined);
	return replayed(bodies.slice(from).map((body) => StreamResponse.fromJSON(body)));
}
const stateOf = (receiver: PushReceiver, token: string) =>
	(
		StreamResponse.toJSON({ payload: { $case: 'task', value: known(receiver, token) } }) as {
			task: { status: { state: string } };
		}
	).task.status.state;
const isTold = (receiver: PushReceiver, token: string, state: string) =>
	eventually(() => expect(stateOf(receiver, token)).toBe(state));

test('E16: a program is told of a task from its start to its end, with its token and what it logs in with', async () => {
	model.push(text('All ', 'is ', 'said.'));
	const authentication = { scheme: 'Bearer', credentials: 'the secret of the receiver' };
	const task = await send('go', { taskPushNotificationConfig: { url: good.url, token: 'whole', authentication } });
	await isTold(good, 'whole', 'TASK_STATE_COMPLETED');
	const told = toldOf(good, 'whole');
	expect(told[0]?.body['task']).toMatchObject({ id: task.id, contextId: task.contextId });
	for (const { headers, body } of told) {
		expect(headers).toMatchObject({
			'content-type': 'application/a2a+json',
			authorization: 'Bearer the secret of the receiver'
		});
		expect(Object.keys(body)).toHaveLength(1);
	}
	expect(textOfArtifact(known(good, 'whole'))).toBe('All is said.');
});

test('E16: a program of 0.3 is told the whole task when its state changes', async () => {
	const held = gate();
	model.push(text('Half', held, ' and half.'));
	const configuration = { pushNotificationConfig: { url: good.url, token: 'old' }, blocking: false };
	const old = { ...message('go'), role: 'user', parts: [{ kind: 'text', text: 'go' }] };
	const { result } = await rpc('message/send', { message: old, configuration });
	await eventually(() => expect(toldOf(good, 'old').length).toBeGreaterThan(0));
	held.open();
	await eventually(() =>
		expect(toldOf(good, 'old').at(-1)?.body).toMatchObject({
			...{ kind: 'task', id: result['id'], status: { state: 'completed' } },
			artifacts: [{ artifactId: 'answer', parts: [{ kind: 'text', text: 'Half and half.' }] }]
		})
	);
	expect(toldOf(good, 'old')).toHaveLength(2);
});

describe('a task that waits for its input', () => {
	test('E16: the program is told that it’s asked, and of the end once somebody in the app has allowed it', async () => {
		model.push(SAY, text('Done.'));
		const task = await send('say hi', push(good, 'asked'));
		expect(task.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
		await isTold(good, 'asked', 'TASK_STATE_INPUT_REQUIRED');
		await send('allow', {}, { taskId: task.id });
		await isTold(good, 'asked', 'TASK_STATE_COMPLETED');
		expect(textOfArtifact(known(good, 'asked'))).toBe('Done.');
	});

	test('E16: it stays open when the server restarts: the answer lets it go on, and the program is told', async () => {
		model.push(SAY, text('After the restart.'));
		const asked = await send('say hi', push(good, 'restart'));
		await isTold(good, 'restart', 'TASK_STATE_INPUT_REQUIRED');
		await rig.reopen();
		expect((await rpc('GetTask', { id: asked.id })).result['status']).toMatchObject({
			state: 'TASK_STATE_INPUT_REQUIRED'
		});
		const { result } = await rpc('ListTasks', { status: 'TASK_STATE_INPUT_REQUIRED' });
		expect((result['tasks'] as Task[]).map(({ id }) => id)).toContain(asked.id);
		const ended = await send('allow', {}, { taskId: asked.id });
		expect(ended).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
		await isTold(good, 'restart', 'TASK_STATE_COMPLETED');
		expect(textOfArtifact(known(good, 'restart'))).toBe('After the restart.');
	});

	test('E16: a send that returns at once answers it, too: the task is working, then done', async () => {
		const held = gate();
		model.push(SAY, text('Lat', held, 'er.'));
		const asked = await send('say hi', { returnImmediately: true, ...push(good, 'later') });
		await isTold(good, 'later', 'TASK_STATE_INPUT_REQUIRED');
		const going = await send('allow', { returnImmediately: true }, { taskId: asked.id });
		expect(going).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_WORKING' } });
		await eventually(() => expect(textOfArtifact(known(good, 'later'))).toBe('Lat'));
		held.open();
		await isTold(good, 'later', 'TASK_STATE_COMPLETED');
	});
});

test('E16: a program is told of a run that the server’s stop cut short, at the next start', async () => {
	const held = gate();
	model.push(text('Be', held, 'gun'));
	const number = model.requests.length + 1;
	await send('begin', { returnImmediately: true, ...push(good, 'cut') });
	await model.received(number);
	await rig.reopen();
	held.open();
	await isTold(good, 'cut', 'TASK_STATE_FAILED');
});

describe('receivers that are broken', () => {
	test('E16: one that never answers holds up neither the task nor another receiver', async () => {
		const held = gate();
		model.push(text('Still ', held, 'here.'));
		const begun = await send('go', { returnImmediately: true, ...push(silent, 'silent') });
		const more = { taskId: begun.id, url: good.url, token: 'beside' };
		expect((await rpc('CreateTaskPushNotificationConfig', more)).error).toBeUndefined();
		held.open();
		await isTold(good, 'beside', 'TASK_STATE_COMPLETED');
		expect(textOfArtifact(known(good, 'beside'))).toBe('Still here.');
		expect(silent.told).toHaveLength(1);
	});

	test('E16: one that fails is told the same again', async () => {
		model.push(text('Told twice.'));
		await send('go', push(failing, 'again'));
		await isTold(failing, 'again', 'TASK_STATE_COMPLETED');
		const [first, second] = toldOf(failing, 'again');
		expect(second?.body).toEqual(first?.body);
		expect(textOfArtifact(known(failing, 'again'))).toBe('Told twice.');
	});

	test('E16: one that is slow is told less often, and yet everything', async () => {
		isSlow = gate();
		const words = Array.from({ length: 400 }, (_, index) => `word ${index} `);
		const held = gate();
		model.push(text(...words, held, 'end'));
		const begun = await send('go', { returnImmediately: true, ...push(slow, 'slow') });
		held.open();
		await eventually(async () =>
			expect((await rpc('GetTask', { id: begun.id })).result['status']).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
		);
		isSlow.open();
		await isTold(slow, 'slow', 'TASK_STATE_COMPLETED');
		expect(textOfArtifact(known(slow, 'slow'))).toBe(`${words.join('')}end`);
		expect(toldOf(slow, 'slow').length).toBeLessThan(10);
	});

	test('D28: a redirect to a private address is not followed, and nothing more is sent there', async () => {
		model.push(text('Moved.'));
		const task = await send('go', push(moved, 'moved'));
		await eventually(async () => expect(await openTasks()).not.toContain(task.id));
		expect(toldOf(moved, 'moved')).toHaveLength(1);
		expect(unlisted.told).toEqual([]);
	});
});

describe('addresses', () => {
	test.each([
		'http://127.0.0.1:9/x',
		'http://2130706433/x',
		'http://0x7f.1/x',
		'http://[::1]/x',
		'http://[::ffff:169.254.169.254]/latest',
		'http://169.254.169.254/latest/meta-data',
		'http://10.0.0.1/',
		'http://user:word@example.com/',
		'file:///etc/passwd',
		'ftp://example.com/',
		'javascript:alert(1)',
		'no address'
	])('D28: %s is refused before a task is started', async (url) => {
		const before = model.requests.length;
		const { error } = await rpc('SendMessage', {
			message: message('go'),
			configuration: { taskPushNotificationConfig: { url } }
		});
		expect(error?.code).toBe(-32602);
		expect(model.requests).toHaveLength(before);
	});

	test('D28: a name that leads to a private address is not reached either', async () => {
		model.push(text('Done.'));
		const url = unlisted.url.replace('127.0.0.1', 'localhost');
		const task = await send('go', { taskPushNotificationConfig: { url, token: 'named' } });
		await eventually(async () => expect(await openTasks()).not.toContain(task.id));
		expect(unlisted.told).toEqual([]);
	});

	test.each([
		['a token with a line break', { token: 'a\r\nx-evil: 1' }],
		['a scheme that is none', { authentication: { scheme: 'Bear er:', credentials: 'x' } }],
		['credentials with a line break', { authentication: { scheme: 'Basic', credentials: 'x\ny' } }],
		['a token that is endless', { token: 'x'.repeat(5000) }],
		['an address that is endless', { url: `https://example.com/${'x'.repeat(3000)}` }],
		['an address that is an object', { url: {} }]
	])('E16: %s is refused', async (_, more) => {
		const { error } = await rpc('CreateTaskPushNotificationConfig', { taskId: 't', url: good.url, ...more });
		expect(error?.code).toBe(-32602);
	});
});

describe.each(['1.0', '0.3'] as const)('configs, with the client of A2A %s', (version) => {
	const config = (taskId: string, more: Partial<TaskPushNotificationConfig> = {}): TaskPushNotificationConfig => ({
		...{ tenant: '', taskId, id: 'mine', url: good.url, token: 'hidden token', authentication: undefined },
		...more
	});

	test('E16: a config is made, read, listed and deleted, and never gives its secrets back', async () => {
		const client = await a2aClient(rig.url, version);
		model.push(text('Done.'));
		const { id: taskId } = await sendTask(client, says('go'));
		const authentication = { scheme: 'Bearer', credentials: 'hidden words' };
		const made = await client.createTaskPushNotificationConfig(config(taskId, { authentication }));
		expect(made).toMatchObject({ taskId, id: 'mine', url: good.url, authentication: { scheme: 'Bearer' } });
		const place = { tenant: '', taskId, id: 'mine' };
		expect(await client.getTaskPushNotificationConfig(place)).toEqual(made);
		const listed = async () =>
			(await client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })).configs;
		expect(await listed()).toEqual([made]);
		await client.createTaskPushNotificationConfig(config(taskId, { url: 'https://example.com/' }));
		expect((await listed()).map(({ url }) => url)).toEqual(['https://example.com/']);
		expect(JSON.stringify(await listed())).not.toContain('hidden');
		await client.deleteTaskPushNotificationConfig(place);
		await client.deleteTaskPushNotificationConfig(place);
		await expect(client.getTaskPushNotificationConfig(place)).rejects.toThrow('no push notification with that id');
		expect(await listed()).toEqual([]);
		await expect(client.createTaskPushNotificationConfig(config('no-such-task'))).rejects.toThrow('Task not found');
	});
});

test('F3: secrets of receivers are encrypted in the database', async () => {
	model.push(text('Done.'));
	const task = await send('go', {});
	const authentication = { scheme: 'Bearer', credentials: 'hidden words' };
	const place = { taskId: task.id, id: 'x', url: good.url, token: 'hidden token', authentication };
	expect((await rpc('CreateTaskPushNotificationConfig', place)).error).toBeUndefined();
	const rows = JSON.stringify(await rig.app.store.tasks.pushes(task.contextId, await answerOf(task)));
	expect(rows).toContain('ciphertext');
	expect(rows).not.toMatch(/hidden|127\.0\.0\.1/);
});

test('E16: one that is damaged in the database is given up at the next start, and the server starts', async () => {
	model.push(SAY);
	const task = await send('say hi', {});
	const place = { contextId: task.contextId, messageId: await answerOf(task), taskId: task.id, isOpen: true };
	for (const sealed of ['garbage', 'null', '{}', '{"iv":"","tag":"","ciphertext":""}']) {
		await rig.app.store.tasks.putPush({ ...place, id: sealed, sealed }, new Date().toISOString());
	}
	expect(await openTasks()).toContain(task.id);
	await rig.reopen();
	expect(await openTasks()).not.toContain(task.id);
	expect((await rpc('ListTaskPushNotificationConfigs', { taskId: task.id })).result['configs'] ?? []).toEqual([]);
});

test('E16: a task has five of them, however many are asked for at once', async () => {
	model.push(text('Done.'));
	const task = await send('go', {});
	const all = Array.from({ length: 20 }, (_, index) => ({ taskId: task.id, id: `n${index}`, url: good.url }));
	const answers = await Promise.all(all.map((each) => rpc('CreateTaskPushNotificationConfig', each)));
	const kept = (await rig.app.store.tasks.pushes(task.contextId, await answerOf(task))).length;
	expect(kept).toBeLessThanOrEqual(5);
	expect(answers.filter(({ error }) => error?.message.includes('Delete one first'))).toHaveLength(20 - kept);
});

test('E16: what is deleted is told nothing more, and the task goes on', async () => {
	const held = gate();
	model.push(text('One', held, ' two.'));
	const begun = await send('go', { returnImmediately: true, ...push(good, 'deleted') });
	await eventually(() => expect(textOfArtifact(known(good, 'deleted'))).toBe('One'));
	const { result } = await rpc('ListTaskPushNotificationConfigs', { taskId: begun.id });
	const [config] = result['configs'] as { id: string }[];
	expect((await rpc('DeleteTaskPushNotificationConfig', { taskId: begun.id, id: config?.id })).error).toBeUndefined();
	expect(
		(await rpc('CreateTaskPushNotificationConfig', { taskId: begun.id, url: good.url, token: 'other' })).error
	).toBe(undefined);
	held.open();
	await isTold(good, 'other', 'TASK_STATE_COMPLETED');
	expect(stateOf(good, 'deleted')).toBe('TASK_STATE_WORKING');
});

describe('with keys', () => {
	test('E16: a key neither sees nor changes what another key’s task tells, as if the task were not there', async () => {
		const keys = await Promise.all(
			['own', 'other'].map((name) => rig.app.apiKeys.create({ name, scopes: ['read', 'execute'] }))
		);
		const [own, other] = keys.map(({ key }) => rpcCaller(rig.url, key));
		model.push(text('Mine.'));
		const task = (await own?.('SendMessage', { message: message('go') }))?.result['task'] as Task;
		const place = { taskId: task.id, id: 'x' };
		expect((await own?.('CreateTaskPushNotificationConfig', { ...place, url: good.url }))?.error).toBeUndefined();
		for (const method of ['Create', 'Get', 'Delete', 'List']) {
			const name = `${method}TaskPushNotificationConfig${method === 'List' ? 's' : ''}`;
			const answer = await other?.(name, { ...place, url: good.url });
			expect([name, answer?.error]).toMatchObject([name, { code: -32001, message: 'Task not found.' }]);
		}
		expect((await own?.('GetTaskPushNotificationConfig', place))?.error).toBeUndefined();
	});

	test('E16: a key can’t take all the room there is: another key still finds some', { timeout: 60_000 }, async () => {
		const [own, other] = await Promise.all(
			['greedy', 'modest'].map(async (name) => {
				const { key } = await rig.app.apiKeys.create({ name, scopes: ['read', 'execute'] });
				return rpcCaller(rig.url, key);
			})
		);
		if (!own || !other) throw new Error('no keys');
		const waiting = async (by: RpcCaller) => {
			model.push(SAY);
			return (await by('SendMessage', { message: message('say hi') })).result['task'] as Task;
		};
		const add = (by: RpcCaller, { id: taskId }: Task, id: number) =>
			by('CreateTaskPushNotificationConfig', { taskId, id: `n${id}`, url: good.url });
		for (const _ of Array.from({ length: 40 })) {
			const task = await waiting(own);
			for (const id of [1, 2, 3, 4, 5]) expect((await add(own, task, id)).error).toBeUndefined();
		}
		const more = await waiting(own);
		expect((await add(own, more, 1)).error?.message).toContain('Too many tasks');
		expect((await add(other, await waiting(other), 1)).error).toBeUndefined();
		const { result } = await own('ListTasks', { pageSize: 100 });
		for (const { id } of result['tasks'] as Task[]) await own('CancelTask', { id });
		expect((await add(own, await waiting(own), 1)).error).toBeUndefined();
	});

	test('C16: a key that was revoked is told nothing more', async () => {
		const made = await rig.app.apiKeys.create({ name: 'gone', scopes: ['read', 'execute'] });
		const { id } = (await rig.app.apiKeys.list()).find(({ name }) => name === 'gone') ?? { id: '' };
		const held = gate();
		model.push(text('One', held, ' two.'));
		const own = rpcCaller(rig.url, made.key);
		const configuration = { returnImmediately: true, ...push(good, 'revoked') };
		const task = (await own('SendMessage', { message: message('go'), configuration })).result['task'] as Task;
		await eventually(() => expect(textOfArtifact(known(good, 'revoked'))).toBe('One'));
		await rig.app.apiKeys.revoke(id);
		held.open();
		await eventually(async () =>
			expect((await rpc('GetTask', { id: task.id })).result['status']).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
		);
		await eventually(async () => expect(await openTasks()).not.toContain(task.id));
		expect(stateOf(good, 'revoked')).toBe('TASK_STATE_WORKING');
	});
});

test('E16: a task with a push notification can be streamed by its client all the same, and the client may leave', async () => {
	const held = gate();
	model.push(text('Str', held, 'eamed.'));
	const client = await a2aClient(rig.url, '1.0');
	const leaving = new AbortController();
	const request = atOnce(says('go'));
	if (request.configuration) {
		const config = { tenant: '', taskId: '', id: '', url: good.url, token: 'stream', authentication: undefined };
		request.configuration.taskPushNotificationConfig = config;
	}
	const stream = client.sendMessageStream(request, { signal: leaving.signal });
	await stream.next();
	leaving.abort();
	held.open();
	await isTold(good, 'stream', 'TASK_STATE_COMPLETED');
	expect(textOfArtifact(known(good, 'stream'))).toBe('Streamed.');
});

/** Ids of tasks of which somebody is still told. */
async function openTasks(): Promise<string[]> {
	return (await rig.app.store.tasks.claimPushes(randomUUID(), 100)).map(({ taskId }) => taskId);
}

/** The id of its answer, which the store knows it by. */
async function answerOf(task: Task): Promise<string> {
	return (await rig.app.store.runs.get(task.id))?.messageId ?? '';
}
