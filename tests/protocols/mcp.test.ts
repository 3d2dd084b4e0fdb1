/** The MCP server with its own client, current and previous version, over real HTTP. */
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openMcpRig, type McpRig } from '../support/mcp-rig.ts';
import { processesWith } from '../support/processes.ts';

const fixture = join(import.meta.dirname, '../fixtures/sales.csv');
let rig: McpRig;

beforeAll(async () => {
	rig = await openMcpRig();
	await rig.put(
		'demo/SKILL.md',
		'---\nname: demo\ndescription: Says things.\n---\nSay it with scripts/say.sh. Load the `not-here` skill first.'
	);
	await rig.put('demo/scripts/say.sh', 'echo "said: $*"\n');
	await rig.put('demo/scripts/steps.sh', 'for step in 1 2 3; do echo "step $step"; sleep 0.2; done\n');
	await rig.put('demo/scripts/wait.sh', 'echo "waits $1"; exec sleep "$1"\n');
	await rig.put('demo/picture.png', new Uint8Array([137, 80, 78, 71, 0, 1, 2]));
	await rig.put('demo/.env', 'SECRET=1\n');
	await writeFile(join(rig.dataDir, 'outside.txt'), 'outside');
	await symlink(join(rig.dataDir, 'outside.txt'), join(rig.skills, 'demo/link.txt'));
	await rig.app.skills.registry.reload();
});
afterAll(async () => {
	await rig.close();
});

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const dataOf = <Data>(result: unknown) => (result as { structuredContent: Data }).structuredContent;

describe.each([
	{ version: '2026-07-28', modern: true },
	{ version: '2025-11-25', modern: false }
])('$version', ({ version, modern }) => {
	let client: Client;
	beforeAll(async () => {
		client = await rig.connect({ modern });
	});

	test('E15: the version is negotiated, with the capabilities and the skills in the instructions', () => {
		expect(client.getNegotiatedProtocolVersion()).toBe(version);
		expect(client.getServerCapabilities()).toMatchObject({
			tools: { listChanged: true },
			resources: { listChanged: true },
			prompts: { listChanged: true },
			extensions: { 'io.modelcontextprotocol/skills': {} }
		});
		expect(client.getInstructions()).toContain('count-words');
	});

	test('E15: the tools are listed once, without their aliases, each with its schema and its hints', async () => {
		const { tools } = await client.listTools();
		const names = tools.map(({ name }) => name);
		expect(names).toEqual([
			...['skills_enable', 'skills_execute', 'skills_executions', 'skills_list'],
			...['load_skill', 'read_skill_file', 'use_skill', 'count_words']
		]);
		expect(tools.find(({ name }) => name === 'count_words')?.inputSchema).toMatchObject({
			type: 'object',
			properties: { text: { type: 'string' } }
		});
		expect(tools.find(({ name }) => name === 'skills_list')?.annotations?.readOnlyHint).toBe(true);
		expect(tools.find(({ name }) => name === 'use_skill')?.annotations?.destructiveHint).toBe(true);
	});

	test('E15: the words of a text are counted, by the skill’s own tool and by use_skill', async () => {
		const text = 'The quick brown fox jumps over the lazy dog.';
		const own = await client.callTool({ name: 'count_words', arguments: { text } });
		expect(dataOf(own)).toMatchObject({ words: 9, characters: 44 });
		const used = await client.callTool({
			name: 'use_skill',
			arguments: { skill: 'count-words', script: 'scripts/count.mjs', args: [text] }
		});
		expect(used.isError).toBeFalsy();
		expect(dataOf<{ stdout: string }>(used).stdout).toMatch(/\b9\b/);
	});

	test('E15: sales.csv is summarised by region, with the true sums', async () => {
		const content = await readFile(fixture, 'utf8');
		const written = await client.callTool({
			name: 'skills_execute',
			arguments: { skillName: 'file_write', input: { path: 'sales.csv', content } }
		});
		expect(written.isError, textOf(written)).toBeFalsy();
		const args = ['sales.csv', '--group-by', 'region', '--value', 'revenue'];
		const done = await client.callTool({
			name: 'skills_execute',
			arguments: { skillName: 'data-analysis', script: 'scripts/analyze_csv.mjs', args }
		});
		const { execution, result } = dataOf<{ execution: { status: string }; result: { stdout: string } }>(done);
		expect(execution.status).toBe('success');
		for (const [region, sum] of sumsByRegion(content)) {
			const line = result.stdout.split('\n').find((each) => each.includes(region)) ?? '';
			expect(line.replaceAll(',', '')).toContain(sum);
		}
	});

	test('E15: OmniRoute’s names are accepted, and what ran is in the history', async () => {
		const ran = await client.callTool({
			name: 'omniroute_skills_execute',
			arguments: { skillName: 'count-words', input: { text: 'one two' } }
		});
		expect(dataOf(ran)).toMatchObject({ execution: { status: 'success' }, result: { value: { words: 2 } } });
		const found = await client.callTool({ name: 'omniroute_skills_executions', arguments: { limit: 1 } });
		const { executions } = dataOf<{ executions: { skill: string; sessionId: string }[] }>(found);
		expect(executions).toHaveLength(1);
		expect(executions[0]).toMatchObject({ skill: 'count-words', sessionId: expect.stringMatching(/^mcp-/) });
		const tooMany = await client.callTool({ name: 'skills_executions', arguments: { limit: 101 } });
		expect(tooMany.isError).toBe(true);
	});

	test('E15: a skill that is switched off is gone from tools, resources and prompts, and comes back', async () => {
		const off = await client.callTool({ name: 'skills_enable', arguments: { skillId: 'count-words', enabled: false } });
		expect(dataOf(off)).toEqual({ skillId: 'count-words', enabled: false, mode: 'off' });
		const page = await client.listTools({}, { cacheMode: 'refresh' });
		expect(page.tools.map(({ name }) => name)).not.toContain('count_words');
		await expect(client.getPrompt({ name: 'count-words' })).rejects.toMatchObject({ code: -32602 });
		const run = await client.callTool({
			name: 'skills_execute',
			arguments: { skillName: 'count-words', input: { text: 'a' } }
		});
		expect(run.isError).toBe(true);
		await client.callTool({ name: 'skills_enable', arguments: { skillId: 'count-words' } });
		const listed = await client.callTool({ name: 'skills_list', arguments: { query: 'count', enabled: true } });
		expect(dataOf<{ skills: { id: string }[] }>(listed).skills.map(({ id }) => id)).toContain('count-words');
	});

	test('E15: files of skills are resources: text, bytes, and nothing that lies elsewhere or is hidden', async () => {
		const { resources } = await client.listResources();
		const uris = resources.map(({ uri }) => uri);
		expect(uris).toContain('skill://demo/SKILL.md');
		expect(uris).toContain('skill://demo/picture.png');
		expect(resources.find(({ uri }) => uri === 'skill://demo/SKILL.md')?.mimeType).toBe('text/markdown');
		const { resourceTemplates } = await client.listResourceTemplates();
		expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['skill://{skill}/{+path}']);
		const main = await client.readResource({ uri: 'skill://demo/SKILL.md' });
		expect(main.contents[0]).toMatchObject({ mimeType: 'text/markdown', text: expect.stringContaining('Say it') });
		const picture = await client.readResource({ uri: 'skill://demo/picture.png' });
		expect(picture.contents[0]).toMatchObject({ mimeType: 'image/png', blob: 'iVBORwABAg==' });
		const hostile = [
			...['demo/../../data/outside.txt', 'demo/%2e%2e/%2e%2e/data/outside.txt', 'demo/link.txt', 'demo/.env'],
			...['demo//etc/passwd', 'demo/%2Fetc%2Fpasswd', 'nobody/SKILL.md', 'demo/a%00b', 'demo/%ff', 'demo/']
		];
		for (const path of hostile) {
			await expect(client.readResource({ uri: `skill://${path}` }), path).rejects.toThrow();
		}
		await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow();
	});

	test('E15: each skill is a prompt that gives its instructions, with what was typed', async () => {
		const { prompts } = await client.listPrompts();
		expect(prompts.map(({ name }) => name)).toEqual(['count-words', 'data-analysis', 'demo']);
		const prompt = await client.getPrompt({ name: 'demo', arguments: { arguments: 'Say hello.' } });
		const [message] = prompt.messages;
		expect(message?.role).toBe('user');
		const { text } = message?.content as { text: string };
		expect(text).toContain('<skill_content name="demo"');
		expect(text).toContain('[This skill names skills that can’t be loaded now: not-here (not installed).]');
		expect(text.endsWith('Say hello.')).toBe(true);
		const loaded = await client.callTool({ name: 'load_skill', arguments: { skill: 'demo' } });
		expect(textOf(loaded)).toContain('not-here (not installed)');
	});

	test('E15: skills/list and skills/get tell each skill with the digests of its files', async () => {
		const answer = z.looseObject({ skills: z.array(z.looseObject({ uri: z.string(), resources: z.unknown() })) });
		const { skills } = await client.request({ method: 'skills/list', params: {} }, answer);
		expect(skills.map(({ uri }) => uri)).toContain('skill://count-words/SKILL.md');
		const one = await client.request(
			{ method: 'skills/get', params: { uri: 'skill://count-words/SKILL.md' } },
			z.looseObject({ skill: z.looseObject({ resources: z.array(z.looseObject({ digest: z.string() })) }) })
		);
		expect(one.skill.resources[0]?.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
	});

	test('E15: skills/get tells no list of files as whole where there are more than it knows', async () => {
		const paths = Array.from({ length: 101 }, (_, index) => `many/references/${index}.md`);
		await Promise.all(paths.map((path) => rig.put(path, path)));
		await rig.put('many/SKILL.md', '---\nname: many\ndescription: Has files.\n---\nText.');
		await rig.app.skills.registry.reload();
		try {
			const { skill } = await client.request(
				{ method: 'skills/get', params: { uri: 'skill://many/SKILL.md' } },
				z.looseObject({ skill: z.looseObject({ resources: z.unknown() }) })
			);
			expect(skill.resources).toBe('dynamic');
		} finally {
			await rm(join(rig.skills, 'many'), { recursive: true });
			await rig.app.skills.registry.reload();
		}
	});

	test('E15: skills/list has the description of the file, also one that is longer than the standard allows', async () => {
		const description = 'Counts words. '.repeat(120).trim();
		await rig.put('wordy/SKILL.md', `---\nname: wordy\ndescription: ${description}\n---\nText.`);
		await rig.app.skills.registry.reload();
		try {
			const entry = z.looseObject({ frontmatter: z.looseObject({ name: z.string(), description: z.string() }) });
			const { skills } = await client.request(
				{ method: 'skills/list', params: {} },
				z.looseObject({ skills: z.array(entry) })
			);
			expect(skills.find(({ frontmatter }) => frontmatter.name === 'wordy')?.frontmatter.description).toBe(description);
		} finally {
			await rm(join(rig.skills, 'wordy'), { recursive: true });
			await rig.app.skills.registry.reload();
		}
	});

	test('E15: names are completed', async () => {
		const ref = { type: 'ref/resource', uri: 'skill://{skill}/{+path}' } as const;
		const { completion } = await client.complete({ ref, argument: { name: 'skill', value: 'dem' } });
		expect(completion.values).toEqual(['demo']);
	});

	test('F15: live output comes as progress, growing, before the result', async () => {
		const seen: { progress: number; message?: string }[] = [];
		const result = await client.callTool(
			{ name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/steps.sh' } },
			{ onprogress: (progress) => void seen.push(progress as { progress: number; message?: string }) }
		);
		expect(dataOf<{ stdout: string }>(result).stdout).toBe('step 1\nstep 2\nstep 3\n');
		expect(seen.map(({ message }) => message).join('')).toContain('step 3');
		const counts = seen.map(({ progress }) => progress);
		expect(counts.length).toBeGreaterThan(1);
		expect(counts).toEqual([...counts].sort((a, b) => a - b));
	});

	test('E15: a call that is cancelled ends the process', async () => {
		const controller = new AbortController();
		const seconds = modern ? '98765.0101' : '98765.0202';
		const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
		const call = client.callTool(
			{ name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/wait.sh', args: [seconds] } },
			{
				signal: controller.signal,
				onprogress: ({ message = '' }) => {
					if (message.includes(`waits ${seconds}`)) resolve();
				}
			}
		);
		await isWaiting;
		await expect.poll(() => processesWith(`sleep ${seconds}`)).not.toEqual([]);
		controller.abort();
		await expect(call).rejects.toThrow();
		await expect.poll(() => processesWith(`sleep ${seconds}`)).toEqual([]);
	});

	test('A33: a skill that is added is told of, and is there', async () => {
		const { promise: changed, resolve } = Promise.withResolvers<string[]>();
		const name = `added-${modern ? 'modern' : 'legacy'}`;
		const follower = await rig.connect({
			modern,
			listChanged: {
				prompts: {
					onChanged: (_error, prompts) => {
						const names = prompts?.map((prompt) => prompt.name) ?? [];
						if (names.includes(name)) resolve(names);
					}
				}
			}
		});
		await rig.put(`${name}/SKILL.md`, `---\nname: ${name}\ndescription: New.\n---\nNew.`);
		expect(await changed).toContain(name);
		await follower.close();
		await rm(join(rig.skills, name), { recursive: true });
		await rig.app.skills.registry.reload();
	});

	test('C16: what is wrong is a result that says so; an unknown tool and an unknown method are protocol errors', async () => {
		const wrong = await client.callTool({ name: 'use_skill', arguments: { skill: 'demo', script: 'nothing.sh' } });
		expect(wrong.isError).toBe(true);
		expect(textOf(wrong)).toContain('ScriptNotFound');
		await expect(client.callTool({ name: 'no_such_tool', arguments: {} })).rejects.toMatchObject({ code: -32602 });
		const unknown = await client.request({ method: 'no/such' }, z.looseObject({})).catch(String);
		expect(unknown).toContain('Method not found');
	});
});

test('E18, F12: a key sees and does only what its scopes say, and only its own executions', async () => {
	const reader = await rig.app.apiKeys.create({ name: 'reader', scopes: ['read'] });
	const client = await rig.connect({ modern: true, key: reader.key });
	const names = (await client.listTools()).tools.map(({ name }) => name);
	expect(names).toEqual(['skills_executions', 'skills_list', 'load_skill', 'read_skill_file']);
	for (const name of ['skills_enable', 'skills_execute']) {
		const refused = await client.callTool({ name, arguments: { skillId: 'demo', skillName: 'demo' } });
		expect(refused.isError).toBe(true);
		expect(textOf(refused)).toContain('scope');
	}
	const run = await client.callTool({ name: 'use_skill', arguments: { skill: 'demo', script: 'scripts/say.sh' } });
	expect(textOf(run)).toContain('execute');
	const loaded = await client.callTool({ name: 'load_skill', arguments: { skill: 'demo' } });
	expect(textOf(loaded)).toContain('Say it');
	const { executions } = dataOf<{ executions: unknown[] }>(
		await client.callTool({ name: 'skills_executions', arguments: {} })
	);
	expect(executions).toEqual([]);
	const wrong = rig.connect({ modern: true, key: `ors_${'x'.repeat(43)}` });
	await expect(wrong).rejects.toThrow();
});

test('F3: nothing of a skill that nobody trusts is run, and the refusal says where to allow it', async () => {
	const own = await openMcpRig({ SKILLS_TRUST_LOCAL: 'ask' });
	try {
		const client = await own.connect();
		const run = { skill: 'count-words', script: 'scripts/count.mjs', args: ['a b'] };
		const calls = [
			{ name: 'use_skill', arguments: run },
			{ name: 'count_words', arguments: { text: 'a b' } },
			{ name: 'skills_execute', arguments: { skillName: 'count-words', input: { text: 'a b' } } }
		];
		for (const call of calls) {
			const refused = await client.callTool(call);
			expect(refused.isError, call.name).toBe(true);
			expect(textOf(refused)).toContain('/skills/count-words');
		}
		expect((await own.app.store.skillExecutions.list({}, { page: 1, limit: 1 })).total).toBe(0);
	} finally {
		await own.close();
	}
});

test('D43: one client has 64 calls under way, whatever sessions it names for them', async () => {
	const client = await rig.connect({ modern: true });
	const leaving = new AbortController();
	const wait = (session: number) => {
		const asked = { skillName: 'demo', script: 'scripts/wait.sh', args: ['98765.0303'], sessionId: `s${session}` };
		return client.callTool({ name: 'skills_execute', arguments: asked }, { signal: leaving.signal });
	};
	// One skill's calls run one after the other, so the rest wait.
	const calls = Array.from({ length: 65 }, (_, session) => wait(session).catch((error: unknown) => error));
	const refused = await Promise.race(calls);
	expect(JSON.parse(textOf(refused))).toMatchObject({ error: 'rate_limited' });
	leaving.abort();
	const rest = await Promise.all(calls);
	expect(rest.filter((result) => result instanceof Error)).toHaveLength(64);
	await expect.poll(() => processesWith('sleep 98765.0303')).toEqual([]);
});

test('C16: a server that asks before each script refuses all that would be asked, and says how to allow it', async () => {
	const own = await openMcpRig({ SKILLS_APPROVAL: 'ask' });
	try {
		const client = await own.connect({ modern: true });
		const calls = [
			{ name: 'count_words', arguments: { text: 'a b' } },
			{ name: 'skills_execute', arguments: { skillName: 'count-words', input: { text: 'a b' } } },
			{ name: 'skills_execute', arguments: { skillName: 'file_write', input: { path: 'a.txt', content: 'a' } } }
		];
		for (const call of calls) {
			const refused = await client.callTool(call);
			expect(refused.isError, call.name).toBe(true);
			expect(textOf(refused)).toContain('SKILLS_APPROVAL=auto');
		}
		const loaded = await client.callTool({ name: 'load_skill', arguments: { skill: 'count-words' } });
		expect(loaded.isError).toBeFalsy();
	} finally {
		await own.close();
	}
});

test('D17: a tool that is called like one of the server’s own is called skill__tool', async () => {
	const tools = JSON.stringify([{ name: 'skills_list', description: 'Mine.', script: 'scripts/mine.sh' }]);
	const folder = join(rig.skills, 'clash');
	await mkdir(folder, { recursive: true });
	await cp(join(rig.skills, 'demo/scripts'), join(folder, 'scripts'), { recursive: true });
	await writeFile(join(folder, 'scripts/mine.sh'), 'echo "{}"\n');
	await writeFile(join(folder, 'tools.json'), tools);
	await writeFile(join(folder, 'SKILL.md'), '---\nname: clash\ndescription: Clashes.\n---\nText.');
	await rig.app.skills.registry.reload();
	const client = await rig.connect();
	const names = (await client.listTools()).tools.map(({ name }) => name);
	expect(names.filter((name) => name === 'skills_list')).toHaveLength(1);
	expect(names).toContain('clash__skills_list');
});

/** The fixture's real sums. */
function sumsByRegion(csv: string): Map<string, string> {
	const [head = '', ...lines] = csv.trim().split('\n');
	const columns = head.split(',');
	const [region, revenue] = [columns.indexOf('region'), columns.indexOf('revenue')];
	const cents = new Map<string, number>();
	for (const line of lines) {
		const cells = line.split(',');
		const name = cells[region] ?? '';
		if (name === '' || !/^\d/.test(cells[revenue] ?? '')) continue;
		cents.set(name, (cents.get(name) ?? 0) + Math.round(Number(cells[revenue]) * 100));
	}
	return new Map([...cents].map(([name, sum]) => [name, String(sum / 100)]));
}
