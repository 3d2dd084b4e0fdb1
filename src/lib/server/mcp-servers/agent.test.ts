/** An agent with MCP tools, from question to answer: a real MCP server and a scripted model. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PICTURE, startFixtureHttp, type FixtureHttpServer } from '../../../../tests/support/mcp-fixture.ts';
import { call, calls, text, type Reply } from '../../../../tests/support/model-server.ts';
import { createRunRig, type RigOptions, type RunRig } from '../../../../tests/support/run-rig.ts';
import { AppError } from '../../shared/errors.ts';
import { mcpServerPut } from '../../shared/mcp-servers.ts';
import { openQuestions, type ToolPart } from '../../shared/message.ts';
import { createLog } from '../log.ts';
import { decide } from '../conversations/consent.ts';
import { createExecutionRecorder } from '../skill-admin/executions.ts';
import { type BuiltinTools, joinTools } from '../turns/toolbox.ts';
import { createVault } from '../trust/vault.ts';
import { openMcpServers, type McpServers } from './mcp-servers.ts';

let rig: RunRig;
let servers: McpServers;
let fixture: FixtureHttpServer;

beforeEach(async () => {
	fixture = await startFixtureHttp();
});
afterEach(async () => {
	await rig.runner.close();
	await servers.close();
	await rig.close();
	await fixture.stop();
});

/** The app's own tools; an MCP server's tool wants the same name. */
const own: BuiltinTools = {
	tools: () => [{ type: 'function', name: 'web_search', description: 'Ours.', parameters: { type: 'object' } }],
	has: (name) => name === 'web_search',
	lane: () => null,
	approval: () => null,
	call: async () => ({ ok: true, output: 'ours was called' })
};

async function start(
	script: Reply[],
	models: RigOptions['models'] = [],
	limits: RigOptions['limits'] = {}
): Promise<void> {
	rig = await createRunRig(script, {
		models,
		builtins: (offer) => joinTools([own, servers.tools(offer)]),
		limits: { toolTimeoutMs: 60_000, ...limits }
	});
	servers = await openMcpServers({
		store: rig.store,
		vault: createVault({ store: rig.store.secrets, key: Buffer.alloc(32, 1) }),
		dataDir: join(rig.root, 'data'),
		recorder: createExecutionRecorder(
			rig.store,
			createLog(() => undefined)
		),
		...{ maxOutputBytes: 20_000, timeoutMs: () => 60_000, isEnabled: () => true, delayMs: () => 600_000 }
	});
}
async function connect(approval: 'ask' | 'auto', url = fixture.url): Promise<void> {
	await servers.put('demo', mcpServerPut.parse({ transport: { type: 'http', url }, approval }));
	await expect.poll(() => servers.get('demo').status.state).not.toBe('connecting');
}
const offered = (request: number) =>
	(rig.server.requests[request]?.body.tools as { name: string }[]).map(({ name }) => name);
const sent = (request: number) => JSON.stringify(rig.server.requests[request]?.body.input);
const executions = async () => (await rig.store.skillExecutions.list({}, { page: 1, limit: 9 })).data;

describe('E36: the agent', () => {
	test('calls a tool of a server, which is told of in events, recorded and answered from', async () => {
		await start([call('mcp__demo__add', { a: 20, b: 22 }), text('42.')]);
		await connect('auto');
		const { list, runId } = await rig.run('add');
		expect(offered(0)).toEqual(expect.arrayContaining(['use_skill', 'web_search', 'mcp__demo__add']));
		expect(sent(1)).toContain('The sum is 42.');
		const names = list.flatMap((event) => (event.type === 'CUSTOM' ? [event.name] : []));
		expect(names.filter((name) => /started|finished/.test(name))).toEqual(['skill.started', 'skill.finished']);
		const part = (await rig.answer(runId)).parts.find((each): each is ToolPart => each.type === 'tool');
		expect(part).toMatchObject({
			...{ status: 'done', result: 'The sum is 42.' },
			execution: { skill: 'mcp/demo', tool: 'add', sandbox: 'mcp' }
		});
		expect(await executions()).toMatchObject([
			{ skillId: 'mcp/demo', tool: 'add', status: 'success', sandbox: 'mcp', conversationId: 'c', runId }
		]);
	});

	test('is shown the pictures that tools return, which are files of the chat and stand nowhere else', async () => {
		const show = { name: 'mcp__demo__show', args: {} };
		const models = [{ id: 'test/model', architecture: { input_modalities: ['text', 'image'] } }];
		await start([calls([show, { ...show, args: { again: true } }]), text('A dot.'), text('Yes.')], models);
		await connect('auto');
		const { list, runId } = await rig.run('show');
		const base64 = PICTURE.toString('base64');
		const outputs = (rig.server.requests[1]!.body.input as { output?: { type: string }[] }[]).flatMap(
			({ output }) => output ?? []
		);
		const picture = { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${base64}` };
		expect(outputs.filter(({ type }) => type === 'input_image')).toEqual([picture, picture]);
		expect(JSON.stringify(outputs)).toContain('[image: image/png, 3 KB]');
		const steps = (await rig.answer(runId)).parts.filter((each): each is ToolPart => each.type === 'tool');
		expect(steps.map(({ files }) => files?.map(({ path }) => path)).sort()).toEqual([
			['picture-1.png'],
			['picture-2.png']
		]);
		await rig.run('Sure?');
		expect(sent(2)).toContain(base64);
		const stored = await rig.store.messages.listForModel('c', (await rig.answer(runId)).id);
		expect(JSON.stringify([list, stored, await executions()])).not.toContain(base64.slice(0, 60));
	});

	test('is told of a picture that finds no room, and a model that cannot see is told so', async () => {
		await start([call('mcp__demo__show'), text('Hm.'), call('mcp__demo__show'), text('Hm.')]);
		await connect('auto');
		await rig.run('show');
		expect(sent(1)).toContain('you can’t see pictures');
		rig.workspaces.write = () => Promise.reject(new AppError('storage_full', 'The disk is full.'));
		await rig.run('show');
		expect(sent(3)).toContain('A picture isn’t shown. The disk is full.');
	});

	test('F14: waits until somebody allows the call, then goes on; what is allowed for good is not asked again', async () => {
		await start([
			call('mcp__demo__add', { a: 1, b: 2 }),
			text('3.'),
			call('mcp__demo__add', { a: 2, b: 2 }),
			text('4.')
		]);
		await connect('ask');
		const { runId } = await rig.run('add');
		const waiting = (await rig.answer(runId)).parts.find((each): each is ToolPart => each.type === 'tool');
		expect(waiting).toMatchObject({ status: 'waiting', approval: { skill: 'mcp/demo', script: 'add' } });
		expect(await executions()).toEqual([]);
		const interruptId = waiting!.approval!.interruptId;
		const resumed = await decide(rig, {
			by: { apiKeyId: null, scopes: [] },
			conversationId: 'c',
			interruptId,
			decision: { choice: 'script' }
		});
		await rig.events(resumed!);
		expect(sent(1)).toContain('The sum is 3.');
		const { list } = await rig.run('again');
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success' } });
		expect(sent(3)).toContain('The sum is 4.');
	});

	test('D42: is offered none of them by a request that names its own tools', async () => {
		await start([call('mcp__demo__add', { a: 1, b: 2 }), text('Done.')]);
		await connect('auto');
		await rig.run('add', { policy: { builtins: ['web_search'] } });
		expect(offered(0).filter((name) => name.startsWith('mcp__'))).toEqual([]);
		expect(sent(1)).toContain('UnknownTool');
	});

	test('is not held up by a server that is down: what it knew of it is offered, and a call says what is wrong', async () => {
		await start([call('mcp__demo__add', { a: 1, b: 2 }), text('It is down.'), text('Still here.')]);
		await connect('auto');
		await fixture.stop();
		await rig.run('add');
		expect(sent(1)).toContain('nothing answers there');
		await fixture.start();
		await connect('auto', 'http://127.0.0.1:1/mcp');
		const { list } = await rig.run('hello');
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success' } });
		expect(offered(2).filter((name) => name.startsWith('mcp__'))).toEqual([]);
	});
});

describe('E36: what a server asks during a call', () => {
	const question = async (runId: string) => {
		const part = () => rig.runner.live(runId)?.message.parts.find((each): each is ToolPart => each.type === 'tool');
		await expect.poll(() => part()?.questions?.length).toBe(1);
		return part()!.questions![0]!;
	};
	const content = { name: 'Ada Secretname', guests: 3 };

	test('stands in the chat until it is answered; the answer goes to the server, and is stored nowhere', async () => {
		await start([call('mcp__demo__book'), text('Booked.')]);
		await connect('auto');
		const { runId } = await rig.ask('book');
		const { id } = await question(runId);
		// As a reload or a second tab reads it.
		expect((await rig.runner.current(await rig.answer(runId))).parts).toMatchObject([
			{ status: 'running', questions: [{ id, server: 'demo', message: 'When would you like to come?' }] }
		]);
		await expect(rig.questions.reply('other', id, { action: 'accept', content })).rejects.toThrow('no longer open');
		const wrong = { action: 'accept' as const, content: { ...content, guests: 9 } };
		await expect(rig.questions.reply('c', id, wrong)).rejects.toThrow('“guests” must be at most 8.');
		await rig.questions.reply('c', id, { action: 'accept', content: { ...content, more: 'x' } });
		await expect(rig.questions.reply('c', id, { action: 'decline' })).rejects.toThrow('no longer open');
		const events = await rig.events(runId);
		expect(sent(1)).toContain('Told: {\\"action\\":\\"accept\\"');
		const own = events.filter(({ event }) => event.type === 'CUSTOM' && /^tool\./.test(event.name));
		expect(own.map(({ event }) => (event as { name: string }).name)).toEqual(['tool.question', 'tool.reply']);
		expect(JSON.stringify(own)).not.toContain('Ada');
		expect((await rig.answer(runId)).parts[0]).toMatchObject({ status: 'done', questions: [{ id, reply: 'accept' }] });
	});

	test('is cancelled when the answer is stopped, and over when its server stops', async () => {
		await start([call('mcp__demo__book'), call('mcp__demo__book')]);
		await connect('auto');
		const { runId } = await rig.ask('book');
		const { id } = await question(runId);
		await rig.runner.stop(runId);
		expect((await rig.answer(runId)).parts[0]).toMatchObject({ status: 'cancelled' });
		await expect(rig.questions.reply('c', id, { action: 'decline' })).rejects.toThrow('no longer open');
		const { runId: next } = await rig.ask('again');
		await question(next);
		await rig.runner.close();
		const ended = await rig.answer(next);
		expect(ended.status).toBe('interrupted');
		expect(openQuestions(ended.parts[0] as ToolPart)).toEqual([]);
	});

	const step = async (runId: string, part: number) =>
		(await rig.answer(runId)).parts.filter((each): each is ToolPart => each.type === 'tool')[part];

	test('asks the model only after the person allows it: its words alone, no tools, and its cost is the run’s', async () => {
		await start([call('mcp__demo__think'), text('42'), text('It thought.')]);
		await connect('auto');
		const { runId } = await rig.ask('think');
		const { id, sample } = await question(runId);
		expect(sample).toEqual({ prompt: '[instructions]\nBe brief.\n\n[user]\nWhat is 6 times 7?', maxTokens: 4_096 });
		expect(rig.server.requests).toHaveLength(1);
		await rig.questions.reply('c', id, { action: 'accept' });
		await rig.events(runId);
		const { body } = rig.server.requests[1]!;
		expect(body).toMatchObject({ instructions: 'Be brief.', max_output_tokens: 4_096 });
		expect(body.tools ?? []).toEqual([]);
		expect(JSON.stringify(body.input)).toContain('What is 6 times 7?');
		expect(JSON.stringify(body)).not.toContain('think');
		expect(sent(2)).toContain('\\"text\\":\\"42\\"');
		// Each of the 3 requests costs the same.
		expect((await rig.answer(runId)).usage?.cost).toBeCloseTo(0.0003, 10);
	});

	test('allowed for the chat, it asks again there without a question, and in no other chat', async () => {
		await start([call('mcp__demo__think'), text('42'), text('A.'), call('mcp__demo__think'), text('43'), text('B.')]);
		await connect('auto');
		const { runId } = await rig.ask('think');
		await rig.questions.reply('c', (await question(runId)).id, { action: 'accept', forChat: true });
		await rig.events(runId);
		const { runId: next, list } = await rig.run('again');
		expect((await step(next, 0))?.questions).toBeUndefined();
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success' } });
		rig.server.push(call('mcp__demo__think'), text('Denied.'));
		const { runId: other } = await rig.ask('think', { conversationId: 'other' });
		await rig.questions.reply('other', (await question(other)).id, { action: 'decline' });
		await rig.events(other);
		expect(sent(7)).toContain('It wasn’t allowed to ask the model.');
		expect(servers.get('demo').status.state).toBe('connected');
	});

	test('a form can’t be answered for the chat', async () => {
		await start([call('mcp__demo__book'), text('No.')]);
		await connect('auto');
		const { runId } = await rig.ask('book');
		const { id } = await question(runId);
		await expect(rig.questions.reply('c', id, { action: 'accept', content, forChat: true })).rejects.toThrow(
			'only answer this once'
		);
		await rig.questions.reply('c', id, { action: 'cancel' });
		await rig.events(runId);
	});

	test('waits longer than a call may take, but not longer than the answer', async () => {
		await start([call('mcp__demo__book')], [], { toolTimeoutMs: 1_000, maxDurationMs: 2_000 });
		await connect('auto');
		const { runId, list } = await rig.run('book');
		expect(list.at(-1)).toMatchObject({ outcome: { type: 'success' }, result: { limit: 'time' } });
		expect((await rig.answer(runId)).parts[0]).toMatchObject({
			...{ status: 'failed', questions: [{ reply: 'cancel' }] },
			execution: { message: 'Nobody answered what book asked.' }
		});
	});

	test.each([{ apiKeyId: 'k' }, { isProgram: true }, { isElsewhere: true }])(
		'C16: is declined at once where nobody reads along: %j',
		async (from) => {
			await start([call('mcp__demo__book'), text('No.')]);
			await connect('auto');
			const { list } = await rig.run('book', from);
			expect(sent(1)).toContain('Told: {\\"action\\":\\"decline\\"}');
			expect(sent(1)).toContain('Nobody can be asked here, so that was declined.');
			expect(list.some((event) => event.type === 'CUSTOM' && event.name === 'tool.question')).toBe(false);
		}
	);
});
