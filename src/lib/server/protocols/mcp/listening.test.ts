import { ProtocolError, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { createListening, listeningResponse, taskAddress } from './listening.ts';
import { createTasks, type McpTasks, type TaskEntry } from './tasks.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const _meta = { [CAPABILITIES]: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
const QUESTION = {
	method: 'elicitation/create' as const,
	params: { message: 'Allow once?', requestedSchema: { type: 'object' as const, properties: {} } }
};

function openTask(tasks: McpTasks, owner = 'me'): TaskEntry {
	const task = tasks.create(owner, new AbortController());
	if (!task) throw new Error('no room');
	return task as TaskEntry;
}

const listen = (notifications: object, id: string | number = 1) => ({
	...{ jsonrpc: '2.0' as const, id, method: 'subscriptions/listen' },
	params: { _meta, notifications }
});

/** As the SDK sends it. */
const notice = (method: string, params: object, id: string | number = 1) => ({
	...{ jsonrpc: '2.0' as const, method },
	params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } }
});
const changed = (task: TaskEntry) => notice('notifications/resources/updated', { uri: taskAddress(task.id) });

/** The SDK's stream, of which a client has read nothing yet. */
const streamOf = (messages: object[]) =>
	new Response(
		new ReadableStream<Uint8Array>({
			start(controller) {
				const encoder = new TextEncoder();
				controller.enqueue(encoder.encode(': keepalive\n\n'));
				for (const message of messages) {
					// A message may come in pieces.
					for (const piece of `event: message\ndata: ${JSON.stringify(message)}\n\n`.split(/(?<=.{40})/s)) {
						controller.enqueue(encoder.encode(piece));
					}
				}
				controller.close();
			}
		}),
		{ headers: { 'content-type': 'text/event-stream' } }
	);

test('E15: a client that reads late is told of a task’s last state, once, whatever happened meanwhile', async () => {
	const tasks = createTasks(
		() => 0,
		() => undefined
	);
	const [mine, other] = [openTask(tasks), openTask(tasks, 'somebody')];
	const listening = createListening((taskId) => tasks.find('me', taskId));
	const asked = listening.incoming(listen({ taskIds: [mine.id, other.id], toolsListChanged: true }));
	const addresses = { resourceSubscriptions: [taskAddress(mine.id)] };
	expect(asked).toMatchObject({ params: { notifications: { ...addresses, toolsListChanged: true } } });
	const acknowledged = { notifications: { toolsListChanged: true, ...addresses } };
	const response = listeningResponse(
		streamOf([
			notice('notifications/subscriptions/acknowledged', acknowledged),
			...Array.from({ length: 1000 }, () => changed(mine)),
			notice('notifications/tools/list_changed', {})
		]),
		listening
	);
	const answer = mine.ask(QUESTION);
	mine.answer('consent-1', { action: 'accept' });
	await answer;
	mine.follow(Promise.resolve({ content: [{ type: 'text', text: 'hidden\u202E: 1\n\ndata: 2' }] }));
	await expect.poll(() => mine.isOver).toBe(true);
	const text = await response.text();
	expect(text.startsWith(': keepalive\n\n')).toBe(true);
	const messages = [...text.matchAll(/^event: message\ndata: (.*)\n$/gm)].map(
		([, data = '']) => JSON.parse(data) as object
	);
	expect(messages).toEqual([
		notice('notifications/subscriptions/acknowledged', {
			notifications: { toolsListChanged: true, taskIds: [mine.id] }
		}),
		expect.objectContaining({ method: 'notifications/tasks' }),
		notice('notifications/tools/list_changed', {})
	]);
	expect(messages[1]).toMatchObject({
		params: {
			...{ taskId: mine.id, status: 'completed', _meta: { [SUBSCRIPTION_ID_META_KEY]: 1 } },
			result: { content: [{ text: 'hidden: 1\n\ndata: 2' }] }
		}
	});
});

test('E15: what is listened for is forgotten when the client cancels it, or it was refused or is over', () => {
	const tasks = createTasks(
		() => 0,
		() => undefined
	);
	const task = openTask(tasks);
	const listening = createListening((taskId) => tasks.find('me', taskId));
	const ends = [
		() => listening.incoming({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
		() =>
			listening.outgoing({ jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'Subscription limit reached' } }),
		() => listening.outgoing({ jsonrpc: '2.0', id: 1, result: {} })
	];
	for (const end of ends) {
		listening.incoming(listen({ taskIds: [task.id] }));
		expect(listening.outgoing(changed(task))).toMatchObject([{ method: 'notifications/tasks' }]);
		expect(listening.outgoing(changed(task))).toEqual([]);
		end();
		expect(listening.outgoing(changed(task))).toEqual([changed(task)]);
	}
});

test('E15: odd filters are the SDK’s to refuse, but for tasks', () => {
	const listening = createListening(() => null);
	for (const odd of [{ resourceSubscriptions: 'all' }, { resourceSubscriptions: [7] }, { toolsListChanged: 'yes' }]) {
		expect(listening.incoming(listen(odd))).toEqual(listen(odd));
		expect(listening.incoming(listen({ ...odd, taskIds: [] }))).toMatchObject({ params: { notifications: odd } });
	}
	for (const other of [null, 7, [], {}, { method: 'tools/list' }, { method: 'notifications/cancelled' }]) {
		expect(listening.incoming(other)).toEqual(other);
	}
	for (const taskIds of [null, 'all', {}, [7], [null], Array.from({ length: 101 }, () => '')]) {
		expect(() => listening.incoming(listen({ taskIds }))).toThrow(ProtocolError);
	}
	expect(() =>
		listening.incoming({ method: 'subscriptions/listen', params: { notifications: { taskIds: [] } } })
	).toThrow();
});
