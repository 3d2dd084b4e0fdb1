/** Workspaces that a script swaps, nests and fills while others fork, list and delete them, over HTTP (F5, F13, D33). */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { putFile } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { removeFolder } from '../../src/lib/server/foreign-folders.ts';
import type { ConversationDetail, ConversationSummary } from '../../src/lib/shared/api.ts';
import * as chat from '../../src/routes/api/chat/+server.ts';
import * as conversations from '../../src/routes/api/conversations/+server.ts';
import * as conversation from '../../src/routes/api/conversations/[id]/+server.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/+server.ts';
import * as fork from '../../src/routes/api/conversations/[id]/fork/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

/** Swaps folders and links atomically until it's stopped. */
const SWAPPER = `import ctypes, os
libc = ctypes.CDLL(None)
print('begun', flush=True)
while True:
	for each in range(8):
		libc.renameat2(-100, b'd%d' % each, -100, b'l%d' % each, 2)
`;
/** Too deep for any path to reach. */
const NEST = `import os
for each in range(20):
	os.mkdir('d' * 250); os.chdir('d' * 250)
open('deepest.txt', 'w').close()
`;

let root: string;
let app: App;
let server: RouteServer;

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'hostile-workspace-'));
	await put('SKILL.md', '---\nname: demo\ndescription: A demo.\n---\nBody.');
});
afterEach(async () => {
	await server.close();
	await app.close();
	await removeFolder(root);
});

async function put(path: string, text: string): Promise<void> {
	await putFile(root, `skills/demo/${path}`, text);
}

async function start(env: Record<string, string> = {}): Promise<void> {
	const paths = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...paths, SKILLS_SANDBOX: 'process', ...env }));
	server = await serveRoutes(app, {
		'/api/chat': chat,
		'/api/conversations': conversations,
		'/api/conversations/[id]': conversation,
		'/api/conversations/[id]/files': files,
		'/api/conversations/[id]/fork': fork,
		'/api/skills/executions': executions
	});
}

async function call<Answer>(path: string, body?: unknown): Promise<{ status: number; body: Answer }> {
	const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
	const headers = { 'content-type': 'application/json' };
	const response = await fetch(`${server.url}/api/${path}`, { ...asked, headers });
	return { status: response.status, body: (await response.json()) as Answer };
}

/** A chat with an answer to fork from, and a workspace. */
async function begin(): Promise<{ id: string; workspace: string; messageId: string }> {
	const { id } = (await call<ConversationSummary>('conversations', { title: 'Plans' })).body;
	const messages = [{ id: 'question', role: 'user', content: 'hello' }];
	await call('chat', { threadId: id, runId: 'run', tools: [], context: [], messages });
	for await (const _batch of (await app.runner.follow('run', 0, new AbortController().signal)) ?? []);
	const messageId = (await call<ConversationDetail>(`conversations/${id}`)).body.messages.at(-1)?.id ?? '';
	const workspace = app.workspaces.path(id);
	await mkdir(workspace, { recursive: true });
	return { id, workspace, messageId };
}

const list = async (id: string) => (await call<{ data: { path: string }[] }>(`conversations/${id}/files`)).body.data;

test('F13, F5: forks and lists of a workspace hold nothing from outside while a script swaps folders for links', async () => {
	await start();
	const { id, workspace, messageId } = await begin();
	const outside = join(root, 'outside');
	await mkdir(outside);
	await writeFile(join(outside, 'secret.txt'), 'the secret');
	for (let each = 0; each < 8; each += 1) {
		await mkdir(join(workspace, `d${each}`));
		await writeFile(join(workspace, `d${each}`, 'plain.txt'), 'own');
		await symlink(outside, join(workspace, `l${each}`));
	}
	const swapper = spawn('python3', ['-c', SWAPPER], { cwd: workspace, stdio: ['ignore', 'pipe', 'inherit'] });
	const closed = new Promise((resolve) => swapper.once('close', resolve));
	try {
		await new Promise((resolve) => swapper.stdout.once('data', resolve));
		const names = new Set<string>();
		for (let round = 0; round < 40; round += 1) {
			const forked = await call<ConversationSummary>(`conversations/${id}/fork`, { messageId });
			expect(forked.status).toBe(201);
			const copy = app.workspaces.path(forked.body.id);
			for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
				expect(entry.isSymbolicLink()).toBe(false);
				if (entry.isFile()) expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).toBe('own');
			}
			for (const listed of [...(await list(id)), ...(await list(forked.body.id))]) names.add(listed.path);
		}
		expect([...names].filter((path) => !path.endsWith('/plain.txt'))).toEqual([]);
	} finally {
		swapper.kill('SIGKILL');
		await closed;
	}
});

test('F13, F14: a folder deeper than any path is listed, forked and gone with its conversation', async () => {
	await start();
	const { id, workspace, messageId } = await begin();
	execFileSync('python3', ['-c', NEST], { cwd: workspace });
	await writeFile(join(workspace, 'own.txt'), 'own');
	expect(await list(id)).toMatchObject([{ path: 'own.txt' }]);
	const forked = await call<ConversationSummary>(`conversations/${id}/fork`, { messageId });
	expect(forked.status).toBe(201);
	expect(await list(forked.body.id)).toMatchObject([{ path: 'own.txt' }]);
	await app.workspaces.removeAll(forked.body.id);
	expect(existsSync(app.workspaces.path(forked.body.id))).toBe(false);
});

test('D33, F13: a fork of more than a workspace may hold is 413, says what to do, and leaves nothing', async () => {
	await start({ SKILLS_WORKSPACE_MB: '1' });
	const { id, workspace, messageId } = await begin();
	// A sparse file: it takes no space until it's copied.
	await writeFile(join(workspace, 'holes.bin'), '');
	await truncate(join(workspace, 'holes.bin'), 2 ** 40);
	const before = await call<{ data: unknown[] }>('conversations');
	expect(await call(`conversations/${id}/fork`, { messageId })).toMatchObject({
		status: 413,
		body: { error: { code: 'too_large', hint: expect.stringContaining('SKILLS_WORKSPACE_MB') } }
	});
	expect((await call<{ data: unknown[] }>('conversations')).body.data).toHaveLength(before.body.data.length);
	expect(await readdir(join(root, 'data/workspaces'))).toEqual([id]);
});

test('D33: a script that nests folders deeper than 64 is ended with a sentence, and no other script with it', async () => {
	await put('deep.py', `${NEST.replace('20', '100')}import time\nprint('nested', flush=True)\ntime.sleep(60)\n`);
	await put('calm.sh', 'echo calm; while [ ! -e go ]; do sleep 0.1; done; echo done');
	await start();
	type Ran = { result: { success: boolean; error?: string; message?: string; stdout: string } };
	const run = (script: string, sessionId: string) =>
		call<Ran>('skills/executions', { skillName: 'demo', script, sessionId });
	const calm = run('calm.sh', 'calm');
	const deep = await run('deep.py', 'deep');
	expect(deep.body.result).toMatchObject({ success: false, error: 'OutputTooLarge' });
	expect(deep.body.result.message).toContain('folders nested more than 64 deep');
	const all = await readdir(join(root, 'data/workspaces'));
	for (const name of all) await writeFile(join(root, 'data/workspaces', name, 'go'), '');
	expect((await calm).body.result).toMatchObject({ success: true, stdout: 'calm\ndone\n' });
});
