/** Real MCP servers: programs over stdio and URLs over HTTP, good and hostile. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { gate } from '../../../../tests/support/gate.ts';
import { startFixtureHttp, type FixtureHttpServer } from '../../../../tests/support/mcp-fixture.ts';
import { mcpServerPut, type McpServer } from '../../shared/mcp-servers.ts';
import type { QuestionField } from '../../shared/message-schema.ts';
import { looksSecret, type QuestionReply } from '../../shared/questions.ts';
import type { ExecutionEnd, ExecutionStart } from '../skills/run/execution-host.ts';
import type { SkillEvent } from '../skills/types.ts';
import { createVault } from '../trust/vault.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { openMcpServers, type McpServers } from './mcp-servers.ts';

const FIXTURE = join(import.meta.dirname, '../../../../tests/support/mcp-fixture.ts');
const HOSTILE = join(import.meta.dirname, '../../../../tests/support/mcp-hostile.ts');
const KEY = Buffer.alloc(32, 7);

const root = emptyFolder();
let store: Store;
let servers: McpServers;
let key: Buffer;
let isEnabled: boolean;
const http: FixtureHttpServer[] = [];
let recorded: (ExecutionStart | (ExecutionEnd & { id: string }))[];

const open = () =>
	openMcpServers({
		...{ store, dataDir: root, maxOutputBytes: 2_000, timeoutMs: () => 1_000, isEnabled: () => isEnabled },
		vault: createVault({ store: store.secrets, key }),
		recorder: {
			started: async (start) => void recorded.push(start),
			running: async () => undefined,
			finished: async (id, end) => void recorded.push({ id, ...end })
		},
		delayMs: () => 5
	});

beforeEach(async () => {
	store = await openSqliteStore(join(root, 'app.sqlite'));
	[key, isEnabled, recorded] = [KEY, true, []];
	servers = await open();
});

afterEach(async () => {
	await servers.close();
	await store.close();
	await Promise.all(http.splice(0).map((each) => each.stop()));
});

const program = (args: string[], more: object = {}) =>
	mcpServerPut.parse({ transport: { type: 'stdio', command: process.execPath, args, ...more }, approval: 'auto' });
const fixture = (more: object = {}) => program([FIXTURE], more);
const hostile = (kind: string) => program([HOSTILE, kind]);
const address = (url: string, headers = {}) =>
	mcpServerPut.parse({ transport: { type: 'http', url, headers }, approval: 'auto' });
async function startHttp(...given: Parameters<typeof startFixtureHttp>): Promise<FixtureHttpServer> {
	const started = await startFixtureHttp(...given);
	http.push(started);
	return started;
}

const one = (name: string): McpServer => servers.list().find((server) => server.name === name)!;
const isConnected = (name: string) => expect.poll(() => one(name).status.state).toBe('connected');
const hasFailed = (name: string) =>
	expect
		.poll(() => one(name).status.error)
		.not.toBeNull()
		.then(() => one(name).status.error);
const events: SkillEvent[] = [];
const call = (name: string, args = {}, signal = new AbortController().signal, cwd?: string) => {
	events.length = 0;
	return servers
		.tools({})
		.call(name, args, { cwd, signal, onEvent: (event) => events.push(event), caller: { runId: 'r' } });
};

describe.each(['stdio', 'http'] as const)('E36: over %s', (type) => {
	const put = async (name: string) =>
		servers.put(name, type === 'stdio' ? fixture() : address((await startHttp()).url));

	test('its tools are offered under its name, called, recorded, and told of', async () => {
		expect((await put('demo')).status).toMatchObject({ state: 'connecting', tools: [] });
		await isConnected('demo');
		expect(one('demo').status).toMatchObject({ software: 'fixture 1.2.3', error: null, note: null });
		const tools = servers.tools({}).tools();
		expect(tools.find(({ name }) => name === 'mcp__demo__add')).toMatchObject({
			...{ type: 'function', description: 'Adds two numbers.' },
			parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
		});
		expect(await call('mcp__demo__add', { a: 2, b: 3 })).toEqual({ ok: true, output: 'The sum is 5.' });
		const about = { skill: 'mcp/demo', tool: 'add', sandbox: 'mcp' };
		expect(events).toMatchObject([
			{ type: 'started', script: 'add', args: ['{"a":2,"b":3}'], ...about },
			{ type: 'finished', skill: 'mcp/demo', exitCode: null, truncated: false }
		]);
		const started = { skillId: 'mcp/demo', version: 'fixture 1.2.3', input: '{"a":2,"b":3}', caller: { runId: 'r' } };
		expect(recorded).toMatchObject([
			{ ...about, ...started, limits: { timeoutMs: 1_000 } },
			{ status: 'success', output: 'The sum is 5.', exitCode: null }
		]);
	});

	test('wrong arguments and a tool that fails are results that the model can read', async () => {
		await put('demo');
		await isConnected('demo');
		expect(await call('mcp__demo__add', { a: 'two' })).toMatchObject({ ok: false });
		expect(await call('mcp__demo__fail')).toEqual({ ok: false, output: 'No such city.' });
		expect(recorded.at(-1)).toMatchObject({ status: 'error', errorType: 'ExecutionFailed', message: 'No such city.' });
		expect(await call('mcp__demo__ghost')).toMatchObject({ ok: false });
		expect(one('demo').status.state).toBe('connected');
	});

	test('what is no text is told of, and output has a bound', async () => {
		await put('demo');
		await isConnected('demo');
		expect((await call('mcp__demo__show')).output.split('\n')).toEqual([
			'A picture:',
			'[image: image/png, 3 KB; not shown]',
			'[resource report: file:///report.txt, text/plain]',
			'[resource mem://note]',
			'A note.'
		]);
		const { ok, output } = await call('mcp__demo__say', { text: `begin${'é'.repeat(5_000)}end` });
		expect(ok).toBe(true);
		expect(Buffer.byteLength(output)).toBeLessThan(2_100);
		expect(output).toMatch(/^beginé+\n… \d+ bytes left out …\né+end$/);
		expect(events.at(-1)).toMatchObject({ truncated: true });
	});

	test('a tool that it learns later is offered without being asked for', async () => {
		await put('demo');
		await isConnected('demo');
		await call('mcp__demo__grow');
		// Over HTTP, each request gets a new server, so nothing has changed there.
		if (type === 'http') return expect(one('demo').status.state).toBe('connected');
		await expect.poll(() => servers.tools({}).has('mcp__demo__grown')).toBe(true);
		expect(await call('mcp__demo__grown')).toEqual({ ok: true, output: 'grown' });
	});

	test('progress is told while it works', async () => {
		await put('demo');
		await isConnected('demo');
		const running = call('mcp__demo__progress');
		const outputs = () => events.filter(({ type }) => type === 'output');
		await expect.poll(() => outputs().length).toBe(1);
		const { signal } = new AbortController();
		await servers.tools({}).call('mcp__demo__go_on', {}, { signal, onEvent: () => undefined, caller: { runId: 'r' } });
		expect(await running).toEqual({ ok: true, output: 'All of it.' });
		const told = outputs();
		// The client drops notifications that arrive together with the result, so the last part may be missing.
		expect(told[0]).toEqual({ type: 'output', stream: 'stderr', text: 'part 1\n' });
		expect(told.slice(1)).toEqual(told.slice(1).map(() => ({ type: 'output', stream: 'stderr', text: 'part 2\n' })));
	});

	test('a call that is stopped, or takes too long, ends at once, and the server stays', async () => {
		await put('demo');
		await isConnected('demo');
		const stop = new AbortController();
		const stopped = call('mcp__demo__wait', {}, stop.signal);
		stop.abort();
		expect(JSON.parse((await stopped).output)).toMatchObject({ ok: false, error: 'Cancelled' });
		const late = new AbortController();
		const given = call('mcp__demo__wait', {}, late.signal);
		late.abort(new DOMException('the tool took too long', 'TimeoutError'));
		expect(JSON.parse((await given).output)).toMatchObject({ error: 'ExecutionTimeout' });
		expect(recorded.at(-1)).toMatchObject({ status: 'timeout' });
		expect(one('demo').status.state).toBe('connected');
		expect(await call('mcp__demo__add', { a: 1, b: 1 })).toMatchObject({ ok: true });
	});
});

describe('E36: a server that is down', () => {
	test('that was never there blocks nothing: nothing is offered, and why is said', async () => {
		await servers.put('ghost', program([], { command: 'no-such-program-here' }));
		expect(servers.tools({}).tools()).toEqual([]);
		expect(await hasFailed('ghost')).toBe('Program not found: “no-such-program-here”.');
		const gone = await startFixtureHttp();
		await gone.stop();
		await servers.put('nobody', address(gone.url));
		expect(await hasFailed('nobody')).toBe(`Couldn’t connect to ${new URL(gone.url).host}: nothing answers there.`);
	});

	test('that dies during a call is a result; it is started again, and its tools stay known meanwhile', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		const { ok, output } = await call('mcp__demo__exit');
		expect(ok).toBe(false);
		expect(output).toMatch(/The program exited\. Its last output: .*I give up\./);
		expect(servers.tools({}).has('mcp__demo__add')).toBe(true);
		await isConnected('demo');
		expect(await call('mcp__demo__add', { a: 1, b: 2 })).toMatchObject({ ok: true });
	});

	test('that is gone over HTTP is told of by the next call, which does not wait, and found again', async () => {
		const remote = await startHttp();
		await servers.put('demo', address(remote.url));
		await isConnected('demo');
		await remote.stop();
		expect((await call('mcp__demo__add', { a: 1, b: 2 })).output).toContain('nothing answers there');
		expect((await call('mcp__demo__add', { a: 1, b: 2 })).output).toMatch(/“demo” isn’t connected/);
		await remote.start();
		await isConnected('demo');
		expect(await call('mcp__demo__add', { a: 1, b: 2 })).toEqual({ ok: true, output: 'The sum is 3.' });
	});

	test('that goes during a call over HTTP ends that call at once, and is found again', async () => {
		let isStuck = false;
		const called = gate();
		const remote = await startHttp((_request, response) => {
			if (!isStuck) return false;
			response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': soon\n\n');
			called.open();
			return true;
		});
		await servers.put('demo', address(remote.url));
		await isConnected('demo');
		isStuck = true;
		const waiting = call('mcp__demo__add', { a: 1, b: 2 });
		await called.opened;
		await remote.stop();
		isStuck = false;
		expect(JSON.parse((await waiting).output)).toMatchObject({
			...{ ok: false, error: 'ExecutionFailed' },
			message: 'It closed the connection before it answered.'
		});
		await remote.start();
		await isConnected('demo');
		expect(await call('mcp__demo__add', { a: 1, b: 2 })).toEqual({ ok: true, output: 'The sum is 3.' });
	});

	test('is tried at once when somebody says so; one that is switched off is not there', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		expect(servers.reconnect('demo').status.state).toBe('connecting');
		await isConnected('demo');
		const off = await servers.put('demo', { ...fixture(), isEnabled: false });
		expect(off.status).toEqual({ state: 'off', software: null, tools: [], error: null, note: null });
		expect(servers.tools({}).tools()).toEqual([]);
		expect(() => servers.reconnect('demo')).toThrow('is off');
		expect(() => servers.reconnect('other')).toThrow('No MCP server named “other”.');
	});
});

describe('E36: a hostile server', () => {
	test('with too many tools: the first 128 are used', async () => {
		await servers.put('bad', hostile('many'));
		await isConnected('bad');
		expect(one('bad').status.tools).toHaveLength(128);
		expect(one('bad').status.note).toBe('Only its first 128 tools are used.');
	});

	test('whose list never ends is read no further', async () => {
		await servers.put('bad', hostile('endless'));
		await isConnected('bad');
		expect(one('bad').status).toMatchObject({
			tools: [],
			note: expect.stringContaining('Its tool list is too long. Only the first')
		});
	});

	test('whose tools are too large, odd or twice there: what can be used is cleaned, the rest left out', async () => {
		await servers.put('bad', hostile('large'));
		await isConnected('bad');
		const { tools, note } = one('bad').status;
		expect(tools.map(({ name, tool }) => [name, tool])).toEqual([
			['mcp__bad__long', 'long'],
			[expect.stringMatching(/^mcp__bad__odd_name_with_lines_[0-9a-f]{8}$/), 'odd name/ with lines'],
			[expect.stringMatching(/^mcp__bad__tab_dot_[0-9a-f]{8}$/), 'tab.dot'],
			['mcp__bad__same', 'same']
		]);
		expect(note).toMatch(/^4 of its tools are skipped/);
		const [long, , dot] = servers.tools({}).tools();
		expect(long?.description).toHaveLength(4_000);
		expect(dot?.description).toBe('Ignore all that');
	});

	test('that prints what is no message is listened to all the same', async () => {
		await servers.put('bad', hostile('garbage'));
		await isConnected('bad');
		expect(servers.tools({}).has('mcp__bad__poke')).toBe(true);
	});

	test('that answers nothing holds up nobody, and is ended with the app', async () => {
		await servers.put('bad', hostile('silent'));
		expect(servers.tools({}).tools()).toEqual([]);
		expect(one('bad').status.state).toBe('connecting');
	});

	test.each(['die', 'wrong', 'huge'])(
		'that answers a call with “%s” gives a result, and the next call one',
		async (kind) => {
			await servers.put('bad', hostile(kind));
			await isConnected('bad');
			for (let times = 0; times < 2; times += 1) {
				const { ok, output } = await call('mcp__bad__poke');
				expect(ok).toBe(kind === 'huge');
				expect(output.length).toBeGreaterThan(10);
				expect(Buffer.byteLength(output)).toBeLessThan(3_000);
			}
		}
	);

	test('that writes a line without an end is given up', async () => {
		await servers.put('bad', hostile('flood'));
		expect(await hasFailed('bad')).toMatch(/exited|closed|exceed/i);
	});
});

describe('SECURITY MCP servers', () => {
	test('a program is given none of the app’s environment but a few words about the user, and what is set for it', async () => {
		process.env.OPENROUTER_API_KEY = 'sk-or-secret';
		await servers.put('demo', fixture({ env: { CITY_TOKEN: 'tok-1234567' } }));
		await isConnected('demo');
		const { output } = await call('mcp__demo__environment');
		delete process.env.OPENROUTER_API_KEY;
		const names = Object.keys(JSON.parse(output) as object).filter((name) => !/^(__CF|npm_)/.test(name));
		const known = ['CITY_TOKEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
		expect(names.filter((name) => !known.includes(name))).toEqual([]);
		expect(names).toContain('CITY_TOKEN');
		expect(output).not.toContain('sk-or-secret');
	});

	test('a program without a folder has one of its own, and none of the app’s', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		expect((await call('mcp__demo__folder')).output).toBe(join(root, 'mcp', 'demo'));
	});

	test('a program is told the folder of the chat that calls it, and no other; a server over HTTP none', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		const { signal } = new AbortController();
		const { output } = await call('mcp__demo__roots', {}, signal, '/chats/a b');
		expect(JSON.parse(output)).toEqual({ roots: [{ uri: 'file:///chats/a%20b', name: 'Files of the chat' }] });
		expect(JSON.parse((await call('mcp__demo__roots')).output)).toEqual({ roots: [] });
		await servers.put('old', hostile('roots'));
		await isConnected('old');
		expect((await call('mcp__old__poke', {}, signal, '/chats/b')).output).toBe(
			'{"roots":[{"uri":"file:///chats/b","name":"Files of the chat"}]}'
		);
		// Which of two calls it asks for is unknown.
		const both = [call('mcp__old__wait', {}, signal, '/chats/a'), call('mcp__old__poke', {}, signal, '/chats/b')];
		expect((await Promise.all(both)).map((each) => each.output)).toEqual(['{"roots":[]}', '{"roots":[]}']);
		await servers.put('far', address((await startHttp()).url));
		await isConnected('far');
		const far = await call('mcp__far__roots', {}, signal, '/chats/a');
		expect(far.ok).toBe(false);
		expect(far.output).not.toContain('/chats');
	});

	test('F3: values are encrypted, never sent back, kept for null, and gone with the server', async () => {
		const secret = 'tok-very-secret-1';
		await servers.put('demo', fixture({ env: { CITY_TOKEN: secret } }));
		expect(JSON.stringify(servers.list())).not.toContain(secret);
		expect(one('demo').transport).toMatchObject({ env: ['CITY_TOKEN'] });
		await servers.put('demo', fixture({ env: { CITY_TOKEN: null, OTHER: 'b' } }));
		await isConnected('demo');
		const { output } = await call('mcp__demo__environment');
		expect(JSON.parse(output)).toMatchObject({ CITY_TOKEN: '[redacted]', OTHER: 'b' });
		for (const file of ['app.sqlite', 'app.sqlite-wal']) {
			expect((await readFile(join(root, file))).includes(secret)).toBe(false);
		}
		await servers.remove('demo');
		await expect(servers.put('demo', fixture({ env: { CITY_TOKEN: null } }))).rejects.toMatchObject({
			code: 'invalid_input'
		});
		expect(await store.secrets.list('mcp-server:demo')).toEqual([]);
	});

	test('values are read again by the next start; with another key they are missing, which is said', async () => {
		await servers.put('demo', fixture({ env: { CITY_TOKEN: 'tok-1234567' } }));
		await servers.close();
		servers = await open();
		await isConnected('demo');
		expect((await call('mcp__demo__environment')).output).toContain('CITY_TOKEN');
		await servers.close();
		key = Buffer.alloc(32, 8);
		servers = await open();
		expect(await hasFailed('demo')).toMatch(
			/Its saved values can’t be read, because SECRETS_KEY or secrets\.key changed\. Enter them again/
		);
		expect(servers.tools({}).tools()).toEqual([]);
	});

	test('headers go to the server that they were stored for, and to no other', async () => {
		const [first, other] = [await startHttp(), await startHttp()];
		await servers.put('demo', address(first.url, { Authorization: 'Bearer abc-secret' }));
		await isConnected('demo');
		expect(first.requests.every(({ headers }) => headers.authorization === 'Bearer abc-secret')).toBe(true);
		await expect(servers.put('demo', address(other.url, { Authorization: null }))).rejects.toThrow('Authorization');
		await servers.put('demo', address(`${first.url}?a=1`, { Authorization: null }));
		await isConnected('demo');
		expect(other.requests).toEqual([]);
	});

	test('a redirect to another origin is not followed', async () => {
		const other = await startHttp();
		const first = await startHttp((_, response) => {
			response.writeHead(307, { location: other.url }).end();
			return true;
		});
		await servers.put('demo', address(first.url, { 'X-Key': 'abc-secret' }));
		expect(await hasFailed('demo')).not.toContain('abc-secret');
		expect(other.requests).toEqual([]);
	});

	test('what a server says of a failure is shown without its secrets', async () => {
		const refusing = await startHttp((request, response) => {
			response.writeHead(400, { 'content-type': 'text/plain' }).end(`Wrong key: ${request.headers['x-key']}`);
			return true;
		});
		await servers.put('demo', address(refusing.url, { 'X-Key': 'abc-secret' }));
		const error = await hasFailed('demo');
		expect(error).not.toContain('abc-secret');
		const wordy = await startHttp((request, response) => {
			response.writeHead(400, { 'content-type': 'text/plain' }).end(`${request.headers['x-key']} `.repeat(100));
			return true;
		});
		await servers.put('wordy', address(wordy.url, { 'X-Key': 'abc-secret' }));
		// Wherever a long message is cut, no part of a secret is left.
		expect(await hasFailed('wordy')).not.toContain('abc');
		const closed = await startHttp((_, response) => {
			response.writeHead(401).end();
			return true;
		});
		await servers.put('closed', address(closed.url));
		expect(await hasFailed('closed')).toMatch(/refused access \(status 401\)/);
	});

	test('an answer over HTTP that is too large is cut off', async () => {
		const flooding = await startHttp((_, response) => {
			response.writeHead(200, { 'content-type': 'application/json' });
			const more = (): void => void response.write('x'.repeat(1 << 20), more);
			more();
			return true;
		});
		await servers.put('demo', address(flooding.url));
		expect(await hasFailed('demo')).toBeTruthy();
	});

	test.each(['ftp://example.org', 'file:///etc/passwd', 'http://user:pass@example.org/', 'example.org', ''])(
		'%j is no address of a server',
		(url) => expect(mcpServerPut.safeParse({ transport: { type: 'http', url } }).success).toBe(false)
	);

	test.each(['Host', 'content-length', 'Mcp-Session-Id', 'a b', 'x:y'])('%j is no header to set', (name) =>
		expect(
			mcpServerPut.safeParse({ transport: { type: 'http', url: 'http://a/', headers: { [name]: 'x' } } }).success
		).toBe(false)
	);
});

describe('E36: a server that asks the person', () => {
	type Asked = Parameters<NonNullable<Parameters<ReturnType<McpServers['tools']>['call']>[2]['ask']>>[0];
	let asked: Asked[];
	const ask = (name: string, reply?: QuestionReply, cwd?: string) => {
		const { signal } = new AbortController();
		asked = [];
		return servers
			.tools({})
			.call(
				name,
				{},
				{ cwd, signal, caller: { runId: 'r' }, ask: reply && (async (question) => (asked.push(question), reply)) }
			);
	};

	test.each(['stdio', 'http'] as const)(
		'over %s: a form is read field by field, and the answer goes back to it',
		async (type) => {
			await servers.put('demo', type === 'stdio' ? fixture() : address((await startHttp()).url));
			await isConnected('demo');
			const content = { name: 'Ada', guests: 2 };
			expect(await ask('mcp__demo__book', { action: 'accept', content })).toEqual({
				ok: true,
				output: `Told: ${JSON.stringify({ action: 'accept', content })}`
			});
			expect(asked).toEqual([
				{
					...{ server: 'demo', message: 'When would you like to come?' },
					fields: [
						{ name: 'name', title: 'Your name', type: 'text', isRequired: true, min: 2, max: 20 },
						{
							...{ name: 'mail', title: 'mail', type: 'text', isRequired: false },
							description: 'For the confirmation.',
							format: 'email'
						},
						{ name: 'guests', title: 'guests', type: 'integer', isRequired: true, min: 1, max: 8, initial: 2 },
						{ name: 'room', title: 'room', type: 'choice', isRequired: false, options: options('inside', 'outside') },
						{ name: 'dog', title: 'With a dog', type: 'boolean', isRequired: false },
						{ name: 'diet', title: 'Diet', type: 'choices', isRequired: false, options: options('vegan', 'halal') }
					]
				}
			]);
			expect((await ask('mcp__demo__sign', { action: 'accept' })).output).toBe('Told: {"action":"accept"}');
			expect(asked).toEqual([
				{ server: 'demo', message: 'Sign the form.', url: 'https://sign.example.org/forms/7?a=b' }
			]);
			expect((await ask('mcp__demo__sign', { action: 'decline' })).output).toBe('Told: {"action":"decline"}');
		}
	);

	const options = (...values: string[]) => values.map((value) => ({ value, title: value }));

	test('is declined at once where nobody can be asked', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		const hint = 'Put what it needs into the arguments, or use the tool in a chat in the app.';
		const [book, think] = [await ask('mcp__demo__book'), await ask('mcp__demo__think')];
		expect(book).toEqual({
			ok: true,
			output: `Told: {"action":"decline"}\nThe MCP server “demo” asked “When would you like to come?”. Nobody can be asked here, so that was declined. ${hint}`
		});
		// Refusing to ask the model is an error, which the server’s tool fails with.
		expect(think.ok).toBe(false);
		const said = 'The MCP server “demo” wanted to ask the model. Nobody can be asked here, so that was declined.';
		expect(think.output).toContain(said);
		expect(recorded.at(-1)).toMatchObject({ message: expect.stringContaining(said) as string });
	});

	test('SECURITY MCP servers: of a form what is shown is cleaned and cut, and after 10 questions nobody is asked any more', async () => {
		await servers.put('bad', hostile('asks'));
		await isConnected('bad');
		const poked = await ask('mcp__bad__poke', { action: 'accept', content: { name: 'x' } });
		expect(asked).toHaveLength(10);
		expect(poked.output.split('\n').at(-1)).toBe('It asked more than 10 times; the rest was declined.');
		expect(asked[0]?.message).toBe('Who are you?');
		const [field] = (asked[0] as { fields: QuestionField[] }).fields;
		expect(field?.description).toHaveLength(500);
		expect(looksSecret(field!)).toBe(true);
	});

	test.each(['asks-vast', 'asks-long'])('SECURITY MCP servers: what is vast (%s) is refused unread', async (kind) => {
		await servers.put('bad', hostile(kind));
		await isConnected('bad');
		// Whatever reads it would say what is wrong with it.
		expect((await ask('mcp__bad__poke', { action: 'accept', content: {} })).output).toBe('{"action":"decline"}');
		expect(asked).toEqual([]);
	});

	test.each(['asks-much', 'asks-deep', 'asks-nothing', 'asks-script', 'asks-login'])(
		'SECURITY MCP servers: what can’t be shown (%s) is asked of nobody',
		async (kind) => {
			await servers.put('bad', hostile(kind));
			await isConnected('bad');
			const { output } = await ask('mcp__bad__poke', { action: 'accept', content: {} });
			expect(asked).toEqual([]);
			expect(output).not.toContain('accept');
		}
	);

	test('SECURITY MCP servers: a question that could belong to one of two chats is shown in neither', async () => {
		await servers.put('bad', hostile('asks'));
		await isConnected('bad');
		const accept = { action: 'accept' as const };
		await Promise.all([ask('mcp__bad__wait', accept, '/chats/a'), ask('mcp__bad__poke', accept, '/chats/b')]);
		expect(asked).toEqual([]);
		await servers.put('bad', hostile('asks'));
		await isConnected('bad');
		await Promise.all([ask('mcp__bad__wait', accept, '/chats/a'), ask('mcp__bad__poke', accept, '/chats/a')]);
		expect(asked).not.toEqual([]);
	});
});

describe('E36: consent', () => {
	const ask = (name: string, earlier: Parameters<ReturnType<McpServers['tools']>['approval']>[2] = null) =>
		servers.tools({}).approval(name, { a: 1 }, earlier);

	test('F14: a server is asked about unless it is said otherwise; what is allowed counts while the tool is the same', async () => {
		await servers.put('demo', { ...fixture(), approval: 'ask' });
		await isConnected('demo');
		const request = (await ask('mcp__demo__add'))!;
		expect(request).toMatchObject({ skill: 'mcp/demo', script: 'add', args: ['{"a":1}'] });
		expect(request.reason).toBe('The model wants to use “add” of the MCP server “demo”.');
		expect(await ask('mcp__demo__add', { ...request, decision: { choice: 'once' } })).toBeNull();
		expect((await ask('mcp__demo__add', { ...request, digest: 'x', decision: { choice: 'once' } }))?.reason).toMatch(
			/has changed since you allowed it/
		);
		await store.approvals.grant({ skill: 'mcp/demo', script: 'add', digest: request.digest }, '2026-01-01');
		expect(await ask('mcp__demo__add')).toBeNull();
		expect(await ask('mcp__demo__say')).not.toBeNull();
		// A different program under the same name counts as another server.
		await servers.put('demo', { ...program([FIXTURE, 'other']), approval: 'ask' });
		await isConnected('demo');
		expect(await ask('mcp__demo__add')).not.toBeNull();
		await servers.put('demo', fixture());
		await isConnected('demo');
		expect(await ask('mcp__demo__say')).toBeNull();
	});

	test('D42: a request may name the servers and tools that it wants; E11: nothing runs while skills are switched off', async () => {
		await servers.put('demo', fixture());
		await isConnected('demo');
		expect(servers.tools({ only: [] }).tools()).toEqual([]);
		expect(servers.tools({ only: ['web_search'] }).has('mcp__demo__add')).toBe(false);
		expect(servers.tools({ only: ['mcp__demo__add'] }).tools()).toHaveLength(1);
		expect(servers.tools({ only: ['mcp/demo'] }).has('mcp__demo__say')).toBe(true);
		isEnabled = false;
		expect(JSON.parse((await call('mcp__demo__add', { a: 1, b: 2 })).output)).toMatchObject({
			error: 'SkillsDisabled'
		});
		expect(recorded).toEqual([]);
	});
});
