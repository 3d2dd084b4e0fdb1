/** Third-party clients against `/v1/responses`, each used as its documentation shows (F12, B17, D40, D41). */
import { createOpenAI } from '@ai-sdk/openai';
import { OpenRouter as AgentRouter } from '@openrouter/agent';
import { tool as agentTool } from '@openrouter/agent';
import { OpenRouter } from '@openrouter/sdk';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { calls, text } from '../support/model-server.ts';
import { RESPONSES_CLIENTS } from '../support/responses-clients.ts';
import { openResponses, type ResponsesRig } from '../support/responses-rig.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE } from '../support/tasks.ts';

/** What OpenRouter's two packages share; their types differ. */
interface Caller {
	callModel(request: Record<string, unknown>): { getText(): Promise<string> };
}

describe('with the built-in responder', () => {
	let rig: ResponsesRig;
	let openai: OpenAI;
	beforeAll(async () => {
		rig = await openResponses();
		openai = new OpenAI({ baseURL: rig.url, apiKey: 'none' });
	});
	afterAll(() => rig.close());

	test.each(Object.entries(RESPONSES_CLIENTS))(
		'F12, B17: %s counts words, and summarises a file, at once and in a stream',
		async (_name, clientFor) => {
			const client = clientFor({ url: rig.url, key: 'any' });
			expect(await client.ask({ text: COUNT_WORDS })).toMatch(FIVE_WORDS);
			expect(await client.stream({ text: COUNT_WORDS })).toMatch(FIVE_WORDS);
			expect(missingSums(await client.ask({ text: SUMMARISE, file: SALES }))).toEqual([]);
			expect(missingSums(await client.stream({ text: SUMMARISE, file: SALES }))).toEqual([]);
		}
	);

	test('F9, F12: openai – responses.parse gets JSON by a schema, and a short answer says that it is cut', async () => {
		const schema = { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] };
		const format = { type: 'json_schema' as const, name: 'count', schema, strict: true };
		const parsed = await openai.responses.parse({ model: 'any', input: COUNT_WORDS, text: { format } });
		expect(JSON.parse(parsed.output_text)).toEqual({ words: 5 });
		const cut = await openai.responses.create({ model: 'any', input: 'Hello', max_output_tokens: 16 });
		expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
	});

	test('D41: openai – the tool that is asked for is called, and its output is answered', async () => {
		const tools: OpenAI.Responses.Tool[] = [
			{
				...{ type: 'function', name: 'get_weather', description: 'Weather of a place', strict: false },
				parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
			}
		];
		const tool_choice = { type: 'function' as const, name: 'get_weather' };
		const first = await openai.responses.create({
			model: 'any',
			input: 'What is it like in Rome?',
			tools,
			tool_choice
		});
		const asked = first.output.find((item) => item.type === 'function_call');
		expect(asked?.arguments).toBe('{"place":"Rome"}');
		const second = await openai.responses.create({
			...{ model: 'any', tools, previous_response_id: first.id },
			input: [{ type: 'function_call_output', call_id: asked?.call_id ?? '', output: '25 degrees' }]
		});
		expect(second.output_text).toContain('25 degrees');
	});

	test('F12: openai – the models are listed', async () => {
		const ids: string[] = [];
		for await (const model of openai.models.list()) ids.push(model.id);
		expect(ids).toEqual(['offline']);
	});
});

describe('with a model that calls a skill and a tool of the client in one turn', () => {
	let rig: ResponsesRig;
	beforeAll(async () => {
		rig = await openResponses({
			script: [],
			skills: {
				'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
				'demo/scripts/say.sh': 'echo "said: $*"\n'
			}
		});
	});
	afterAll(() => rig.close());
	const say = { name: 'use_skill', args: { skill: 'demo', script: 'scripts/say.sh', args: ['x'] } };
	const turn = (id: string) => {
		rig.model?.push(
			calls([
				{ ...say, callId: `call_own_${id}` },
				{ name: 'get_weather', args: { place: 'Rome' }, callId: `call_${id}` }
			]),
			text('25 degrees.')
		);
	};
	/** The turn's second request as the model received it: both calls with their results. */
	const expectWhole = (id: string) => {
		rig.model?.assertDone();
		const input = rig.model?.requests.at(-1)?.body.input as { type: string; call_id?: string; output?: unknown }[];
		const outputs = input.filter(({ type }) => type === 'function_call_output');
		expect(outputs.map(({ call_id }) => call_id).toSorted()).toEqual([`call_${id}`, `call_own_${id}`].toSorted());
		expect(JSON.stringify(outputs)).toContain('said: x');
		expect(JSON.stringify(outputs)).toContain('25');
		expect(input.filter(({ type }) => type === 'function_call')).toHaveLength(2);
	};

	test('D40, D41: openai – a loop that runs every function_call it is given', async () => {
		const openai = new OpenAI({ baseURL: rig.url, apiKey: 'none' });
		turn('openai');
		const tools: OpenAI.Responses.Tool[] = [
			{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} }, strict: false }
		];
		const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Weather?' }];
		for (;;) {
			const response = await openai.responses.create({ model: 'any', input, tools });
			input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
			const asked = response.output.filter((item) => item.type === 'function_call');
			if (asked.length === 0) {
				expect(response.output_text).toBe('25 degrees.');
				break;
			}
			expect(asked.map(({ name }) => name)).toEqual(['get_weather']);
			for (const { call_id } of asked) input.push({ type: 'function_call_output', call_id, output: '25' });
		}
		expectWhole('openai');
	});

	test.each([true, false])(
		'D40, D41: ai – generateText and streamText go on by themselves (store: %s)',
		async (store) => {
			const model = createOpenAI({ baseURL: rig.url, apiKey: 'any' }).responses('any');
			let ran = 0;
			const request = {
				model,
				prompt: 'Weather?',
				stopWhen: stepCountIs(5),
				providerOptions: { openai: { store } },
				tools: {
					get_weather: tool({
						inputSchema: z.object({ place: z.string() }),
						execute: async () => {
							ran += 1;
							return '25';
						}
					})
				}
			};
			turn(`ai_${store}`);
			expect((await generateText(request)).text).toBe('25 degrees.');
			expectWhole(`ai_${store}`);
			turn(`ais_${store}`);
			expect(await streamText(request).text).toBe('25 degrees.');
			expectWhole(`ais_${store}`);
			expect(ran).toBe(2);
		}
	);

	test.each([
		['@openrouter/sdk', OpenRouter],
		['@openrouter/agent', AgentRouter]
	])('D40, D41: %s – callModel runs its own tool alone, and goes on', async (name, Router) => {
		const id = name.replace(/\W/g, '_');
		turn(id);
		const router = new Router({ apiKey: 'any', serverURL: rig.url }) as unknown as Caller;
		const weather = agentTool({
			name: 'get_weather',
			description: 'Weather of a place',
			inputSchema: z.object({ place: z.string() }),
			execute: async () => ({ degrees: 25 })
		});
		const result = router.callModel({ model: 'any/model', input: 'Weather?', tools: [weather] });
		expect(await result.getText()).toBe('25 degrees.');
		expectWhole(id);
	});
});
