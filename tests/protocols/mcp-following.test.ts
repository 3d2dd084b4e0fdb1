/** What clients are told without a request: files that they follow, and log messages. And what completes as they type. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODERN, openMcpRig, type McpRig } from '../support/mcp-rig.ts';

let rig: McpRig;
beforeAll(async () => {
	rig = await openMcpRig();
	const main =
		'---\nname: demo\ndescription: Says things.\nmetadata:\n  example: Say hello to everyone\n  triggers: [greet, Grow]\n---\nText.';
	await rig.put('demo/SKILL.md', main);
	await rig.put('demo/references/notes.md', 'One.');
	await rig.put('demo/scripts/say.sh', 'echo "said: $*"\n');
	await rig.put('demo/scripts/warn.sh', 'echo out; echo "first line" >&2; printf "half a line" >&2; exit 3\n');
	await rig.put('demo/scripts/flood.sh', 'for line in $(seq 5000); do echo "line $line" >&2; done\n');
	await rig.put('other/SKILL.md', '---\nname: other\ndescription: Another.\n---\nText.');
	await rig.app.skills.registry.reload();
});
afterAll(() => rig.close());

const NOTES = 'skill://demo/references/notes.md';
const run = (script: string) => ({ name: 'use_skill', arguments: { skill: 'demo', script: `scripts/${script}.sh` } });

/** The addresses a client was told of, as they come. */
function updatesOf(client: Client): string[] {
	const uris: string[] = [];
	client.setNotificationHandler('notifications/resources/updated', ({ params }) => void uris.push(params.uri));
	return uris;
}

/** Changes a file, and returns once the library has it. */
async function change(path: string, text: string): Promise<void> {
	await rig.put(path, text);
	await rig.app.skills.registry.reload();
}

describe('2025-11-25', () => {
	test('A33, E15: a client is told when a file that it follows has changed, and no more once it unsubscribed', async () => {
		const client = await rig.connect();
		expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: true, subscribe: true });
		const updates = updatesOf(client);
		await client.subscribeResource({ uri: NOTES });
		await client.subscribeResource({ uri: NOTES });
		await change('demo/references/notes.md', 'Two, and more.');
		await expect.poll(() => updates).toEqual([NOTES]);
		const { contents } = await client.readResource({ uri: NOTES }, { cacheMode: 'refresh' });
		expect(contents[0]).toMatchObject({ text: 'Two, and more.' });

		await client.unsubscribeResource({ uri: NOTES });
		await client.subscribeResource({ uri: 'skill://other/SKILL.md' });
		await change('demo/references/notes.md', 'Three, which nobody follows.');
		await change('other/SKILL.md', '---\nname: other\ndescription: Another.\n---\nOther text.');
		await expect.poll(() => updates).toContain('skill://other/SKILL.md');
		expect(updates.filter((uri) => uri === NOTES)).toHaveLength(1);
		await change('demo/references/notes.md', 'One.');
	});

	test('A33, E15: a skill that goes and comes back is told of both times', async () => {
		await rig.put('goes/SKILL.md', '---\nname: goes\ndescription: Goes.\n---\nText.');
		await rig.app.skills.registry.reload();
		const client = await rig.connect();
		const updates = updatesOf(client);
		await client.subscribeResource({ uri: 'skill://goes/SKILL.md' });
		await client.callTool({ name: 'skills_enable', arguments: { skillId: 'goes', enabled: false } });
		await expect.poll(() => updates).toHaveLength(1);
		await client.callTool({ name: 'skills_enable', arguments: { skillId: 'goes' } });
		await expect.poll(() => updates).toHaveLength(2);
		await rm(join(rig.skills, 'goes'), { recursive: true });
		await rig.app.skills.registry.reload();
		await expect.poll(() => updates).toHaveLength(3);
	});

	test('E15: what isn’t a file of a skill can’t be followed, nor can more than 100 files', async () => {
		const client = await rig.connect();
		for (const uri of [
			...['skill://nobody/SKILL.md', 'skill://demo/nothing.md', 'skill://demo/../../etc/passwd', 'file:///etc/passwd'],
			...['', 'skill://demo/', `skill://demo/${'x'.repeat(100_000)}`]
		]) {
			await expect(client.subscribeResource({ uri }), uri.slice(0, 40)).rejects.toThrow();
		}
		const wide = Array.from({ length: 60 }, (_, index) => `${index}.md`);
		for (const skill of ['wide', 'wider']) {
			await Promise.all(wide.map((name) => rig.put(`${skill}/${name}`, name)));
			await rig.put(`${skill}/SKILL.md`, `---\nname: ${skill}\ndescription: Has files.\n---\nText.`);
		}
		await rig.app.skills.registry.reload();
		const follow = (uri: string) => client.subscribeResource({ uri }).catch((error: unknown) => String(error));
		const answers = [];
		for (let round = 0; round < 10; round += 1) {
			const uris = wide.flatMap((name) => [`skill://wide/${name}`, `skill://wider/${name}`]);
			answers.push(
				...(await Promise.all(uris.slice(0, 60).map(follow))),
				...(await Promise.all(uris.slice(60).map(follow)))
			);
		}
		const refused = answers.filter((answer) => typeof answer === 'string');
		expect(answers).toHaveLength(1200);
		expect(refused).toHaveLength(10 * 20);
		expect(refused[0]).toContain('100 resources');
		for (const skill of ['wide', 'wider']) await rm(join(rig.skills, skill), { recursive: true });
		await rig.app.skills.registry.reload();
	});

	test('E15: with a level set, stderr comes as log messages line by line, and how a failed run ended', async () => {
		const client = await rig.connect();
		const messages: { level: string; data: unknown; logger?: string | undefined }[] = [];
		client.setNotificationHandler('notifications/message', ({ params }) => {
			messages.push({ level: params.level, data: params.data, logger: params.logger });
		});
		await client.callTool(run('warn'));
		expect(messages).toEqual([]);
		await client.setLoggingLevel('info');
		await client.callTool(run('warn'));
		const logger = 'demo/scripts/warn.sh';
		expect(messages).toEqual([
			{ level: 'info', data: 'first line', logger },
			{ level: 'info', data: 'half a line', logger },
			{ level: 'error', data: 'It ended with exit code 3.', logger }
		]);
		messages.length = 0;
		await client.setLoggingLevel('error');
		await client.callTool(run('warn'));
		expect(messages.map(({ level }) => level)).toEqual(['error']);
		await expect(client.setLoggingLevel('loud' as 'info')).rejects.toThrow();
	});

	test('E15: a script that floods stderr sends 200 log messages, and one that says so', async () => {
		const client = await rig.connect();
		const lines: unknown[] = [];
		client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params.data));
		await client.setLoggingLevel('debug');
		await client.callTool(run('flood'));
		expect(lines).toHaveLength(201);
		expect(lines[200]).toContain('aren’t sent');
	});
});

describe('2026-07-28', () => {
	test('A33, E15: a client that listens for a file is told when its skill has changed', async () => {
		const client = await rig.connect({ modern: true });
		const updates = updatesOf(client);
		const { close } = await client.listen({ resourceSubscriptions: [NOTES] });
		await change('demo/references/notes.md', 'Listened to.');
		await expect.poll(() => updates).toEqual([NOTES]);
		await close();
		await change('demo/references/notes.md', 'One.');
	});

	test('E15: nobody listens for thousands of files at once', async () => {
		const client = await rig.connect({ modern: true });
		const many = Array.from({ length: 5000 }, (_, index) => `skill://demo/${index}.md`);
		await expect(client.listen({ resourceSubscriptions: many })).rejects.toThrow('100');
	});

	test('E15: log messages come for a request that names a level, and for no other', async () => {
		const meta = (level?: string) => ({
			'io.modelcontextprotocol/protocolVersion': MODERN,
			'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
			'io.modelcontextprotocol/clientCapabilities': {},
			...(level === undefined ? {} : { 'io.modelcontextprotocol/logLevel': level })
		});
		const send = async (level?: string) => {
			const params = { ...run('warn'), _meta: meta(level) };
			const response = await rig.send({
				method: 'POST',
				headers: {
					...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
					...{ 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'use_skill' }
				},
				body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
			});
			return response.text();
		};
		expect(await send('info')).toContain('"data":"first line"');
		expect(await send()).not.toContain('notifications/message');
	});
});

test.each([
	{ version: MODERN, modern: true },
	{ version: '2025-11-25', modern: false }
])('A33, E15: over stdio a file is followed with $version', async ({ version, modern }) => {
	const dataDir = await mkdtemp(join(tmpdir(), 'mcp-following-'));
	try {
		const { PATH = '', HOME = '' } = process.env;
		const env = { PATH, HOME, DATA_DIR: dataDir, SKILLS_SANDBOX: 'process', SKILLS_DIRS: rig.skills };
		const mode = modern ? { pin: MODERN } : ('legacy' as const);
		const client = new Client({ name: 'stdio', version: '1.0.0' }, { versionNegotiation: { mode } });
		const cwd = join(import.meta.dirname, '../..');
		const program = { command: 'npm', args: ['run', '--silent', 'mcp'], cwd, stderr: 'ignore' as const, env };
		await client.connect(new StdioClientTransport(program));
		const updates = updatesOf(client);
		if (modern) await client.listen({ resourceSubscriptions: [NOTES] });
		else await client.subscribeResource({ uri: NOTES });
		await rig.put('demo/references/notes.md', `Over stdio, ${version}.`);
		await expect.poll(() => updates).toContain(NOTES);
		expect(new Set(updates)).toEqual(new Set([NOTES]));
		await client.close();
	} finally {
		await rm(dataDir, { recursive: true, force: true });
	}
});

describe.each([{ modern: true }, { modern: false }])('either version, modern $modern', ({ modern }) => {
	let client: Client;
	beforeAll(async () => {
		client = await rig.connect({ modern });
	});
	const template = { type: 'ref/resource', uri: 'skill://{skill}/{+path}' } as const;
	const path = async (value: string, skill = 'demo') => {
		const context = { arguments: { skill } };
		const { completion } = await client.complete({ ref: template, argument: { name: 'path', value }, context });
		return completion.values;
	};
	const task = async (value: string, name = 'demo') => {
		const ref = { type: 'ref/prompt', name } as const;
		const { completion } = await client.complete({ ref, argument: { name: 'arguments', value } });
		return completion.values;
	};

	test('E15: paths of a skill are completed, also from the name of a file or script', async () => {
		expect(await path('ref')).toEqual(['references/notes.md']);
		expect(await path('say')).toEqual(['scripts/say.sh']);
		expect(await path('SC')).toEqual(['scripts/flood.sh', 'scripts/say.sh', 'scripts/warn.sh']);
		expect(await path('x')).toEqual([]);
		expect(await path('ref', 'nobody')).toEqual([]);
		expect(await path('ref', '../..')).toEqual([]);
	});

	test('E15: the argument of a prompt is completed by the skill’s example and phrases, and its files', async () => {
		expect(await task('')).toEqual(['Say hello to everyone', 'greet', 'Grow']);
		expect(await task('gr')).toEqual(['greet', 'Grow']);
		expect(await task('Run fl')).toEqual(['Run scripts/flood.sh']);
		expect(await task('Run scripts/s')).toEqual(['Run scripts/say.sh']);
		expect(await task('gr', 'nobody')).toEqual([]);
		expect(await task('x '.repeat(50_000))).toEqual([]);
	});
});
