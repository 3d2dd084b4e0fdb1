/** `npm run mcp`, started like clients do: over stdio, with the client’s own transport. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { openDataFolder } from '../../src/lib/server/data-folder.ts';
import { createLog } from '../../src/lib/server/log.ts';
import { MODERN, openMcpRig } from '../support/mcp-rig.ts';
import { processesWith } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');
const folder = sharedFolder();

const environment = (dataDir: string) => {
	const { PATH = '', HOME = '' } = process.env;
	return { PATH, HOME, DATA_DIR: dataDir, SKILLS_SANDBOX: 'process', SKILLS_DIRS: join(root, 'skills') };
};

async function connect(dataDir: string, modern: boolean): Promise<Client> {
	const mode = modern ? { pin: MODERN } : 'legacy';
	const client = new Client({ name: 'stdio', version: '1.0.0' }, { versionNegotiation: { mode } });
	const program = { command: 'npm', args: ['run', '--silent', 'mcp'], cwd: root, stderr: 'ignore' as const };
	await client.connect(new StdioClientTransport({ ...program, env: environment(dataDir) }));
	return client;
}

test.each([
	{ version: MODERN, modern: true },
	{ version: '2025-11-25', modern: false }
])('E15: npm run mcp speaks $version over stdio, and the words are counted', async ({ version, modern }) => {
	const client = await connect(join(folder, `data-${version}`), modern);
	expect(client.getNegotiatedProtocolVersion()).toBe(version);
	const result = await client.callTool({ name: 'count_words', arguments: { text: 'one two three' } });
	expect(result.structuredContent).toMatchObject({ words: 3 });
	const content = await readFile(join(root, 'tests/fixtures/sales.csv'), 'utf8');
	const file = { skillName: 'file_write', input: { path: 'sales.csv', content } };
	await client.callTool({ name: 'skills_execute', arguments: file });
	const args = ['sales.csv', '--group-by', 'region', '--value', 'revenue'];
	const summary = await client.callTool({
		name: 'use_skill',
		arguments: { skill: 'data-analysis', script: 'scripts/analyze_csv.mjs', args }
	});
	expect((summary.structuredContent as { stdout: string }).stdout).toMatch(/\| North \| 6 \| 6 \| 3[,]?786\.7/);
	await client.close();
});

test('E15: beside a server that has the data folder it passes on to it, and ends with its client', async () => {
	const rig = await openMcpRig();
	try {
		await rig.put('waits/SKILL.md', '---\nname: waits\ndescription: Waits.\n---\nText.');
		await rig.put('waits/scripts/wait.sh', 'exec sleep "$1"\n');
		await rig.app.skills.registry.reload();
		const client = await connect(rig.dataDir, false);
		const names = (await client.listPrompts()).prompts.map(({ name }) => name);
		expect(names).toContain('waits');
		const call = client
			.callTool({ name: 'use_skill', arguments: { skill: 'waits', script: 'scripts/wait.sh', args: ['98765.0505'] } })
			.catch(String);
		await expect.poll(() => processesWith('sleep 98765.0505')).not.toEqual([]);
		await client.close();
		await call;
		await expect.poll(() => processesWith('sleep 98765.0505')).toEqual([]);
	} finally {
		await rig.close();
	}
});

test('E15: a server that has the folder but does not answer, as it is starting or ending, is waited for', async () => {
	const dataDir = join(folder, 'data-busy');
	const held = openDataFolder(dataDir, createLog());
	// Accepts a request and then disappears.
	const met: Socket[] = [];
	const ending = createServer((socket) => {
		met.push(socket);
		socket.on('error', () => undefined);
		socket.once('data', () => socket.end());
	});
	await new Promise<void>((resolve) => ending.listen(join(dataDir, 'mcp.sock'), resolve));
	const connecting = connect(dataDir, false);
	await expect.poll(() => met.length).toBeGreaterThan(1);
	await new Promise((resolve) => ending.close(resolve));
	held.close();
	const client = await connecting;
	expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('count-words');
	await client.close();
});

test('E15: nothing but the protocol is written to standard output, whatever comes in', async () => {
	const node = join(root, 'node_modules/.bin/node');
	const env = environment(join(folder, 'data-raw'));
	const server = spawn(node, ['src/lib/server/cli/mcp.ts'], { cwd: root, env, stdio: ['pipe', 'pipe', 'ignore'] });
	const lines: string[] = [];
	server.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
	const initialize = {
		...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
		params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
	};
	server.stdin.write(`not json\n{"jsonrpc":"2.0"}\n[]\n${JSON.stringify(initialize)}\n`);
	await expect.poll(() => lines.some((line) => line.includes('"protocolVersion":"2025-06-18"'))).toBe(true);
	server.stdin.write('{"jsonrpc":"2.0","id":2,"method":"no/such"}\n');
	await expect.poll(() => lines.some((line) => line.includes('-32601'))).toBe(true);
	const ended = new Promise((resolve) => server.once('close', resolve));
	server.stdin.end();
	expect(await ended).toBe(0);
	for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('E15: a client that ends npm and keeps its own end open leaves nothing behind', async () => {
	const dataDir = join(folder, 'data-left');
	const npm = spawn('npm', ['run', '--silent', 'mcp'], {
		cwd: root,
		env: environment(dataDir),
		stdio: ['pipe', 'pipe', 'ignore']
	});
	const ended = once(npm.stdout, 'end');
	npm.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`);
	expect(String((await once(npm.stdout, 'data'))[0])).toContain('"id":1');
	npm.kill('SIGTERM');
	npm.stdout.resume();
	// npm's output ends only once the program itself has ended.
	await ended;
});

test('E15: started from another folder it has the skills of the project', async () => {
	const args = [join(root, 'src/lib/server/cli/mcp.ts')];
	const env = { ...environment(join(folder, 'data-elsewhere')), SKILLS_DIRS: '', HOME: folder };
	const client = new Client({ name: 'elsewhere', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
	const command = join(root, 'node_modules/.bin/node');
	await client.connect(new StdioClientTransport({ command, args, cwd: folder, stderr: 'ignore', env }));
	expect((await client.listTools()).tools.map(({ name }) => name)).toContain('count_words');
	await client.close();
});
