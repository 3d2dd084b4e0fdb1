/** F14: a server that ran out of file descriptors works again once it has some, on every page and endpoint. */
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';

const root = join(import.meta.dirname, '../..');

// The start may include a build.
vi.setConfig({ testTimeout: 300_000 });

/** Some of each kind: pages, endpoints, and large parts that only one page uses. */
const PATHS = [
	...['/', '/skills', '/settings', '/docs/api', '/frames/diagram', '/frames/diagram/mermaid'],
	...['/api/health', '/api/skills', '/api/conversations', '/api/openapi.json', '/.well-known/agent-card.json']
];

let app: App | undefined;
afterEach(() => app?.stop());

/** Returns the status, over the agent's one kept-alive connection. */
function get(agent: Agent, url: string): Promise<number> {
	return new Promise((resolve, reject) => {
		const sent = request(url, { agent, headers: { accept: '*/*' } }, (response) => {
			response.resume().once('end', () => resolve(response.statusCode ?? 0));
		});
		sent.once('error', reject);
		sent.end();
	});
}

const limit = (pid: number, files: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${files}:`]);

test.runIf(process.platform === 'linux')(
	'what is asked for first while there are no file descriptors works afterwards',
	async () => {
		app = await startApp({ env: { LOG_LEVEL: 'debug' } });
		const { logs } = app;
		const pid = app.pid();
		// Within a moment of the first answer.
		await expect.poll(() => logs.join('\n'), { timeout: 30_000 }).toContain('all pages are loaded');
		const agent = new Agent({ keepAlive: true, maxSockets: 1 });
		expect(await get(agent, `${app.url}/api/health`)).toBe(200);
		// The next descriptor it would get is over the limit.
		const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
		let free = 0;
		while (used.has(free)) free += 1;
		limit(pid, free);
		const without: number[] = [];
		for (const path of PATHS) without.push(await get(agent, app.url + path).catch(() => 0));
		limit(pid, 1024);
		const statuses: [string, number][] = [];
		for (const path of PATHS) statuses.push([path, await get(agent, app.url + path)]);
		agent.destroy();
		expect(statuses.filter(([, status]) => status >= 500)).toEqual([]);
		expect(statuses.filter(([, status]) => status < 400).length).toBeGreaterThan(PATHS.length / 2);
		// Make sure these were answered while the process couldn't open anything.
		expect(without).toHaveLength(PATHS.length);
	}
);

describe.runIf(process.platform === 'linux')('npm run mcp', () => {
	const folder = emptyFolder();
	let server: ChildProcessByStdio<Writable, Readable, null> | undefined;
	let answers: AsyncIterator<string>;
	beforeEach(async () => {
		await putFile(folder, 'skills/say/SKILL.md', '---\nname: say\ndescription: Says.\n---\nText.');
		await putFile(folder, 'skills/say/say.sh', 'echo said\n');
	});
	afterEach(async () => {
		if (server?.exitCode === null) {
			server.stdin.end();
			await once(server, 'exit');
		}
	});

	async function start(...options: string[]): Promise<number> {
		const { PATH = '', HOME = '' } = process.env;
		const env = { PATH, HOME, DATA_DIR: join(folder, 'data'), SKILLS_DIRS: join(folder, 'skills') };
		// Playwright is installed, so the missing Chromium is what fails.
		const browser = { SKILLS_BROWSER_ENABLED: 'true', CHROMIUM_PATH: join(folder, 'none'), SKILLS_SANDBOX: 'process' };
		server = spawn(process.execPath, [...options, join(root, 'src/lib/server/cli/mcp.ts')], {
			env: { ...env, ...browser },
			stdio: ['pipe', 'pipe', 'ignore']
		});
		answers = createInterface(server.stdout)[Symbol.asyncIterator]();
		const clientInfo = { name: 'test', version: '1' };
		await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
		server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
		return server.pid ?? 0;
	}
	let id = 0;
	async function ask(method: string, params: unknown): Promise<string> {
		id += 1;
		server?.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
		for (;;) {
			const { value = '', done } = await answers.next();
			if (done) throw new Error('The server has ended.');
			if ((JSON.parse(value) as { id?: number }).id === id) return value;
		}
	}
	const call = (name: string, args: unknown = {}) => ask('tools/call', { name, arguments: args });
	const say = () => call('skills_execute', { skillName: 'say', script: 'say.sh' });
	const browse = () =>
		call('skills_execute', { skillName: 'browser', input: { action: 'open', url: 'https://a.example' } });

	test('what is called first while there are no file descriptors works afterwards', async () => {
		const pid = await start();
		const used = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
		let free = 0;
		while (used.has(free)) free += 1;
		limit(pid, free);
		expect(await browse()).toContain('Couldn’t load Playwright');
		await say();
		for (const name of ['skills_list', 'skills_executions']) await call(name);
		limit(pid, 1024);
		expect(await browse()).toContain('Chromium isn’t installed on this computer');
		expect(await say()).toContain('said');
		for (const name of ['skills_list', 'skills_executions']) expect(await call(name)).not.toContain('"isError":true');
	});

	test('Playwright that was half loaded when they ran out is loaded the next time', async () => {
		const fault = `const { _extensions: load } = require('node:module'), js = load['.js'];
			let isOver = false;
			load['.js'] = (module, path) => {
				if (isOver || !/playwright-core.lib/.test(path)) return js(module, path);
				isOver = true;
				throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
			};`;
		await writeFile(join(folder, 'fault.cjs'), fault);
		await start('--require', join(folder, 'fault.cjs'));
		expect(await browse()).toContain('Couldn’t load Playwright: EMFILE');
		expect(await browse()).toContain('Chromium isn’t installed on this computer');
	});
});
