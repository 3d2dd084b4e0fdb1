/** Lists of tasks over A2A, in both versions (E16). */
import { TaskState, type Task } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { message, rpcCaller, type RpcCaller } from '../support/a2a-call.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';

const TOKEN = 'the-token-of-this-test-0123456789';

let model: ModelServer;
let rig: A2ARig;
beforeAll(async () => {
	model = await startModelServer();
	rig = await startA2ARig({
		...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a', OPENROUTER_MODEL: 'test/model' },
		...{ SKILLS_APPROVAL: 'ask', ADMIN_TOKEN: TOKEN }
	});
});
afterAll(async () => {
	await rig.close();
	await model.close();
});
afterEach(() => model.assertDone());

/** As a key of its own, so that no test sees the tasks of another. */
async function asKey(): Promise<RpcCaller> {
	const { key } = await rig.app.apiKeys.create({ name: 'agent', scopes: ['read', 'execute', 'approve'] });
	return rpcCaller(rig.url, key);
}

async function ask(rpc: RpcCaller, more: Record<string, unknown> = {}, configuration = {}): Promise<Task> {
	const { result, error } = await rpc('SendMessage', { message: message('go', more), configuration });
	expect(error).toBeUndefined();
	return result['task'] as Task;
}

const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hi'] });
const tasksOf = (result: Record<string, unknown>) => result['tasks'] as (Task & { status: { timestamp: string } })[];
const idsOf = (result: Record<string, unknown>) => tasksOf(result).map(({ id }) => id);

test('E16: a list has what became of each task, the one that changed last first', async () => {
	const rpc = await asKey();
	const held = gate();
	model.push(SAY, text('Second.'), text('Wor', held, 'king.'));
	const asked = await ask(rpc);
	const second = await ask(rpc);
	const running = await ask(rpc, {}, { returnImmediately: true });
	await eventually(async () => {
		const { result } = await rpc('ListTasks', { includeArtifacts: true });
		expect(JSON.stringify(tasksOf(result)[0]?.artifacts)).toContain('Wor');
	});
	const { result } = await rpc('ListTasks', {});
	expect(result).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 3 });
	expect(tasksOf(result).map(({ id, status }) => [id, status?.state])).toEqual([
		[running.id, 'TASK_STATE_WORKING'],
		[second.id, 'TASK_STATE_COMPLETED'],
		[asked.id, 'TASK_STATE_INPUT_REQUIRED']
	]);
	for (const task of tasksOf(result)) {
		expect(task).not.toHaveProperty('artifacts');
		expect((await rpc('GetTask', { id: task.id })).result).toMatchObject(task);
	}
	// Its answer changes the first task, which keeps its id.
	held.open();
	model.push(text('Allowed.'));
	await ask(rpc, { taskId: asked.id, parts: [{ text: 'allow' }] });
	const after = (await rpc('ListTasks', {})).result;
	expect(idsOf(after)[0]).toBe(asked.id);
	const times = tasksOf(after).map(({ status }) => status.timestamp);
	expect(times).toEqual(times.toSorted().toReversed());
});

test('E16: tasks are filtered by context, state and time, and come with as much as is asked for', async () => {
	const rpc = await asKey();
	model.push(text('One.'), text('Two.'), SAY);
	const one = await ask(rpc);
	const two = await ask(rpc, { contextId: one.contextId });
	const asked = await ask(rpc);
	const list = async (params: object) => (await rpc('ListTasks', params)).result;
	expect(idsOf(await list({ contextId: one.contextId }))).toEqual([two.id, one.id]);
	expect(idsOf(await list({ contextId: 'no-such-context' }))).toEqual([]);
	expect(idsOf(await list({ status: 'TASK_STATE_INPUT_REQUIRED' }))).toEqual([asked.id]);
	expect(await list({ status: 'TASK_STATE_AUTH_REQUIRED' })).toMatchObject({ tasks: [], totalSize: 0 });
	const time = tasksOf(await list({}))[1]?.status.timestamp;
	expect(idsOf(await list({ statusTimestampAfter: time }))).toEqual([asked.id, two.id]);
	expect(idsOf(await list({ statusTimestampAfter: '2999-01-01T00:00:00+02:00' }))).toEqual([]);
	const [full] = tasksOf(await list({ contextId: one.contextId, includeArtifacts: true, historyLength: 0 }));
	expect(full).toMatchObject({ artifacts: [{ artifactId: 'answer', parts: [{ text: 'Two.' }] }] });
	expect(full?.history ?? []).toEqual([]);
	const [waiting] = tasksOf(await list({ status: 'TASK_STATE_INPUT_REQUIRED', includeArtifacts: true }));
	expect(waiting?.artifacts).toEqual([]);
	await rpc('CancelTask', { id: asked.id });
});

test('E16: pages go through all tasks once, also when tasks are added meanwhile', async () => {
	const rpc = await asKey();
	model.push(...Array.from({ length: 6 }, (_, index) => text(`${index}`)));
	const made: string[] = [];
	for (const _ of Array.from({ length: 5 })) made.unshift((await ask(rpc)).id);
	const seen: string[] = [];
	let pageToken = '';
	do {
		const { result } = await rpc('ListTasks', { pageSize: 2, pageToken });
		expect(tasksOf(result).length).toBeLessThanOrEqual(2);
		if (pageToken === '') await ask(rpc);
		seen.push(...idsOf(result));
		pageToken = String(result['nextPageToken']);
	} while (pageToken !== '');
	expect(seen).toEqual(made);
});

test.each(['no token', Buffer.from('["x","y"]').toString('base64url'), Buffer.from('{}').toString('base64url')])(
	'E16: a page token that is not from here (%s) is refused',
	async (pageToken) => {
		const { error } = await (await asKey())('ListTasks', { pageToken });
		expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('pageToken') });
	}
);

test('C16: a key lists its own tasks only, also by the context of another; who manages the server lists all', async () => {
	const [own, other] = [await asKey(), await asKey()];
	model.push(text('Mine.'));
	const mine = await ask(own);
	expect((await other('ListTasks', {})).result).toMatchObject({ tasks: [], totalSize: 0 });
	expect((await other('ListTasks', { contextId: mine.contextId })).result).toMatchObject({ tasks: [], totalSize: 0 });
	const { result } = await rpcCaller(rig.url, TOKEN)('ListTasks', { pageSize: 100 });
	expect(idsOf(result)).toContain(mine.id);
	// The token of a page shows nothing of other keys.
	const page = await rpcCaller(rig.url, TOKEN)('ListTasks', { pageSize: 1 });
	const token = page.result['nextPageToken'];
	expect((await other('ListTasks', { pageToken: token })).result).toMatchObject({ tasks: [] });
});

test('E16: a task of a chat that was deleted is not listed', async () => {
	const rpc = await asKey();
	model.push(text('Gone.'));
	const task = await ask(rpc);
	await rig.app.store.conversations.markDeleted(task.contextId, new Date().toISOString());
	expect((await rpc('ListTasks', {})).result).toMatchObject({ tasks: [], totalSize: 0 });
});

test('E16: tasks/list has the tasks as 0.3 knows them', async () => {
	const rpc = await asKey();
	model.push(text('Old.'), SAY);
	const done = await ask(rpc);
	const asked = await ask(rpc);
	const { result } = await rpc('tasks/list', { includeArtifacts: true });
	expect(result).toMatchObject({ pageSize: 50, totalSize: 2, nextPageToken: '' });
	expect(tasksOf(result)).toMatchObject([
		{ kind: 'task', id: asked.id, status: { state: 'input-required' }, artifacts: [] },
		{ kind: 'task', id: done.id, status: { state: 'completed' }, artifacts: [{ parts: [{ kind: 'text' }] }] }
	]);
	const working = (await rpc('tasks/list', { status: 'input-required', lastUpdatedAfter: 0 })).result;
	expect(idsOf(working)).toEqual([asked.id]);
	expect(tasksOf(working)[0]).not.toHaveProperty('artifacts');
	expect((await rpc('tasks/list', { status: 'unknown' })).result).toMatchObject({ tasks: [] });
	expect((await rpc('tasks/list', { status: TaskState.TASK_STATE_WORKING })).error?.code).toBe(-32602);
	await rpc('CancelTask', { id: asked.id });
});
