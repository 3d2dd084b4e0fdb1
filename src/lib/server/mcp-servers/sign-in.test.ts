/** Signing in to a real MCP server that has a real authorization server. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { type AuthorizedServer, startAuthorizedServer } from '../../../../tests/support/mcp-authorization.ts';
import { createLines } from '../../shared/in-turn.ts';
import { type McpServer, mcpServerPut } from '../../shared/mcp-servers.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createVault } from '../trust/vault.ts';
import { type McpServers, openMcpServers } from './mcp-servers.ts';
import { createSignIns, isOwnPlace } from './sign-in.ts';

const ORIGIN = 'http://skills.test';
const BACK = `${ORIGIN}/settings/mcp/office`;
const KEY = Buffer.alloc(32, 7);

const root = emptyFolder();
let store: Store;
let servers: McpServers;
let remote: AuthorizedServer;

let revokeMs: number | undefined;
const open = () =>
	openMcpServers({
		...{ store, dataDir: root, maxOutputBytes: 2_000, timeoutMs: () => 5_000, isEnabled: () => true },
		vault: createVault({ store: store.secrets, key: KEY }),
		recorder: { started: async () => undefined, running: async () => undefined, finished: async () => undefined },
		delayMs: () => 5,
		revokeMs
	});

beforeEach(async () => {
	revokeMs = undefined;
	store = await openSqliteStore(join(root, 'app.sqlite'));
	servers = await open();
	remote = await startAuthorizedServer();
	await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: remote.url }, approval: 'auto' }));
});

afterEach(async () => {
	await servers.close();
	await store.close();
	await remote.stop();
});

const office = (): McpServer => servers.get('office');
const isConnected = () => expect.poll(() => office().status).toMatchObject({ state: 'connected' });
const call = (name: string, args: object) =>
	servers.tools({}).call(
		name,
		{ ...args },
		{
			cwd: root,
			signal: new AbortController().signal,
			onEvent: () => undefined,
			caller: { runId: 'r' }
		}
	);

/** What the person's browser does. */
async function visit(address: string): Promise<{ code: string; state: string; iss?: string }> {
	const { headers } = await fetch(address, { redirect: 'manual' });
	const { origin, pathname, searchParams } = new URL(headers.get('location') ?? '');
	expect(origin + pathname).toBe(BACK);
	return Object.fromEntries(searchParams) as { code: string; state: string; iss?: string };
}

async function signIn(): Promise<void> {
	const { url } = await servers.startSignIn('office', BACK, ORIGIN);
	await servers.completeSignIn('office', await visit(url));
	await isConnected();
}

describe('E36: signing in to a server', () => {
	test('that refuses access is offered; then its tools are there, also after a restart, and nothing of it is shown', async () => {
		await expect.poll(() => office().signIn).toBe('wanted');
		expect(office().status.error).toContain('Sign in, or add a header');
		await signIn();
		expect(office()).toMatchObject({ signIn: 'done', status: { software: 'fixture 1.2.3', error: null } });
		expect(remote.clients).toEqual(['openrouter-skills']);
		expect(await call('mcp__office__add', { a: 2, b: 3 })).toEqual({ ok: true, output: 'The sum is 5.' });
		expect(JSON.stringify(servers.list())).not.toMatch(/access-|renewal-/);

		await servers.close();
		servers = await open();
		await isConnected();
		expect(office().signIn).toBe('done');
		expect(remote.clients).toHaveLength(1);
	});

	test('whose token has ended gets another one by itself, and none if that has ended, too', async () => {
		await signIn();
		remote.expire();
		servers.reconnect('office');
		await expect.poll(() => remote.grants.at(-1)?.get('grant_type')).toBe('refresh_token');
		await isConnected();
		expect(await call('mcp__office__add', { a: 1, b: 1 })).toMatchObject({ ok: true });

		remote.expire('renewals');
		servers.reconnect('office');
		await expect.poll(() => office().signIn).toBe('wanted');
		expect(office().status.state).not.toBe('connected');
		await signIn();
	});

	test('signing out forgets it, and so does another address; it can be signed in to again', async () => {
		await signIn();
		expect((await servers.signOut('office')).status.state).toBe('connecting');
		await expect.poll(() => office().signIn).toBe('wanted');
		await signIn();
		const other = await startAuthorizedServer();
		try {
			await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: other.url } }));
			await expect.poll(() => office().signIn).toBe('wanted');
			await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: remote.url } }));
			await expect.poll(() => office().signIn).toBe('wanted');
		} finally {
			await other.stop();
		}
	});

	test('with a client that the server has forgotten leads nowhere once; the next time another one is registered', async () => {
		await signIn();
		remote.expire('renewals');
		remote.forget();
		servers.reconnect('office');
		await expect.poll(() => office().signIn).toBe('wanted');
		const lost = await servers.startSignIn('office', BACK, ORIGIN);
		expect((await fetch(lost.url, { redirect: 'manual' })).status).toBe(400);
		expect(remote.clients).toHaveLength(1);
		await signIn();
		expect(remote.clients).toHaveLength(2);
		// The new one is kept.
		await servers.startSignIn('office', BACK, ORIGIN).then(({ url }) => visit(url));
		expect(remote.clients).toHaveLength(2);
	});

	test('signing out has it revoked where it was given, the token for renewing first, and so has removing the server', async () => {
		await signIn();
		const [access] = remote.tokens;
		expect(await servers.signOut('office')).toMatchObject({ name: 'office', notRevoked: null });
		const [first, second] = remote.revocations.map(({ form }) => Object.fromEntries(form));
		const id = { client_id: 'client-1' };
		expect(first).toEqual({ ...id, token: expect.stringMatching(/^renewal-/), token_type_hint: 'refresh_token' });
		expect(second).toEqual({ ...id, token: access, token_type_hint: 'access_token' });
		expect(remote.tokens.size).toBe(0);
		await expect.poll(() => office().signIn).toBe('wanted');

		await signIn();
		expect(await servers.remove('office')).toEqual({ notRevoked: null });
		expect(remote.revocations).toHaveLength(4);
		expect(remote.tokens.size).toBe(0);
		expect(servers.list()).toEqual([]);
	});

	test('another address has it revoked at the old one, and a server without an endpoint for that isn’t asked', async () => {
		await signIn();
		const other = await startAuthorizedServer();
		other.revokes = 'absent';
		try {
			await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: other.url } }));
			await expect.poll(() => remote.revocations.length).toBe(2);
			await expect.poll(() => office().signIn).toBe('wanted');
			await signIn();
			expect(await servers.signOut('office')).toMatchObject({ notRevoked: null });
			expect(other.revocations).toEqual([]);
			expect(remote.revocations).toHaveLength(2);
		} finally {
			await other.stop();
		}
	});

	test.each([
		['that it refuses', 503, /^127\.0\.0\.1:\d+ didn’t revoke the access \(status 503\)\. Remove it in your account/],
		['that it never answers', 'silent', /didn’t revoke the access \(no answer within 0\.05 s\)/]
	] as const)('is ended here, whatever comes of revoking it: %s', async (_what, revokes, sentence) => {
		await servers.close();
		revokeMs = 50;
		servers = await open();
		await signIn();
		remote.revokes = revokes;
		const { notRevoked } = await servers.signOut('office');
		expect(notRevoked).toMatch(sentence);
		expect(notRevoked).not.toMatch(/access-|renewal-/);
		expect(remote.revocations).toHaveLength(1);
		await expect.poll(() => office().signIn).toBe('wanted');
		remote.revokes = 'yes';
		await signIn();
		await remote.stop();
		expect((await servers.remove('office')).notRevoked).toMatch(/didn’t revoke the access/);
		expect(await store.secrets.list('mcp-server:office')).toEqual([]);
	});

	test.each(['http://127.0.0.2:9/revoke', 'https://127.0.0.2:9/revoke', 'http://evil.test/', 'file:///etc/passwd'])(
		'sends no token to a revocation endpoint at %s',
		async (place) => {
			const origin = new URL(remote.url).origin;
			const right = await (await fetch(`${origin}/.well-known/oauth-authorization-server`)).json();
			remote.wrong.set('/.well-known/oauth-authorization-server', { ...right, revocation_endpoint: place });
			await signIn();
			expect((await servers.signOut('office')).notRevoked).toMatch(/didn’t revoke the access/);
			expect(remote.revocations).toEqual([]);
		}
	);

	test('that was given a secret signs in with it to revoke, as the server wants it', async () => {
		const origin = new URL(remote.url).origin;
		const path = '/.well-known/oauth-authorization-server';
		const right = (await (await fetch(origin + path)).json()) as object;
		for (const method of ['client_secret_basic', 'client_secret_post']) {
			remote.wrong.set(path, { ...right, revocation_endpoint_auth_methods_supported: [method] });
			await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: `${remote.url}?${method}` } }));
			remote.secret = 's p&cret';
			await signIn();
			await servers.signOut('office');
		}
		const [basic, , post] = remote.revocations;
		expect(basic?.authorization).toBe(`Basic ${Buffer.from('client-1:s p&cret').toString('base64')}`);
		expect(basic?.form.has('client_secret')).toBe(false);
		expect([post?.authorization, post?.form.get('client_secret')]).toEqual([undefined, 's p&cret']);
	});

	test('an answer counts once, for the one who started it, and with the right state', async () => {
		const { url } = await servers.startSignIn('office', BACK, ORIGIN);
		const answer = await visit(url);
		const refused = { code: 'conflict', message: expect.stringContaining('wasn’t started here') as string };
		await expect(servers.completeSignIn('office', { ...answer, state: 'other' })).rejects.toMatchObject(refused);
		await expect(servers.completeSignIn('office', { ...answer, iss: 'http://evil.test' })).rejects.toMatchObject({
			code: 'unavailable'
		});
		const again = await servers.startSignIn('office', BACK, ORIGIN);
		const right = await visit(again.url);
		await servers.completeSignIn('office', right);
		await expect(servers.completeSignIn('office', right)).rejects.toMatchObject(refused);
		await isConnected();
	});

	test('that is begun and not ended, or fails, leaves the one that there was', async () => {
		await signIn();
		await servers.startSignIn('office', BACK, ORIGIN);
		remote.wrong.set('/.well-known/oauth-authorization-server', { issuer: 'nothing' });
		await expect(servers.startSignIn('office', BACK, ORIGIN)).rejects.toMatchObject({ code: 'unavailable' });
		servers.reconnect('office');
		await isConnected();
		expect(office().signIn).toBe('done');
	});

	test('leads back to this server only, and programs have none', async () => {
		await expect(servers.startSignIn('office', 'http://evil.test/', ORIGIN)).rejects.toMatchObject({
			code: 'invalid_input'
		});
		await servers.put('program', mcpServerPut.parse({ transport: { type: 'stdio', command: 'nothing' } }));
		await expect(servers.startSignIn('program', BACK, ORIGIN)).rejects.toMatchObject({ code: 'conflict' });
		await expect(servers.startSignIn('nobody', BACK, ORIGIN)).rejects.toMatchObject({ code: 'not_found' });
	});

	test.each([
		['another host of this network', { resource: '', authorization_servers: ['http://127.0.0.2:9/'] }],
		['a place that isn’t a web address', { resource: '', authorization_servers: ['file:///etc/passwd'] }],
		['another server’s resource', { resource: 'https://other.test/mcp', authorization_servers: [] }]
	])('that names %s is not followed there', async (_what, metadata) => {
		for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
			remote.wrong.set(path, { ...metadata, resource: metadata.resource || remote.url });
		}
		await expect(servers.startSignIn('office', BACK, ORIGIN)).rejects.toMatchObject({ code: 'unavailable' });
		expect(office().signIn).not.toBe('done');
	});

	test.each(['javascript:alert(1)', 'file:///etc/passwd', 'https://bank.test@evil.test/'])(
		'opens no page at %s',
		async (place) => {
			const origin = new URL(remote.url).origin;
			remote.wrong.set('/.well-known/oauth-authorization-server', {
				issuer: origin,
				authorization_endpoint: place,
				token_endpoint: `${origin}/token`,
				registration_endpoint: `${origin}/register`,
				response_types_supported: ['code'],
				code_challenge_methods_supported: ['S256']
			});
			await expect(servers.startSignIn('office', BACK, ORIGIN)).rejects.toMatchObject({ code: 'unavailable' });
		}
	);

	test('is renewed elsewhere without the headers that are stored for the server', async () => {
		const elsewhere = await startAuthorizedServer(remote.tokens);
		try {
			namesAsAuthorizer(new URL(elsewhere.url).origin);
			const transport = { type: 'http', url: remote.url, headers: { 'X-Key': 'very-secret' } };
			await servers.put('office', mcpServerPut.parse({ transport, approval: 'auto' }));
			await signIn();
			remote.expire();
			expect(await call('mcp__office__add', { a: 1, b: 1 })).toMatchObject({ ok: true });
			expect(elsewhere.grants.map((form) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token']);
			expect(JSON.stringify(elsewhere.asked)).not.toContain('very-secret');
			expect(elsewhere.asked.filter(({ headers }) => headers.authorization)).toEqual([]);
			// To its own address they go, with the token.
			expect(remote.requests.at(-1)?.headers).toMatchObject({ 'x-key': 'very-secret' });
		} finally {
			await elsewhere.stop();
		}
	});

	test('F14: begun at one of several servers it ends at another, once; renewed at one it isn’t renewed again at the other', async () => {
		const vault = createVault({ store: store.secrets, key: KEY });
		const exclusively = createLines();
		const [a, b] = [1, 2].map(() => createSignIns(vault, (name) => `mcp-server:${name}`, { exclusively })) as [
			ReturnType<typeof createSignIns>,
			ReturnType<typeof createSignIns>
		];
		const answer = await visit(await a.start('office', remote.url, BACK));
		expect(JSON.stringify(await store.secrets.list('mcp-server:office'))).not.toContain(answer.state);
		const twice = await Promise.allSettled([b, a].map((each) => each.complete('office', remote.url, answer)));
		expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
		expect((await store.secrets.list('mcp-server:office')).map(({ name }) => name)).toEqual(['SIGN_IN']);
		expect(await a.idOf('office')).toBe(await b.idOf('office'));

		const [first, second] = await Promise.all([a, b].map((each) => each.access('office', remote.url)));
		await Promise.all([first?.renew(), second?.renew()]);
		expect(remote.grants.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
		expect(second?.token()).toBe(first?.token());
		await second?.renew();
		await first?.renew();
		expect(remote.grants.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(2);
		expect(second?.token()).toBe(first?.token());
	});

	test('is renewed once for all the calls that find it ended', async () => {
		await signIn();
		remote.expire();
		const answers = await Promise.all([1, 2, 3, 4].map((a) => call('mcp__office__add', { a, b: 1 })));
		expect(answers.map(({ ok }) => ok)).toEqual([true, true, true, true]);
		expect(remote.grants.filter((form) => form.get('grant_type') === 'refresh_token')).toHaveLength(1);
		expect(office()).toMatchObject({ signIn: 'done', status: { state: 'connected' } });
	});

	test.each([
		['that it went wrong', 'server_error', 'done'],
		['that it has ended', 'invalid_grant', 'wanted']
	])('whose renewal is answered with its token and %s shows it nowhere', async (_what, error, then) => {
		const logged = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
		try {
			await signIn();
			let echoed = '';
			remote.onToken = (form) => {
				echoed = form.get('refresh_token') ?? '';
				return { error, error_description: `\u009b31mNo: ${form}` };
			};
			remote.expire();
			const answer = await call('mcp__office__add', { a: 1, b: 1 });
			expect(answer.ok).toBe(false);
			await expect.poll(() => office().status.state).toBe('waiting');
			await expect.poll(() => office().signIn).toBe(then);
			expect(echoed).toMatch(/^renewal-/);
			expect(JSON.stringify([answer, servers.list()])).not.toContain(echoed);
			expect(logged.mock.calls).toEqual([]);
		} finally {
			logged.mockRestore();
		}
	});

	test('that takes its time holds up no other change, and counts for nothing if the server is signed out of or removed', async () => {
		const { url } = await servers.startSignIn('office', BACK, ORIGIN);
		const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
		remote.onToken = () => (asked.resolve(), go.promise);
		const completing = servers.completeSignIn('office', await visit(url)).catch((error: unknown) => error);
		await asked.promise;
		await servers.put('other', mcpServerPut.parse({ transport: { type: 'stdio', command: 'nothing' } }));
		await servers.remove('office');
		await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: remote.url } }));
		go.resolve(null);
		expect(await completing).toMatchObject({ code: 'conflict' });
		// Nobody has what was given.
		expect(remote.revocations).toHaveLength(2);
		expect(remote.tokens.size).toBe(0);
		servers.reconnect('office');
		await expect.poll(() => office().signIn).toBe('wanted');
		expect(await store.secrets.list('mcp-server:office')).toEqual([]);
	});

	test('that is larger than what can be kept is refused before anybody opens a page', async () => {
		const origin = new URL(remote.url).origin;
		remote.wrong.set('/.well-known/oauth-protected-resource/mcp', {
			resource: remote.url,
			authorization_servers: [origin],
			scopes_supported: Array.from({ length: 5_000 }, (_, index) => `scope-${index}`)
		});
		await expect(servers.startSignIn('office', BACK, ORIGIN)).rejects.toMatchObject({
			code: 'unavailable',
			message: 'Couldn’t sign in: what the server says about it is too long.'
		});
	});

	test('with a server that never answers is given up once, for all its addresses', async () => {
		const silent = createServer(() => undefined);
		await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
		try {
			const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
			const vault = createVault({ store: store.secrets, key: KEY });
			const signIns = createSignIns(vault, (name) => name, { longestMs: 50 });
			await expect(signIns.start('office', url, BACK)).rejects.toMatchObject({ code: 'unavailable' });
		} finally {
			silent.closeAllConnections();
			silent.close();
		}
	});

	test('that is ended while a renewal is being written stays ended', async () => {
		const vault = createVault({ store: store.secrets, key: KEY });
		let onRead = (): void => undefined;
		const signIns = createSignIns(
			{ ...vault, valuesOf: (id) => vault.valuesOf(id).finally(() => onRead()) },
			(name) => `mcp-server:${name}`
		);
		await signIns.complete('office', remote.url, await visit(await signIns.start('office', remote.url, BACK)));
		const access = await signIns.access('office', remote.url);
		const { promise: removing, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof signIns.remove>>>();
		// Not before: a renewal begins with a look at what is stored.
		remote.onToken = () => {
			onRead = () => {
				onRead = () => undefined;
				resolve(signIns.remove('office'));
			};
			return null;
		};
		await access?.renew();
		expect(await (await removing).revoked).toBeNull();
		expect(remote.grants.at(-1)?.get('grant_type')).toBe('refresh_token');
		expect(await store.secrets.list('mcp-server:office')).toEqual([]);
		// The new ones.
		expect(remote.revocations.map(({ form }) => form.get('token'))[1]).toBe(access?.token());
	});

	test('that is renewed too late, after it was ended, is revoked, too', async () => {
		await signIn();
		remote.expire();
		const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
		remote.onToken = () => (asked.resolve(), go.promise);
		const called = call('mcp__office__add', { a: 1, b: 1 });
		await asked.promise;
		remote.revokes = 503;
		expect((await servers.signOut('office')).notRevoked).toMatch(/status 503/);
		remote.revokes = 'yes';
		go.resolve(null);
		expect(await called).toMatchObject({ ok: false });
		await expect.poll(() => remote.revocations.length).toBe(3);
		await expect.poll(() => remote.tokens.size).toBe(0);
		expect(await store.secrets.list('mcp-server:office')).toEqual([]);
	});

	test.each([
		['http://tools.test/mcp', 'http://tools.test/token', true],
		['https://tools.test/mcp', 'https://tools.test:8443/token', true],
		['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:9000/token', true],
		['http://localhost:3000/mcp', 'http://localhost:9000/token', true],
		['http://[::1]:3000/mcp', 'http://[::1]:9000/token', true],
		// Its owner could let the name lead anywhere meanwhile; https asks for its certificate.
		['https://tools.test/mcp', 'http://tools.test/latest/meta-data', false],
		['http://tools.test/mcp', 'http://tools.test:8080/', false],
		['http://127.0.0.1:3000/mcp', 'http://localhost:3000/', false],
		['http://127.0.0.1:3000/mcp', 'http://127.0.0.2:3000/', false]
	])('SECURITY MCP servers: of the server %s, %s may be private: %s', (server, target, isAllowed) => {
		expect(isOwnPlace(new URL(target), new URL(server))).toBe(isAllowed);
	});
});

function namesAsAuthorizer(origin: string): void {
	for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
		remote.wrong.set(path, { resource: remote.url, authorization_servers: [origin] });
	}
}
