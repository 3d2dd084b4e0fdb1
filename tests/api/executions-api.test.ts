/** Scripts that are run by hand over HTTP: what they run from (FEATURES D8, E10). */
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { readFolder } from '../../src/lib/server/trust/folder.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

let root: string;
let app: App;
let server: RouteServer;
beforeEach(async () => {
	root = await realpath(await mkdtemp(join(tmpdir(), 'executions-api-')));
	await put('SKILL.md', '---\nname: demo\ndescription: A demo.\n---\nBody.');
});
afterEach(async () => {
	await server.close();
	await app.close();
	await rm(root, { recursive: true, force: true });
});

async function put(path: string, text: string): Promise<void> {
	const target = join(root, 'skills/demo', path);
	await mkdir(dirname(target), { recursive: true });
	await writeFile(target, text);
}
async function start(env: Record<string, string> = {}): Promise<void> {
	const paths = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...paths, SKILLS_SANDBOX: 'process', ...env }));
	server = await serveRoutes(app, { '/api/skills/executions': executions });
}
async function run(script: string, more: Record<string, unknown> = {}) {
	const response = await fetch(`${server.url}/api/skills/executions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ skillName: 'demo', script, ...more })
	});
	const body = (await response.json()) as Record<string, unknown>;
	return { status: response.status, ...body } as {
		status: number;
		execution?: { digest: string };
		result?: { success: boolean; stdout: string };
	};
}

test('D8: a script runs from a copy in the data folder, which is recorded by its digest and goes with the server', async () => {
	await put('where.sh', 'echo "$SKILL_DIR"; cat "$SKILL_DIR/SKILL.md"');
	await start();
	const { execution, result } = await run('where.sh');
	const [place = '', ...text] = result?.stdout.split('\n') ?? [];
	expect(dirname(place)).toBe(join(root, 'data/skill-copies'));
	expect(text.join('\n')).toBe(await readFile(join(root, 'skills/demo/SKILL.md'), 'utf8'));
	expect(execution?.digest).toBe((await readFolder(join(root, 'skills/demo'))).digest);
	await put('where.sh', 'echo edited');
	expect((await run('where.sh')).result?.stdout).toBe('edited\n');
	await app.close();
	expect(await readdir(join(root, 'data'))).not.toContain('skill-copies');
});

test('D8: a skill that only the server may read runs, whichever backend there is', async () => {
	await put('say.sh', 'cat "$SKILL_DIR/closed"');
	await put('closed', 'read');
	for (const path of ['SKILL.md', 'say.sh', 'closed']) await chmod(join(root, 'skills/demo', path), 0o600);
	await chmod(join(root, 'skills/demo'), 0o700);
	await start({ SKILLS_SANDBOX: 'auto' });
	expect((await run('say.sh')).result).toMatchObject({ success: true, stdout: 'read' });
});
