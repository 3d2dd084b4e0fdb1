/** What an editor, a stranger or another page may do to `acp`: whatever comes in, it answers or ends cleanly. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { decide } from '../../src/lib/server/conversations/consent.ts';
import { readConversation } from '../../src/lib/server/conversations/conversations.ts';
import { type AcpRig, openAcpRig } from '../support/acp-rig.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, text } from '../support/model-server.ts';

// Each test starts the whole app as a process.
vi.setConfig({ testTimeout: 90_000 });

const root = join(import.meta.dirname, '../..');
let rig: AcpRig;
afterEach(() => rig.close());

/** Raw bytes in, lines out. */
async function startRaw(env: Record<string, string>) {
	const program = spawn(join(root, 'node_modules/.bin/node'), ['src/lib/server/cli/acp.ts'], {
		...{ cwd: root, env },
		stdio: ['pipe', 'pipe', 'ignore']
	});
	const lines: Record<string, unknown>[] = [];
	let rest = '';
	program.stdin.on('error', () => undefined);
	program.stdout.setEncoding('utf8').on('data', (chunk: string) => {
		const parts = (rest + chunk).split('\n');
		rest = parts.pop() ?? '';
		// Anything else than JSON fails the test.
		lines.push(...parts.map((line) => JSON.parse(line) as Record<string, unknown>));
	});
	const ended = once(program, 'exit');
	return {
		lines,
		write: (data: string | object) =>
			program.stdin.write(typeof data === 'string' ? data : `${JSON.stringify({ jsonrpc: '2.0', ...data })}\n`),
		answerTo: (id: number) =>
			eventually(() => {
				const answer = lines.find((line) => line.id === id && !('method' in line));
				expect(answer).toBeDefined();
				return answer as { result?: Record<string, unknown>; error?: { code: number; message: string } };
			}),
		async end() {
			program.stdin.end();
			return (await ended)[0] as number | null;
		},
		ended
	};
}

test('F12: over ACP, half lines, bad JSON, wrong parameters and unknown methods and sessions are errors, and only the protocol is written', async () => {
	rig = await openAcpRig([text('Hello.')]);
	const raw = await startRaw(rig.env);
	raw.write('not json\n[]\n7\n{"jsonrpc":"1.0","id":90}\n{"jsonrpc":"2.0","id":{},"method":"initialize"}\n');
	raw.write('{"jsonrpc":"2.0","id":1,"method":"initi');
	raw.write('alize","params":{"protocolVersion":99,"clientCapabilities":{"fs":7}}}\n');
	raw.write({ id: 2, method: 'initialize', params: { protocolVersion: 99 } });
	expect((await raw.answerTo(2)).result).toMatchObject({ protocolVersion: 1, authMethods: [] });
	const bad: [string, unknown][] = [
		['no/such', {}],
		['session/new', { cwd: 'relative', mcpServers: [] }],
		['session/new', { cwd: '/nowhere/at/all', mcpServers: [] }],
		['session/new', { cwd: rig.project }],
		['session/new', null],
		['session/prompt', { sessionId: 'unknown', prompt: [{ type: 'text', text: 'Hi' }] }],
		['session/prompt', { sessionId: 5, prompt: 'text' }],
		['session/load', { sessionId: '../../etc', cwd: rig.project, mcpServers: [] }],
		['session/load', { sessionId: 'import', cwd: rig.project, mcpServers: [] }],
		['session/resume', { sessionId: 'a'.repeat(10_000), cwd: rig.project }],
		['session/set_mode', { sessionId: 'unknown', modeId: 'ask' }],
		['session/list', { cursor: '-1' }]
	];
	for (const [index, [method, params]] of bad.entries()) raw.write({ id: 100 + index, method, params });
	for (const [index, [method]] of bad.entries()) {
		const { error } = await raw.answerTo(100 + index);
		expect(error?.code, method).toBeLessThan(-32_000);
		expect(error?.message, method).not.toBe('');
	}
	raw.write({ method: 'session/cancel', params: { sessionId: 'unknown' } });
	raw.write({ id: 200, method: 'session/new', params: { cwd: rig.project, mcpServers: [] } });
	const sessionId = (await raw.answerTo(200)).result?.sessionId;
	const prompts: [unknown, number | null][] = [
		[[], -32_602],
		[[{ type: 'text', text: ' ' }], -32_602],
		[[{ type: 'hologram' }], -32_602],
		[[{ type: 'image', data: '%%%', mimeType: 'image/png' }], -32_602],
		[[{ type: 'text', text: 'x'.repeat(1_000_001) }], -32_602],
		[[{ type: 'text', text: 'Hi' }], null]
	];
	for (const [index, [prompt, code]] of prompts.entries()) {
		raw.write({ id: 300 + index, method: 'session/prompt', params: { sessionId, prompt } });
		expect((await raw.answerTo(300 + index)).error?.code ?? null, `prompt ${index}`).toBe(code);
	}
	for (const params of [
		{ configId: 'mode', value: 'none' },
		{ configId: 'model', value: 'no model' },
		{ configId: 'x', value: 'y' }
	]) {
		raw.write({ id: 400, method: 'session/set_config_option', params: { sessionId, ...params } });
		expect((await raw.answerTo(400)).error?.code).toBe(-32_602);
		raw.lines.splice(0);
	}
	expect(await raw.end()).toBe(0);
});

test('F12: a line that never ends closes the connection instead of filling the memory', async () => {
	rig = await openAcpRig([]);
	const raw = await startRaw(rig.env);
	raw.write({ id: 1, method: 'initialize', params: { protocolVersion: 1 } });
	await raw.answerTo(1);
	const chunk = 'x'.repeat(8 * 1024 * 1024);
	for (let count = 0; count < 9; count += 1) raw.write(chunk);
	expect((await raw.ended)[0]).toBe(0);
});

test('F12: a second prompt in a session is refused while the first is being answered, and the first goes on', async () => {
	const held = gate();
	rig = await openAcpRig([text('One', held, ' and two'), text('Other.')]);
	const editor = await rig.start();
	const [session, other] = [await editor.open(), await editor.open()];
	const first = editor.ask(session, 'First');
	await eventually(() => expect(editor.text()).toBe('One'));
	await expect(editor.ask(session, 'Second')).rejects.toThrow('still answering a prompt');
	expect(await editor.ask(other, 'In another session')).toBe('end_turn');
	held.open();
	expect(await first).toBe('end_turn');
	expect(editor.text()).toBe('OneOther. and two');
	rig.model.assertDone();
});

test('F12: failures of the model’s server, broken calls and tools that don’t exist end in an answer or an error, not in silence', async () => {
	rig = await openAcpRig([
		call('editor_write', '{"path": 5'),
		call('editor_edit', { path: 'a.txt' }),
		call('no_such_tool', {}),
		call('editor_read', { path: 'missing.txt' }),
		text('Gave up.')
	]);
	const editor = await rig.start();
	const session = await editor.open();
	expect(await editor.ask(session, 'Try')).toBe('end_turn');
	expect(editor.calls().map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'failed']);
	expect(editor.questions).toEqual([]);
	await expect(editor.ask(session, 'Once more')).rejects.toThrow(/test\/model failed \(500\)/);
});

test('D27: a link of the project leads to no file of secrets, and one to a hidden file asks, also where edits are accepted', async () => {
	rig = await openAcpRig([
		call('editor_read', { path: 'notes.txt' }),
		text('No.'),
		call('editor_write', { path: 'tasks.txt', content: 'mine' }),
		call('editor_write', { path: 'plain.txt', content: 'mine' }),
		text('Done.')
	]);
	await rig.put('.env.production', 'SECRET=1');
	await rig.put('.vscode/tasks.json', '{}');
	await symlink('.env.production', join(rig.project, 'notes.txt'));
	await symlink('.vscode/tasks.json', join(rig.project, 'tasks.txt'));
	const editor = await rig.start({ answers: ['deny'] });
	const session = await editor.open();
	await editor.ask(session, 'Read it');
	expect(editor.calls()[0]).toMatchObject({ status: 'failed' });
	expect(JSON.stringify(editor.calls())).not.toContain('SECRET=1');
	await editor.agent.request('session/set_mode', { sessionId: session, modeId: 'edits' });
	await editor.ask(session, 'Change them');
	expect(editor.questions).toHaveLength(1);
	expect([...editor.written.keys()]).toEqual([join(rig.project, 'plain.txt')]);
});

test('F12: an answer to a question that isn’t among the offered ones is a denial', async () => {
	const write = (path: string) => call('editor_write', { path, content: 'x' });
	rig = await openAcpRig([write('a.txt'), text('No.'), write('.hidden/b.txt'), text('No.')]);
	const editor = await rig.start({ answers: ['skill', 'edits'] });
	const session = await editor.open();
	await editor.ask(session, 'One');
	await editor.ask(session, 'Two');
	expect(editor.written.size).toBe(0);
	expect(editor.calls().map(({ status }) => status)).toEqual(['failed', 'failed']);
});

test('F12: beside a running app it passes on to it: the conversation is the page’s, and a question can be answered there', async () => {
	rig = await openAcpRig(
		[call('use_skill', { skill: 'asks', script: 'scripts/say.sh' }), text('Three.'), text('Alone.')],
		{
			SKILLS_APPROVAL: 'ask'
		}
	);
	await rig.putSkill('asks/SKILL.md', '---\nname: asks\ndescription: Says it.\n---\nText.');
	await rig.putSkill('asks/scripts/say.sh', 'echo said\n');
	const app = await createApp(loadConfig(rig.env));
	try {
		const editor = await rig.start({ answers: [new Promise<string>(() => undefined)] });
		const sessionId = await editor.open();
		const ending = editor.ask(sessionId, 'Count');
		await eventually(() => expect(editor.questions).toHaveLength(1));
		const { messages, folder, isWaiting } = await readConversation(app, sessionId);
		expect({ folder, isWaiting }).toEqual({ folder: rig.project, isWaiting: true });
		const part = messages.at(-1)?.parts.find(({ type }) => type === 'tool');
		const interruptId = part?.type === 'tool' ? (part.approval?.interruptId ?? '') : '';
		const owner = { apiKeyId: null, scopes: [] };
		await decide(app, { by: owner, conversationId: sessionId, interruptId, decision: { choice: 'once' } });
		expect(await ending).toBe('end_turn');
		expect(editor.text()).toBe('Three.');
		expect(editor.calls()).toMatchObject([{ status: 'completed' }]);
		// A run from elsewhere has no tools of the editor.
		const message = { id: 'from-the-page', text: 'And now?', files: [] };
		await app.runner.start({ kind: 'ask', runId: 'from-the-page', conversationId: sessionId, message, tools: [] });
		await eventually(() => expect(rig.model.requests).toHaveLength(3));
		const namesOf = (index: number) =>
			(rig.model.requests[index]?.body.tools as { name: string }[]).map(({ name }) => name);
		expect(namesOf(0)).toContain('editor_run');
		expect(namesOf(2)).not.toContain('editor_run');
		expect(await editor.leave()).toBe(0);
	} finally {
		await app.close();
	}
});

test('F12: a session without a prompt leaves no conversation behind, and a deleted one can’t be opened', async () => {
	rig = await openAcpRig([text('Hello.')]);
	const first = await rig.start();
	const [unused, used] = [await first.open(), await first.open()];
	await first.ask(used, 'Hi');
	await first.agent.request('session/close', { sessionId: unused });
	await expect(first.ask(unused, 'Hi')).rejects.toThrow();
	await first.agent.request('session/delete', { sessionId: used });
	for (const sessionId of [unused, used])
		await expect(
			first.agent.request('session/load', { sessionId, cwd: rig.project, mcpServers: [] })
		).rejects.toThrow();
	expect((await first.agent.request('session/list', {})).sessions).toEqual([]);
	expect(await readFile(join(rig.dataDir, 'server.json'), 'utf8')).not.toBe('');
});

test('F14: a question that was open when the process was killed is shown as pending, and the next prompt runs nothing of it', async () => {
	rig = await openAcpRig([call('editor_run', { command: 'echo no' }), text('Something else.')]);
	const first = await rig.start({ answers: [new Promise<string>(() => undefined)] });
	const sessionId = await first.open();
	void first.ask(sessionId, 'Run').catch(() => undefined);
	await eventually(() => expect(first.questions).toHaveLength(1));
	first.process.kill('SIGKILL');
	await eventually(() => expect(first.process.signalCode).toBe('SIGKILL'));
	const second = await rig.start();
	await second.agent.request('session/load', { sessionId, cwd: rig.project, mcpServers: [] });
	expect(second.calls()).toMatchObject([{ title: 'Run echo no', status: 'pending' }]);
	expect(await second.ask(sessionId, 'Never mind')).toBe('end_turn');
	expect([...first.commands, ...second.commands]).toEqual([]);
	expect(second.text()).toBe('Something else.');
});
