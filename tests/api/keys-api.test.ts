/** API keys over REST, through the hooks: creating, revoking, and what each key can see. */
import { readdir, readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { workspaceOf } from '../../src/lib/server/builtins/file-tools.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { ApiKey, ApiKeyList, NewApiKey } from '../../src/lib/shared/settings.ts';
import type { ApiScope } from '../../src/lib/shared/names.ts';
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import * as chat from '../../src/routes/api/chat/+server.ts';
import * as conversations from '../../src/routes/api/conversations/+server.ts';
import * as decision from '../../src/routes/api/conversations/[id]/approvals/[interrupt]/+server.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/+server.ts';
import * as file from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import * as health from '../../src/routes/api/health/+server.ts';
import * as keys from '../../src/routes/api/keys/+server.ts';
import * as one from '../../src/routes/api/keys/[id]/+server.ts';
import * as run from '../../src/routes/api/runs/[id]/+server.ts';
import * as runEvents from '../../src/routes/api/runs/[id]/events/+server.ts';
import * as settings from '../../src/routes/api/settings/+server.ts';
import * as skills from '../../src/routes/api/skills/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { hookRoutes, type Send } from '../support/hooked-routes.ts';

const TOKEN = 'the-token-of-this-test-0123456789';
const FILES = '/api/conversations/[id]/files';
const FILE = `${FILES}/[...path]`;
const DECISION = '/api/conversations/[id]/approvals/[interrupt]';
const ROUTES = {
	'/api/chat': chat,
	'/api/conversations': conversations,
	[DECISION]: decision,
	[FILES]: files,
	[FILE]: file,
	'/api/health': health,
	'/api/keys': keys,
	'/api/keys/[id]': one,
	'/api/runs/[id]': run,
	'/api/runs/[id]/events': runEvents,
	'/api/settings': settings,
	'/api/skills': skills,
	'/api/skills/executions': executions
};

interface Refusal {
	error: { code: string; message: string; hint?: string };
}

let root: string;
let app: App;
let send: Send;
const dataDir = (): string => join(root, 'data');

async function open(env: Record<string, string>): Promise<void> {
	root = await mkdtemp(join(tmpdir(), 'keys-api-'));
	const bundled = join(import.meta.dirname, '../../skills');
	app = await createApp(loadConfig({ DATA_DIR: dataDir(), SKILLS_DIRS: bundled, SKILLS_SANDBOX: 'process', ...env }));
	send = hookRoutes(app, ROUTES);
}

async function close(): Promise<void> {
	vi.unstubAllGlobals();
	await app.close();
	await rm(root, { recursive: true, force: true });
}

async function make(name: string, scopes?: ApiScope[], bearer: string | undefined = undefined): Promise<NewApiKey> {
	const response = await send('POST', '/api/keys', { bearer, body: { name, ...(scopes ? { scopes } : {}) } });
	expect(response.status).toBe(201);
	return (await response.json()) as NewApiKey;
}

const list = async (bearer?: string): Promise<ApiKey[]> =>
	((await (await send('GET', '/api/keys', { bearer })).json()) as ApiKeyList).data;

const refusalOf = async (response: Response): Promise<[number, string]> => [
	response.status,
	((await response.json()) as Refusal).error.code
];

/** Asks and waits for the last event. */
async function ask(bearer: string, threadId: string, content: string): Promise<string> {
	const runId = crypto.randomUUID();
	const body = { threadId, runId, messages: [{ id: crypto.randomUUID(), role: 'user', content }] };
	const response = await send('POST', '/api/chat', { bearer, body, accept: 'text/event-stream' });
	expect(await response.text()).toContain('RUN_FINISHED');
	return runId;
}

describe('F12: without ADMIN_TOKEN', () => {
	beforeAll(() => open({}));
	afterAll(close);

	test('F12: a key is made with a name and scopes, listed, renamed and revoked', async () => {
		const first = await make('editor', ['read', 'execute']);
		expect(first).toMatchObject({ name: 'editor', scopes: ['read', 'execute'], lastUsedAt: null, revokedAt: null });
		const second = await make('  all of it ');
		expect(second).toMatchObject({ name: 'all of it', scopes: ['read', 'write', 'execute'] });
		const { key: _first, ...shown } = first;
		expect(await list()).toContainEqual(shown);

		const renamed = await send('PATCH', '/api/keys/[id]', { params: { id: first.id }, body: { name: 'IDE' } });
		expect(await renamed.json()).toEqual({ ...shown, name: 'IDE' });
		const revoked = (await (await send('DELETE', '/api/keys/[id]', { params: { id: first.id } })).json()) as ApiKey;
		expect(Date.parse(revoked.revokedAt ?? '')).toBeGreaterThan(0);
		expect(await list()).toContainEqual(revoked);
	});

	test('C16: that a key may allow its own runs is said when it is made, or it may not', async () => {
		expect((await make('by default')).scopes).not.toContain('approve');
		expect((await make('agent', ['execute', 'approve'])).scopes).toEqual(['execute', 'approve']);
	});

	test('F12: the key is in the answer to its making and nowhere else: no answer, no file of the server', async () => {
		const { id, key } = await make('secret one', ['read']);
		expect((await send('GET', '/api/health', { bearer: key })).status).toBe(200);
		const answers = [
			await send('GET', '/api/keys'),
			await send('PATCH', '/api/keys/[id]', { params: { id }, body: { name: 'still secret' } }),
			await send('DELETE', '/api/keys/[id]', { params: { id } }),
			await send('GET', '/api/health', { bearer: key })
		];
		// What begins it is shown, and may be followed by anything.
		const secret = key.slice(10);
		for (const answer of answers) expect(await answer.text()).not.toContain(secret.slice(0, 8));
		const stored = await readdir(dataDir(), { recursive: true, withFileTypes: true });
		const paths = stored.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
		expect(paths.length).toBeGreaterThan(0);
		for (const path of paths) expect((await readFile(path)).includes(secret.slice(0, 8)), path).toBe(false);
	});

	test.each([
		['no name', {}],
		['an empty name', { name: '  ' }],
		['a name that is too long', { name: 'x'.repeat(101) }],
		['a name that is no text', { name: 5 }],
		['no scope', { name: 'x', scopes: [] }],
		['a scope twice', { name: 'x', scopes: ['read', 'read'] }],
		['a scope that there is not', { name: 'x', scopes: ['admin'] }],
		['a key of its own', { name: 'x', key: 'ors_mine' }],
		['no object', ['x']]
	])('F12: a key with %s is refused, and none is made', async (_what, body) => {
		const before = await list();
		expect(await refusalOf(await send('POST', '/api/keys', { body }))).toEqual([400, 'invalid_input']);
		expect(await list()).toEqual(before);
	});

	test('F12: what is no JSON, and keys that are not there, are answered as such', async () => {
		expect(await refusalOf(await send('POST', '/api/keys', { text: '{"name":' }))).toEqual([400, 'invalid_input']);
		for (const id of ['key_none', "' or 1=1 --", '../..']) {
			const rename = await send('PATCH', '/api/keys/[id]', { params: { id }, body: { name: 'x' } });
			expect(await refusalOf(rename)).toEqual([404, 'not_found']);
			expect(await refusalOf(await send('DELETE', '/api/keys/[id]', { params: { id } }))).toEqual([404, 'not_found']);
		}
	});

	test('F12: nobody must log in here, and a wrong or revoked key is refused all the same', async () => {
		const { id, key } = await make('for a while', ['read']);
		expect((await send('GET', '/api/skills')).status).toBe(200);
		expect((await send('GET', '/api/skills', { bearer: key })).status).toBe(200);
		await send('DELETE', '/api/keys/[id]', { params: { id } });
		for (const bearer of [key, 'ors_wrong']) {
			const refused = await send('GET', '/api/skills', { bearer });
			expect(refused.headers.get('www-authenticate')).toBe('Bearer');
			expect(await refusalOf(refused)).toEqual([401, 'unauthorized']);
		}
	});
});

describe('E10: the body of the OmniRoute document', () => {
	afterEach(close);
	const ask = (more: { bearer?: string; body?: object; text?: string }) => send('POST', '/api/skills/executions', more);

	test('E10: a skill with one tool runs with its input alone, for whoever manages the server and for a key', async () => {
		await open({});
		const body = { skillName: 'count-words', apiKeyId: 'their-own', input: { text: 'a b c' }, sessionId: 's-1' };
		const managed = await ask({ body });
		expect(managed.status).toBe(201);
		expect(await managed.json()).toMatchObject({
			execution: { tool: 'count_words', apiKeyId: 'their-own', sessionId: 's-1', status: 'success' },
			result: { value: { words: 3 } }
		});
		const key = await make('omniroute', ['execute']);
		const own = await ask({ bearer: key.key, body });
		expect(await own.json()).toMatchObject({ execution: { tool: 'count_words', apiKeyId: key.id } });
	});

	test('E10: while skills are switched off it is 503 before anything else is looked at', async () => {
		await open({ SKILLS_ENABLED: 'false' });
		for (const sent of [{ text: '{' }, { body: {} }, { body: { skillName: 'ghost' } }, { body: { nonsense: 1 } }]) {
			const refused = await ask(sent);
			expect(refused.headers.get('retry-after')).not.toBeNull();
			expect(await refusalOf(refused), JSON.stringify(sent)).toEqual([503, 'unavailable']);
		}
	});
});

describe('C16: with SKILLS_APPROVAL=ask', () => {
	const COUNT = { skillName: 'count-words', script: 'scripts/count.mjs', args: ['a b'] };
	const run = (bearer: string | undefined, body: object) =>
		send('POST', '/api/skills/executions', { bearer, body: { ...COUNT, ...body } });
	const digestIn = async (response: Response): Promise<string> =>
		((await response.json()) as { error: { details: { digest: string } } }).error.details.digest;
	beforeAll(() => open({ SKILLS_APPROVAL: 'ask' }));
	afterAll(close);

	test('C16: nothing is run over REST because somebody asks for it; whoever manages the server allows it with the request', async () => {
		const refused = await run(undefined, {});
		expect(refused.status).toBe(403);
		const approve = await digestIn(refused);
		expect((await run(undefined, { approve })).status).toBe(201);
		expect((await run(undefined, { approve: 'other' })).status).toBe(403);
	});

	test('C16: a key runs nothing by the same answer; one that was made for it runs unasked', async () => {
		const plain = await make('as they all were', ['read', 'write', 'execute']);
		const approve = await digestIn(await run(undefined, {}));
		for (const body of [{}, { approve }]) {
			expect(await refusalOf(await run(plain.key, body))).toEqual([403, 'forbidden']);
		}
		expect((await app.store.skillExecutions.list({ apiKeyId: plain.id }, { page: 1, limit: 1 })).total).toBe(0);
		const trusted = await make('agent', ['execute', 'approve']);
		expect((await run(trusted.key, {})).status).toBe(201);
	});

	test('C16: a key is not let to the page’s own way of answering', async () => {
		const { key } = await make('agent', ['execute', 'approve']);
		const params = { id: 'c', interrupt: 'i' };
		const answer = await send('POST', DECISION, { bearer: key, params, body: { choice: 'once' } });
		expect(await refusalOf(answer)).toEqual([403, 'forbidden']);
	});
});

describe('F12: with ADMIN_TOKEN', () => {
	let reader: NewApiKey;
	let first: NewApiKey;
	let second: NewApiKey;
	beforeAll(async () => {
		await open({ ADMIN_TOKEN: TOKEN });
		reader = await make('reader', ['read'], TOKEN);
		first = await make('first', undefined, TOKEN);
		second = await make('second', undefined, TOKEN);
	});
	afterAll(close);

	test('F12: a key opens what its scopes allow, and nothing of the management of the server', async () => {
		expect(await refusalOf(await send('GET', '/api/skills'))).toEqual([401, 'unauthorized']);
		expect((await send('GET', '/api/skills', { bearer: reader.key })).status).toBe(200);
		const execution = { body: { skillName: 'count-words', script: 'scripts/count.mjs', args: ['a b'] } };
		const refused = await send('POST', '/api/skills/executions', { bearer: reader.key, ...execution });
		expect(await refused.json()).toMatchObject({
			error: { code: 'forbidden', message: expect.stringContaining('lacks the scope “execute”') }
		});
		for (const [method, route] of [
			['GET', '/api/keys'],
			['POST', '/api/keys'],
			['DELETE', '/api/keys/[id]'],
			['GET', '/api/settings'],
			['PUT', '/api/settings'],
			['GET', '/api/conversations'],
			['GET', '/']
		] as const) {
			const answer = await send(method, route, { bearer: first.key, params: { id: second.id } });
			expect(await refusalOf(answer), `${method} ${route}`).toEqual([403, 'forbidden']);
		}
		expect((await list(TOKEN)).find(({ id }) => id === second.id)?.revokedAt).toBeNull();
	});

	test('E18: a key sees the conversation, run and files that it began; another key is told that there are none', async () => {
		const threadId = crypto.randomUUID();
		const put = await send('PUT', FILE, { bearer: first.key, params: { id: threadId, path: 'a.txt' }, text: 'mine' });
		expect(put.status).toBe(201);
		const runId = await ask(first.key, threadId, 'Count the words of "one two three"');
		const reads = [
			['/api/runs/[id]', { id: runId }],
			['/api/runs/[id]/events', { id: runId }],
			[FILES, { id: threadId }],
			[FILE, { id: threadId, path: 'a.txt' }]
		] as const;
		for (const [route, params] of reads) {
			for (const bearer of [first.key, TOKEN]) {
				const answer = await send('GET', route, { bearer, params });
				expect(answer.status, route).toBe(200);
				await answer.text();
			}
			for (const bearer of [second.key, reader.key]) {
				expect(await refusalOf(await send('GET', route, { bearer, params })), route).toEqual([404, 'not_found']);
			}
		}
	});

	test('E18: another key can neither stop a run, nor write to a conversation, nor ask in it', async () => {
		const threadId = crypto.randomUUID();
		const runId = await ask(first.key, threadId, 'Hello');
		await send('PUT', FILE, { bearer: first.key, params: { id: threadId, path: 'a.txt' }, text: 'mine' });
		const params = { id: threadId, path: 'a.txt' };
		const bearer = second.key;
		const body = { threadId, runId: crypto.randomUUID(), messages: [{ id: 'm', role: 'user', content: 'Mine now?' }] };
		for (const refused of [
			await send('DELETE', '/api/runs/[id]', { bearer, params: { id: runId } }),
			await send('PUT', FILE, { bearer, params, text: 'yours' }),
			await send('DELETE', FILE, { bearer, params }),
			await send('POST', '/api/chat', { bearer, body })
		]) {
			expect(await refusalOf(refused)).toEqual([404, 'not_found']);
		}
		expect(await (await send('GET', FILE, { bearer: first.key, params })).text()).toBe('mine');
		expect((await app.store.messages.list(threadId)).filter(({ role }) => role === 'user')).toHaveLength(1);
		await app.store.conversations.markDeleted(threadId, new Date().toISOString());
		expect(await refusalOf(await send('PUT', FILE, { bearer, params, text: 'yours' }))).toEqual([404, 'not_found']);
		const again = { ...body, threadId: crypto.randomUUID(), runId };
		const taken = await send('POST', '/api/chat', { bearer, body: again });
		expect([taken.status, await taken.text()]).toEqual([409, expect.not.stringContaining('conversation')]);
	});

	test('E18: a conversation of whoever manages the server is nobody else’s', async () => {
		const threadId = crypto.randomUUID();
		const runId = await ask(TOKEN, threadId, 'Hello');
		for (const [route, params] of [
			['/api/runs/[id]', { id: runId }],
			[FILES, { id: threadId }]
		] as const) {
			expect(await refusalOf(await send('GET', route, { bearer: first.key, params }))).toEqual([404, 'not_found']);
		}
	});

	test('E18: what ran in a run is recorded under the key, which sees no executions but its own', async () => {
		const key = await make('runs things', undefined, TOKEN);
		const runId = await ask(key.key, crypto.randomUUID(), 'Count the words of "one two three four"');
		const own = await executionsOf(key.key);
		expect(own.data).toMatchObject([{ skill: 'count-words', status: 'success', runId, apiKeyId: key.id }]);
		expect((await executionsOf(second.key, `?apiKeyId=${key.id}`)).data).toEqual([]);
		expect((await executionsOf(TOKEN, `?apiKeyId=${key.id}`)).data).toEqual(own.data);
	});

	test('E18: what a key runs by hand is its own, in the workspace of the key, whatever key the body names', async () => {
		const key = await make('writes files', undefined, TOKEN);
		const body = { skillName: 'file_write', input: { path: 'note.txt', content: 'kept' }, apiKeyId: second.id };
		const written = await send('POST', '/api/skills/executions', { bearer: key.key, body });
		expect(written.status).toBe(201);
		expect(await written.json()).toMatchObject({ execution: { status: 'success', apiKeyId: key.id } });
		const place = workspaceOf(dataDir(), { apiKeyId: key.id });
		expect(await readFile(join(place, 'note.txt'), 'utf8')).toBe('kept');
		expect(place).not.toContain(key.id);

		const read = { skillName: 'file_read', input: { path: 'note.txt' } };
		const seen = async (bearer: string): Promise<string> =>
			(await send('POST', '/api/skills/executions', { bearer, body: read })).text();
		expect(await seen(key.key)).toContain('kept');
		expect(await seen(second.key)).not.toContain('kept');
	});

	test('F12: a key that is revoked is refused from the next request on; what it made stays', async () => {
		const key = await make('for a while', undefined, TOKEN);
		const threadId = crypto.randomUUID();
		const runId = await ask(key.key, threadId, 'Hello');
		await send('DELETE', '/api/keys/[id]', { bearer: TOKEN, params: { id: key.id } });
		expect(await refusalOf(await send('GET', '/api/health', { bearer: key.key }))).toEqual([401, 'unauthorized']);
		expect((await send('GET', '/api/runs/[id]', { bearer: TOKEN, params: { id: runId } })).status).toBe(200);
	});

	test('F12: a use of a key is seen in the list', async () => {
		const key = await make('used', ['read'], TOKEN);
		const lastUse = async () => (await list(TOKEN)).find(({ id }) => id === key.id)?.lastUsedAt;
		expect(await lastUse()).toBeNull();
		await send('GET', '/api/health', { bearer: key.key });
		expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThan(0);
	});

	test('F12: wrong keys are counted: after ten the client is told how long to wait, and a right one is let in all the same', async () => {
		const from = '127.9.9.9';
		for (let round = 0; round < 10; round++) {
			expect((await send('GET', '/api/health', { bearer: `ors_wrong${round}`, from })).status).toBe(401);
		}
		const refused = await send('GET', '/api/health', { bearer: 'ors_wrong', from });
		expect(refused.status).toBe(429);
		expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
		expect((await send('GET', '/api/health', { bearer: first.key, from })).status).toBe(200);
	});

	async function executionsOf(bearer: string, query = ''): Promise<SkillExecutionList> {
		return (await (await send('GET', '/api/skills/executions', { bearer, query })).json()) as SkillExecutionList;
	}
});
