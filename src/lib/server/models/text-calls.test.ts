/** Models without tool calling, over a real HTTP server: alone, and in the whole app. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { putFile } from '../../../../tests/support/folder.ts';
import {
	gate,
	hang,
	startModelServer,
	status,
	text,
	truncated,
	type ModelServer,
	type Reply
} from '../../../../tests/support/model-server.ts';
import { serveRoutes } from '../../../../tests/support/route-server.ts';
import * as one from '../../../routes/api/conversations/[id]/+server.ts';
import * as download from '../../../routes/api/conversations/[id]/export/+server.ts';
import * as upload from '../../../routes/api/conversations/import/+server.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent } from '../../shared/message.ts';
import type { ModelEvent, ModelRequest, ResponseItem } from '../agent/model.ts';
import { createApp, type App } from '../app.ts';
import { loadConfig } from '../config.ts';
import { createResponsesModel } from './responses/responses.ts';

const ENVELOPE = {
	thoughts: ['It must be loaded'],
	headline: 'Loading the\u202e greeter {"}',
	tool_name: 'load_skill',
	tool_args: { skill: 'greet', text: 'a } " \\ {' }
};
const JSON_TEXT = JSON.stringify(ENVELOPE, null, 2);
const HEADLINE = 'Loading the greeter {"}';

let server: ModelServer | undefined;
let app: App | undefined;
const folders: string[] = [];
afterEach(async () => {
	vi.restoreAllMocks();
	await app?.close();
	await server?.close();
	app = server = undefined;
	for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const REQUEST: ModelRequest = {
	instructions: 'Be kind.',
	input: [{ type: 'message', role: 'user', content: 'hello' }],
	tools: [{ type: 'function', name: 'load_skill', description: 'Loads one.', parameters: { type: 'object' } }],
	toolChoice: 'auto',
	sessionId: 's'
};

/** Asks the scripted model; it can't call tools, unless `takesTools` says otherwise. */
async function ask(script: Reply[], more: Partial<ModelRequest> & { takesTools?: boolean | null } = {}) {
	const { takesTools = false, ...request } = more;
	const played = (server = await startModelServer(script));
	const catalog = { contextTokens: async () => null, takesTools: () => takesTools, cacheSaving: () => null };
	const model = createResponsesModel({ id: 'test/model', baseUrl: played.url, catalog, backoffMs: 1 });
	const events: ModelEvent[] = [];
	for await (const event of model.stream({ ...REQUEST, ...request }, AbortSignal.any([]))) events.push(event);
	const said = events.map((event) => (event.type === 'text.delta' ? event.delta : '')).join('');
	const calls = events.filter((event) => event.type === 'call.done');
	const last = events.at(-1) as Extract<ModelEvent, { type: 'completed' }>;
	return { events, said, calls, last, model, played };
}

const CALL = { name: 'load_skill', arguments: JSON.stringify(ENVELOPE.tool_args) };

describe('C17: the envelope of a model without tools', () => {
	test.each([
		['bare', JSON_TEXT, ''],
		['after text', `I will load it.\n\n${JSON_TEXT}`, 'I will load it.'],
		['in a fence', `So:\n\`\`\`json\n${JSON_TEXT}\n\`\`\``, 'So:'],
		['in a fence of tildes', `~~~\n${JSON_TEXT}\n~~~\n`, ''],
		[
			'after other JSON and code',
			`{"a": {"b": 1}}\n\`\`\`js\nf({\n\`\`\`\n {\n${JSON_TEXT}`,
			'{"a": {"b": 1}}\n```js\nf({\n```\n {'
		],
		['before what it makes up', `${JSON_TEXT}\n\nResult of load_skill: ...`, '']
	])('is a call, whole or character by character: %s', async (_name, whole, before) => {
		for (const chunks of [[whole], [...whole]]) {
			const { said, calls, events, last } = await ask([text(...chunks)]);
			expect(calls).toMatchObject([CALL]);
			expect(said).toBe(before);
			expect(events).toContainEqual(expect.objectContaining({ type: 'call.started', headline: HEADLINE }));
			expect(events).toContainEqual(expect.objectContaining({ type: 'reasoning.delta', delta: 'It must be loaded' }));
			expect(last.type).toBe('completed');
			expect(last.items.at(-1)).toMatchObject({ type: 'function_call', ...CALL });
			expect(JSON.stringify(last.items)).not.toContain('thoughts');
			await server?.close();
		}
	});

	test.each([
		['without its end', `Now:\n${JSON_TEXT.slice(0, -2)}`],
		['that is no JSON', '{"tool_name": "load_skill", tool_args: {}}'],
		['without a tool', '{"thoughts": [], "headline": "x", "tool_args": {}}\nand more'],
		['within a line', `Write ${JSON.stringify(ENVELOPE)} to call it.`],
		['inside another object', JSON.stringify({ example: ENVELOPE })],
		['and only white space and fences', ' \n```\n\n``` \n~\n']
	])('stays text, all of it: %s', async (_name, whole) => {
		for (const chunks of [[whole], [...whole]]) {
			const { said, calls, last } = await ask([text(...chunks)]);
			expect(calls).toEqual([]);
			expect(said).toBe(whole);
			expect(JSON.stringify(last.items)).toContain(JSON.stringify(whole).slice(1, -1));
			await server?.close();
		}
	});

	test('text is shown as it comes, and only what may be a call waits', async () => {
		const held = gate();
		const played = (server = await startModelServer([text('Hello you.\n', held, JSON_TEXT)]));
		const catalog = { contextTokens: async () => null, takesTools: () => false, cacheSaving: () => null };
		const model = createResponsesModel({ id: 'test/model', baseUrl: played.url, catalog });
		const events = model.stream(REQUEST, new AbortController().signal)[Symbol.asyncIterator]();
		expect((await events.next()).value).toMatchObject({ type: 'text.delta', delta: 'Hello you.' });
		held.open();
		for (;;) if ((await events.next()).done) break;
	});

	test('half a call of an answer that broke off is neither shown nor run, half an object of another kind is shown', async () => {
		const broken = await ask([truncated('Well.\n', JSON_TEXT.slice(0, 40))]);
		expect(broken).toMatchObject({ said: 'Well.', calls: [], last: { type: 'failed' } });
		await server?.close();
		const other = await ask([truncated('{"answer": ["one", ')]);
		expect(other).toMatchObject({ said: '{"answer": ["one", ', calls: [], last: { type: 'failed' } });
	});

	test('a long text that is never a call is read quickly and comes out whole', async () => {
		const whole = `${'{"a":'.repeat(50_000)}\n${'\n`'.repeat(50_000)}`;
		expect((await ask([text(whole)])).said).toBe(whole);
	});
});

describe('C17: what such a model is sent', () => {
	const CALLED: ResponseItem[] = [
		{ type: 'message', role: 'user', content: 'hello' },
		{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will.' }] },
		{ type: 'function_call', call_id: 'c1', ...CALL, headline: HEADLINE },
		{ type: 'function_call_output', call_id: 'c1', output: 'Greet them.' },
		{ type: 'message', role: 'user', content: 'go on' }
	];

	test('the tools in the instructions, calls and results as messages whose roles take turns', async () => {
		const { played } = await ask([text('Hi.')], { input: CALLED, toolChoice: 'required' });
		const { tools, instructions, input } = played.requests[0]?.body as Record<string, unknown>;
		expect(tools).toBeUndefined();
		expect(instructions).toContain('Be kind.');
		expect(instructions).toContain('"name":"load_skill"');
		expect(instructions).toContain('Now you must call a tool.');
		const sent = input as { type: string; role: string; content: unknown }[];
		expect(sent.map(({ type, role }) => `${type} ${role}`)).toEqual([
			'message user',
			'message assistant',
			'message user'
		]);
		const written = JSON.stringify({
			thoughts: [],
			headline: HEADLINE,
			tool_name: CALL.name,
			tool_args: ENVELOPE.tool_args
		});
		expect(sent[1]?.content).toMatchObject([{ text: 'I will.' }, { text: written }]);
		expect(sent[2]?.content).toMatchObject([{ text: expect.any(String) }, { text: 'Greet them.' }, { text: 'go on' }]);
	});

	test('no way to call while it must not, and what reads like a call is text', async () => {
		const { played, said, calls } = await ask([text(JSON_TEXT)], { toolChoice: 'none' });
		expect(played.requests[0]?.body.instructions).not.toContain('load_skill');
		expect({ said, calls }).toEqual({ said: JSON_TEXT, calls: [] });
	});

	test('a server that knows tools gets its items without what is ours, and its text is only text', async () => {
		const { played, said, calls } = await ask([text(JSON_TEXT)], { takesTools: true, input: CALLED });
		expect(played.requests[0]?.body.tools).toHaveLength(1);
		expect(JSON.stringify(played.requests[0]?.body)).not.toContain('headline');
		expect({ said, calls }).toEqual({ said: JSON_TEXT, calls: [] });
	});

	test.each([
		[400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
		[404, 'No endpoints found that support tool use. To learn more about provider routing, visit: https://x'],
		[400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set']
	])('the tools as text once its server has refused them (%i %s)', async (code, message) => {
		const script = [status(code, { error: { message, code } }), text(JSON_TEXT), text('Again.')];
		const { calls, events, model, played } = await ask(script, { takesTools: null });
		expect(calls).toMatchObject([CALL]);
		expect(events.some(({ type }) => type === 'failed')).toBe(false);
		for await (const event of model.stream(REQUEST, AbortSignal.any([]))) expect(event.type).not.toBe('failed');
		expect(played.requests.map(({ body }) => body.tools !== undefined)).toEqual([true, false, false]);
		played.assertDone();
	});
});

/** The whole app with one skill and a model that's listed as unable to call tools. */
async function open(script: Reply[]) {
	const root = await mkdtemp(join(tmpdir(), 'text-calls-'));
	folders.push(root);
	for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
	await putFile(root, 'skills/greet/SKILL.md', '---\nname: greet\ndescription: Greets people.\n---\nRun say.sh.\n');
	await putFile(root, 'skills/greet/scripts/say.sh', 'echo "good morning, $1"\n');
	const models = [{ id: 'test/model', context_length: 32_000, supported_parameters: ['temperature'] }];
	const played = (server = await startModelServer(script, { models }));
	const opened = (app = await createApp(
		loadConfig({
			DATA_DIR: join(root, 'data'),
			SKILLS_DIRS: join(root, 'skills'),
			SKILLS_SANDBOX: 'process',
			SKILLS_TRUST: 'trust',
			CHAT_TITLES: 'false',
			OPENROUTER_BASE_URL: played.url,
			OPENROUTER_API_KEY: 'a-key',
			OPENROUTER_MODEL: 'test/model'
		})
	));
	expect((await opened.models.list()).data).toMatchObject([{ takesTools: false }]);
	return {
		played,
		app: opened,
		start: (runId: string) =>
			opened.runner.start({
				...{ kind: 'ask', runId, conversationId: 'c', tools: [] },
				message: { id: `q-${runId}`, text: 'greet me', files: [] }
			}),
		async answer(runId: string) {
			const events: RunEvent[] = [];
			const batches = await opened.runner.follow(runId, 0, new AbortController().signal);
			for await (const batch of batches ?? []) events.push(...batch.map(({ data }) => JSON.parse(data) as RunEvent));
			const folded = events.reduce(foldEvent, emptyAnswer('a', runId, ''));
			const stored = (await opened.store.messages.list('c')).find(
				(each) => each.runId === runId && each.role === 'assistant'
			);
			return { folded, stored, events };
		}
	};
}

const say = (tool_name: string, headline: string, tool_args: object) =>
	JSON.stringify({ thoughts: [], headline, tool_name, tool_args });

describe('C17: in the app a model without tools', () => {
	test('loads a skill, also as skills_tool:load, runs its script and answers; each step has its headline', async () => {
		const { start, answer, played } = await open([
			text(...`I load it.\n\n${say('skills_tool:load', 'Loading the greeter', { skill_name: 'greet' })}`),
			text(
				`\`\`\`json\n${say('use_skill', 'Greeting', { skill: 'greet', script: 'scripts/say.sh', args: ['Ann'] })}\n\`\`\``
			),
			text('It says good morning.')
		]);
		await start('r');
		const { folded, stored } = await answer('r');
		expect(stored?.parts).toEqual(folded.parts);
		expect(folded).toMatchObject({
			status: 'complete',
			parts: [
				{ type: 'text', text: 'I load it.' },
				{ type: 'tool', status: 'done', headline: 'Loading the greeter', loaded: { skill: 'greet' } },
				{ type: 'tool', status: 'done', headline: 'Greeting', execution: { skill: 'greet', exitCode: 0 } },
				{ type: 'text', text: 'It says good morning.' }
			]
		});
		expect(played.requests.every(({ body }) => body.tools === undefined)).toBe(true);
		expect(JSON.stringify(played.requests[2]?.body.input)).toContain('good morning, Ann');
		played.assertDone();
	});

	test('has its headlines in the file that is exported, and in the conversation that is made of it', async () => {
		const { start, answer, app } = await open([
			text(say('load_skill', 'Loading the greeter', { skill: 'greet' })),
			text('Good morning.')
		]);
		await start('r');
		await answer('r');
		const routes = await serveRoutes(app, {
			'/api/conversations/import': upload,
			'/api/conversations/[id]/export': download,
			'/api/conversations/[id]': one
		});
		try {
			const get = async (path: string) => (await fetch(`${routes.url}/api/conversations/${path}`)).text();
			const steps = (conversation: string) =>
				(JSON.parse(conversation) as { messages: { parts: unknown[] }[] }).messages.flatMap(({ parts }) => parts);
			const step = expect.objectContaining({ type: 'tool', headline: 'Loading the greeter' }) as unknown;
			const file = await get('c/export');
			expect(steps(file)).toContainEqual(step);
			const imported = await fetch(`${routes.url}/api/conversations/import`, { method: 'POST', body: file });
			expect(imported.status).toBe(201);
			const { id } = (await imported.json()) as { id: string };
			expect(id).not.toBe('c');
			expect(steps(await get(id))).toContainEqual(step);
			expect(steps(await get(`${id}/export`))).toContainEqual(step);
		} finally {
			await routes.close();
		}
	});

	test('that is stopped in the middle of a call runs nothing, and the next message is answered', async () => {
		const whole = `Well.\n${say('use_skill', 'Greeting', { skill: 'greet', script: 'scripts/say.sh' })}`;
		const delta = (part: string) => ({ type: 'response.output_text.delta', output_index: 0, delta: part });
		const added = {
			type: 'response.output_item.added',
			output_index: 0,
			item: { type: 'message', id: 'm', content: [] }
		};
		const { start, answer, app, played } = await open([hang(added, delta(whole.slice(0, -20))), text('Here I am.')]);
		await start('r');
		const batches = await app.runner.follow('r', 0, new AbortController().signal);
		for await (const batch of batches ?? []) {
			if (batch.some(({ data }) => data.includes('Well.'))) break;
		}
		await app.runner.stop('r');
		const { folded } = await answer('r');
		expect(folded).toMatchObject({ status: 'cancelled', parts: [{ type: 'text', text: 'Well.' }] });
		await start('s');
		expect((await answer('s')).folded).toMatchObject({ status: 'complete', parts: [{ text: 'Here I am.' }] });
		expect(JSON.stringify(played.requests[1]?.body.input)).not.toContain('tool_name');
		played.assertDone();
	});
});
