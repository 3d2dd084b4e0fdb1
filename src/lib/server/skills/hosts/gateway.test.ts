import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { createSkillsProvider, defineSkill, type SkillsProvider, type SkillsProviderOptions } from '../provider.ts';
import { createGateway, type GatewayOptions, type GatewayTool, runGateway } from './gateway.ts';
import { formatOf } from './wire.ts';

const folder = emptyFolder();
let skills: SkillsProvider;
beforeEach(async () => {
	await put('3d-print/SKILL.md', '---\nname: 3d-print\ndescription: Prints.\nversion: 1.2.0\n---\nPrint it.\n');
	await put('3d-print/print.mjs', "console.log('printed', ...process.argv.slice(2))");
	await open();
});
afterEach(async () => {
	await skills.close();
});

const put = (path: string, text: string) => putFile(folder, path, text);
async function open(options: SkillsProviderOptions = {}): Promise<void> {
	await (skills as SkillsProvider | undefined)?.close();
	skills = await createSkillsProvider(folder, options);
}
const gateway = (options: Partial<GatewayOptions> = {}) => createGateway({ skills, cwd: folder, ...options });
const messages = [{ role: 'user', content: 'Hi' }];
const chatCall = (name: string, args: unknown, id = 'c1') => ({
	id,
	type: 'function',
	function: { name, arguments: JSON.stringify(args) }
});
const chatTurn = (...calls: unknown[]) => ({ choices: [{ message: { role: 'assistant', tool_calls: calls } }] });
const print = (word: string) => ({ skill: '3d-print', script: 'print.mjs', args: [word] });
const search: GatewayTool = {
	name: 'web_search',
	description: 'Searches.',
	parameters: { type: 'object', properties: { query: { type: 'string' } } },
	execute: ({ query }) => ({ found: query })
};

describe('formats', () => {
	test.each([
		['gemini', { contents: [] }],
		['responses', { input: 'Hi' }],
		['responses', { previous_response_id: 'resp_1' }],
		['chat', { model: 'claude-x', messages }],
		['chat', { max_tokens: 5, messages: [{ role: 'system', content: 'Be brief.' }, ...messages] }],
		['anthropic', { model: 'gpt-x', max_tokens: 5, system: 'Be brief.', messages }],
		['anthropic', { max_tokens: 5, messages, tools: [{ name: 'a', input_schema: {} }] }],
		['anthropic', { max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }]
	])('B12, D39: %s is told by the body’s shape, whatever the model is called', (format, body) => {
		expect(formatOf(body)).toBe(format);
	});
	test('D39: a body that may be of two formats is not guessed at', () => {
		expect(() => gateway().inject({ max_tokens: 5, messages })).toThrow('`format`');
		expect(gateway({ format: 'anthropic' }).inject({ max_tokens: 5, messages }).body).toHaveProperty('system');
		expect(() => gateway().inject({ prompt: 'Hi' })).toThrow('This one has: prompt');
		expect(() => gateway().inject([])).toThrow('must be an object');
	});
});

describe('what is put in', () => {
	const section = /^## Available Skills[^]*### 3d-print/;
	test('B13: without a system prompt the section is one, and blocks stay blocks', () => {
		expect(gateway().inject({ messages }).body.messages).toMatchObject([
			{ role: 'system', content: expect.stringMatching(section) as string },
			{ role: 'user' }
		]);
		const system = [{ type: 'text', text: 'Mine.', cache_control: { type: 'ephemeral' } }];
		const { body } = gateway().inject({ max_tokens: 5, system, messages });
		expect(body.system).toEqual([...system, { type: 'text', text: expect.stringMatching(section) as string }]);
		const developer = [{ role: 'developer', content: [{ type: 'text', text: 'Mine.' }] }, ...messages];
		expect(gateway().inject({ messages: developer }).body.messages).toMatchObject([
			{ role: 'developer', content: [{ text: 'Mine.' }, { text: expect.stringMatching(section) as string }] },
			{ role: 'user' }
		]);
	});
	test('B11: Gemini’s body on the wire is understood as its client’s is, with one list of functions', () => {
		const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
		const tools = [{ googleSearch: {} }, { function_declarations: [{ name: 'mine' }] }];
		const { body } = gateway().inject({ contents, tools, system_instruction: { parts: [{ text: 'Mine.' }] } });
		expect(body).toEqual({
			contents,
			tools: [
				{ googleSearch: {} },
				{
					functionDeclarations: ['load_skill', 'use_skill', 'mine'].map(
						(name) => expect.objectContaining({ name }) as object
					)
				}
			],
			systemInstruction: { parts: [{ text: 'Mine.' }, { text: expect.stringMatching(section) as string }] }
		});
	});
	test('B10: a skill that is a tool has a name that every provider takes, and is found by it', async () => {
		await open({ dialect: 'omniroute' });
		const request = gateway().inject({ messages });
		expect(request.toolNames).toEqual(['_3d-print__1_2_0']);
		const turn = await request.run(chatTurn(chatCall('_3d-print__1_2_0', { script: 'print.mjs', args: ['cup'] })));
		expect(turn.executed[0]?.output).toContain('printed cup');
	});
	test('E36: a skill’s tool whose name the host has is called by its skill’s name too', async () => {
		const handler = () => 'ours';
		const weather = defineSkill({
			name: 'weather',
			description: 'Rain.',
			schema: { input: { type: 'object' } },
			handler
		});
		await open({ skills: [weather] });
		const tools = [{ type: 'function', function: { name: 'weather' } }];
		const request = gateway({ loaded: ['weather'] }).inject({ messages, tools });
		expect(request.toolNames).toEqual(['load_skill', 'use_skill', 'weather__weather']);
	});
	test('D17, D42: a name of the host is no skill’s, though the host does not offer it, or not yet', async () => {
		const handler = () => 'ours';
		const lookup = (name: string) =>
			defineSkill({ name, description: 'Rain.', schema: { input: { type: 'object' } }, handler });
		await open({ skills: [lookup('web-search'), lookup('weather')] });
		const own = gateway({ loaded: ['web-search', 'weather'], builtins: [search], builtinToolNames: [] });
		expect(own.inject({ messages }).toolNames).toEqual([
			...['load_skill', 'use_skill', 'web-search__web_search', 'weather']
		]);
		const tools = [{ type: 'function', function: { name: 'weather' } }];
		expect(own.inject({ messages, tools }).toolNames).toContain('weather__weather');
	});
	test('B14, C18: only what this caller may use is told of; without any nothing is put in', () => {
		const body = { messages };
		expect(gateway({ allowed: [] }).inject(body).body).toEqual(body);
		expect(gateway({ modeOf: () => 'off' }).inject(body).body).toEqual(body);
		expect(gateway({ customSkillExecutionEnabled: false }).inject(body).body).toEqual(body);
	});
});

describe('policy', () => {
	test('D42: with skills off only the host’s functions are offered, and of them only those that are named', async () => {
		const builtins = [search, { ...search, name: 'file_read' }];
		const off = { customSkillExecutionEnabled: false, builtins, builtinToolNames: ['omniroute_web_search'] };
		const request = gateway(off).inject({ messages });
		expect(request.toolNames).toEqual(['web_search']);
		expect(JSON.stringify(request.body)).not.toContain('3d-print');
		const turn = await request.run(
			chatTurn(
				chatCall('omniroute_web_search', { query: 'x' }, 'c1'),
				chatCall('use_skill', print('cup'), 'c2'),
				chatCall('file_read', {}, 'c3')
			)
		);
		expect(turn.executed).toMatchObject([{ name: 'web_search', output: '{"found":"x"}', isError: false }]);
		expect(turn.left.map(({ name }) => name)).toEqual(['use_skill', 'file_read']);
	});
	test('D42: aliases are the tools that they mean, but never the host’s own', async () => {
		const aliases = { lookup: 'web_search', mine: 'web_search' };
		const tools = [{ type: 'function', function: { name: 'mine' } }];
		const request = gateway({ builtins: [search], aliases }).inject({ messages, tools });
		const names = ['lookup', 'mine', 'constructor', 'omniroute_load_skill'];
		const turn = await request.run(chatTurn(...names.map((name) => chatCall(name, { skill: '3d-print' }, name))));
		expect(turn.executed.map(({ name }) => name)).toEqual(['web_search', 'load_skill']);
		expect(turn.left.map(({ name }) => name)).toEqual(['mine', 'constructor']);
	});
	test('C16: what was not allowed is a result that says so', async () => {
		const request = gateway({ approve: () => 'ask your admin' }).inject({ messages });
		const { executed } = await request.run(chatTurn(chatCall('use_skill', print('cup'))));
		expect(executed).toMatchObject([{ isError: true, output: expect.stringContaining('ask your admin') as string }]);
	});
	test('D41: calls that are no functions are the host’s, and so are those of Anthropic’s toolsets', async () => {
		const custom = { id: 'c2', type: 'custom', custom: { name: 'use_skill', input: '' } };
		const chat = await gateway()
			.inject({ messages })
			.run(chatTurn(chatCall('load_skill', { skill: '3d-print' }), custom));
		expect(chat).toMatchObject({ hasOtherCalls: true, left: [], executed: [{ isError: false }] });
		const content = [{ type: 'tool_use', id: 't1', name: 'use_skill', input: {}, toolset_name: 'browser' }];
		const request = gateway().inject({ system: '', max_tokens: 5, messages });
		expect(await request.run({ content })).toMatchObject({ hasOtherCalls: true, left: [], executed: [] });
		const output = [{ type: 'custom_tool_call', call_id: 'c1', name: 'use_skill', input: '' }];
		expect(await gateway().inject({ input: 'Hi' }).run({ output })).toMatchObject({
			hasOtherCalls: true,
			executed: []
		});
	});
});

describe('rounds', () => {
	const useSkill = chatTurn(chatCall('use_skill', print('x'.repeat(500))));
	test('D40: a long result is cut to its bytes, all of them to theirs, and then the model has to answer', async () => {
		const sent: Record<string, unknown>[] = [];
		const send = async (body: Record<string, unknown>) => {
			sent.push(body);
			return useSkill;
		};
		const result = await runGateway(
			send,
			{ messages },
			{ skills, cwd: folder, maxResultBytes: 300, maxTotalBytes: 450 }
		);
		expect(result).toMatchObject({ stopped: 'bytes', requests: 3, left: [{ name: 'use_skill' }] });
		expect(result.executed).toHaveLength(2);
		for (const { output } of result.executed) {
			expect(output).toContain('[output truncated]');
			expect(Buffer.byteLength(output)).toBeLessThanOrEqual(300);
		}
		expect(sent.map(({ tool_choice: choice }) => choice)).toEqual([undefined, undefined, 'none']);
	});
	test('D40: when too little time is left no other request is sent, and the conversation can go on', async () => {
		let sent = 0;
		const send = async () => {
			sent += 1;
			return useSkill;
		};
		const options = { skills, cwd: folder, maxMs: 60_000, minRemainingMs: 60_000 };
		const result = await runGateway(send, { messages }, options);
		expect(result).toMatchObject({ stopped: 'time', requests: 1, left: [] });
		expect(sent).toBe(1);
		expect(result.body.messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'tool' }]);
	});
	test('D40: a request under way when the time is over leaves what there was before', async () => {
		let sent = 0;
		const send = async (_body: unknown, { signal }: { signal: AbortSignal }) => {
			sent += 1;
			if (sent === 1) return useSkill;
			return new Promise<typeof useSkill>((_, reject) => {
				signal.addEventListener('abort', () => reject(new Error('aborted')));
			});
		};
		const options = { skills, cwd: folder, maxMs: 500, minRemainingMs: 0 };
		expect(await runGateway(send, { messages }, options)).toMatchObject({ stopped: 'time', requests: 1, left: [] });
	});
	test('D40: a host that stops is not kept: nothing runs any more, and its reason is thrown', async () => {
		const controller = new AbortController();
		const send = async () => {
			controller.abort(new Error('Enough.'));
			return useSkill;
		};
		const run = runGateway(send, { messages }, { skills, cwd: folder, signal: controller.signal });
		await expect(run).rejects.toThrow('Enough.');
	});
	test('D40: with no follow-ups the calls are run, and the host goes on by itself', async () => {
		const result = await runGateway(async () => useSkill, { messages }, { skills, cwd: folder, maxFollowUps: 0 });
		expect(result).toMatchObject({ stopped: 'follow-ups', requests: 1, left: [] });
		expect(result.executed).toHaveLength(1);
	});
	test.each([[null], ['text'], [{ error: { message: 'No.' } }], [{ choices: [] }], [{ choices: [{ message: null }] }]])(
		'D39: a response without a turn is handed back as it is: %j',
		async (response) => {
			const result = await runGateway(async () => response, { messages }, { skills, cwd: folder });
			expect(result).toMatchObject({ response, stopped: 'answered', executed: [], requests: 1 });
			expect(result.body).toEqual({ messages });
		}
	);
});

test('D39: whatever bodies and responses are made of, nothing but the format is an error', async () => {
	const formats = ['responses', 'chat', 'anthropic', 'gemini'] as const;
	const keys = fc.constantFrom(
		...[
			'messages',
			'input',
			'contents',
			'tools',
			'system',
			'instructions',
			'config',
			'systemInstruction',
			'tool_calls'
		],
		...[
			'choices',
			'message',
			'output',
			'content',
			'candidates',
			'parts',
			'functionCall',
			'name',
			'type',
			'role',
			'model'
		]
	);
	const { json } = fc.letrec((tie) => ({
		json: fc.oneof(
			{ maxDepth: 5 },
			fc.jsonValue({ maxDepth: 1 }),
			fc.array(tie('json'), { maxLength: 3 }),
			tie('object')
		),
		object: fc.dictionary(keys, tie('json'), { maxKeys: 4 })
	}));
	const body = fc.dictionary(keys, json, { maxKeys: 5 });
	await fc.assert(
		fc.asyncProperty(fc.constantFrom(...formats), body, json, async (format, given, response) => {
			const turn = await gateway({ format }).inject(given).run(response);
			turn.next(turn.left.map((call) => ({ call, output: '' })));
		})
	);
});
