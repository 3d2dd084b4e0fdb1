/** Everything the app creates in a new data folder is private to its user, and scripts that run as another user still work. */
import { lstat, readdir, rm } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { workspaceOf } from '../../src/lib/server/builtins/file-tools.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import * as skills from '../../src/routes/api/skills/+server.ts';
import * as file from '../../src/routes/api/skills/[...id]/file/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import * as install from '../../src/routes/api/skills/install/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const root = sharedFolder();
let dataDir: string;
let app: App;
let server: RouteServer;
const umask = process.umask();

beforeAll(async () => {
	dataDir = join(root, 'data');
	// The most permissive umask; `auto` picks the backend with a separate user if the machine has one.
	process.umask(0);
	app = await createApp(loadConfig({ DATA_DIR: dataDir, SKILLS_DIRS: join(dataDir, 'own'), SKILLS_SANDBOX: 'auto' }));
	server = await serveRoutes(app, {
		'/api/skills': skills,
		'/api/skills/install': install,
		'/api/skills/executions': executions,
		'/api/skills/[...id]/file': file
	});
});
afterAll(async () => {
	await server.close();
	await app.close();
	process.umask(umask);
});

async function send(method: string, path: string, body: unknown): Promise<unknown> {
	const headers = { 'content-type': 'application/json' };
	const response = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) });
	const text = await response.text();
	expect([200, 201], text).toContain(response.status);
	return JSON.parse(text);
}

/** Everything in the data folder that other users could read, write or enter if they could reach it. */
async function openPaths(): Promise<string[]> {
	const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
	const paths = [dataDir, ...entries.map(({ parentPath, name }) => join(parentPath, name))];
	const modes = await Promise.all(paths.map(async (path) => (await lstat(path)).mode));
	return paths.filter((_path, index) => ((modes[index] ?? 0) & 0o077) !== 0).map((path) => relative(dataDir, path));
}

test('F3: database, keys, uploads, workspaces and skills in a new data folder are closed to other users', async () => {
	await send('POST', '/api/skills', { name: 'reader', description: 'Reads.', template: 'script' });
	const text = 'cat in/note.txt && echo more >> in/note.txt && mkdir made && echo done > made/result.txt\n';
	await send('PUT', '/api/skills/reader/file', { path: 'scripts/deep/read.sh', text, digest: null });
	const custom = { name: 'made-here', version: '1.0.0', description: 'd', schema: { input: {} }, handlerCode: 'h' };
	await send('POST', '/api/skills/install', custom);
	const folder = basename(workspaceOf(dataDir, { sessionId: 'one' }));
	for (const said of ['first', 'second']) {
		// The second file is written once the script's user owns the workspace.
		await app.workspaces.write(folder, 'in/note.txt', new Blob([`${said}\n`]).stream());
		await rm(join(dataDir, 'workspaces', folder, 'made'), { recursive: true, force: true });
		const asked = { skillName: 'reader', script: 'scripts/deep/read.sh', sessionId: 'one' };
		const { result } = (await send('POST', '/api/skills/executions', asked)) as { result: { stdout: string } };
		expect(result).toMatchObject({ exitCode: 0, stdout: `${said}\n` });
	}
	const names = await readdir(dataDir);
	expect(names).toEqual(expect.arrayContaining(['app.sqlite', 'app.sqlite-wal', 'secrets.key', 'own', 'skills']));
	// Scripts run from read-only copies; if the server is root, another user reads them.
	const isShared = (path: string) =>
		path.startsWith('skill-copies/') || (process.getuid?.() === 0 && /^(own|skills)\//.test(path));
	expect((await openPaths()).filter((path) => !isShared(path))).toEqual([]);
});
