/** F14: one server per data folder. A second start is refused and names the first, which keeps running. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { putFile, sharedFolder } from '../support/folder.ts';
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import { startApp, type App } from '../support/app-process.ts';
import { processesWith } from '../support/processes.ts';

const root = join(import.meta.dirname, '../..');
const node = join(root, 'node_modules/.bin/node');
const MCP = 'src/lib/server/cli/mcp.ts';

// Each test starts the whole app several times, the first time with a build.
vi.setConfig({ testTimeout: 300_000 });

const folder = sharedFolder();
let app: App | undefined;
beforeAll(async () => {
	await putFile(folder, 'skills/patient/SKILL.md', '---\nname: patient\ndescription: Waits.\n---\nWait.\n');
	await putFile(folder, 'skills/patient/scripts/wait.sh', 'while true; do sleep 0.1; done\n');
});
afterEach(async () => {
	await app?.stop();
	app = undefined;
});

const environment = (dataDir: string) => {
	const { PATH = '', HOME = '' } = process.env;
	return { PATH, HOME, PORT: '0', DATA_DIR: dataDir, SKILLS_DIRS: join(folder, 'skills') };
};

/** Resolves once it has refused. */
async function startSecond(args: string[], dataDir: string): Promise<{ code: number; said: string }> {
	const second = spawn(node, args, { cwd: root, env: environment(dataDir), stdio: ['pipe', 'ignore', 'pipe'] });
	const [said, [code]] = await Promise.all([readText(second.stderr), once(second, 'exit')]);
	return { code: code as number, said };
}

async function connectStdio(dataDir: string): Promise<{ client: Client; pid: number }> {
	const client = new Client({ name: 'second', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
	const env = environment(dataDir);
	const transport = new StdioClientTransport({ command: node, args: [MCP], cwd: root, stderr: 'ignore', env });
	await client.connect(transport);
	return { client, pid: transport.pid ?? 0 };
}

test('a second server and a development server are refused, and what runs in the first goes on', async () => {
	app = await startApp({ skillsFrom: join(folder, 'skills'), env: { SKILLS_TIMEOUT_MS: '300000' } });
	const marker = `patient-${randomUUID()}`;
	const { url, dataDir } = app;
	const running = fetch(`${url}/api/skills/executions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ skillName: 'patient', script: 'scripts/wait.sh', args: [marker] })
	}).then((response) => response.text(), String);
	await expect.poll(() => processesWith(marker)).not.toEqual([]);
	for (const args of [['server.js'], ['node_modules/vite/bin/vite.js', 'dev']]) {
		const { code, said } = await startSecond(args, dataDir);
		expect(said).toContain(`Couldn’t start the app: Another server is using the data folder ${dataDir}: process`);
		expect(said).toContain(`process ${app.pid()} (server.js) at ${url}. Stop that server first, or choose another`);
		expect(code).toBe(1);
	}
	// The script is still running and its record is still open.
	expect(processesWith(marker)).not.toEqual([]);
	const list = await fetch(`${url}/api/skills/executions`).then((response) => response.json());
	expect((list as SkillExecutionList).data.map(({ status }) => status)).toEqual(['running']);
	await app.stop();
	await running;
});

test('E15: beside a server npm run mcp works; a server beside npm run mcp is refused until that has ended', async () => {
	app = await startApp({ skillsFrom: join(folder, 'skills') });
	const beside = await connectStdio(app.dataDir);
	expect((await beside.client.listPrompts()).prompts.map(({ name }) => name)).toContain('patient');
	await beside.client.close();

	const dataDir = join(folder, 'data');
	const { client, pid } = await connectStdio(dataDir);
	const { code, said } = await startSecond(['server.js'], dataDir);
	expect(said).toContain(
		`Another server is using the data folder ${dataDir}: process ${pid} (mcp.ts). Stop that server first`
	);
	expect(code).toBe(1);
	expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('patient');
	await client.close();
	await expect.poll(() => existsSync(join(dataDir, 'server.json'))).toBe(false);
	await app.restart({ env: { DATA_DIR: dataDir } });
});
