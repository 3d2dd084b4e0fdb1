/** Each vendor's official client with skills in its requests, against a server that refuses what the vendor refuses. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { runGateway, type RunGatewayOptions } from '../../src/lib/server/skills/hosts/gateway.ts';
import { createSkillsProvider, type SkillsProvider } from '../../src/lib/server/skills/provider.ts';
import { hostOf, type VendorHost } from '../support/vendor-clients.ts';
import { startVendorServer, type Vendor, type VendorReply, type VendorServer } from '../support/vendor-servers.ts';

const ROOT = join(import.meta.dirname, '../..');
const VENDORS: readonly Vendor[] = ['responses', 'chat', 'anthropic', 'gemini'];
const CLIENT: Record<Vendor, string> = {
	responses: 'openai (Responses)',
	chat: 'openai (Chat Completions)',
	anthropic: '@anthropic-ai/sdk',
	gemini: '@google/genai'
};

const cwd = emptyFolder();
let skills: SkillsProvider;
let server: VendorServer | undefined;
beforeEach(async () => {
	await copyFile(join(ROOT, 'tests/fixtures/sales.csv'), join(cwd, 'sales.csv'));
	skills = await createSkillsProvider(join(ROOT, 'skills'), { cwd });
});
afterEach(async () => {
	await skills.close();
	await server?.close();
	server = undefined;
});

async function play(vendor: Vendor, script: VendorReply[]): Promise<{ server: VendorServer; host: VendorHost }> {
	server = await startVendorServer(vendor, script);
	return { server, host: hostOf(vendor, server.url) };
}
const options = (more: Partial<RunGatewayOptions> = {}): RunGatewayOptions => ({ skills, cwd, ...more });
const load = (skill: string) => ({ name: 'load_skill', args: { skill } });
const count = (text: string) => ({
	name: 'use_skill',
	args: { skill: 'count-words', script: 'scripts/count.mjs', args: [text] }
});
const lastOf = (results: string[]) => results.at(-1) ?? '';
/** The model's answer, made only from what it was sent. */
const sayWords = (results: string[]) => {
	const { stdout } = JSON.parse(lastOf(results)) as { stdout: string };
	return `It has ${String((JSON.parse(stdout) as { words: number }).words)} words.`;
};

describe.each(VENDORS)('%s', (vendor) => {
	test(`B11, B13, B17, D39, D40: ${CLIENT[vendor]} loads count-words, runs it and says the true count`, async () => {
		const { server, host } = await play(vendor, [
			{ calls: [load('count-words')] },
			{ calls: [count('one two three four five')] },
			{ text: sayWords }
		]);
		const body = host.body('How many words are in: one two three four five');
		const before = structuredClone(body);
		const result = await runGateway(host.send, body, options());
		expect(server.violations).toEqual([]);
		expect(host.textOf(result.response)).toBe('It has 5 words.');
		expect(result).toMatchObject({ stopped: 'answered', left: [], requests: 3 });
		expect(result.executed.map(({ name, isError }) => [name, isError])).toEqual([
			['load_skill', false],
			['use_skill', false]
		]);
		expect(body, 'the host’s own body is as it was').toEqual(before);

		const first = server.seen(0);
		expect(first.system).toMatch(/^You are the host\.\n\n?## Available Skills/);
		expect(first.system.match(/## Available Skills/g)).toHaveLength(1);
		expect(first.tools).toEqual(['load_skill', 'use_skill']);
		expect(server.seen(1).results[0]).toContain('# Count words');
		expect(server.seen(1).tools, 'a loaded skill’s own tools are offered from the next request on').toEqual([
			...['load_skill', 'use_skill', 'count_words']
		]);
	});

	test(`D39, D40: ${CLIENT[vendor]} analyses sales.csv and says the true totals by region`, async () => {
		const args = ['sales.csv', '--group-by', 'region', '--value', 'revenue'];
		const { server, host } = await play(vendor, [
			{ calls: [load('data-analysis')] },
			{ calls: [{ name: 'use_skill', args: { skill: 'data-analysis', script: 'scripts/analyze_csv.mjs', args } }] },
			{ text: (results) => (JSON.parse(lastOf(results)) as { stdout: string }).stdout }
		]);
		const { response } = await runGateway(host.send, host.body('Summarise sales.csv by region'), options());
		expect(server.violations).toEqual([]);
		const rows = [...host.textOf(response).matchAll(/^\| (North|South|East|West) \| \d+ \| \d+ \| ([\d.,]+) /gm)];
		expect(Object.fromEntries(rows.map(([, region, sum]) => [region, Number(sum?.replaceAll(',', ''))]))).toEqual({
			...{ South: 4072.35, North: 3786.7, West: 3191.4, East: 2222.6 }
		});
	});

	test(`D41: in a mixed turn of ${CLIENT[vendor]} the host’s own call is left to it, and goes back with ours`, async () => {
		const own = { name: 'host_weather', args: { city: 'Oslo' } };
		const { server, host } = await play(vendor, [
			{ calls: [own, count('one two three')] },
			{ text: (results) => results.map((result) => (result.startsWith('{') ? sayWords([result]) : result)).join(' ') }
		]);
		const body = host.withOwnTool(host.body('Words and weather'), 'host_weather');
		const result = await runGateway(host.send, body, options());
		expect(result.stopped).toBe('host');
		expect(result.left).toMatchObject([own].map(({ name, args }) => ({ name, arguments: args })));
		expect(result.executed).toHaveLength(1);
		expect(server.seen(0).tools).toEqual(['load_skill', 'use_skill', 'host_weather']);

		const answers = result.left.map(({ id }) => ({ call: { ...result.left[0], id }, output: 'Rain.' }));
		const next = result.next(answers as Parameters<typeof result.next>[0]);
		const end = await runGateway(host.send, next, options());
		expect(server.violations).toEqual([]);
		expect(host.textOf(end.response)).toBe('Rain. It has 3 words.');
	});

	test(`B13, D41: a tool of ${CLIENT[vendor]}’s host wins its name, and an unknown name is nobody’s of ours`, async () => {
		const { server, host } = await play(vendor, [
			{ calls: [load('count-words'), { name: 'skill_load', args: { name: 'count-words' } }, { name: 'x', args: {} }] }
		]);
		const result = await runGateway(host.send, host.withOwnTool(host.body('Load'), 'load_skill'), options());
		expect(server.violations).toEqual([]);
		expect(server.seen(0).tools).toEqual(['use_skill', 'load_skill']);
		expect(result.left.map(({ name }) => name)).toEqual(['load_skill', 'skill_load', 'x']);
		expect(result.executed).toEqual([]);
	});

	test(`D40: the tools of ${CLIENT[vendor]}’s host run in between when it says how, and a failure is told`, async () => {
		const weather = (city: string) => ({ name: 'host_weather', args: { city } });
		const { server, host } = await play(vendor, [
			{ calls: [weather('Oslo'), weather('Nowhere')] },
			{ text: (results) => results.join(' ') }
		]);
		const result = await runGateway(host.send, host.withOwnTool(host.body('Weather'), 'host_weather'), {
			...options(),
			onHostCall: async ({ arguments: { city } }) => {
				if (city === 'Nowhere') throw new Error('No such city.');
				return `Rain in ${String(city)}.`;
			}
		});
		expect(server.violations).toEqual([]);
		expect(host.textOf(result.response)).toMatch(/^Rain in Oslo\. .*No such city\./);
		expect(result).toMatchObject({ stopped: 'answered', left: [] });
	});

	test(`D43: parallel calls of ${CLIENT[vendor]} are answered in their order`, async () => {
		const { server, host } = await play(vendor, [
			{ calls: [count('one'), load('deploy'), count('one two'), count('one two three')] },
			{ text: (results) => results.map((result) => (result.startsWith('{') ? sayWords([result]) : 'loaded')).join(' ') }
		]);
		const { response } = await runGateway(host.send, host.body('Count'), options());
		expect(server.violations).toEqual([]);
		expect(host.textOf(response)).toBe('It has 1 words. loaded It has 2 words. It has 3 words.');
	});

	test(`D39: broken arguments of ${CLIENT[vendor]} are a result that the model can read, and nothing runs`, async () => {
		const { server, host } = await play(vendor, [
			{
				calls: [
					{ name: 'use_skill', args: '{"skill": "count-words", "scr' },
					{ name: 'use_skill', args: {} }
				]
			},
			{ text: (results) => results.join('\n') }
		]);
		const { response, executed } = await runGateway(host.send, host.body('Count'), options());
		expect(server.violations).toEqual([]);
		expect(executed.map(({ isError }) => isError)).toEqual([true, true]);
		const [first, second] = host.textOf(response).split('\n');
		expect(JSON.parse(first ?? '')).toMatchObject({ ok: false, error: 'InvalidArgs' });
		expect(JSON.parse(second ?? '')).toMatchObject({ ok: false, error: 'InvalidArgs' });
	});

	test(`D39: a call of ${CLIENT[vendor]} that was cut off with the answer is not run`, async () => {
		const { server, host } = await play(vendor, [
			{ calls: [count('one two'), count('one two three')], isCutOff: true },
			{ text: (results) => results.map((result) => (JSON.parse(result) as { ok: boolean }).ok).join() }
		]);
		const { response } = await runGateway(host.send, host.body('Count'), options());
		expect(server.violations).toEqual([]);
		expect(host.textOf(response)).toBe('true,false');
	});

	test(`D40: an error that ${CLIENT[vendor]} is answered with reaches the host as the client throws it`, async () => {
		const { host } = await play(vendor, [
			{ calls: [load('count-words')] },
			{ status: 429, message: 'Too many requests today.' }
		]);
		const error: unknown = await runGateway(host.send, host.body('Count'), options()).catch(
			(thrown: unknown) => thrown
		);
		expect(error).toMatchObject({
			status: 429,
			message: expect.stringContaining('Too many requests today.') as string
		});
	});

	test(`D40: ${CLIENT[vendor]} makes the last of the follow-ups without calls, and one that comes is not run`, async () => {
		const { server, host } = await play(vendor, [
			...[1, 2, 3].map((words) => ({ calls: [count('word '.repeat(words))] })),
			{ text: () => 'Never asked.' }
		]);
		const body = { ...host.body('Count'), ...host.forced };
		const result = await runGateway(host.send, body, options({ maxFollowUps: 2 }));
		expect(server.violations).toEqual([]);
		expect(result).toMatchObject({ stopped: 'follow-ups', requests: 3 });
		expect(result.executed).toHaveLength(2);
		expect(result.left).toHaveLength(1);
		const choices = [0, 1, 2].map((index) => JSON.stringify(server.seen(index).choice).toLowerCase());
		expect(choices[0], 'the host may force the first call').toMatch(/required|any/);
		expect(choices[1], 'and no other').toMatch(/auto/);
		expect(choices[2]).toMatch(/none/);
	});
});

test.each(['chat', 'anthropic'] as const)(
	'D40: an answer that streams is gathered by the vendor’s own client, and its calls are run: %s',
	async (vendor) => {
		const { server } = await play(vendor, [
			{ calls: [load('count-words'), count('one two three four five')] },
			{ text: sayWords }
		]);
		const host = hostOf(vendor, server.url);
		const { response } = await runGateway(host.gather, host.body('Count'), options());
		expect(server.violations).toEqual([]);
		expect(server.requests.map(({ body }) => body.stream)).toEqual([true, true]);
		expect(host.textOf(response)).toBe('It has 5 words.');
	}
);
