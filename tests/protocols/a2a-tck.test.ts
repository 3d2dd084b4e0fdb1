/**
 * The requirements of A2A's Technology Compatibility Kit 1.0.0, by its ids, as far as they apply. The kit is a Python
 * program that isn't part of this project; these tests are our own reading of what it checks (E16).
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { type Task } from '@a2a-js/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorResponseFor } from '../../src/lib/server/http.ts';
import { AppError } from '../../src/lib/shared/errors.ts';
import { message, rpcCaller, rpcStream, type RpcCaller } from '../support/a2a-call.ts';
import { a2aClient, all, replayed, textOfArtifact, type A2AClient } from '../support/a2a-client.ts';
import { startA2ARig, type A2ARig } from '../support/a2a-rig.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, startModelServer, text, type ModelServer } from '../support/model-server.ts';
import { report } from '../support/protocol-report.ts';
import { startPushReceiver, type PushReceiver } from '../support/push-receiver.ts';
import { DOES_NOT_APPLY } from './a2a-tck-exceptions.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const SAY = call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['hi'] });
const STATES = ['SUBMITTED', 'WORKING', 'COMPLETED', 'FAILED', 'CANCELED', 'INPUT_REQUIRED', 'REJECTED'];
const NOT_THERE = { id: 'no-such-task' };

let model: ModelServer;
let rig: A2ARig;
let rpc: RpcCaller;
let client: A2AClient;
let receiver: PushReceiver;
const passed = new Set<string>();
const known: string[] = [];

beforeAll(async () => {
	model = await startModelServer();
	receiver = await startPushReceiver();
	rig = await startA2ARig({
		...{ OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'a', OPENROUTER_MODEL: 'test/model' },
		...{ SKILLS_APPROVAL: 'ask', ADMIN_TOKEN: TOKEN, A2A_PUSH_HOSTS: receiver.host }
	});
	rpc = rpcCaller(rig.url, TOKEN);
	client = await a2aClient(rig.url, '1.0', TOKEN);
});
afterAll(async () => {
	await rig.close();
	await model.close();
	await receiver.close();
	const own = known.map((Requirement) => ({
		Requirement,
		Result: passed.has(Requirement) ? 'passed' : 'failed',
		Why: ''
	}));
	const others = Object.entries(DOES_NOT_APPLY).map(([Requirement, Why]) => ({
		...{ Requirement, Result: 'does not apply', Why }
	}));
	await report('a2a-tck', [...own, ...others]);
});

/** `ids` are met by the same exchange. */
function requirement(ids: string, claim: string, check: () => Promise<void>): void {
	known.push(...ids.split(' '));
	test(`E16: ${ids.replaceAll(' ', ', ')}: ${claim}`, async () => {
		await check();
		model.assertDone();
		for (const id of ids.split(' ')) passed.add(id);
	});
}

const ok = async (method: string, params: unknown): Promise<Record<string, unknown>> => {
	const { result, error } = await rpc(method, params);
	expect(error).toBeUndefined();
	return result;
};
const codeOf = async (method: string, params: unknown) => (await rpc(method, params)).error?.code;
const send = async (more: Record<string, unknown> = {}, configuration = {}): Promise<Task> =>
	(await ok('SendMessage', { message: message('go', more), configuration }))['task'] as Task;
async function done(): Promise<Task> {
	model.push(text('Done.'));
	return send();
}
async function asked(configuration = {}): Promise<Task> {
	model.push(SAY);
	return send({}, configuration);
}
const cancel = ({ id }: Task) => ok('CancelTask', { id });
async function cardOf(headers: Record<string, string> = { 'a2a-version': '1.0' }) {
	const response = await fetch(`${rig.url}/.well-known/agent-card.json`, { headers });
	return { response, card: (response.status === 304 ? {} : await response.json()) as Record<string, unknown> };
}
/** Two followers of one task that is still running, and what lets it go on. */
async function followed() {
	const held = gate();
	model.push(text('One ', held, 'two ', 'three.'));
	const task = await send({}, { returnImmediately: true });
	const streams = [1, 2].map(() => client.resubscribeTask({ tenant: '', id: task.id }));
	const firsts = await Promise.all(streams.map((stream) => stream.next()));
	return { held, task, streams, firsts };
}
const foldOf = (events: StreamResponse[]) => {
	const { artifacts, status } = replayed(events);
	return { text: textOfArtifact({ artifacts }), state: status?.state };
};

requirement(
	'CORE-SEND-001 CORE-MULTI-003 CORE-EXECUTION-MODE-001',
	'a message gets its task, when it’s over',
	async () => {
		const [one, two] = [await done(), await done()];
		expect(one).toMatchObject({ id: expect.stringMatching(/./), status: { state: 'TASK_STATE_COMPLETED' } });
		expect(two.id).not.toBe(one.id);
		const waiting = await asked({ returnImmediately: false });
		expect(waiting.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
		await cancel(waiting);
	}
);
requirement('CORE-EXECUTION-MODE-002', 'or at once', async () => {
	const held = gate();
	model.push(text('Lat', held, 'er.'));
	const task = await send({}, { returnImmediately: true });
	expect(task.status).toMatchObject({ state: 'TASK_STATE_WORKING' });
	held.open();
	await eventually(async () =>
		expect((await ok('GetTask', { id: task.id }))['status']).toMatchObject({ state: 'TASK_STATE_COMPLETED' })
	);
});
requirement('CORE-SEND-002', 'a task that is over takes no more messages', async () => {
	const { id: taskId } = await done();
	expect(await codeOf('SendMessage', { message: message('more', { taskId }) })).toBe(-32004);
});
requirement(
	'CORE-STREAM-001 CORE-STREAM-003 JSONRPC-SSE-001',
	'a stream is server-sent events in JSON-RPC: the task, what changes, its end',
	async () => {
		model.push(text('Str', 'eamed.'));
		const { type, events } = await rpcStream(rig.url, 'SendStreamingMessage', { message: message('go') }, TOKEN);
		expect(type).toContain('text/event-stream');
		for (const event of events) {
			expect(event).toMatchObject({ jsonrpc: '2.0', id: 1 });
			const kinds = ['task', 'message', 'statusUpdate', 'artifactUpdate'];
			expect(Object.keys(event.result).filter((key) => kinds.includes(key))).toHaveLength(1);
		}
		expect(events[0]?.result).toHaveProperty('task');
		expect(events.at(-1)?.result).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
	}
);
requirement('CORE-GET-001 CORE-HIST-004 CORE-HIST-005 CORE-HIST-006', 'a task is read with what was said', async () => {
	const waiting = await asked();
	model.push(text('Allowed.'));
	const task = await send({ taskId: waiting.id, parts: [{ text: 'allow' }] });
	const read = (await ok('GetTask', { id: task.id })) as unknown as Task;
	expect(read).toMatchObject({ id: task.id, status: task.status, artifacts: task.artifacts });
	expect(read.history.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT', 'ROLE_USER']);
	expect(read.history[0]).toMatchObject({ parts: [{ text: 'go' }] });
});
requirement('CORE-HIST-001 CORE-HIST-002 CORE-HIST-003', 'and with no more of it than is asked for', async () => {
	model.push(text('Done.'));
	const task = await send({}, { historyLength: 0 });
	expect(task.history ?? []).toEqual([]);
	expect((await ok('GetTask', { id: task.id, historyLength: 0 }))['history'] ?? []).toEqual([]);
	expect((await ok('GetTask', { id: task.id, historyLength: 1 }))['history']).toHaveLength(1);
});
requirement(
	'CORE-GET-002 CORE-CANCEL-003 STREAM-SUB-004 CORE-MULTI-004',
	'a task that isn’t there isn’t found',
	async () => {
		for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
			expect(await codeOf(method, NOT_THERE)).toBe(-32001);
		expect(await codeOf('SendMessage', { message: message('x', { taskId: NOT_THERE.id }) })).toBe(-32001);
	}
);
requirement('CORE-LIST-001 AUTH-SCOPE-002', 'only what the caller may see is listed', async () => {
	const task = await done();
	const { key } = await rig.app.apiKeys.create({ name: 'other', scopes: ['read', 'execute'] });
	const other = rpcCaller(rig.url, key);
	expect((await other('ListTasks', { contextId: task.contextId })).result).toMatchObject({ tasks: [] });
});
requirement(
	'CORE-LIST-002 CORE-LIST-003 CORE-LIST-004 CORE-LIST-005',
	'page by page, newest status first',
	async () => {
		const { contextId } = await done();
		for (const words of ['Two.', 'Three.']) {
			model.push(text(words));
			await send({ contextId });
		}
		const first = await ok('ListTasks', { contextId, pageSize: 2 });
		const second = await ok('ListTasks', { contextId, pageSize: 2, pageToken: first['nextPageToken'] });
		expect(first['nextPageToken']).not.toBe('');
		expect(second['nextPageToken']).toBe('');
		const tasks = [first, second].flatMap((page) => page['tasks'] as (Task & { status: { timestamp: string } })[]);
		const times = tasks.map(({ status }) => status.timestamp);
		expect(times).toHaveLength(3);
		expect(times).toEqual(times.toSorted().toReversed());
		for (const task of tasks) expect(task).not.toHaveProperty('artifacts');
	}
);
requirement('CORE-CANCEL-001 CORE-CANCEL-002', 'a task is cancelled once', async () => {
	const waiting = await asked();
	expect((await cancel(waiting))['status']).toMatchObject({ state: 'TASK_STATE_CANCELED' });
	expect(await codeOf('CancelTask', { id: waiting.id })).toBe(-32002);
});
requirement('CORE-ERR-001 CORE-ERR-002 JSONRPC-ERR-001', 'errors have a code and say what to do', async () => {
	for (const [method, params, code] of [
		['NoSuchMethod', {}, -32601],
		['SendMessage', {}, -32602],
		['SendMessage', { message: { ...message('x'), parts: [] } }, -32602]
	] as const) {
		const { error } = await rpc(method, params);
		expect(error).toMatchObject({ code, message: expect.stringMatching(/\w{3}/) });
		expect(Object.keys(error ?? {}).filter((key) => !['code', 'message', 'data'].includes(key))).toEqual([]);
	}
});
requirement('JSONRPC-ERR-002 JSONRPC-ERR-003 JSONRPC-SSE-002', 'in the range of A2A, with their reason', async () => {
	const { error } = await rpc('GetTask', NOT_THERE);
	expect(error).toMatchObject({ code: -32001, data: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] });
	const refused = errorResponseFor('/a2a', new AppError('unsupported_media_type', 'Send JSON.'));
	expect(await refused.json()).toMatchObject({ error: { code: -32005 } });
});
requirement(
	'CORE-MULTI-001 CORE-MULTI-001a CORE-MULTI-002',
	'a context is made, or taken from the client',
	async () => {
		expect((await done()).contextId).toMatch(/./);
		model.push(text('Done.'));
		const contextId = `tck-${crypto.randomUUID()}`;
		expect((await send({ contextId })).contextId).toBe(contextId);
	}
);
requirement('CORE-MULTI-002a', 'or refused', async () => {
	expect(await codeOf('SendMessage', { message: message('x', { contextId: '../..' }) })).toBe(-32602);
});
requirement('CORE-MULTI-005 CORE-MULTI-006', 'a task knows its context, and no other', async () => {
	const waiting = await asked();
	const other = { taskId: waiting.id, contextId: 'another' };
	expect(await codeOf('SendMessage', { message: message('allow', other) })).toBe(-32602);
	model.push(text('Allowed.'));
	const task = await send({ taskId: waiting.id, parts: [{ text: 'allow' }] });
	expect(task).toMatchObject({ id: waiting.id, contextId: waiting.contextId });
});
requirement(
	'STREAM-SUB-001 STREAM-SUB-002 STREAM-ORDER-001',
	'who follows a task sees it as it is, then its end',
	async () => {
		const { held, task, streams, firsts } = await followed();
		held.open();
		const [events] = await Promise.all(streams.map(all));
		const first = firsts[0]?.value as StreamResponse;
		expect(first.payload).toMatchObject({ $case: 'task', value: { id: task.id } });
		expect(foldOf([first, ...(events ?? [])]).text).toBe('One two three.');
		expect(events?.at(-1)?.payload?.$case).toBe('statusUpdate');
	}
);
requirement('STREAM-ORDER-002 STREAM-ORDER-003', 'all who follow it see the same', async () => {
	const { held, streams, firsts } = await followed();
	held.open();
	const seen = await Promise.all(streams.map(all));
	const [one, two] = seen.map((events, index) => foldOf([firsts[index]?.value as StreamResponse, ...events]));
	expect(one).toEqual(two);
	const statuses = seen.map((events) =>
		events.flatMap(({ payload }) => (payload?.$case === 'statusUpdate' ? [payload.value] : []))
	);
	expect(statuses[0]).toEqual(statuses[1]);
});
requirement('STREAM-ORDER-004', 'also when one of them leaves', async () => {
	const { held, streams, firsts } = await followed();
	await streams[0]?.return(undefined);
	held.open();
	const events = await all(streams[1] ?? (async function* () {})());
	expect(foldOf([firsts[1]?.value as StreamResponse, ...events]).text).toBe('One two three.');
});
requirement('STREAM-SUB-003', 'a task that is over can’t be followed', async () => {
	expect(await codeOf('SubscribeToTask', { id: (await done()).id })).toBe(-32004);
});
requirement(
	'PUSH-CREATE-001 PUSH-CREATE-002 PUSH-GET-001 PUSH-LIST-001',
	'a push config is made and kept',
	async () => {
		const { id: taskId } = await done();
		const made = await ok('CreateTaskPushNotificationConfig', { taskId, id: 'x', url: 'https://example.com/hook' });
		expect(made).toMatchObject({ taskId, id: 'x', url: 'https://example.com/hook' });
		expect(await ok('GetTaskPushNotificationConfig', { taskId, id: 'x' })).toEqual(made);
		expect(await ok('ListTaskPushNotificationConfigs', { taskId })).toMatchObject({ configs: [made] });
	}
);
requirement('PUSH-GET-002 PUSH-DEL-001 PUSH-DEL-002', 'deleted once or twice, it is gone', async () => {
	const { id: taskId } = await done();
	const place = { taskId, id: 'x' };
	expect(await codeOf('GetTaskPushNotificationConfig', place)).toBe(-32001);
	await ok('CreateTaskPushNotificationConfig', { ...place, url: 'https://example.com/hook' });
	await ok('DeleteTaskPushNotificationConfig', place);
	await ok('DeleteTaskPushNotificationConfig', place);
	expect(await codeOf('GetTaskPushNotificationConfig', place)).toBe(-32001);
});
requirement(
	'PUSH-DELIVER-001 PUSH-DELIVER-002 PUSH-DELIVER-003',
	'its address is told, with what it logs in with',
	async () => {
		const authentication = { scheme: 'Bearer', credentials: 'tck' };
		const task = await asked({ taskPushNotificationConfig: { url: receiver.url, authentication } });
		await eventually(() => expect(receiver.told.length).toBeGreaterThan(0));
		for (const { headers, body } of receiver.told) {
			expect(headers.authorization).toBe('Bearer tck');
			expect(['task', 'message', 'statusUpdate', 'artifactUpdate']).toEqual(expect.arrayContaining(Object.keys(body)));
			expect(Object.keys(body)).toHaveLength(1);
		}
		await cancel(task);
	}
);
requirement(
	'CARD-DISC-001 CARD-PROTO-001 CARD-PROTO-002 CARD-STRUCT-001 BIND-FIELD-001',
	'the card says all it must',
	async () => {
		const { card } = await cardOf();
		const required = [
			'name',
			'description',
			'version',
			'capabilities',
			'defaultInputModes',
			'defaultOutputModes',
			'skills'
		];
		for (const field of required) expect(card).toHaveProperty(field);
		expect(card['supportedInterfaces']).toEqual([
			{ url: `${rig.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
			{ url: `${rig.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
		]);
		expect(card['capabilities']).toMatchObject({ streaming: true, pushNotifications: true, extendedAgentCard: true });
		expect(card['securitySchemes']).toMatchObject({ bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } });
	}
);
requirement(
	'CARD-EXT-001 AUTH-SERVER-002 AUTH-SCOPE-001',
	'the extended card and all else needs a key that may',
	async () => {
		expect((await ok('GetExtendedAgentCard', {}))['skills']).toHaveLength(2);
		const strangers = rpcCaller(rig.url);
		const { key } = await rig.app.apiKeys.create({ name: 'reader', scopes: ['read'] });
		for (const method of ['GetExtendedAgentCard', 'SendMessage', 'GetTask', 'ListTasks', 'CancelTask']) {
			expect((await strangers(method, {})).status).toBe(401);
			expect((await rpcCaller(rig.url, key)(method, {})).status).toBe(403);
		}
	}
);
requirement(
	'CARD-CACHE-001 CARD-CACHE-002',
	'the card can be kept for a while, and asked for if it changed',
	async () => {
		const { response } = await cardOf();
		expect(response.headers.get('cache-control')).toMatch(/max-age=\d+/);
		const etag = response.headers.get('etag') ?? '';
		const again = await cardOf({ 'a2a-version': '1.0', 'if-none-match': `"x", W/${etag}` });
		expect([again.response.status, again.response.headers.get('etag')]).toEqual([304, etag]);
		const skilled = await cardOf({ 'a2a-version': '1.0', 'if-none-match': etag, authorization: `Bearer ${TOKEN}` });
		expect(skilled.response.status).toBe(200);
		expect(skilled.response.headers.get('etag')).not.toBe(etag);
	}
);
requirement('VER-SERVER-001 VER-SERVER-003 VER-CLIENT-002', 'a version is spoken as it’s asked for', async () => {
	const { id } = await done();
	for (const version of ['1.0', '1.0.7']) {
		const { result } = await rpc('GetTask', { id }, { 'a2a-version': version });
		expect(result['status']).toMatchObject({ state: 'TASK_STATE_COMPLETED' });
	}
	for (const version of ['0.3', '']) {
		const { result } = await rpc('tasks/get', { id }, { 'a2a-version': version });
		expect(result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
	}
	expect((await cardOf({ 'a2a-version': '' })).card).toMatchObject({
		...{ protocolVersion: '0.3.0', preferredTransport: 'JSONRPC', url: `${rig.url}/a2a` },
		additionalInterfaces: [{ url: `${rig.url}/a2a`, transport: 'JSONRPC' }]
	});
});
requirement('VER-SERVER-002', 'or refused', async () => {
	expect((await rpc('GetTask', NOT_THERE, { 'a2a-version': '99.0' })).error?.code).toBe(-32009);
});
requirement(
	'DM-TASK-001 DM-TASK-002 DM-STATUS-001 DM-MSG-001 DM-MSG-002 DM-PART-001 DM-ART-001 DM-SERIAL-004',
	'what is sent has its fields',
	async () => {
		const task = await done();
		expect(task).toMatchObject({ id: expect.any(String), status: { state: expect.any(String) } });
		expect(STATES.map((state) => `TASK_STATE_${state}`)).toContain(task.status?.state);
		for (const { messageId, role, parts } of task.history) {
			expect(messageId).toMatch(/./);
			expect(['ROLE_USER', 'ROLE_AGENT']).toContain(role);
			for (const part of parts) expect(kindsOf(part)).toHaveLength(1);
		}
		for (const { artifactId, parts } of task.artifacts) {
			expect(artifactId).toMatch(/./);
			expect(parts.length).toBeGreaterThan(0);
			for (const part of parts) expect(kindsOf(part)).toHaveLength(1);
		}
	}
);
requirement('DM-SERIAL-001 DM-SERIAL-002 DM-SERIAL-003 DM-SERIAL-005', 'named and written as ProtoJSON', async () => {
	model.push(text('Done.'));
	const params = { message: message('go', { unknownField: 1 }), extraParam: 42 };
	const written = JSON.stringify(await ok('SendMessage', params));
	expect(written).not.toMatch(/"[a-z]+_[a-z_]+":/);
	expect(written).toContain('"state":"TASK_STATE_COMPLETED"');
	expect(written).toMatch(/"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"/);
});
requirement('JSONRPC-FMT-001 JSONRPC-FMT-002 JSONRPC-SVC-001 JSONRPC-SVC-002', 'JSON-RPC 2.0 over HTTP', async () => {
	const { headers, body } = await rpc('GetTask', { id: (await done()).id }, { 'a2a-version': '1.0' });
	expect(headers.get('content-type')).toContain('application/json');
	expect(body).toMatchObject({ jsonrpc: '2.0', id: 1, result: {} });
});
requirement('AUTH-SCOPE-003', 'what a key may not see isn’t there for it', async () => {
	const { id } = await done();
	const { key } = await rig.app.apiKeys.create({ name: 'other', scopes: ['read', 'execute'] });
	const other = rpcCaller(rig.url, key);
	const errors = await Promise.all(
		[id, NOT_THERE.id].map(async (each) => (await other('GetTask', { id: each })).error)
	);
	expect(errors[0]).toEqual(errors[1]);
});

test('E16: every requirement is in one list', () => {
	const ids = [...known, ...Object.keys(DOES_NOT_APPLY)];
	expect(ids).toHaveLength(new Set(ids).size);
});

const kindsOf = (part: object) => Object.keys(part).filter((key) => ['text', 'raw', 'url', 'data'].includes(key));
