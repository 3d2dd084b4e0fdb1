/** A2A requests from faulty or malicious clients: they get a protocol error and nothing else (E16). */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import { a2aClient, all, filePart, says, sendTask, textOfArtifact } from '../support/a2a-client.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';

const TOKEN = 'the-token-of-this-test-0123456789';

let rig: A2ARig;
beforeAll(async () => {
	rig = await startA2ARig({ ADMIN_TOKEN: TOKEN });
});
afterAll(() => rig.close());

const keyFor = async (...scopes: ApiScope[]) => (await rig.app.apiKeys.create({ name: 'agent', scopes })).key;

async function post(body: string, headers: Record<string, string> = {}) {
	const response = await fetch(`${rig.url}/a2a`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
		body
	});
	const answer = (await response.json()) as {
		jsonrpc?: string;
		id?: unknown;
		error?: { code: number; message: string };
	};
	return { status: response.status, answer, code: answer.error?.code };
}
const rpc = (method: string, params?: unknown, id: unknown = 1) =>
	post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
const user = { messageId: 'm', role: 'user' };

test.each([
	['no JSON', 'nonsense', -32700],
	['half a request', '{"jsonrpc":"2.0","id":1,"method":"mess', -32700],
	['nothing', '', -32700],
	['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}]', -32600],
	['a number', '5', -32600],
	['null', 'null', -32600],
	['another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', -32600],
	['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', -32600],
	['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":5}', -32600],
	['a method that nobody has', '{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601],
	['a prototype', '{"jsonrpc":"2.0","id":1,"method":"__proto__"}', -32601],
	['no params', '{"jsonrpc":"2.0","id":1,"method":"message/send"}', -32602],
	['a task id that is an object', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":{}}}', -32602],
	['a task that is not there', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"nope"}}', -32001],
	['a task id with a null', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"a\\u0000b"}}', -32001],

	[
		'a push notification without a task',
		'{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{}}',
		-32602
	],
	['a page of no tasks', '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageSize":0}}', -32602]
])('E16: %s is an error of the protocol', async (_, body, expected) => {
	const { status, answer, code } = await post(body);
	expect({ status, jsonrpc: answer.jsonrpc, code }).toEqual({ status: 200, jsonrpc: '2.0', code: expected });
});

test.each([
	['parts that are none', { ...user, parts: [] }],
	['a part that is null', { ...user, parts: [null] }],
	['a kind that nobody knows', { ...user, parts: [{ kind: 'video', text: 'x' }] }],
	['a file without a file', { ...user, parts: [{ kind: 'file' }] }],
	['bytes that are a number', { ...user, parts: [{ kind: 'file', file: { bytes: 5 } }] }],
	['bytes that are no base64', { ...user, parts: [{ kind: 'file', file: { bytes: '\u0000%%' } }] }],
	['the agent’s role', { ...user, role: 'agent', parts: [{ kind: 'text', text: 'x' }] }],
	['no words', { ...user, parts: [{ kind: 'text', text: ' \u0000 ' }] }],
	['no id', { role: 'user', parts: [{ kind: 'text', text: 'x' }] }],
	['a thousand parts', { ...user, parts: Array.from({ length: 1000 }, () => ({ kind: 'text', text: 'x' })) }],
	[
		'an absolute file name',
		{
			...user,
			parts: [
				{ kind: 'text', text: 'x' },
				{ kind: 'file', file: { bytes: 'eA==', name: '/etc/passwd' } }
			]
		}
	],
	[
		'a file name with a null',
		{
			...user,
			parts: [
				{ kind: 'text', text: 'x' },
				{ kind: 'file', file: { bytes: 'eA==', name: 'a\u0000b' } }
			]
		}
	]
])('E16: a message with %s is refused before anything is written', async (_, message) => {
	const before = (await rig.app.store.conversations.list({ page: 1, limit: 1 } as never)).total;
	const { status, code } = await rpc('message/send', { message });
	expect({ status, code }).toEqual({ status: 200, code: -32602 });
	expect((await rig.app.store.conversations.list({ page: 1, limit: 1 } as never)).total).toBe(before);
});

test.each([
	['a', 'a/b'],
	['a/b', 'a'],
	['x'.repeat(300), 'y']
])('E16: file names that cannot be in one folder (%.10s, %s) are an error, and leave no context', async (...names) => {
	const before = (await rig.app.store.conversations.list({ page: 1, limit: 1 })).total;
	const files = names.map((name) => ({ kind: 'file', file: { bytes: 'eA==', name } }));
	const { status, code } = await rpc('message/send', {
		message: { ...user, parts: [{ kind: 'text', text: 'x' }, ...files] }
	});
	expect(status).toBe(200);
	expect([-32602, -32004]).toContain(code);
	expect((await rig.app.store.conversations.list({ page: 1, limit: 1 })).total).toBe(before);
});

test('E16: a version that is not spoken here is refused', async () => {
	const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } });
	expect((await post(body, { 'a2a-version': '7.0' })).code).toBe(-32009);
	expect((await post(body, { 'a2a-version': '1.0' })).code).toBe(-32001);
});

test('E16: a body that is too large, and one that is nested too deep, are refused', async () => {
	expect((await post(`"${'x'.repeat(25 * 1024 * 1024)}"`)).code).toBe(-32600);
	for (const levels of [150, 5000, 50_000]) {
		const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`;
		const message = `{"messageId":"m","role":"user","parts":[{"kind":"data","data":${deep}}]}`;
		const { code } = await post(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message}}}`);
		expect(code).toBe(-32600);
	}
});

test('E16: whatever the params are, the answer is JSON-RPC', { timeout: 60_000 }, async () => {
	const methods = [
		'message/send',
		'message/stream',
		'tasks/get',
		'tasks/cancel',
		'tasks/resubscribe',
		'SendMessage',
		'GetTask',
		'CreateTaskPushNotificationConfig',
		'GetTaskPushNotificationConfig',
		'ListTaskPushNotificationConfigs',
		'DeleteTaskPushNotificationConfig',
		'tasks/pushNotificationConfig/set',
		'tasks/pushNotificationConfig/get',
		'tasks/pushNotificationConfig/list',
		'tasks/pushNotificationConfig/delete'
	];
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...methods), fc.jsonValue(), async (method, params) => {
			const { status, answer, code } = await rpc(method, params);
			expect({ status, jsonrpc: answer.jsonrpc }).toEqual({ status: 200, jsonrpc: '2.0' });
			expect([-32602, -32001]).toContain(code);
		}),
		{ numRuns: 150 }
	);
});

// Made before the first request: it takes a second, in which a busy machine may end the connections.
const odd = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.integer());
test('E16: whatever a list of tasks is asked for, it is a list or a refusal', { timeout: 60_000 }, async () => {
	const some = <Value>(value: fc.Arbitrary<Value>) => fc.oneof(value, odd);
	const params = fc.record(
		{
			contextId: some(fc.constantFrom('', 'none', '\0', "' or 1=1 --")),
			status: some(fc.constantFrom('TASK_STATE_WORKING', 'working', 'TASK_STATE_UNSPECIFIED', 'unknown')),
			pageSize: some(fc.integer({ min: -1, max: 101 })),
			pageToken: some(fc.base64String()),
			historyLength: some(fc.integer({ min: -1, max: 3 })),
			statusTimestampAfter: some(fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01', '9999999999999')),
			lastUpdatedAfter: some(fc.constantFrom(0, 1e300, -1, '2026-01-01T00:00:00+02:00')),
			includeArtifacts: some(fc.boolean())
		},
		{ requiredKeys: [] }
	);
	await fc.assert(
		fc.asyncProperty(fc.constantFrom('ListTasks', 'tasks/list'), fc.oneof(params, odd), async (method, sent) => {
			const { status, answer, code } = await rpc(method, sent);
			expect({ status, jsonrpc: answer.jsonrpc }).toEqual({ status: 200, jsonrpc: '2.0' });
			expect([undefined, -32602]).toContain(code);
		}),
		{ numRuns: 200 }
	);
});

describe('with keys', () => {
	test('E16: another key neither sees, follows, cancels nor answers a task, and cannot use its context', async () => {
		const own = await a2aClient(rig.url, '1.0', await keyFor('read', 'execute'));
		const other = await a2aClient(rig.url, '1.0', await keyFor('read', 'execute'));
		const task = await sendTask(own, says('hello there'));
		expect(await own.getTask({ tenant: '', id: task.id })).toEqual(task);
		const { id, contextId } = task;
		await expect(other.getTask({ tenant: '', id })).rejects.toThrow('Task not found');
		await expect(other.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow('Task not found');
		await expect(all(other.resubscribeTask({ tenant: '', id }))).rejects.toThrow('Task not found');
		await expect(other.sendMessage(says('x', { taskId: id }))).rejects.toThrow('Task not found');
		const parts = [filePart('planted.txt', 'x')];
		await expect(other.sendMessage(says('x', { contextId, parts }))).rejects.toThrow('contextId');
		expect(await rig.app.workspaces.list(contextId)).toEqual([]);
		// The server's manager sees everything.
		const manager = await a2aClient(rig.url, '1.0', TOKEN);
		expect(await manager.getTask({ tenant: '', id })).toEqual(task);
	});

	test('E16: without a key nothing is answered, with a wrong one neither, and with one that may not execute neither', async () => {
		const call = async (headers: Record<string, string>) =>
			(await fetch(`${rig.url}/a2a`, { method: 'POST', headers, body: '{}' })).status;
		expect(await call({})).toBe(401);
		expect(await call({ authorization: 'Bearer ors_wrong' })).toBe(401);
		expect(await call({ authorization: `Bearer ${await keyFor('read')}` })).toBe(403);
	});

	test('E16: strangers learn how to come in, and those with a key which skills there are', async () => {
		const read = async (headers: Record<string, string> = {}) => {
			const response = await fetch(`${rig.url}/.well-known/agent-card.json`, { headers });
			const card = (await response.json()) as { skills?: { id: string }[]; security?: unknown };
			return { status: response.status, skills: card.skills?.map(({ id }) => id), security: card.security };
		};
		expect(await read()).toEqual({ status: 200, skills: ['agent'], security: [{ bearer: [] }] });
		const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
		expect((await read(bearer(await keyFor('read')))).skills).toEqual(['agent', 'skill:demo']);
		expect((await read(bearer(await keyFor('execute')))).skills).toEqual(['agent']);
		expect((await read(bearer(TOKEN))).skills).toEqual(['agent', 'skill:demo']);
		expect((await read(bearer('ors_wrong'))).status).toBe(401);
	});

	test('E16: the extended card has the skills, in both versions', async () => {
		for (const method of ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']) {
			const { answer } = await rpc(method);
			expect(answer).toMatchObject({ result: { skills: [{ id: 'agent' }, { id: 'skill:demo' }] } });
		}
	});
});

test('E16: a hundred clients at once each get their own answer', { timeout: 60_000 }, async () => {
	const client = await a2aClient(rig.url, '1.0', TOKEN);
	const words = Array.from({ length: 100 }, (_, index) => `hello number ${index}`);
	const tasks = await Promise.all(words.map((word) => sendTask(client, says(word))));
	expect(new Set(tasks.map(({ id }) => id)).size).toBe(words.length);
	for (const task of tasks) expect(textOfArtifact(task)).not.toBe('');
});
