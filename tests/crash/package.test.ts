/** The package as users get it: packed, installed and run, if possible also with a Node that's too old for the app (F14). */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import * as acp from '@agentclientprotocol/sdk';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, expect, test, vi } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { ask, follow } from '../support/crash-client.ts';
import { environmentOf, oldestNode } from '../support/installed-library.ts';

// Packing builds the app if it's stale.
vi.setConfig({ testTimeout: 120_000 });

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const MB = 1_000_000;

const folder = sharedFolder();
let place: string;
let command: string;
let environment: Record<string, string>;

beforeAll(async () => {
	place = join(folder, 'place');
	command = join(place, 'node_modules/.bin/openrouter-skills');
	for (const name of ['home', 'place', 'mine/greet']) await mkdir(join(folder, name), { recursive: true });
	await writeFile(join(folder, 'mine/greet/SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nSay hello.\n');
	const { PATH = '', ...inherited } = environmentOf(await oldestNode());
	// This machine's npm settings, but no keys or settings of its user.
	const { stdout } = await run('npm', ['config', 'get', 'cache', 'userconfig'], { env: { ...inherited, PATH } });
	const settings = [...stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [`npm_config_${name}`, value]);
	environment = { PATH, HOME: join(folder, 'home'), ...Object.fromEntries(settings) };
	await run('npm', ['pack', '--pack-destination', folder], { cwd: root, env: environment });
	const [packed = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
	const options = ['--omit=dev', '--prefer-offline', '--no-audit', '--no-fund'];
	await run('npm', ['install', ...options, join(folder, packed)], { cwd: place, env: environment });
}, 300_000);

interface Started {
	process: ChildProcess;
	url: string;
	said: () => string;
}

/** Runs the command; `url` is empty if it exited before it listened. */
async function start(...args: string[]): Promise<Started> {
	const child = spawn(command, args, { cwd: place, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
	const lines: string[] = [];
	const url = await new Promise<string>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', () => resolve(''));
		for (const stream of [child.stdout, child.stderr])
			createInterface({ input: stream }).on('line', (line) => {
				lines.push(line);
				const address = /^Listening on (\S+)$/.exec(line)?.[1];
				if (address) resolve(address);
			});
	});
	return { process: child, url, said: () => lines.join('\n') };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
	const ended = once(child, 'exit');
	child.kill(signal);
	return (await ended)[0] as number | null;
}

async function sizeOf(path: string): Promise<number> {
	const entry = await lstat(path);
	if (!entry.isDirectory()) return entry.size;
	const sizes = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
	return sizes.reduce((sum, size) => sum + size, 0);
}

test('installed it takes less than 120 MB without Node, runs no script of its own, and has nothing that builds or tests the app', async () => {
	const modules = join(place, 'node_modules');
	const packages = await readdir(modules);
	const sizes = await Promise.all(
		packages.filter((name) => !name.startsWith('node-')).map((n) => sizeOf(join(modules, n)))
	);
	expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120 * MB);
	expect(packages.filter((name) => /svelte|vite|typescript|playwright$/.test(name))).toEqual([]);
	const text = await readFile(join(modules, 'openrouter-skills/package.json'), 'utf8');
	const { scripts } = JSON.parse(text) as { scripts: Record<string, string> };
	for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) expect(scripts).not.toHaveProperty(name);
});

test.each([
	[['--data', '/dev/null/data'], 'Couldn’t start the app: Couldn’t use /dev/null/data as the data folder: ', 1],
	[['--skills', 'nowhere'], '“nowhere” isn’t a folder. Name a folder of skills after --skills.', 1],
	[['--skills', 'package.json'], '“package.json” isn’t a folder. Name a folder of skills after --skills.', 1],
	[['--port', 'http'], '--port must be a number from 0 to 65535, but it’s “http”.', 1],
	[['--prot', '1'], "Unknown option '--prot'. “--help” lists what there is.", 2],
	[['--data'], "Option '--data <value>' argument missing. “--help” lists what there is.", 2],
	[['frobnicate', 'x'], 'Unknown command “frobnicate”.', 2],
	[['backup'], 'Name one file: openrouter-skills backup FILE.', 1]
])('%j is refused in plain words', async (args, sentence, exitCode) => {
	const { process: refused, url, said } = await start(...args);
	expect(url).toBe('');
	expect(said()).toContain(sentence);
	expect(said()).not.toMatch(/^\s+at /m);
	expect(refused.exitCode).toBe(exitCode);
});

test('a port that is taken is named; where none was asked for, the next free one is taken', async () => {
	const other = createServer().listen(0, '127.0.0.1');
	await once(other, 'listening');
	const { port } = other.address() as AddressInfo;
	const data = join(folder, 'port');
	const refused = await start('--data', data, '--port', String(port));
	expect(refused.said()).toContain(`Port ${port} is already in use. Set PORT to another port, or stop the program`);
	expect(refused.process.exitCode).toBe(1);
	other.close();

	const usual = createServer();
	// If another program has the port, that's just as good.
	await new Promise((resolve) => usual.once('error', resolve).listen(3000, '127.0.0.1', () => resolve(null)));
	const app = await start('--data', data);
	expect(Number(new URL(app.url).port)).toBeGreaterThan(3000);
	expect(await end(app.process, 'SIGTERM')).toBe(0);
	usual.close();
});

test('one command starts it: Demo mode answers with a bundled skill, a second start is refused, and it stops', async () => {
	const data = join(folder, 'data');
	const args = ['--port', '0', '--data', data, '--skills', '../mine'];
	const app = await start(...args);
	expect(app.url).not.toBe('');
	expect((await fetch(app.url)).status).toBe(200);
	const { skills } = (await (await fetch(`${app.url}/api/skills`)).json()) as { skills: { name: string }[] };
	expect(skills.map(({ name }) => name)).toEqual(expect.arrayContaining(['greet', 'count-words', 'data-analysis']));

	const question = 'How many words are in "the quick brown fox"?';
	await ask(app.url, { runId: 'r', conversationId: 'c', messageId: 'm', text: question });
	const { events } = await follow(app.url, 'r');
	const text = events.map(({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('');
	expect(text).toMatch(/\b4\b/);

	const second = await start(...args);
	expect(second.said()).toContain(`Another server is using the data folder ${data}: process `);
	expect(second.said()).toContain(` at ${app.url}. Stop that server first`);
	expect(second.process.exitCode).toBe(1);

	const { stdout } = await run(command, ['backup', 'saved', '--data', data], { cwd: place, env: environment });
	expect(stdout).toMatch(/^Backed up .*: \d+ files/);
	expect(existsSync(join(place, 'saved'))).toBe(true);

	expect(await end(app.process, 'SIGTERM')).toBe(0);
	expect(existsSync(join(data, 'server.json'))).toBe(false);
	await expect(fetch(app.url)).rejects.toThrow();
	// It writes nothing outside the data folder.
	expect(await readdir(join(folder, 'home'))).toEqual([]);
});

test('the skills are there for an MCP client, with the same folders', async () => {
	const client = new Client({ name: 'package', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
	const args = ['mcp', '--data', join(folder, 'data'), '--skills', '../mine'];
	const transport = new StdioClientTransport({ command, args, cwd: place, stderr: 'ignore', env: environment });
	await client.connect(transport);
	const names = (await client.listPrompts()).prompts.map(({ name }) => name);
	expect(names).toEqual(expect.arrayContaining(['greet', 'count-words']));
	await client.close();
});

test('F12: the agent is there for an editor, and ends with it', async () => {
	const args = ['acp', '--data', join(folder, 'data'), '--skills', '../mine'];
	const child = spawn(command, args, { cwd: place, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
	const stream = acp.ndJsonStream(
		Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
		Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>
	);
	const ended = once(child, 'exit');
	const said: string[] = [];
	const client = acp.client({ name: 'package' }).onNotification('session/update', ({ params: { update } }) => {
		if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
			said.push(update.content.text);
	});
	const { agent } = client.connect(stream);
	const about = await agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION });
	expect(about.agentInfo?.version).toMatch(/^\d+\.\d+\.\d+$/);
	const { sessionId } = await agent.request('session/new', { cwd: place, mcpServers: [] });
	const prompt = [{ type: 'text' as const, text: 'Count the words of “one two three”' }];
	expect(await agent.request('session/prompt', { sessionId, prompt })).toEqual({ stopReason: 'end_turn' });
	expect(said.join('')).toMatch(/words\W+3\b/);
	child.stdin.end();
	expect((await ended)[0]).toBe(0);
});

test('ended by force, the command leaves no server behind', async () => {
	const app = await start('--port', '0', '--data', join(folder, 'data'));
	expect(await end(app.process, 'SIGKILL')).toBe(null);
	await expect
		.poll(() =>
			fetch(app.url).then(
				() => 'there',
				() => 'gone'
			)
		)
		.toBe('gone');
});

test('an update that takes files of the page away does not end the server', async () => {
	const app = await start('--port', '0', '--data', join(folder, 'data'));
	const page = await (await fetch(app.url)).text();
	const [asset = ''] = /_app\/immutable\/[^"]+\.js/.exec(page) ?? [];
	const client = join(place, 'node_modules/openrouter-skills/build/client');
	await rename(client, `${client}-gone`);
	try {
		await expect(fetch(`${app.url}/${asset}`).then((answer) => answer.text())).rejects.toThrow(TypeError);
		expect((await fetch(`${app.url}/api/health`)).status).toBe(200);
	} finally {
		await rename(`${client}-gone`, client);
		await end(app.process, 'SIGTERM');
	}
});

test('the library is imported from the same package, and its commands run', async () => {
	const source = `import { createSkillsProvider } from 'openrouter-skills';
const skills = await createSkillsProvider('../mine');
console.log(skills.skillNames.join());
await skills.close();`;
	await writeFile(join(place, 'program.mjs'), source);
	expect((await run('node', ['program.mjs'], { cwd: place, env: environment })).stdout).toBe('greet\n');
	expect((await run(command, ['validate', '../mine'], { cwd: place, env: environment })).stdout).toContain(
		'1 skill, 0 errors'
	);
	const { stdout } = await run(command, ['--help'], { cwd: place, env: environment });
	for (const name of ['--port', '--open', 'mcp', 'acp', 'backup', 'validate', 'eval']) expect(stdout).toContain(name);
	expect((await run(command, ['--version'], { cwd: place, env: environment })).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
