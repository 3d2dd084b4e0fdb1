/** The agent for editors: `acp` as a real process, with the protocol's own client and a scripted model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ToolCallContent } from '@agentclientprotocol/sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../../src/lib/server/store/sqlite.ts';
import { type AcpRig, openAcpRig } from '../support/acp-rig.ts';
import { eventually } from '../support/eventually.ts';
import { call, gate, reasoning, response, text } from '../support/model-server.ts';
import { processesWith } from '../support/processes.ts';

// Each test starts the whole app as a process.
vi.setConfig({ testTimeout: 90_000 });

let rig: AcpRig;
afterEach(() => rig.close());

const textsOf = (content: readonly ToolCallContent[] | null | undefined) =>
	(content ?? []).flatMap((each) =>
		each.type === 'content' && each.content.type === 'text' ? [each.content.text] : []
	);

test('F12: over ACP an editor gets thoughts, text, and each call of a skill from pending to completed with its output', async () => {
	rig = await openAcpRig([
		[reasoning('Let me ', 'count.'), call('load_skill', { skill: 'count-words' })],
		call('count_words', { text: 'one two three' }),
		text('There are ', '3 words.')
	]);
	const editor = await rig.start();
	const session = await editor.open();
	expect(await editor.ask(session, 'Count the words of “one two three”')).toBe('end_turn');
	expect(editor.text('agent_thought_chunk')).toBe('Let me count.');
	expect(editor.text()).toBe('There are 3 words.');
	const [load, count] = editor.calls();
	expect(load).toMatchObject({ title: 'Read skill count-words', kind: 'read', status: 'completed' });
	expect(count).toMatchObject({
		...{ title: 'count_words (count-words)', kind: 'execute', status: 'completed' },
		...{ rawInput: { text: 'one two three' }, rawOutput: { words: 3 } }
	});
	expect(textsOf(count?.content).join()).toContain('"words":3');
	const states = editor.updates.flatMap((update) =>
		'toolCallId' in update && update.toolCallId === count?.toolCallId ? [update.status] : []
	);
	expect([...new Set(states)]).toEqual(['pending', 'in_progress', 'completed']);
	expect(editor.updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'available_commands_update' }));
	rig.model.assertDone();
});

test('F12: the conversation of an editor is an ordinary one: listed by its folder, and replayed after the process was killed', async () => {
	rig = await openAcpRig([call('count_words', { text: 'a b' }), text('Two.'), text('Still two.')]);
	await rig.putSkill('count-words/SKILL.md', await readFile('skills/count-words/SKILL.md', 'utf8'));
	const first = await rig.start();
	const sessionId = await first.open();
	await first.ask(sessionId, 'Count “a b”');
	first.process.kill('SIGKILL');
	await eventually(() => expect(first.process.signalCode).toBe('SIGKILL'));

	const second = await rig.start();
	const elsewhere = await second.agent.request('session/list', { cwd: '/' });
	expect(elsewhere.sessions).toEqual([]);
	const { sessions } = await second.agent.request('session/list', { cwd: rig.project });
	expect(sessions).toMatchObject([{ sessionId, cwd: rig.project, title: 'Count “a b”' }]);
	const loaded = await second.agent.request('session/load', { sessionId, cwd: rig.project, mcpServers: [] });
	expect(loaded.modes?.currentModeId).toBe('default');
	expect(second.text('user_message_chunk')).toBe('Count “a b”');
	expect(second.text()).toBe('Two.');
	expect(second.calls()).toMatchObject([{ name: 'count_words', rawInput: { text: 'a b' } }]);
	expect(await second.ask(sessionId, 'Sure?')).toBe('end_turn');
	expect(second.text()).toBe('Two.Still two.');
	expect(JSON.stringify(rig.model.requests.at(-1)?.body.input)).toContain('Count “a b”');
});

test('F14: an answer that was being written when the process was killed is shown as far as it came, and the session goes on', async () => {
	const held = gate();
	rig = await openAcpRig([text('The beginning', held, ' and the end'), text('Here I am again.')]);
	const first = await rig.start();
	const sessionId = await first.open();
	void first.ask(sessionId, 'Tell me').catch(() => undefined);
	await eventually(() => expect(first.text()).toBe('The beginning'));
	first.process.kill('SIGKILL');
	held.open();
	await eventually(() => expect(first.process.signalCode).toBe('SIGKILL'));
	const second = await rig.start();
	await second.agent.request('session/resume', { sessionId, cwd: rig.project });
	expect(second.text('user_message_chunk')).toBe('');
	expect(await second.ask(sessionId, 'Go on')).toBe('end_turn');
	expect(second.text()).toBe('Here I am again.');
});

const STOPS = [
	['max_tokens', [response([text('Cut')], { incomplete: 'max_output_tokens' })], {}],
	[
		'max_turn_requests',
		[call('count_words', { text: 'a' }), call('count_words', { text: 'b' })],
		{ AGENT_MAX_STEPS: '1' }
	],
	['refusal', [response([], { incomplete: 'content_filter' })], {}]
] as const;
test.each(STOPS)('F12: the answer to a prompt over ACP says %s', async (reason, script, env) => {
	rig = await openAcpRig([...script], env);
	const editor = await rig.start();
	const ended = await editor.ask(await editor.open(), 'Hello').catch((error: Error) => error.message);
	expect(ended).toBe(reason);
});

test('C16: what needs approval is a question in the editor, with the app’s answers; denied and cancelled ones aren’t run', async () => {
	const run = (name: string) => call('use_skill', { skill: 'asks', script: 'scripts/say.sh', args: [name] });
	rig = await openAcpRig(
		[
			run('one'),
			text('Ran.'),
			run('two'),
			text('Denied.'),
			run('three'),
			text('Also denied.'),
			run('four'),
			text('Ran again.'),
			run('five'),
			text('Without asking.')
		],
		{
			SKILLS_APPROVAL: 'ask'
		}
	);
	await rig.putSkill('asks/SKILL.md', '---\nname: asks\ndescription: Says it.\n---\nText.');
	await rig.putSkill('asks/scripts/say.sh', 'echo "said $1"\n');
	const editor = await rig.start({ answers: ['once', 'deny', 'cancelled', 'script'] });
	const session = await editor.open();
	for (const word of ['first', 'second', 'third', 'fourth', 'fifth'])
		expect(await editor.ask(session, word)).toBe('end_turn');
	expect(editor.questions).toHaveLength(4);
	const [question] = editor.questions;
	expect(question?.options.map(({ optionId, kind }) => `${optionId} ${kind}`)).toEqual([
		'once allow_once',
		'script allow_always',
		'skill allow_always',
		'deny reject_once'
	]);
	expect(textsOf(question?.toolCall.content).join('\n')).toContain('“asks” wants to run scripts/say.sh.');
	const outputs = editor.calls().map(({ status, content }) => `${status} ${textsOf(content).join().includes('said')}`);
	expect(outputs).toEqual(['completed true', 'failed false', 'failed false', 'completed true', 'completed true']);
});

test('F14: cancel ends the turn with its scripts, and the prompt answers cancelled; while a question is open, too', async () => {
	rig = await openAcpRig([
		call('use_skill', { skill: 'waits', script: 'scripts/wait.sh' }),
		call('editor_run', { command: 'echo no' }),
		text('Ready.')
	]);
	await rig.putSkill('waits/SKILL.md', '---\nname: waits\ndescription: Waits.\n---\nText.');
	await rig.putSkill('waits/scripts/wait.sh', 'echo started\nexec sleep 98765.0771\n');
	const editor = await rig.start({ answers: [new Promise<string>(() => undefined)] });
	const session = await editor.open();
	const waiting = editor.ask(session, 'Wait');
	await eventually(() => expect(processesWith('sleep 98765.0771')).not.toEqual([]));
	await eventually(() => expect(textsOf(editor.calls()[0]?.content).join()).toContain('started'));
	await editor.agent.notify('session/cancel', { sessionId: session });
	expect(await waiting).toBe('cancelled');
	expect(processesWith('sleep 98765.0771')).toEqual([]);

	const asking = editor.ask(session, 'Run');
	await eventually(() => expect(editor.questions).toHaveLength(1));
	await editor.agent.notify('session/cancel', { sessionId: session });
	expect(await asking).toBe('cancelled');
	expect(editor.commands).toEqual([]);
	expect(editor.calls().at(-1)?.status).toBe('failed');
	expect(await editor.ask(session, 'Still there?')).toBe('end_turn');
});

test('F14: an editor that leaves in the middle ends the turn and its scripts, and leaves no process', async () => {
	rig = await openAcpRig([call('use_skill', { skill: 'waits', script: 'scripts/wait.sh' })]);
	await rig.putSkill('waits/SKILL.md', '---\nname: waits\ndescription: Waits.\n---\nText.');
	await rig.putSkill('waits/scripts/wait.sh', 'exec sleep 98765.0772\n');
	const editor = await rig.start();
	void editor.ask(await editor.open(), 'Wait').catch(() => undefined);
	await eventually(() => expect(processesWith('sleep 98765.0772')).not.toEqual([]));
	expect(await editor.leave()).toBe(0);
	expect(processesWith('sleep 98765.0772')).toEqual([]);
	expect(processesWith(rig.dataDir)).toEqual([]);
});

test('F5: files of a prompt are files of the chat: links from the editor’s unsaved text, parts, pictures, and data', async () => {
	rig = await openAcpRig([text('Seen.')]);
	const saved = await rig.put('data/sales.csv', 'region,revenue\nNorth,1\n');
	const editor = await rig.start();
	editor.buffers.set(saved, 'region,revenue\nNorth,1\nSouth,2\n');
	const outside = await rig.put('../outside.txt', 'not of the project');
	const session = await editor.open();
	const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
	await editor.ask(session, [
		{ type: 'text', text: 'Compare ' },
		{ type: 'resource_link', name: 'sales.csv', uri: pathToFileURL(saved).href },
		{ type: 'text', text: ' and ' },
		{
			type: 'resource',
			resource: { uri: `${pathToFileURL(join(rig.project, 'main.ts')).href}#L1-2`, text: 'const one = 1;' }
		},
		{ type: 'image', mimeType: 'image/png', data: png },
		{
			type: 'resource',
			resource: { uri: 'file:///elsewhere/notes.bin', blob: Buffer.from([1, 2]).toString('base64') }
		},
		{ type: 'resource_link', name: 'outside.txt', uri: pathToFileURL(outside).href }
	]);
	const workspace = join(rig.dataDir, 'workspaces', session);
	expect(await readFile(join(workspace, 'data/sales.csv'), 'utf8')).toContain('South,2');
	expect(await readFile(join(workspace, 'notes.bin'))).toEqual(Buffer.from([1, 2]));
	const said = JSON.stringify(rig.model.requests[0]?.body.input);
	expect(said).toContain('Compare data/sales.csv and main.ts#L1-2:');
	expect(said).toContain('const one = 1;');
	expect(said).toMatch(/The picture image-[0-9a-f]{8}\.png/);
	expect(said).not.toContain('not of the project');
});

test('D27: the model reads and changes the project through the editor; a change asks with its diff, and no path leads out', async () => {
	rig = await openAcpRig([
		call('editor_list', {}),
		call('editor_read', { path: 'src/main.ts' }),
		call('editor_edit', { path: 'src/main.ts', old_text: 'one', new_text: 'two' }),
		call('editor_write', { path: 'src/new.ts', content: 'export {};\n' }),
		call('editor_edit', { path: 'src/main.ts', old_text: 'missing', new_text: '' }),
		text('Done.'),
		...['../outside.txt', '/etc/passwd', '.env', 'link/secret.txt', '.git/config'].map((path) =>
			call('editor_read', { path })
		),
		text('No.')
	]);
	const main = await rig.put('src/main.ts', 'saved');
	await rig.put('../outside.txt', 'outside');
	await rig.put('.env', 'SECRET=1');
	await rig.put('../secrets-of-others/secret.txt', 'secret');
	const { symlink } = await import('node:fs/promises');
	await symlink(join(rig.project, '../secrets-of-others'), join(rig.project, 'link'));
	const editor = await rig.start({ answers: ['edits'] });
	editor.buffers.set(main, 'const one = 1;\n');
	const session = await editor.open();
	expect(await editor.ask(session, 'Rename it')).toBe('end_turn');
	expect(editor.written.get(main)).toBe('const two = 1;\n');
	expect(editor.written.get(join(rig.project, 'src/new.ts'))).toBe('export {};\n');
	// The first answer accepts further edits.
	expect(editor.questions).toHaveLength(1);
	const diff = { type: 'diff', path: main, oldText: 'const one = 1;\n', newText: 'const two = 1;\n' };
	expect(editor.questions[0]?.toolCall.content).toContainEqual(diff);
	expect(editor.questions[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'reject_once']);
	expect(editor.updates).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'edits' });
	const [list, read, edit, write, failed] = editor.calls();
	expect(list?.rawOutput).toMatchObject({ files: [{ path: 'src/main.ts' }] });
	expect(read?.rawOutput).toMatchObject({ content: 'const one = 1;\n' });
	expect(edit).toMatchObject({ kind: 'edit', status: 'completed', locations: [{ path: main }], content: [diff] });
	expect(write?.content).toContainEqual(expect.objectContaining({ type: 'diff', newText: 'export {};\n' }));
	expect(failed).toMatchObject({ status: 'failed' });
	await editor.ask(session, 'Read what you may not');
	const refused = editor.calls().slice(5);
	expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'failed'));
	expect(JSON.stringify(refused)).not.toMatch(/SECRET=1|root:|"secret"/);
});

test('D27: a command runs in the editor’s terminal once it was allowed, each time anew, and ends with cancel', async () => {
	rig = await openAcpRig([
		call('editor_run', { command: 'pwd; exit 3' }),
		text('Failed with 3.'),
		call('editor_run', { command: 'exec sleep 98765.0773' })
	]);
	const editor = await rig.start();
	const session = await editor.open();
	await editor.ask(session, 'Where?');
	expect(editor.questions[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once']);
	expect(editor.calls()[0]).toMatchObject({
		...{ kind: 'execute', title: 'Run pwd; exit 3', status: 'failed' },
		...{ content: [{ type: 'terminal', terminalId: 'terminal-1' }, {}], rawOutput: { exit_code: 3 } }
	});
	expect(String((editor.calls()[0]?.rawOutput as { output: string }).output).trim()).toBe(rig.project);
	const running = editor.ask(session, 'Sleep');
	await eventually(() => expect(processesWith('sleep 98765.0773')).not.toEqual([]));
	await editor.agent.notify('session/cancel', { sessionId: session });
	expect(await running).toBe('cancelled');
	expect(editor.killed).toEqual(['terminal-2']);
	expect(editor.questions).toHaveLength(2);
});

test('D27, E13: what is done through the editor is a step of the chat; among the runs are only calls that were denied', async () => {
	rig = await openAcpRig([
		call('editor_read', { path: 'main.ts' }),
		call('editor_write', { path: 'new.ts', content: 'export {};' }),
		call('editor_run', { command: 'echo allowed' }),
		call('editor_run', { command: 'echo denied' }),
		text('Done.')
	]);
	await rig.put('main.ts', 'const one = 1;');
	const editor = await rig.start({ answers: ['once', 'once', 'deny'] });
	const session = await editor.open();
	expect(await editor.ask(session, 'Do it')).toBe('end_turn');
	expect(await editor.leave()).toBe(0);
	const store = await openSqliteStore(join(rig.dataDir, 'app.sqlite'));
	const parts = (await store.messages.list(session)).flatMap((message) => message.parts);
	const steps = parts.flatMap((part) => (part.type === 'tool' ? [[part.name, part.status, part.arguments]] : []));
	expect(steps).toEqual([
		['editor_read', 'done', '{"path":"main.ts"}'],
		['editor_write', 'done', '{"path":"new.ts","content":"export {};"}'],
		['editor_run', 'done', '{"command":"echo allowed"}'],
		['editor_run', 'failed', '{"command":"echo denied"}']
	]);
	const { data } = await store.skillExecutions.list({}, { page: 1, limit: 10 });
	expect(data.map(({ skillId, errorType }) => [skillId, errorType])).toEqual([['editor_run', 'ApprovalDenied']]);
	await store.close();
});

test('D27: an editor that hands out no files and terminals gets no tool to change or run anything, and the rest works', async () => {
	rig = await openAcpRig([text('Hello.')]);
	const editor = await rig.start({ capabilities: {} });
	await editor.ask(await editor.open(), 'Hello');
	const tools = (rig.model.requests[0]?.body.tools as { name: string }[]).map(({ name }) => name);
	expect(tools.filter((name) => name.startsWith('editor_'))).toEqual(['editor_list', 'editor_read']);
});

test('F12: modes, models and effort are chosen in the editor, and skills are commands', async () => {
	rig = await openAcpRig([call('count_words', { text: 'x' }), text('One.'), text('Fine.')]);
	const editor = await rig.start();
	const { sessionId, configOptions } = await editor.agent.request('session/new', { cwd: rig.project, mcpServers: [] });
	expect(configOptions?.map(({ category }) => category)).toEqual(['mode', 'model', 'thought_level']);
	await editor.agent.request('session/set_mode', { sessionId, modeId: 'ask' });
	expect(await editor.ask(sessionId, '/count-words of x')).toBe('end_turn');
	expect(editor.questions).toHaveLength(1);
	const [first] = rig.model.requests;
	expect(JSON.stringify(first?.body)).toContain('<skill_content name=\\"count-words\\"');
	const changed = await editor.agent.request('session/set_config_option', {
		sessionId,
		configId: 'effort',
		value: 'high'
	});
	expect(changed.configOptions.find(({ id }) => id === 'effort')?.currentValue).toBe('high');
	await editor.agent.request('session/set_config_option', { sessionId, configId: 'model', value: 'other/model' });
	await editor.ask(sessionId, 'Again');
	expect(rig.model.requests.at(-1)?.body).toMatchObject({ model: 'other/model', reasoning: { effort: 'high' } });
});

test('E36: MCP servers that the editor brings are the session’s; each call asks, and one that fails is named', async () => {
	rig = await openAcpRig([call('mcp__my-server__say', { text: 'from the server' }), text('Said.')]);
	const script = join(import.meta.dirname, '../support/mcp-fixture.ts');
	const editor = await rig.start();
	const session = await editor.open({
		mcpServers: [
			{ name: 'My server', command: join(process.cwd(), 'node_modules/.bin/node'), args: [script], env: [] },
			{ name: 'gone', command: '/nowhere/at-all', args: [], env: [] },
			{ type: 'sse', name: 'old', url: 'http://127.0.0.1:1/sse', headers: [] }
		]
	});
	await editor.ask(session, 'Say it');
	expect(editor.questions).toHaveLength(1);
	expect(editor.calls()[0]).toMatchObject({ title: 'say (my-server)', status: 'completed' });
	expect(textsOf(editor.calls()[0]?.content).join()).toContain('from the server');
	expect(editor.text('agent_thought_chunk')).toMatch(/old: it uses SSE.*gone: Program not found/s);
});

test('F9: demo mode answers in an editor, without a key', async () => {
	rig = await openAcpRig(null);
	const file = await rig.put('sales.csv', await readFile('tests/fixtures/sales.csv', 'utf8'));
	const editor = await rig.start({ capabilities: {} });
	const session = await editor.open();
	expect(await editor.ask(session, 'Count the words of “one two three”')).toBe('end_turn');
	expect(editor.text()).toMatch(/words\W+3\b/);
	const link = { type: 'resource_link' as const, name: 'sales.csv', uri: pathToFileURL(file).href };
	await editor.ask(session, [{ type: 'text', text: 'Summarise revenue by region of ' }, link]);
	expect(editor.text()).toMatch(/North/);
	const files = editor.calls().flatMap(({ content }) => content ?? []);
	expect(files.some((each) => each.type === 'content' && each.content.type === 'resource_link')).toBe(true);
});
