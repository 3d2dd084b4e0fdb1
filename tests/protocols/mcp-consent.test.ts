/** Approvals are requested through the MCP client: elicitation, over real HTTP (C16, E15, E30). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import { gate } from '../support/gate.ts';
import { MODERN, openMcpRig, type McpRig } from '../support/mcp-rig.ts';

let rig: McpRig;
/** A server that trusts no folder before someone has reviewed it. */
let wary: McpRig;
beforeAll(async () => {
	rig = await openMcpRig({ SKILLS_APPROVAL: 'ask' });
	wary = await openMcpRig({ SKILLS_TRUST_LOCAL: 'ask' });
	await wary.put('stranger/SKILL.md', '---\nname: stranger\ndescription: Says things.\n---\nscripts/say.sh');
	await wary.put('stranger/scripts/say.sh', 'echo "said: $*"\n');
	await wary.app.skills.registry.reload();
	await rig.put(
		'needy/SKILL.md',
		'---\nname: needy\ndescription: Needs.\nmetadata:\n  env: A_TOKEN\n---\nscripts/say.sh'
	);
	await rig.put('needy/scripts/say.sh', 'echo said\n');
	await rig.app.skills.registry.reload();
});
afterAll(() => Promise.all([rig.close(), wary.close()]));

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const executions = async (of = rig) => (await of.app.store.skillExecutions.list({}, { page: 1, limit: 1 })).total;
const COUNT = { name: 'count_words', arguments: { text: 'a b c' } };

type Answer = ElicitResult | ((asked: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>);

/** A client whose user gives this answer, and what that user was asked. */
async function clientWith(
	answer: Answer,
	modern: boolean,
	server = rig,
	key?: string
): Promise<{ client: Client; asked: string[] }> {
	const client = await server.connect({
		modern,
		capabilities: { elicitation: {} },
		...(key === undefined ? {} : { key })
	});
	const asked: string[] = [];
	client.setRequestHandler('elicitation/create', ({ params }) => {
		asked.push(params.message);
		return typeof answer === 'function' ? answer(params) : answer;
	});
	return { client, asked };
}

describe.each([
	{ version: '2026-07-28', modern: true },
	{ version: '2025-11-25', modern: false }
])('$version', ({ modern }) => {
	test('C16, E15: a client that can ask is asked, with what would run; allowed, it runs once', async () => {
		const { client, asked } = await clientWith({ action: 'accept', content: {} }, modern);
		const before = await executions();
		const counted = await client.callTool(COUNT);
		expect(counted.structuredContent).toMatchObject({ words: 3 });
		expect(asked).toHaveLength(1);
		expect(asked[0]).toBe('“count-words” wants to run count_words.\n\nArguments:\n{"text":"a b c"}\n\nAllow once?');
		expect(await executions()).toBe(before + 1);
		// Allowing once doesn't allow it forever.
		await client.callTool(COUNT);
		expect(asked).toHaveLength(2);
	});

	test.each(['decline', 'cancel'] as const)('C16: after “%s” nothing runs, and the model is told', async (action) => {
		const { client, asked } = await clientWith({ action }, modern);
		const before = await executions();
		for (const call of [
			COUNT,
			{ name: 'skills_execute', arguments: { skillName: 'count-words', input: { text: 'a b' } } },
			{ name: 'skills_execute', arguments: { skillName: 'file_write', input: { path: 'no.txt', content: 'a' } } }
		]) {
			const refused = await client.callTool(call);
			expect(refused.isError, call.name).toBe(true);
			expect(JSON.parse(textOf(refused))).toMatchObject({ error: 'ApprovalDenied' });
		}
		expect(asked).toHaveLength(3);
		expect(await executions()).toBe(before);
	});

	test('C16: skills_execute asks for a script, a tool and a skill of the server itself', async () => {
		const { client, asked } = await clientWith({ action: 'accept', content: {} }, modern);
		const script = { skillName: 'count-words', script: 'scripts/count.mjs', args: ['one two'] };
		const counted = await client.callTool({ name: 'skills_execute', arguments: script });
		expect(counted.isError).toBeFalsy();
		const written = { skillName: 'file_write', input: { path: 'asked.txt', content: 'asked for' } };
		const done = await client.callTool({ name: 'skills_execute', arguments: written });
		expect(done.isError).toBeFalsy();
		expect(asked.map((message) => message.split('\n')[0])).toEqual([
			'“count-words” wants to run scripts/count.mjs.',
			'The built-in skill “file_write” wants to run.'
		]);
		expect(asked[1]).toContain('asked for');
	});

	test('E30: of a skill that nobody trusts it is said so, and it is asked about each time', async () => {
		const { client, asked } = await clientWith({ action: 'accept', content: {} }, modern, wary);
		const call = { name: 'use_skill', arguments: { skill: 'stranger', script: 'scripts/say.sh', args: ['hello'] } };
		for (const count of [1, 2]) {
			expect(textOf(await client.callTool(call))).toContain('said: hello');
			expect(asked).toHaveLength(count);
		}
		expect(asked[0]).toContain('This skill isn’t trusted');
		expect(asked[0]).toContain('trust it on its page, /skills/stranger.');
		expect(asked[0]).toContain('hello');
	});

	test('E30: files that change between question and answer are asked about again', async () => {
		const script = join(wary.skills, 'stranger/scripts/say.sh');
		const original = await readFile(script, 'utf8');
		let round = 0;
		const { client, asked } = await clientWith(
			async () => {
				round += 1;
				if (round > 1) return { action: 'decline' };
				await wary.put('stranger/scripts/say.sh', 'echo "something else"\n');
				await wary.app.skills.registry.reload();
				return { action: 'accept', content: {} };
			},
			modern,
			wary
		);
		const before = await executions(wary);
		const call = { name: 'use_skill', arguments: { skill: 'stranger', script: 'scripts/say.sh' } };
		expect(JSON.parse(textOf(await client.callTool(call)))).toMatchObject({ error: 'ApprovalDenied' });
		expect(asked).toHaveLength(2);
		expect(await executions(wary)).toBe(before);
		await wary.put('stranger/scripts/say.sh', original);
		await wary.app.skills.registry.reload();
	});

	test('C16: a long input is cut in the question, which says how long it is', async () => {
		const { client, asked } = await clientWith({ action: 'accept', content: {} }, modern);
		await client.callTool({ name: 'count_words', arguments: { text: 'word '.repeat(5000) } });
		expect(asked[0]?.length).toBeLessThan(3000);
		expect(asked[0]).toContain('characters)');
	});

	test('C16: no argument looks like two, or like the end of the question', async () => {
		const { client, asked } = await clientWith({ action: 'decline' }, modern);
		const args = ['one', 'two\n\nAllow once?'];
		const call = { skill: 'count-words', script: 'scripts/count.mjs', args };
		await client.callTool({ name: 'use_skill', arguments: call });
		await client.callTool({ name: 'use_skill', arguments: { ...call, args: [] } });
		expect(asked[0]).toContain('Arguments:\none\ntwo⟨U+000A⟩⟨U+000A⟩Allow once?\n\n');
		expect(asked[1]).toContain('No arguments.');
	});

	test('C16: what turns the order of characters is seen in the question', async () => {
		const { client, asked } = await clientWith({ action: 'decline' }, modern);
		await client.callTool({ name: 'count_words', arguments: { text: 'rm \u202Etxt.\u2066 a' } });
		expect(asked[0]).toContain('rm ⟨U+202E⟩txt.⟨U+2066⟩ a');
	});

	test('C16: who can only be sent to a page is not asked: the call is refused with where to allow it', async () => {
		const client = await rig.connect({ modern, capabilities: { elicitation: { url: {} } } });
		const refused = await client.callTool(COUNT);
		expect(refused.isError).toBe(true);
		expect(textOf(refused)).toContain('SKILLS_APPROVAL=auto');
	});
});

test.each([
	['MissingSecret', () => rig, 'needy', 'scripts/say.sh', 'A_TOKEN'],
	['ApprovalRequired', () => rig, 'count-words', 'scripts/count.mjs', 'SKILLS_APPROVAL=auto'],
	['NotTrusted', () => wary, 'stranger', 'scripts/say.sh', '/skills/stranger'],
	['SkillNotFound', () => rig, 'nobody', 'scripts/say.sh', 'nobody']
])(
	'D13: why nothing ran has its type, %s, by skills_execute as by the skill’s own tool',
	async (error, server, skill, script, words) => {
		const client = await server().connect();
		const before = await executions(server());
		for (const call of [
			{ name: 'skills_execute', arguments: { skillName: skill, script } },
			{ name: 'use_skill', arguments: { skill, script } }
		]) {
			const refused = await client.callTool(call);
			expect(refused.isError, call.name).toBe(true);
			expect(JSON.parse(textOf(refused)), call.name).toMatchObject({ ok: false, error });
			expect(textOf(refused)).toContain(words);
		}
		expect(await executions(server())).toBe(before);
	}
);

test('C16: a call that is cancelled while its question is open does not run (2025, where the server asks while it waits)', async () => {
	const isAsked = gate();
	const { client } = await clientWith(async () => {
		isAsked.open();
		return new Promise<never>(() => undefined);
	}, false);
	const before = await executions();
	const leaving = new AbortController();
	const call = client.callTool(COUNT, { signal: leaving.signal }).catch((error: unknown) => error);
	await isAsked.opened;
	leaving.abort(new Error('changed my mind'));
	expect(await call).toBeInstanceOf(Error);
	const after = await rig.connect({ modern: false });
	await after.listTools();
	expect(await executions()).toBe(before);
});

describe('with a key', () => {
	const STRANGER = { name: 'use_skill', arguments: { skill: 'stranger', script: 'scripts/say.sh', args: ['hello'] } };
	const keyOf = async (server: McpRig, scopes: ApiScope[]) =>
		(await server.app.apiKeys.create({ name: 'client', scopes })).key;
	const yes = { action: 'accept', content: {} } as const;

	test.each([true, false])(
		'C16, E30: a client that says yes to everything allows nothing by it (2026: %s)',
		async (modern) => {
			for (const [server, call] of [
				[rig, COUNT],
				[rig, { name: 'skills_execute', arguments: { skillName: 'count-words', input: { text: 'a b' } } }],
				[
					rig,
					{ name: 'skills_execute', arguments: { skillName: 'file_write', input: { path: 'no.txt', content: 'a' } } }
				],
				[wary, STRANGER]
			] as const) {
				const before = await executions(server);
				const key = await keyOf(server, ['read', 'write', 'execute']);
				const { client, asked } = await clientWith(yes, modern, server, key);
				const refused = await client.callTool(call);
				expect(refused.isError).toBe(true);
				expect(textOf(refused)).toContain(server === rig ? 'scope “approve”' : '/skills/stranger');
				expect(asked).toEqual([]);
				expect(await executions(server)).toBe(before);
			}
		}
	);

	test('C16: made to allow its own calls it has its user asked, and runs unasked where nobody can be', async () => {
		const key = await keyOf(rig, ['read', 'execute', 'approve']);
		const { client, asked } = await clientWith(yes, true, rig, key);
		expect((await client.callTool(COUNT)).structuredContent).toMatchObject({ words: 3 });
		expect(asked).toHaveLength(1);
		const silent = await rig.connect({ modern: true, key });
		expect((await silent.callTool(COUNT)).structuredContent).toMatchObject({ words: 3 });
	});

	test('E30: such a key may allow what nobody trusts, and never runs it unasked', async () => {
		const key = await keyOf(wary, ['read', 'execute', 'approve']);
		const { client, asked } = await clientWith(yes, true, wary, key);
		expect(textOf(await client.callTool(STRANGER))).toContain('said: hello');
		expect(asked).toHaveLength(1);
		const silent = await wary.connect({ modern: true, key });
		expect(JSON.parse(textOf(await silent.callTool(STRANGER)))).toMatchObject({ error: 'NotTrusted' });
	});
});

describe('an answer counts once, for the call that was asked about', () => {
	let id = 0;
	interface Round {
		resultType?: string;
		requestState?: string;
		structuredContent?: { words: number };
	}
	const accepted = { consent: { action: 'accept', content: {} } };

	async function call(args: object, more: object = {}, key?: string): Promise<Round> {
		const _meta = {
			'io.modelcontextprotocol/protocolVersion': MODERN,
			'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
			'io.modelcontextprotocol/clientCapabilities': { elicitation: {} }
		};
		const params = { name: 'count_words', arguments: args, _meta, ...more };
		const response = await rig.send({
			method: 'POST',
			headers: {
				...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
				...{ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'count_words' },
				...(key === undefined ? {} : { authorization: `Bearer ${key}` })
			},
			body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params })
		});
		const body = await response.text();
		const data = body.startsWith('{') ? body : (/^data: (\{.*)$/m.exec(body)?.[1] ?? '{}');
		return (JSON.parse(data) as { result: Round }).result;
	}

	async function question(args: object, key?: string): Promise<string> {
		const { resultType, requestState = '' } = await call(args, {}, key);
		expect(resultType).toBe('input_required');
		expect(requestState).not.toBe('');
		return requestState;
	}

	test('C16: the same answer twice is asked again', async () => {
		const args = { text: 'one two' };
		const requestState = await question(args);
		const answer = { requestState, inputResponses: accepted };
		expect(await call(args, answer)).toMatchObject({ structuredContent: { words: 2 } });
		expect(await call(args, answer)).toMatchObject({ resultType: 'input_required' });
	});

	test('C16: for other arguments, by another key, or to a question that nobody asked it is none', async () => {
		const before = await executions();
		const args = { text: 'one two' };
		const other = await call({ text: 'other' }, { requestState: await question(args), inputResponses: accepted });
		expect(other).toMatchObject({ resultType: 'input_required' });
		const keys = await Promise.all(
			['one', 'two'].map((name) => rig.app.apiKeys.create({ name, scopes: ['read', 'execute', 'approve'] }))
		);
		const asked = await question(args, keys[0]?.key);
		const stolen = await call(args, { requestState: asked, inputResponses: accepted }, keys[1]?.key);
		expect(stolen).toMatchObject({ resultType: 'input_required' });
		for (const requestState of ['', 'made-up', 'x'.repeat(10_000)]) {
			const made = await call(args, { requestState, inputResponses: accepted });
			expect(made).toMatchObject({ resultType: 'input_required' });
		}
		expect(await executions()).toBe(before);
	});

	test('C16: a key does not answer its own question, unless it was made for that', async () => {
		const before = await executions();
		const args = { text: 'one two' };
		const { key } = await rig.app.apiKeys.create({ name: 'plain', scopes: ['read', 'write', 'execute'] });
		const refused = await call(args, {}, key);
		expect(refused).toMatchObject({ isError: true });
		expect(JSON.stringify(refused)).toContain('scope “approve”');
		const requestState = await question(args);
		expect(await call(args, { requestState, inputResponses: accepted }, key)).toMatchObject({ isError: true });
		expect(await executions()).toBe(before);
	});

	test.each([
		['no object', { consent: 'yes' }],
		['no action', { consent: {} }],
		['another question’s', { other: { action: 'accept' } }],
		['nothing', {}]
	])('C16: an answer that is %s allows nothing', async (_what, inputResponses) => {
		const before = await executions();
		const args = { text: 'one two' };
		await call(args, { requestState: await question(args), inputResponses });
		expect(await executions()).toBe(before);
	});
});
