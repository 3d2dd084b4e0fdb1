/** Running scripts by hand over HTTP: where they run, and how many at once (D8, D43, E10). */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { readFolder } from '../../src/lib/server/trust/folder.ts';
import type { Health } from '../../src/lib/shared/api.ts';
import * as health from '../../src/routes/api/health/+server.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as cases from '../../src/routes/api/skills/[...id]/cases/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import * as skillHealth from '../../src/routes/api/skills/[...id]/health/+server.ts';
import type { SkillHealth } from '../../src/lib/shared/skills.ts';
import { eventually } from '../support/eventually.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const root = emptyFolder();
let app: App;
let server: RouteServer;
const { CHROMIUM_PATH } = process.env;
beforeEach(async () => {
	await put('SKILL.md', '---\nname: demo\ndescription: A demo.\n---\nBody.');
});
afterEach(async () => {
	if (CHROMIUM_PATH === undefined) delete process.env.CHROMIUM_PATH;
	else process.env.CHROMIUM_PATH = CHROMIUM_PATH;
	await server.close();
	await app.close();
});

async function put(path: string, text: string): Promise<void> {
	const target = join(root, 'skills/demo', path);
	await mkdir(dirname(target), { recursive: true });
	await writeFile(target, text);
}
async function start(env: Record<string, string> = {}): Promise<void> {
	const paths = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...paths, SKILLS_SANDBOX: 'process', ...env }));
	server = await serveRoutes(app, {
		...{ '/api/skills/executions': executions, '/api/health': health },
		'/api/skills/[...id]/cases': cases,
		'/api/skills/[...id]/health': skillHealth,
		'/api/conversations/[id]/files/[...path]': files
	});
}
const run = (script: string, more: Record<string, unknown> = {}, signal?: AbortSignal) =>
	call({ skillName: 'demo', script, ...more }, signal);
async function call(asked: Record<string, unknown>, signal?: AbortSignal) {
	const response = await fetch(`${server.url}/api/skills/executions`, {
		method: 'POST',
		...(signal ? { signal } : {}),
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(asked)
	});
	const body = (await response.json()) as Record<string, unknown>;
	return { status: response.status, ...body } as {
		status: number;
		execution?: { digest: string };
		result?: { success: boolean; stdout: string; error?: string; message?: string; value?: unknown };
	};
}

test('F6: a run among the files of a conversation sees them, and needs that conversation', async () => {
	await put('look.sh', 'cat note.txt');
	await start();
	await app.store.conversations.create({ id: 'c1', title: 'Notes', createdAt: new Date().toISOString() });
	await mkdir(app.workspaces.path('c1'), { recursive: true });
	await writeFile(join(app.workspaces.path('c1'), 'note.txt'), 'from the chat');
	expect((await run('look.sh', { conversationId: 'c1' })).result?.stdout).toBe('from the chat');
	expect((await run('look.sh', { conversationId: '../c1' })).status).toBe(404);
	expect((await run('look.sh', { conversationId: 'c2' })).status).toBe(404);
});

test('F6: a case takes files of a conversation or a session, and nothing else of the data folder', async () => {
	await put('look.sh', 'cat note.txt');
	await start();
	await mkdir(app.workspaces.path('c1'), { recursive: true });
	await writeFile(join(app.workspaces.path('c1'), 'note.txt'), 'from the chat');
	const keep = async (conversationId: string, path: string) => {
		const response = await fetch(`${server.url}/api/skills/demo/cases`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ title: 'x', script: 'look.sh', files: [path], conversationId })
		});
		return response.status;
	};
	for (const id of ['..', '.', '../..', 'c1/../..', '/', root]) expect(await keep(id, 'app.sqlite'), id).toBe(400);
	for (const path of ['../../app.sqlite', '/etc/hostname']) expect(await keep('c1', path), path).not.toBe(201);
	expect(await keep('c1', 'note.txt')).toBe(201);
	expect((await app.cases.list('demo')).map(({ files }) => files)).toEqual([['note.txt']]);
});

test('F6: files of a session are put and read like those of a conversation, which is never listed', async () => {
	await put('look.sh', 'cat note.txt; cp note.txt copy.txt');
	await start();
	const session = { sessionId: 'run-1', conversationId: 'run-1' };
	const empty = await run('look.sh', session);
	expect(empty.result).toMatchObject({ success: false });
	const file = (name: string) => `${server.url}/api/conversations/run-1/files/${name}`;
	const headers = { 'content-type': 'application/octet-stream' };
	expect((await fetch(file('note.txt'), { method: 'PUT', headers, body: 'chosen' })).status).toBe(201);
	expect((await run('look.sh', session)).result?.stdout).toBe('chosen');
	expect(await (await fetch(file('copy.txt'))).text()).toBe('chosen');
	expect(await app.store.conversations.list({ page: 1, limit: 10 })).toMatchObject({ total: 0 });
	expect((await run('look.sh', { sessionId: '../c1', conversationId: '../c1' })).status).toBe(400);
});

test('F6: a run by hand goes on when its page is left; one of another client ends', async () => {
	const { hold, began, go } = await putHolding();
	await start();
	for (const [name, byHand] of [
		['kept', { conversationId: 'run-1' }],
		['ended', {}]
	] as const) {
		const leaving = new AbortController();
		const left = hold(name, 'run-1', leaving.signal, byHand).catch(() => 'left');
		await eventually(async () => expect(await began()).toContain(name));
		leaving.abort();
		expect(await left).toBe('left');
	}
	const ends = async () =>
		(await app.store.skillExecutions.list({}, { page: 1, limit: 5 })).data.map(({ status }) => status);
	await eventually(async () => expect((await ends()).toReversed()).toEqual(['running', 'error']));
	await go('kept');
	await eventually(async () => expect((await ends()).toReversed()).toEqual(['success', 'error']));
});

test('F16: a skill’s health over REST counts its runs, by the week; an unknown skill has none', async () => {
	await put('say.sh', 'exit $1');
	await start();
	for (const code of ['0', '0', '3']) await run('say.sh', { args: [code] });
	const ask = (id: string) => fetch(`${server.url}/api/skills/${id}/health`);
	for (const id of ['demo', 'skills/demo']) {
		const { weeks, answers } = (await (await ask(id)).json()) as SkillHealth;
		expect(weeks.at(-1)).toMatchObject({ runs: 3, failures: 1 });
		expect(weeks).toHaveLength(8);
		expect(answers).toEqual({ count: 0, priced: 0, cost: null });
	}
	expect((await ask('builtin/eval_code')).status).toBe(200);
	expect((await ask('nobody')).status).toBe(404);
});

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

/** Each script runs until its file exists; the files the scripts create show which have started. */
async function putHolding() {
	await put('hold.sh', 'touch "$1/began-$2"; until [ -e "$1/go-$2" ]; do sleep 0.05; done; echo "$2"');
	const marks = join(root, 'marks');
	await mkdir(marks);
	return {
		began: async () => {
			const names = await readdir(marks);
			return names.filter((name) => name.startsWith('began-')).map((name) => name.slice(6));
		},
		hold: (name: string, sessionId: string, signal?: AbortSignal, more = {}) =>
			run('hold.sh', { args: [marks, name], sessionId, ...more }, signal),
		go: (name: string) => writeFile(join(marks, `go-${name}`), '')
	};
}
async function queue(): Promise<Health['sandbox']> {
	const response = await fetch(`${server.url}/api/health`);
	return ((await response.json()) as Health).sandbox;
}

test('D43: more scripts than may run at once wait for their turn, one caller not behind all of another, and a wait is no part of their time', async () => {
	const { began, hold, go } = await putHolding();
	await start({ SKILLS_MAX_SCRIPTS: '2', SKILLS_TIMEOUT_MS: '60000' });
	const calls = [hold('a1', 'a'), hold('a2', 'a')];
	await eventually(async () => expect((await began()).sort()).toEqual(['a1', 'a2']));
	const leaving = new AbortController();
	const left = hold('a3', 'a', leaving.signal).catch(() => 'left');
	await eventually(async () => expect((await queue()).waiting).toBe(1));
	calls.push(hold('a4', 'a'));
	await eventually(async () => expect((await queue()).waiting).toBe(2));
	calls.push(hold('b1', 'b'));
	await eventually(async () => expect((await queue()).waiting).toBe(3));
	expect((await queue()).running).toBe(2);
	await eventually(async () => expect((await queue()).longestWaitMs).toBeGreaterThan(0));
	leaving.abort();
	expect(await left).toBe('left');
	await eventually(async () => expect((await queue()).waiting).toBe(2));
	// Each of the two waiting calls is the next of its caller, and each caller gets one place.
	await go('a1');
	await go('a2');
	await eventually(async () => expect((await began()).sort()).toEqual(['a1', 'a2', 'a4', 'b1']));
	await go('a4');
	await go('b1');
	const results = await Promise.all(calls);
	expect(results.map(({ result }) => result)).toMatchObject(
		['a1', 'a2', 'a4', 'b1'].map((name) => ({ stdout: `${name}\n` }))
	);
	expect(await queue()).toMatchObject({ running: 0, waiting: 0, longestWaitMs: 0 });
	expect(await began()).not.toContain('a3');
});

test('D43, D31: a call of the browser waits for a place like a script', async () => {
	const { began, hold, go } = await putHolding();
	// The missing Chromium is only noticed when it's its turn.
	process.env.CHROMIUM_PATH = join(root, 'no-chromium');
	await start({ SKILLS_MAX_SCRIPTS: '1', SKILLS_TIMEOUT_MS: '60000', SKILLS_BROWSER_ENABLED: 'true' });
	const script = hold('a1', 'a');
	await eventually(async () => expect(await began()).toEqual(['a1']));
	const page = call({ skillName: 'browser', input: { action: 'open', url: 'https://a.example' }, sessionId: 'b' });
	await eventually(async () => expect((await queue()).waiting).toBe(1));
	await go('a1');
	expect((await script).result).toMatchObject({ success: true });
	expect((await page).result).toMatchObject({ success: false, error: 'MissingDependency' });
});

test('D43, D37: a native handler that calls a script does not wait for its own place, and one caller has a share of them', async () => {
	const tool = { name: 'outer', description: 'Calls a script.', handler: 'outer', parameters: {} };
	await put('tools.json', JSON.stringify([tool, { ...tool, name: 'wait', handler: 'wait' }]));
	await put('say.sh', 'echo inner');
	await writeFile(
		join(root, 'handlers.mjs'),
		`const state = (globalThis.nativeTest = { running: 0, end: null, script: null });
		export const outer = () => state.script();
		export const wait = () => { state.running += 1; return new Promise((resolve) => (state.end ??= []).push(resolve)); };`
	);
	await start({ SKILLS_MAX_SCRIPTS: '1', SKILLS_TIMEOUT_MS: '60000', SKILLS_HANDLERS: join(root, 'handlers.mjs') });
	const { nativeTest } = globalThis as unknown as {
		nativeTest: { running: number; end: (() => void)[]; script(): Promise<string | undefined> };
	};
	nativeTest.script = async () => (await run('say.sh', { sessionId: 'a' })).result?.stdout;
	const outer = { skillName: 'demo', tool: 'outer', input: {}, sessionId: 'a' };
	const nested = await Promise.all([call(outer), call(outer), call(outer)]);
	expect(nested.map(({ result }) => result)).toMatchObject(nested.map(() => ({ success: true, value: 'inner\n' })));

	const waiting = { ...outer, tool: 'wait' };
	const all = Array.from({ length: 256 }, () => call(waiting));
	await eventually(() => expect(nativeTest.running).toBe(256));
	expect((await call(waiting)).result).toMatchObject({ message: expect.stringContaining('More than 256 calls') });
	// They don't take a place from others.
	expect((await run('say.sh', { sessionId: 'b' })).result).toMatchObject({ stdout: 'inner\n' });
	for (const end of nativeTest.end) end();
	for (const { result } of await Promise.all(all)) expect(result).toMatchObject({ success: true });
});
