/** AG-UI 1.0 over HTTP with its own client, `HttpAgent`: every event is checked against the protocol's schemas. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCapabilitiesSchema, MessageSchema } from '@ag-ui/core/schemas';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { putFiles } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { RunState } from '../../src/lib/shared/api.ts';
import type { Message, ToolPart } from '../../src/lib/shared/message.ts';
import * as capabilities from '../../src/routes/api/agent/capabilities/+server.ts';
import * as chat from '../../src/routes/api/chat/+server.ts';
import * as file from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as run from '../../src/routes/api/runs/[id]/+server.ts';
import * as runEvents from '../../src/routes/api/runs/[id]/events/+server.ts';
import { aguiClient, kindsOf, type AguiClient } from '../support/agui-client.ts';
import {
	call,
	gate,
	hang,
	reasoning,
	startModelServer,
	status,
	text,
	type ModelServer
} from '../support/model-server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';
import { eventually } from '../support/eventually.ts';

const ROUTES = {
	'/api/agent/capabilities': capabilities,
	'/api/chat': chat,
	'/api/conversations/[id]/files/[...path]': file,
	'/api/runs/[id]': run,
	'/api/runs/[id]/events': runEvents
};

interface Served {
	app: App;
	root: string;
	server: RouteServer;
	close(): Promise<void>;
}

async function serve(env: Record<string, string>, skills?: Record<string, string>): Promise<Served> {
	const root = await mkdtemp(join(tmpdir(), 'agui-'));
	await putFiles(join(root, 'skills'), skills ?? {});
	const folder = skills ? join(root, 'skills') : join(import.meta.dirname, '../../skills');
	const app = await createApp(
		loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: folder, SKILLS_SANDBOX: 'process', ...env })
	);
	const server = await serveRoutes(app, ROUTES);
	return {
		app,
		root,
		server,
		async close() {
			await server.close();
			await app.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

const toolsOf = (messages: readonly Message[]) =>
	messages.flatMap(({ parts }) => parts.filter((part): part is ToolPart => part.type === 'tool'));

describe('with the built-in responder', () => {
	let served: Served;
	beforeAll(async () => {
		served = await serve({});
	});
	afterAll(() => served.close());

	test('F13: HttpAgent has the words of a sentence counted, by a script', async () => {
		const client = aguiClient(served.server.url);
		const answer = await client.run('Count the words of "the quick brown fox jumps over the lazy dog"');
		expect(answer).toMatch(/\b9\b|nine/i);
		expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
		expect(kindsOf(client.events)).toContain('skill.finished');
	});

	test('F13: HttpAgent has an uploaded sales.csv summarised by region, with the true sums', async () => {
		const client = aguiClient(served.server.url);
		const sales = await readFile(join(import.meta.dirname, '../fixtures/sales.csv'));
		const uploaded = await fetch(`${served.server.url}/api/conversations/${client.agent.threadId}/files/sales.csv`, {
			method: 'PUT',
			headers: { 'content-type': 'text/csv' },
			body: sales
		});
		expect(uploaded.status).toBe(201);
		const answer = await client.run('summarise sales.csv by region');
		for (const [region, sum] of [
			['South', '4,072.35'],
			['North', '3,786.7'],
			['West', '3,191.4'],
			['East', '2,222.6']
		]) {
			expect(answer).toMatch(new RegExp(`${region}.*${sum}`));
		}
	});

	test('F13: a second question goes on in the same thread, and the client has the whole conversation in order', async () => {
		const client = aguiClient(served.server.url);
		await client.run('Count the words of "one two"');
		await client.run('Count the words of "one two three"');
		const { messages, threadId } = client.agent;
		expect(messages.filter(({ role }) => role === 'user')).toHaveLength(2);
		const stored = await served.app.store.messages.list(threadId);
		expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
		expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
	});

	test('F13: the capabilities are AG-UI’s, and name the tools and skills that are there', async () => {
		const response = await fetch(`${served.server.url}/api/agent/capabilities`);
		const body: unknown = await response.json();
		const parsed = AgentCapabilitiesSchema.parse(body);
		expect(parsed).toMatchObject({
			transport: { streaming: true, resumable: true },
			tools: { clientProvided: true },
			state: { snapshots: true, deltas: false },
			humanInTheLoop: { interrupts: true },
			execution: { codeExecution: true, sandboxed: false }
		});
		expect(parsed.tools?.items?.map(({ name }) => name)).toContain('load_skill');
		expect(JSON.stringify(parsed.custom)).toContain('count-words');
	});

	test('F13: hostile input is refused as JSON with a status of its own, never a 500, and the next run works', async () => {
		const post = async (body: string, headers: Record<string, string> = {}) => {
			const response = await fetch(`${served.server.url}/api/chat`, {
				method: 'POST',
				headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
				body
			});
			const answer = await response.text();
			return { status: response.status, code: (JSON.parse(answer) as { error: { code: string } }).error.code };
		};
		const question = { id: 'q', role: 'user', content: 'hello' };
		const input = (more: object) =>
			JSON.stringify({
				threadId: 't',
				runId: crypto.randomUUID(),
				messages: [question],
				tools: [],
				context: [],
				...more
			});
		const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
		const refused = [
			...['', 'null', '[]', '{}', '"x"', '{"threadId":', '\0', deep],
			...[{ threadId: '../x' }, { threadId: '' }, { threadId: 7 }, { threadId: 'a'.repeat(200) }, { runId: 'a b' }],
			...[
				{ runId: null },
				{ messages: null },
				{ messages: [] },
				{ messages: {} },
				{ messages: [null] },
				{ messages: [7] }
			],
			...[{ messages: [{ ...question, content: 7 }] }, { messages: [{ ...question, content: [] }] }],
			...[{ messages: [{ ...question, content: '' }] }, { messages: [{ ...question, role: 'boss' }] }],
			...[{ messages: [{ ...question, id: '' }] }, { messages: [{ ...question, content: [{ type: 'image' }] }] }],
			...[{ messages: [{ ...question, content: [{ type: 'image', source: { type: 'data', value: 7 } }] }] }],
			...[{ messages: [{ id: 'a', role: 'assistant', content: 'x' }] }, { messages: [{ id: 'a', role: 'tool' }] }],
			...[{ messages: [question, { id: 'a', role: 'tool', toolCallId: '', content: 'x' }] }],
			...[{ messages: [question, { id: 'a', role: 'tool', toolCallId: 'c', content: { x: 1 } }] }],
			...[{ messages: [question, { id: 'a', role: 'tool', toolCallId: 'c', content: 'x', error: 7 }] }],
			...[{ messages: [{ ...question, metadata: { files: ['../../etc/passwd'] } }] }],
			...[{ tools: null }, { tools: [{ name: '', description: '' }] }, { tools: [{ name: 'x' }] }],
			...[{ tools: Array.from({ length: 200 }, (_, index) => ({ name: `t${index}`, description: '' })) }],
			...[{ context: 'x' }, { context: [{ description: 1, value: 2 }] }],
			...[{ resume: 'x' }, { resume: [{ interruptId: 'i', status: 'maybe' }] }, { resume: [{ interruptId: 7 }] }],
			...[
				{ resume: [{ interruptId: 'i', status: 'resolved' }] },
				{ resume: [{ interruptId: 'i', status: 'cancelled' }] }
			],
			...[{ forwardedProps: { snapshots: 'yes' } }, { forwardedProps: { continue: 'ghost' } }],
			...[{ forwardedProps: { retry: '../x' } }, { forwardedProps: { cancelOnDisconnect: 1 } }],
			...[{ context: [{ description: 'much', value: 'x'.repeat(60_000) }] }],
			...[{ messages: [question, { id: 'a', role: 'tool', toolCallId: 'c', content: 'x'.repeat(1_100_000) }] }],
			...[{ state: 'x'.repeat(11_000_000) }]
		].map((wrong) => (typeof wrong === 'string' ? wrong : input(wrong)));
		for (const body of refused) {
			const { status: code, ...answer } = await post(body);
			expect(code, `${body.slice(0, 300)} → ${JSON.stringify(answer)}`).toBeGreaterThanOrEqual(400);
			expect(code, `${body.slice(0, 300)} → ${JSON.stringify(answer)}`).toBeLessThan(500);
		}
		// Written by hand: JSON nested this deep can be parsed but not written again, as a snapshot would.
		const whole = input({ forwardedProps: { snapshots: true }, state: 0 });
		const nested = whole.replace('"state":0', `"state":${'['.repeat(5000)}${']'.repeat(5000)}`);
		expect(nested).not.toBe(whole);
		expect(await post(nested)).toMatchObject({ status: 400 });
		const client = aguiClient(served.server.url);
		expect(await client.run('Count the words of "one two"')).toMatch(/2|two/);
	});

	test('F13: the same message twice is one message, and the same run id twice is one run', async () => {
		const client = aguiClient(served.server.url);
		const runId = crypto.randomUUID();
		const first = await client.run('Count the words of "a b"', { runId });
		const events = [...client.events];
		client.agent.setMessages(client.agent.messages.filter(({ role }) => role === 'user'));
		expect(await client.run(undefined, { runId })).toBe(first);
		expect(client.events).toEqual(events);
		client.agent.setMessages(client.agent.messages.filter(({ role }) => role === 'user'));
		await expect(client.run(undefined)).rejects.toMatchObject({ status: 409 });
	});

	test('F13: the same run id with another message is refused with 409, and is asked nothing', async () => {
		const client = aguiClient(served.server.url);
		const runId = crypto.randomUUID();
		await client.run('Count the words of "a b"', { runId });
		await expect(client.run('Count the words of "a b c"', { runId })).rejects.toMatchObject({ status: 409 });
		const other = aguiClient(served.server.url);
		await expect(other.run('Count the words of "a b"', { runId })).rejects.toMatchObject({ status: 409 });
		expect(await served.app.store.messages.list(client.agent.threadId)).toHaveLength(2);
	});

	test('F13: ids of messages may have any form; what AG-UI may add one day is ignored', async () => {
		const client = aguiClient(served.server.url);
		const strange = 'msg:1/ü ✓'.repeat(40);
		client.agent.addMessage({
			id: strange,
			role: 'user',
			content: [{ type: 'text', text: 'Count the words of "x y z"' }]
		});
		expect(await client.run(undefined)).toMatch(/3|three/);
		expect(client.agent.messages[0]?.id).toBe(strange);
		const response = await fetch(`${served.server.url}/api/chat`, {
			method: 'POST',
			body: JSON.stringify({
				...{ threadId: 'future', runId: 'future', protocolVersion: '1.7', somethingNew: { a: 1 } },
				messages: [{ id: 'q', role: 'user', content: 'hello', mood: 'good' }]
			})
		});
		expect(response.status).toBe(202);
	});
});

describe('with a model that is played', () => {
	const SKILLS = {
		'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
		'demo/scripts/say.sh': 'echo "said: $*"; echo made > "made-$1.txt"\n',
		'demo/scripts/wait.sh': 'echo waiting; exec sleep 600\n'
	};
	const say = (word: string) => call('use_skill', { skill: 'demo', script: 'say.sh', args: [word] });
	const CLOCK = { name: 'read_clock', description: 'What time it is for the user.', parameters: { type: 'object' } };
	const COLOUR = { name: 'set_colour', description: 'Colours the page.', parameters: { type: 'object' } };

	let model: ModelServer;
	let free: Served;
	let asking: Served;
	let client: AguiClient;
	beforeAll(async () => {
		const seeing = { id: 'test/model', architecture: { input_modalities: ['text', 'image'] } };
		model = await startModelServer([], { models: [seeing] });
		const env = {
			CHAT_TITLES: 'false',
			OPENROUTER_BASE_URL: model.url,
			OPENROUTER_API_KEY: 'a-key',
			OPENROUTER_MODEL: 'test/model'
		};
		free = await serve(env, SKILLS);
		asking = await serve({ ...env, SKILLS_APPROVAL: 'ask' }, SKILLS);
	});
	afterAll(async () => {
		await free.close();
		await asking.close();
		await model.close();
	});
	beforeEach(() => {
		client = aguiClient(free.server.url);
	});
	const sent = () =>
		model.requests.at(-1)?.body as {
			input: Record<string, unknown>[];
			instructions: string;
			tools: { name: string }[];
		};
	const outputsSent = () =>
		sent().input.flatMap((item) => (item.type === 'function_call_output' ? [[item.call_id, item.output]] : []));
	const stored = (served = free) => served.app.store.messages.list(client.agent.threadId);
	const stateOf = async (runId: string, served = free) =>
		(await (await fetch(`${served.server.url}/api/runs/${runId}`)).json()) as RunState;

	const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000000a0000000a' + '0'.repeat(16), 'hex').toString(
		'base64'
	);
	const data = (type: string, value: string, mimeType: string, metadata?: object) => ({
		...{ type, source: { type: 'data', value, mimeType } },
		...(metadata && { metadata })
	});
	const sendParts = async (
		served: Served,
		content: object[],
		ids = { threadId: 'parts', runId: crypto.randomUUID() }
	) => {
		const messages = [{ id: crypto.randomUUID(), role: 'user', content }];
		// The client's own schema accepts this.
		for (const message of messages) MessageSchema.parse(message);
		const response = await fetch(`${served.server.url}/api/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
			body: JSON.stringify({ ...ids, messages, tools: [], context: [] })
		});
		return { status: response.status, answer: await response.text() };
	};

	test('F5, F13: pictures and documents in a message are files of the thread, which the model is given; addresses are named', async () => {
		model.push(text('A cat.'));
		const csv = Buffer.from('a,b\n1,2\n').toString('base64');
		const { status: code } = await sendParts(free, [
			{ type: 'text', text: 'What is it?' },
			data('image', PNG, 'image/png'),
			data('document', csv, 'text/csv', { filename: '../data.csv' }),
			data('audio', 'AAAA', 'audio/mpeg'),
			{ type: 'image', source: { type: 'url', value: 'https://pictures.example/cat.png' } },
			{ type: 'document', source: { type: 'file', value: 'file-1', provider: 'openai' } }
		]);
		expect(code).toBe(200);
		const input = JSON.stringify(sent().input);
		expect(input).toContain(`data:image/png;base64,${PNG}`);
		expect(input).toContain('The file data.csv:');
		for (const address of ['https://pictures.example/cat.png', 'file-1'])
			expect(input).toContain(`Sent by address, not fetched: ${address}`);
		const paths = (await free.app.workspaces.list('parts')).map(({ path }) => path);
		expect(paths).toEqual([
			expect.stringMatching(/^audio-\w{8}\.mp3$/),
			'data.csv',
			expect.stringMatching(/^image-\w{8}\.png$/)
		]);
		const [question] = await free.app.store.messages.list('parts');
		expect(question?.files).toHaveLength(3);
	});

	test('F5, F13: a message of a picture alone is a question; another file of a name doesn’t replace the first', async () => {
		model.push(text('A cat.'), text('Two.'));
		const ids = () => ({ threadId: 'alone', runId: crypto.randomUUID() });
		expect((await sendParts(free, [data('image', PNG, 'image/png', { filename: 'cat.png' })], ids())).status).toBe(200);
		const other = data('document', Buffer.from('other').toString('base64'), 'text/plain', { filename: 'cat.png' });
		expect((await sendParts(free, [{ type: 'text', text: 'And?' }, other], ids())).status).toBe(200);
		const paths = (await free.app.workspaces.list('alone')).map(({ path }) => path);
		expect(paths).toEqual([expect.stringMatching(/^cat-\w{8}\.png$/), 'cat.png']);
	});

	test.each([
		['no base64', [data('image', '!!!', 'image/png')], 'messages.0.content.0.source.value must be base64.'],
		['more than 100 files', Array.from({ length: 101 }, () => data('image', PNG, 'image/png')), 'at most 100 files']
	])('F13: a part with %s is refused, and nothing is written', async (_what, content, sentence) => {
		const { status: code, answer } = await sendParts(free, content, { threadId: 'none', runId: crypto.randomUUID() });
		expect([code, answer]).toEqual([400, expect.stringContaining(sentence)]);
		expect(await free.app.store.conversations.get('none')).toBe(null);
		expect(await free.app.workspaces.list('none')).toEqual([]);
	});

	test('F13: text, reasoning, tools and our CUSTOM events are as AG-UI has them, and give the client its messages', async () => {
		model.push([reasoning('hm'), call('load_skill', { skill: 'demo' }, 'load-1')], say('hi'), text('It said ', 'hi.'));
		expect(await client.run('say hi')).toBe('It said hi.');
		const kinds = kindsOf(client.events);
		for (const kind of [
			...['RUN_STARTED', 'STEP_STARTED', 'REASONING_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_END'],
			...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT', 'TEXT_MESSAGE_CONTENT'],
			...['STEP_FINISHED', 'RUN_FINISHED', 'skill.catalog', 'skill.loaded', 'skill.started', 'skill.output'],
			...['skill.finished', 'run.usage', 'run.context']
		]) {
			expect(kinds, kind).toContain(kind);
		}
		expect(client.agent.messages.map(({ role }) => role)).toEqual([
			...['user', 'reasoning', 'assistant', 'tool', 'assistant', 'tool', 'assistant']
		]);
	});

	test('F13: D41: a tool of the client is handed back, runs there, and the same answer goes on with its result', async () => {
		model.push([call('read_clock', { zone: 'UTC' }, 'clock-1')], text('It is noon.'));
		await client.run('what time is it?', { tools: [CLOCK] });
		expect(client.last()).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['clock-1'] } });
		expect(kindsOf(client.events)).not.toContain('TOOL_CALL_RESULT');
		expect(toolsOf(await stored())).toMatchObject([{ id: 'clock-1', status: 'waiting' }]);

		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-1', content: '12:00' });
		expect(await client.run(undefined, { tools: [CLOCK] })).toBe('It is noon.');
		expect(outputsSent()).toEqual([['clock-1', '12:00']]);
		const messages = await stored();
		expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
		expect(toolsOf(messages)).toMatchObject([{ status: 'done', result: '12:00' }]);
		expect(client.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
	});

	test('F13: the same results under the same run id are one run; under another id they are too late', async () => {
		model.push([call('read_clock', {}, 'clock-2')], text('Noon.'));
		await client.run('time?', { tools: [CLOCK] });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-2', content: '12:00' });
		const before = [...client.agent.messages];
		const runId = crypto.randomUUID();
		expect(await client.run(undefined, { runId })).toBe('Noon.');
		client.agent.setMessages(before);
		expect(await client.run(undefined, { runId })).toBe('Noon.');
		client.agent.setMessages(before.with(-1, { id: 'r1', role: 'tool', toolCallId: 'clock-2', content: '13:00' }));
		await expect(client.run(undefined, { runId })).rejects.toMatchObject({ status: 409 });
		client.agent.setMessages(before);
		await expect(client.run(undefined)).rejects.toMatchObject({ status: 409 });
		expect(model.remaining).toBe(0);
	});

	test('F13: a result of a call that nobody made is refused, and nothing has changed', async () => {
		model.push([call('read_clock', {}, 'clock-3')], text('Noon.'));
		await client.run('time?', { tools: [CLOCK] });
		const before = [...client.agent.messages];
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'ghost', content: 'boo' });
		await expect(client.run(undefined)).rejects.toMatchObject({
			status: 400,
			payload: { error: { code: 'invalid_input' } }
		});
		const other = aguiClient(free.server.url);
		other.agent.setMessages([...before, { id: 'r1', role: 'tool', toolCallId: 'clock-3', content: '12:00' }]);
		await expect(other.run(undefined)).rejects.toMatchObject({ status: 404 });

		client.agent.setMessages([...before, { id: 'r1', role: 'tool', toolCallId: 'clock-3', content: '12:00' }]);
		expect(await client.run(undefined)).toBe('Noon.');
	});

	test('F13: of two calls one has a result, a failed one, and the other none: the model reads both', async () => {
		model.push([call('read_clock', {}, 'clock-4'), call('set_colour', {}, 'colour-4')], text('Sorry.'));
		await client.run('go', { tools: [CLOCK, COLOUR] });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-4', content: '', error: 'no clock here' });
		expect(await client.run(undefined)).toBe('Sorry.');
		expect(outputsSent()).toEqual([
			['clock-4', 'Error: no clock here'],
			['colour-4', expect.stringContaining('NoResult')]
		]);
		expect(toolsOf(await stored()).map((part) => part.status)).toEqual(['failed', 'cancelled']);
	});

	test('F13: a call of a skill and one of the client in one step: the script has run when the client is asked', async () => {
		model.push(
			[call('use_skill', { skill: 'demo', script: 'say.sh', args: ['a'] }, 'own-5'), call('read_clock', {}, 'clock-5')],
			text('Both.')
		);
		await client.run('go', { tools: [CLOCK] });
		expect(client.last()).toMatchObject({ outcome: { pendingToolCallIds: ['clock-5'] } });
		client.agent.addMessage({
			id: 'r1',
			role: 'tool',
			toolCallId: 'clock-5',
			content: [{ type: 'text', text: 'noon' }]
		});
		expect(await client.run(undefined)).toBe('Both.');
		expect(outputsSent()).toEqual([
			['own-5', expect.stringContaining('said: a')],
			['clock-5', 'noon']
		]);
	});

	test('F13: results with a new question after them: both are read, and the question is a message of its own', async () => {
		model.push([call('read_clock', {}, 'clock-6')], text('Yes.'));
		await client.run('time?', { tools: [CLOCK] });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-6', content: '12:00' });
		expect(await client.run('is that noon?')).toBe('Yes.');
		expect(outputsSent()).toEqual([['clock-6', '12:00']]);
		const messages = await stored();
		expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
		expect(toolsOf(messages)).toMatchObject([{ status: 'done', result: '12:00' }]);
	});

	test('F13: whoever asks something else instead leaves the call without a result, and the model is told', async () => {
		model.push([call('read_clock', {}, 'clock-7')], text('Never mind.'));
		await client.run('time?', { tools: [CLOCK] });
		expect(await client.run('forget it')).toBe('Never mind.');
		expect(outputsSent()).toEqual([['clock-7', expect.stringContaining('NoResult')]]);
		expect(toolsOf(await stored())).toMatchObject([{ status: 'cancelled' }]);
	});

	test('B13: a tool of the client stands before one of ours of the same name, and comes back as a call', async () => {
		model.push([call('load_skill', { skill: 'demo' }, 'mine-1')], text('Fine.'));
		await client.run('go', { tools: [{ ...CLOCK, name: 'load_skill' }, CLOCK, CLOCK] });
		const names = sent().tools.map(({ name }) => name);
		expect(names.filter((name) => name === 'load_skill')).toHaveLength(1);
		expect(names.filter((name) => name === 'read_clock')).toHaveLength(1);
		expect(client.last()).toMatchObject({ outcome: { pendingToolCallIds: ['mine-1'] } });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'mine-1', content: 'ok' });
		await client.run(undefined);
	});

	test('F13: system and developer messages and context reach the model as instructions, and are no part of the conversation', async () => {
		model.push(text('Arr.'));
		client.agent.setMessages([
			{ id: 's', role: 'system', content: 'Speak like a pirate.' },
			{ id: 'd', role: 'developer', content: 'Be brief.' }
		]);
		await client.run('hello', { context: [{ description: 'Page', value: 'the harbour' }] });
		expect(sent().instructions).toContain('Speak like a pirate.\n\nBe brief.');
		expect(sent().instructions).toContain('- Page: the harbour');
		expect((await stored()).map(({ role }) => role)).toEqual(['user', 'assistant']);
	});

	test('F13: snapshots come to who asks: the client’s state with the skills beside it, and the messages as it has them', async () => {
		model.push([call('load_skill', { skill: 'demo' }, 'load-9')], text('Loaded.'));
		client.agent.setState({ mine: 1 });
		await client.run('load it', { forwardedProps: { snapshots: true } });
		const snapshots = client.events.flatMap((event) => (event.type === 'STATE_SNAPSHOT' ? [event.snapshot] : []));
		expect(snapshots).toEqual([
			{ mine: 1, skills: { pinned: [], loaded: [] } },
			{ mine: 1, skills: { pinned: [], loaded: ['demo'] } }
		]);
		expect(client.agent.state).toEqual(snapshots[1]);
		const [taken] = client.events.flatMap((event) => (event.type === 'MESSAGES_SNAPSHOT' ? [event.messages] : []));
		expect(client.agent.messages).toEqual(taken);
		for (const message of client.agent.messages) MessageSchema.parse(message);

		model.push([call('load_skill', { skill: 'demo' }, 'load-9')], text('Loaded.'));
		const plain = aguiClient(free.server.url);
		await plain.run('load it');
		expect(kindsOf(plain.events)).not.toContain('MESSAGES_SNAPSHOT');
		const shapes = ({ agent }: AguiClient) => agent.messages.map(({ id: _id, ...message }) => message);
		expect(shapes(client)).toEqual(shapes(plain));
	});

	test('F13: a run that needs consent ends with interrupts; `resume` goes on, and twice is once', async () => {
		client = aguiClient(asking.server.url);
		model.push(say('a'), text('Said.'));
		await client.run('go');
		expect(client.agent.pendingInterrupts).toHaveLength(1);
		const [interrupt] = client.agent.pendingInterrupts;
		expect(interrupt).toMatchObject({ reason: 'tool_approval', responseSchema: { required: ['choice'] } });
		const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { choice: 'once' } }];
		const runId = crypto.randomUUID();
		const before = [...client.agent.messages];
		expect(await client.run(undefined, { resume, runId })).toBe('Said.');
		expect(kindsOf(client.events)).toContain('tool.decision');
		client.agent.setMessages(before);
		expect(await client.run(undefined, { resume, runId })).toBe('Said.');
		client.agent.setMessages(before);
		const others = [{ interruptId: interrupt?.id ?? '', status: 'cancelled' as const }];
		await expect(client.run(undefined, { resume: others, runId })).rejects.toMatchObject({ status: 409 });
		client.agent.setMessages(before);
		await expect(client.run(undefined, { resume })).rejects.toMatchObject({ status: 404 });
	});

	test('F13: an interrupt beside a call of the client: consent first, then the client’s result, then the answer', async () => {
		client = aguiClient(asking.server.url);
		model.push(
			[
				call('use_skill', { skill: 'demo', script: 'say.sh', args: ['b'] }, 'own-11'),
				call('read_clock', {}, 'clock-11')
			],
			text('Both.')
		);
		await client.run('go', { tools: [CLOCK] });
		const [interrupt] = client.agent.pendingInterrupts;
		const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { choice: 'once' } }];
		await client.run(undefined, { resume, tools: [CLOCK] });
		expect(client.last()).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['clock-11'] } });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-11', content: 'noon' });
		expect(await client.run(undefined, { tools: [CLOCK] })).toBe('Both.');
		expect(outputsSent()).toEqual([
			['own-11', expect.stringContaining('said: b')],
			['clock-11', 'noon']
		]);
	});

	test('F13: consent and the client’s result may come in one run', async () => {
		client = aguiClient(asking.server.url);
		model.push(
			[
				call('use_skill', { skill: 'demo', script: 'say.sh', args: ['c'] }, 'own-12'),
				call('read_clock', {}, 'clock-12')
			],
			text('Both.')
		);
		await client.run('go', { tools: [CLOCK] });
		const [interrupt] = client.agent.pendingInterrupts;
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-12', content: 'noon' });
		const resume = [{ interruptId: interrupt?.id ?? '', status: 'cancelled' as const }];
		expect(await client.run(undefined, { resume, tools: [CLOCK] })).toBe('Both.');
		expect(new Map(outputsSent() as [string, string][])).toEqual(
			new Map([
				['own-12', expect.stringContaining('ApprovalDenied')],
				['clock-12', 'noon']
			])
		);
	});

	test('F13: F14: DELETE ends a run with the outcome `cancelled`, also in the middle of a call', async () => {
		const item = { type: 'function_call', id: 'fc_1', call_id: 'cut-1', name: 'use_skill', arguments: '' };
		model.push(
			hang(
				{ type: 'response.created', response: { id: 'resp_cut', status: 'in_progress', output: [] } },
				{ type: 'response.output_item.added', output_index: 0, item },
				{ type: 'response.function_call_arguments.delta', output_index: 0, item_id: 'fc_1', delta: '{"skill":' }
			)
		);
		const ended = client.run('go');
		await eventually(() => expect(kindsOf(client.events)).toContain('TOOL_CALL_ARGS'));
		expect((await fetch(`${free.server.url}/api/runs/${client.runId}`, { method: 'DELETE' })).status).toBe(204);
		await ended;
		expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
		expect(toolsOf(await stored())).toMatchObject([{ status: 'cancelled' }]);
	});

	test('F14: a client that goes away leaves the run as it is; with `cancelOnDisconnect` it ends', async () => {
		for (const [cancelOnDisconnect, state] of [
			[false, 'running'],
			[true, 'cancelled']
		] as const) {
			client = aguiClient(free.server.url);
			model.push(text('Slowly', gate()));
			const ended = client.run('go', { forwardedProps: { cancelOnDisconnect } });
			await eventually(() => expect(kindsOf(client.events)).toContain('TEXT_MESSAGE_CONTENT'));
			client.agent.abortRun();
			await ended.catch(() => undefined);
			await eventually(async () => expect((await stateOf(client.runId)).state).toBe(state));
			if (state === 'running') await fetch(`${free.server.url}/api/runs/${client.runId}`, { method: 'DELETE' });
		}
	});

	test('F13: E18: a key goes on with its own conversations only, and its run may end like any', async () => {
		const mine = await free.app.apiKeys.create({ name: 'mine', scopes: ['execute', 'read'] });
		const other = await free.app.apiKeys.create({ name: 'other', scopes: ['execute', 'read'] });
		const served = await serveRoutes(free.app, ROUTES, (request) => {
			return { apiKeyId: request.headers.get('x-key'), scopes: ['execute', 'read'] };
		});
		const headers = { 'x-key': mine.id };
		model.push([call('read_clock', {}, 'clock-20')], text('Noon.'));
		client = aguiClient(served.url, { headers });
		await client.run('time?', { tools: [CLOCK] });
		client.agent.addMessage({ id: 'r1', role: 'tool', toolCallId: 'clock-20', content: '12:00' });
		const thief = aguiClient(served.url, { headers: { 'x-key': other.id }, threadId: client.agent.threadId });
		thief.agent.setMessages(client.agent.messages);
		await expect(thief.run(undefined)).rejects.toMatchObject({ status: 404 });
		expect(await client.run(undefined)).toBe('Noon.');
		await served.close();
	});

	test('C16: a key does not answer its own question; it may let go of the call', async () => {
		const { id } = await asking.app.apiKeys.create({ name: 'plain', scopes: ['read', 'write', 'execute'] });
		const caller = { apiKeyId: id, scopes: ['read', 'write', 'execute'] as const };
		const served = await serveRoutes(asking.app, ROUTES, () => caller);
		model.push(say('k'), text('Then not.'));
		client = aguiClient(served.url);
		await client.run('go');
		const [interrupt] = client.agent.pendingInterrupts;
		const answer = (choice: string) => {
			return [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { choice } }];
		};
		for (const choice of ['once', 'skill', 'script']) {
			await expect(client.run(undefined, { resume: answer(choice) })).rejects.toMatchObject({
				status: 403,
				payload: { error: { message: expect.stringContaining('scope “approve”') } }
			});
		}
		expect((await asking.app.store.skillExecutions.list({ apiKeyId: id }, { page: 1, limit: 1 })).total).toBe(0);
		expect(await client.run(undefined, { resume: answer('deny') })).toBe('Then not.');
		expect(JSON.stringify(sent().input)).toContain('ApprovalDenied');
		await served.close();
	});

	test('F13: E18: a key that may answer allows a call once, not for good', async () => {
		const scopes = ['execute', 'approve'] as const;
		const { id } = await asking.app.apiKeys.create({ name: 'once', scopes: [...scopes] });
		const served = await serveRoutes(asking.app, ROUTES, () => ({ apiKeyId: id, scopes }));
		model.push(say('k'), text('Said.'));
		client = aguiClient(served.url);
		await client.run('go');
		const [interrupt] = client.agent.pendingInterrupts;
		const allow = (choice: string) => {
			return [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: { choice } }];
		};
		for (const choice of ['skill', 'script']) {
			await expect(client.run(undefined, { resume: allow(choice) })).rejects.toMatchObject({ status: 403 });
		}
		expect(await client.run(undefined, { resume: allow('once') })).toBe('Said.');
		await served.close();
	});

	test('F13: a failure of the model is a RUN_ERROR, and a new question works', async () => {
		model.push(status(401, { error: { message: 'bad key' } }), text('Better.'));
		await client.run('go').catch(() => undefined);
		expect(client.last()).toMatchObject({ type: 'RUN_ERROR' });
		expect(await client.run('again')).toBe('Better.');
	});
});
