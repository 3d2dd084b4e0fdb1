/** F14: a backup made while chats are being written, restored into another folder: a server started there has everything. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { startApp, type App } from '../support/app-process.ts';
import { ask, follow, readConversation, readRun, type Question } from '../support/crash-client.ts';
import { createLedger, questionFor, type Ledger } from '../support/crash-ledger.ts';
import { requireAccepted } from '../support/crash-rounds.ts';
import { startModelServer, type ModelServer } from '../support/model-server.ts';
import { zipOf } from '../support/zip-writer.ts';

const root = join(import.meta.dirname, '../..');
const CHATS = 4;
/** More than are needed. */
const REPLIES = 2000;
const SECRET = 'the-secret-of-the-keeper';

// Starts the whole app several times, the first time with a build.
vi.setConfig({ testTimeout: 300_000 });

const folder = sharedFolder();
let ledger: Ledger;
let model: ModelServer;
let app: App;
beforeAll(async () => {
	ledger = await createLedger(folder);
	model = await startModelServer(Array.from({ length: REPLIES }, () => ledger.reply));
	const env = { OPENROUTER_BASE_URL: model.url, OPENROUTER_API_KEY: 'test', OPENROUTER_MODEL: 'test/model' };
	app = await startApp({ skillsFrom: ledger.skillsDir, env });
}, 300_000);
afterAll(async () => {
	await app?.stop();
	await model?.close();
});

interface Ended {
	code: number;
	stdout: string;
	stderr: string;
}

/** `npm run NAME -- FILE`, from outside the project's folder. */
async function npmRun(name: 'backup' | 'restore', file: string, dataDir: string): Promise<Ended> {
	const { PATH = '', HOME = '' } = process.env;
	const options = { cwd: folder, env: { PATH, HOME, DATA_DIR: dataDir } };
	const args = ['--prefix', root, 'run', '--silent', name, '--', file];
	return promisify(execFile)('npm', args, options).then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		(error: Ended) => error
	);
}

async function send(method: string, path: string, body: unknown, type = 'application/json'): Promise<unknown> {
	const data = type === 'application/json' ? JSON.stringify(body) : new Uint8Array(body as Buffer);
	const response = await fetch(app.url + path, { method, headers: { 'content-type': type }, body: data });
	const text = await response.text();
	expect([200, 201], `${method} ${path}: ${text}`).toContain(response.status);
	return JSON.parse(text);
}

/** Installs a skill from a zip, sets its secret, enables and trusts it. Its script prints the secret's length. */
async function installKeeper(): Promise<void> {
	const skill = '---\nname: keeper\ndescription: Keeps.\nmetadata:\n  env: KEEPER_TOKEN\n---\nRun `scripts/tell.sh`.\n';
	const zip = zipOf([
		{ name: 'keeper/SKILL.md', content: skill },
		{ name: 'keeper/scripts/tell.sh', content: 'echo "it has ${#KEEPER_TOKEN} signs"\n' }
	]);
	const { id } = (await send('POST', '/api/skills/install/staged', zip, 'application/zip')) as { id: string };
	await send('POST', `/api/skills/install/staged/${id}`, { enabled: true });
	const { digest } = (await fetch(`${app.url}/api/skills/keeper`).then((response) => response.json())) as {
		digest: string;
	};
	await send('PUT', '/api/skills/keeper', { trust: { digest, isTrusted: true } });
	await send('PUT', '/api/skills/keeper/secrets', { KEEPER_TOKEN: SECRET });
}

async function runKeeper(): Promise<string> {
	const ran = await send('POST', '/api/skills/executions', { skillName: 'keeper', script: 'scripts/tell.sh' });
	return (ran as { result: { stdout: string } }).result.stdout;
}

test('F14: chats, files, installed skills and secrets of a server under load are all there after a restore', async () => {
	await installKeeper();
	const before = await runKeeper();
	expect(before).toBe(`it has ${SECRET.length} signs\n`);

	/** Questions the server accepted, in order, and those that were answered. */
	const [taken, done]: [Question[], Question[]] = [[], []];
	const files: { chat: string; path: string; text: string }[] = [];
	let isOver = false;
	const chat = async (number: number): Promise<void> => {
		const conversationId = `chat-${number}`;
		for (let turn = 1; !isOver; turn++) {
			const id = `${conversationId}-${turn}`;
			const text = questionFor(id, 3);
			const question = { runId: `run-${id}`, conversationId, messageId: `message-${id}`, text };
			await requireAccepted(await ask(app.url, question));
			taken.push(question);
			const file = { chat: conversationId, path: `notes/${turn}.txt`, text: `${id}\n`.repeat(turn * 100) };
			const path = `/api/conversations/${conversationId}/files/${file.path}`;
			await send('PUT', path, Buffer.from(file.text), 'text/plain');
			files.push(file);
			await follow(app.url, question.runId);
			done.push(question);
		}
	};
	const chats = Promise.all(Array.from({ length: CHATS }, (_, number) => chat(number)));
	const backups: { name: string; taken: Question[]; done: Question[]; files: typeof files }[] = [];
	try {
		for (const name of ['first.backup', 'second.backup']) {
			const goal = done.length + CHATS;
			await expect.poll(() => done.length, { timeout: 120_000 }).toBeGreaterThanOrEqual(goal);
			backups.push({ name, taken: [...taken], done: [...done], files: [...files] });
			const { code, stdout, stderr } = await npmRun('backup', name, app.dataDir);
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(stdout).toContain(`Backed up ${app.dataDir} to ${join(folder, name)}`);
		}
		expect(await npmRun('backup', 'second.backup', app.dataDir)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('already exists. Choose another name, or delete it') as string
		});
		// The error names the running server, and its data stays untouched.
		expect(await npmRun('restore', 'second.backup', app.dataDir)).toMatchObject({
			code: 1,
			stderr: expect.stringContaining(`process ${app.pid()} (server.js) at ${app.url}`) as string
		});
		expect(await readRun(app.url, done[0]?.runId ?? '')).toMatchObject({ state: 'success' });
	} finally {
		isOver = true;
		await chats;
	}
	expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([]);
	const original = app.dataDir;
	for (const { name, ...expected } of backups) {
		const dataDir = join(folder, `restored from ${name}`);
		const { code, stderr } = await npmRun('restore', name, dataDir);
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		expect(existsSync(join(dataDir, 'skill-copies'))).toBe(false);
		// The copy must not depend on the original.
		await app.restart({ env: { DATA_DIR: dataDir } });
		await rm(original, { recursive: true, force: true });

		for (let number = 0; number < CHATS; number++) {
			const { messages = [] } = (await readConversation(app.url, `chat-${number}`)) ?? {};
			const asked = expected.taken.filter(({ conversationId }) => conversationId === `chat-${number}`);
			expect(asked.length).toBeGreaterThan(0);
			const shown = messages.filter(({ role }) => role === 'user').map(({ parts }) => parts[0]);
			expect(shown.slice(0, asked.length)).toMatchObject(asked.map(({ text }) => ({ type: 'text', text })));
		}
		for (const { runId, text } of expected.done) {
			expect(await readRun(app.url, runId), runId).toMatchObject({ state: 'success' });
			const [, id = ''] = /Write (\S+)/.exec(text) ?? [];
			expect(await ledger.runsOf(id, dataDir), id).toBe(1);
		}
		for (const { chat: id, path, text } of expected.files) {
			const response = await fetch(`${app.url}/api/conversations/${id}/files/${path}`);
			expect(await response.text(), `${id} ${path}`).toBe(text);
		}
		expect(await runKeeper()).toBe(before);
		// New questions still work.
		const again = `again-${expected.done.length}`;
		const next = { runId: again, conversationId: 'chat-0', messageId: again, text: questionFor(again, 3) };
		await requireAccepted(await ask(app.url, next));
		await follow(app.url, again);
		expect(await readRun(app.url, again)).toMatchObject({ state: 'success' });
		expect(await readdir(join(dataDir, 'skills'))).toEqual([expect.stringMatching(/^keeper@/)]);
	}
});
