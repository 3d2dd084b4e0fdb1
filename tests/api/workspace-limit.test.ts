/** Workspace limits over HTTP: uploads, and what the server's own skills write (D33, D27, F5). */
import { stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/+server.ts';
import * as file from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const KB = 1024;
const MB = 1024 * KB;
/** Tells the user what to do. */
const HINT = expect.stringMatching(/^Delete .*SKILLS_WORKSPACE_MB and SKILLS_WORKSPACE_FILES/);

const root = emptyFolder();
let app: App;
let server: RouteServer;

afterEach(async () => {
	await server.close();
	await app.close();
});

async function start(limits: Record<string, string>): Promise<void> {
	const paths = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...paths, SKILLS_SANDBOX: 'process', ...limits }));
	server = await serveRoutes(app, {
		'/api/conversations/[id]/files': files,
		'/api/conversations/[id]/files/[...path]': file,
		'/api/skills/executions': executions
	});
}

async function upload(path: string, bytes: number): Promise<{ status: number; body: unknown }> {
	const response = await fetch(`${server.url}/api/conversations/c1/files/${path}`, {
		method: 'PUT',
		headers: { 'content-type': 'application/octet-stream' },
		body: Buffer.alloc(bytes, 'x')
	});
	return { status: response.status, body: await response.json() };
}

test('D33: no file can have the name of an unfinished upload, which wouldn’t be listed; what an earlier process left of one is removed', async () => {
	await start({ SKILLS_WORKSPACE_MB: '1' });
	expect(await upload('.upload-1', 600 * KB)).toMatchObject({ status: 400 });
	expect((await upload('a.txt', 10 * KB)).status).toBe(201);
	const leftOver = join(root, 'data/workspaces/c1/.upload-3f0c3c6a-0000-4000-8000-000000000000');
	await writeFile(leftOver, Buffer.alloc(900 * KB, 'x'));
	// As large as it is, it counts.
	expect(await upload('b.txt', 600 * KB)).toMatchObject({ status: 413 });
	await utimes(leftOver, 1, 1);
	expect((await upload('b.txt', 600 * KB)).status).toBe(201);
	await expect(stat(leftOver)).rejects.toMatchObject({ code: 'ENOENT' });
});

/** Calls `file_write` in a session's workspace. */
async function write(path: string, bytes: number, more: Record<string, unknown> = {}): Promise<unknown> {
	const input = { path, content: 'x'.repeat(bytes), ...more };
	const response = await fetch(`${server.url}/api/skills/executions`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ skillName: 'file_write', input, sessionId: 's1' })
	});
	return ((await response.json()) as { result: unknown }).result;
}

test('D33: uploads that come to more than SKILLS_WORKSPACE_MB are 413 with what to do, until there is room', async () => {
	await start({ SKILLS_WORKSPACE_MB: '1' });
	expect(await upload('a.bin', 600 * KB)).toMatchObject({ status: 201 });
	const refused = await upload('b.bin', 600 * KB);
	expect(refused).toEqual({
		status: 413,
		body: { error: { code: 'too_large', message: 'The files of a conversation may total 1 MB.', hint: HINT } }
	});
	const listed = await fetch(`${server.url}/api/conversations/c1/files`);
	expect(await listed.json()).toMatchObject({ data: [{ path: 'a.bin', bytes: 600 * KB }] });
	await fetch(`${server.url}/api/conversations/c1/files/a.bin`, { method: 'DELETE' });
	expect(await upload('b.bin', 600 * KB)).toMatchObject({ status: 201 });
	// Of several uploads at once, only as many succeed as there's space for.
	const many = await Promise.all(['c', 'd', 'e', 'f'].map((name) => upload(name, 300 * KB)));
	for (const { status } of many) expect([201, 413]).toContain(status);
	expect(many.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
});

test('D33: so is one file too many', async () => {
	await start({ SKILLS_WORKSPACE_FILES: '10' });
	for (const name of 'abcdefghij') expect(await upload(name, 1)).toMatchObject({ status: 201 });
	const refusal = { code: 'too_large', message: 'A conversation may have 10 files.', hint: HINT };
	expect(await upload('k', 1)).toEqual({ status: 413, body: { error: refusal } });
	expect(await upload('b', 2)).toMatchObject({ status: 201 });
});

test('D33, D27: file_write has the same limit, whether it writes anew, in a file’s place or at its end', async () => {
	await start({ SKILLS_WORKSPACE_MB: '1', SKILLS_WORKSPACE_FILES: '10' });
	const refused = (message: string) => ({ success: false, error: 'OutputTooLarge', message, hint: HINT });
	const full = refused('The files of a conversation may total 1 MB.');
	expect(await write('a.txt', 600 * KB)).toMatchObject({ success: true });
	expect(await write('b.txt', 600 * KB)).toMatchObject(full);
	expect(await write('a.txt', 900 * KB)).toMatchObject({ success: true });
	expect(await write('a.txt', 200 * KB, { append: true })).toMatchObject(full);
	expect(await write('a.txt', 100 * KB, { append: true })).toMatchObject({ success: true });
	expect(await write('a.txt', MB)).toMatchObject({ success: true });
	expect(await write('a.txt', 1)).toMatchObject({ success: true });
	for (const path of 'bcdefghij') expect(await write(path, 1)).toMatchObject({ success: true });
	expect(await write('k', 1)).toMatchObject(refused('A conversation may have 10 files.'));
});
