/** Signing in to a real MCP server that has a real authorization server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuthorizedServer, startAuthorizedServer } from '../../../../tests/support/mcp-authorization.ts';
import { type McpServer, mcpServerPut } from '../../shared/mcp-servers.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createVault } from '../trust/vault.ts';
import { type McpServers, openMcpServers } from './mcp-servers.ts';

const ORIGIN = 'http://skills.test';
const BACK = `${ORIGIN}/settings/mcp/office`;
const KEY = Buffer.alloc(32, 7);

let root: string;
let store: Store;
let servers: McpServers;
let remote: AuthorizedServer;

const open = () =>
	openMcpServers({
		...{ store, dataDir: root, maxOutputBytes: 2_000, timeoutMs: () => 5_000, isEnabled: () => true },
		vault: createVault({ store: store.secrets, key: KEY }),
		recorder: { started: async () => undefined, running: async () => undefined, finished: async () => undefined },
		delayMs: () => 5
	});

beforeEach(async () => {
	root = await mkdtemp(join(tmpdir(), 'mcp-sign-in-'));
	store = await openSqliteStore(join(root, 'app.sqlite'));
	servers = await open();
	remote = await startAuthorizedServer();
	await servers.put('office', mcpServerPut.parse({ transport: { type: 'http', url: remote.url }, approval: 'auto' }));
});

afterEach(async () => {
	await servers.close();
	await store.close();
	await remote.stop();
	await rm(root, { recursive: true, force: true });
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

	test('signing out tells the server to end what it gave; one that doesn’t answer to that is signed out of all the same', async () => {
		await signIn();
		await servers.signOut('office');
		expect(remote.revoked).toEqual([expect.stringMatching(/^renewal-/)]);
		expect(remote.tokens.size).toBe(0);
		await expect.poll(() => office().signIn).toBe('wanted');
		await signIn();
		await remote.stop();
		await servers.signOut('office');
		expect(office().signIn).not.toBe('done');
		remote = await startAuthorizedServer();
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

	test.each(['javascript:alert(1)', 'file:///etc/passwd'])('opens no page at %s', async (place) => {
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
	});
});
