/** Other people’s clients of Chat Completions over real HTTP: in demo mode, and with a scripted model. */
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CHAT_CLIENTS } from '../support/chat-clients.ts';
import { call, calls, status, text } from '../support/model-server.ts';
import { openResponses, type ResponsesRig } from '../support/responses-rig.ts';
import { COUNT_WORDS, FIVE_WORDS, missingSums, SALES, SUMMARISE } from '../support/tasks.ts';

describe('in demo mode', () => {
	let rig: ResponsesRig;
	beforeAll(async () => {
		rig = await openResponses();
	});
	afterAll(() => rig.close());

	test.each(Object.entries(CHAT_CLIENTS))(
		'F12: %s – words are counted, and sales.csv is summarised, streamed and whole',
		async (_name, clientFor) => {
			const client = clientFor({ url: rig.url, key: 'none' });
			expect(await client.ask({ text: COUNT_WORDS })).toMatch(FIVE_WORDS);
			expect(await client.stream({ text: COUNT_WORDS })).toMatch(FIVE_WORDS);
			expect(missingSums(await client.ask({ text: SUMMARISE, file: SALES }))).toEqual([]);
			expect(missingSums(await client.stream({ text: SUMMARISE, file: SALES }))).toEqual([]);
		}
	);
});

describe('with a scripted model', () => {
	let rig: ResponsesRig;
	let openai: OpenAI;
	beforeAll(async () => {
		rig = await openResponses({
			script: [],
			skills: {
				'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
				'demo/scripts/say.sh': 'echo "said: $*"\n'
			}
		});
		openai = new OpenAI({ baseURL: rig.url, apiKey: 'none', maxRetries: 0 });
	});
	afterAll(() => rig.close());
	/** A skill’s call and the client’s, then an answer. */
	const turn = (id: string) => {
		rig.model?.restart([
			calls([
				{ name: 'use_skill', args: { skill: 'demo', script: 'scripts/say.sh', args: ['x'] }, callId: `call_own_${id}` },
				{ name: 'get_weather', args: { place: 'Rome' }, callId: `call_${id}` }
			]),
			text('25 degrees.')
		]);
	};
	const expectWhole = () => {
		rig.model?.assertDone();
		const input = JSON.stringify(rig.model?.requests.at(-1)?.body.input);
		expect(input).toContain('said: x');
		expect(input).toContain('25');
	};

	test('D40, D41: openai – runTools runs its own tool alone, streamed and whole', async () => {
		let ran = 0;
		const tools = [
			{
				type: 'function' as const,
				function: {
					name: 'get_weather',
					description: 'Weather of a place',
					parameters: { type: 'object', properties: { place: { type: 'string' } } },
					parse: JSON.parse,
					function: () => {
						ran += 1;
						return '25';
					}
				}
			}
		];
		const request = { model: 'any', messages: [{ role: 'user' as const, content: 'Weather?' }], tools };
		turn('tools');
		expect(await openai.chat.completions.runTools(request).finalContent()).toBe('25 degrees.');
		expectWhole();
		turn('streamed');
		expect(await openai.chat.completions.runTools({ ...request, stream: true }).finalContent()).toBe('25 degrees.');
		expectWhole();
		expect(ran).toBe(2);
	});

	test('F12: openai – parse gets what a schema of zod describes', async () => {
		rig.model?.restart([text('{"words":5}')]);
		const completion = await openai.chat.completions.parse({
			...{ model: 'any', messages: [{ role: 'user', content: 'Count' }] },
			response_format: zodResponseFormat(z.object({ words: z.number() }), 'count')
		});
		expect(completion.choices[0]?.message.parsed).toEqual({ words: 5 });
		expect(rig.model?.requests[0]?.body.text).toMatchObject({
			format: { type: 'json_schema', name: 'count', strict: true }
		});
	});

	test('F12: openai – an error in a stream is thrown with its sentence and code; without one it has its status', async () => {
		const refused = () => status(404, { error: { message: 'No such model.' } });
		rig.model?.restart([refused(), refused()]);
		const request = { model: 'no/such', messages: [{ role: 'user' as const, content: 'Hi' }] };
		const read = async () => {
			for await (const _chunk of await openai.chat.completions.create({ ...request, stream: true }));
		};
		await expect(read()).rejects.toMatchObject({
			code: 'model_not_found',
			message: expect.stringContaining('no/such')
		});
		await expect(openai.chat.completions.create(request)).rejects.toMatchObject({
			status: 404,
			code: 'model_not_found'
		});
	});

	test('F12: openai – the usage of a stream is in its last chunk', async () => {
		rig.model?.restart([text('Hello.')]);
		const stream = openai.chat.completions.stream({
			...{ model: 'any', messages: [{ role: 'user', content: 'Hi' }] },
			stream_options: { include_usage: true }
		});
		expect((await stream.totalUsage()).total_tokens).toBeGreaterThan(0);
	});

	test('D40, D41: ai – generateText and streamText go on by themselves, and show what ran as reasoning', async () => {
		const request = {
			model: createOpenAI({ baseURL: rig.url, apiKey: 'any' }).chat('any'),
			prompt: 'Weather?',
			stopWhen: stepCountIs(5),
			tools: { get_weather: tool({ inputSchema: z.object({ place: z.string() }), execute: async () => '25' }) }
		};
		turn('ai');
		expect((await generateText(request)).text).toBe('25 degrees.');
		expectWhole();
		turn('ais');
		expect(await streamText(request).text).toBe('25 degrees.');
		expectWhole();
	});

	test('F12: ai – an error in a stream is one for the program', async () => {
		rig.model?.restart([status(402, { error: { message: 'No credits.' } })]);
		const model = createOpenAI({ baseURL: rig.url, apiKey: 'any' }).chat('any');
		const errors: unknown[] = [];
		const { fullStream } = streamText({
			model,
			prompt: 'Hi',
			maxRetries: 0,
			onError: ({ error }) => void errors.push(error)
		});
		for await (const _part of fullStream);
		expect(JSON.stringify(errors)).toContain('insufficient_credits');
	});

	test('B17: openai – a skill’s call alone needs nothing of the client', async () => {
		rig.model?.restart([call('use_skill', { skill: 'demo', script: 'scripts/say.sh', args: ['y'] }), text('Said.')]);
		const { choices } = await openai.chat.completions.create({
			model: 'any',
			messages: [{ role: 'user', content: 'Say' }]
		});
		expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Said.' } });
	});
});
