/** Signing in to MCP servers over HTTP: OAuth 2.1 with discovery, dynamic registration and PKCE, by the official client (E36). */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import type {
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens
} from '@modelcontextprotocol/client';
import { AppError } from '../../shared/errors.ts';
import { plainLine } from '../../shared/characters.ts';
import { createLines, type Exclusively } from '../../shared/in-turn.ts';
import { parseJson } from '../../shared/json.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import type { Vault } from '../trust/vault.ts';
import { z } from 'zod';

/** All that is kept of a server's sign-in, in one entry of the vault. */
interface SignIn {
	/** Of this sign-in: what an earlier one's connection still renews is not kept. */
	id: string;
	/** The server's address: another server of this name gets nothing of it. */
	url: string;
	/** Where the person comes back to; registered with the client. */
	callback: string;
	client?: StoredOAuthClientInformation | undefined;
	tokens?: StoredOAuthTokens | undefined;
	discovery?: OAuthDiscoveryState | undefined;
}

/** Under way, in an entry of its own, because the person may come back to another of several servers. */
interface Pending {
	signIn: SignIn;
	state: string;
	verifier: string;
	/** Milliseconds since 1970. */
	startedAt: number;
	/** An answer counts once. */
	isAnswered: boolean;
}

/** For all connections of a server: of two that renewed, the server would take the second for a thief. */
interface Live {
	signIn: SignIn;
	renewal: Promise<void> | null;
	/** Also those of before, which may still be good. */
	secrets: string[];
}

export interface SignInAnswer {
	code: string;
	state: string;
	/** The authorization server, if it says so. */
	iss?: string | undefined;
}

/** What a connection sends as the one who has signed in. */
export interface Access {
	token(): string | undefined;
	/** Gets another one. @throws SignInEnded; Error, if it may work later */
	renew(): Promise<void>;
	/** Must not be seen anywhere; changes when they are renewed. */
	secrets(): readonly string[];
}

/** Somebody has to sign in again. */
class SignInEnded extends Error {
	override readonly name = 'SignInEnded';
	readonly status = 401;
}

export interface SignIns {
	/** null if nobody has signed in. */
	access(name: string, url: string): Promise<Access | null>;
	/** The address to open; the person comes back to `callback`. @throws AppError unavailable */
	start(name: string, url: string, callback: string): Promise<string>;
	/** @throws AppError conflict if it wasn't started here, took too long or was removed meanwhile; unavailable */
	complete(name: string, url: string, answer: SignInAnswer): Promise<void>;
	/** Forgets it. `revoked`: null, or a sentence that says why the authorization server still takes it; never rejects. */
	remove(name: string): Promise<{ revoked: Promise<string | null> }>;
	/** Changes with each sign-in; null: nobody has signed in. */
	idOf(name: string): Promise<string | null>;
}

const ENTRY = 'SIGN_IN';
const PENDING = 'SIGN_IN_PENDING';
const LONGEST_MS = 10 * 60 * 1000;
/** For all requests of a start, an end or a renewal. */
const EXCHANGE_MS = 30_000;
/** People wait for it. */
const REVOKE_MS = 5000;
const MAX_REASON = 300;
/** The vault's limit, with room for tokens. */
const MAX_BYTES = 60_000;
const MAX_DISCOVERY_BYTES = 40_000;
const MAX_SECRETS = 12;
const ENDS: readonly string[] = ['invalid_grant', 'invalid_client', 'unauthorized_client'];

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `idOf`: of the server's entries in the vault. `longestMs`: of one exchange with servers; `revokeMs`: of one that ends a sign-in. */
export function createSignIns(
	vault: Vault,
	idOf: (name: string) => string,
	{
		longestMs = EXCHANGE_MS,
		revokeMs = REVOKE_MS,
		exclusively = createLines()
	}: { longestMs?: number; revokeMs?: number | undefined; exclusively?: Exclusively | undefined } = {}
): SignIns {
	const lives = new Map<string, Live>();
	/** Between reading and writing nobody signs out. */
	const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => exclusively('sign-ins', work);
	const readEntry = async (name: string, entry: string): Promise<unknown> =>
		parseJson((await vault.valuesOf(idOf(name)))[entry] ?? '');
	const read = async (name: string, url: string): Promise<SignIn | null> => {
		const stored = (await readEntry(name, ENTRY)) as SignIn | null;
		return stored?.url === url ? stored : null;
	};
	const readPending = async (name: string): Promise<Pending | null> =>
		(await readEntry(name, PENDING)) as Pending | null;
	const writePending = (name: string, pending: Pending) =>
		vault.set(idOf(name), PENDING, JSON.stringify(pending), new Date().toISOString());
	const write = async (name: string, signIn: SignIn) => {
		await vault.set(idOf(name), ENTRY, JSON.stringify(signIn), new Date().toISOString());
	};
	const fetchFor = (url: string) => signInFetch(url, AbortSignal.timeout(longestMs));
	const revokeAll = (signIn: SignIn) =>
		revoke(signIn, { fetchWithin: (limit) => signInFetch(signIn.url, limit), timeoutMs: revokeMs });
	/** For tokens that came too late. With another sign-in there they stay: some servers would end that one, too. */
	const giveBack = async (name: string, signIn: SignIn) => {
		if (!(await read(name, signIn.url))) await revokeAll(signIn);
	};

	const renew = async (name: string, live: Live): Promise<void> => {
		const { signIn } = live;
		const { url, client, tokens } = signIn;
		const keep = async (change: Partial<SignIn>) => {
			const isKept = await inTurn(async () => {
				Object.assign(signIn, change);
				// Meanwhile somebody may have signed out, or in again.
				const isSame = (await read(name, url))?.id === signIn.id;
				if (isSame) await write(name, signIn);
				return isSame;
			});
			if (!isKept && change.tokens) await giveBack(name, signIn);
		};
		const stored = await read(name, url);
		if (stored?.id === signIn.id && stored.tokens && stored.tokens.access_token !== tokens?.access_token) {
			// By another server. A second renewal would look like a thief's.
			signIn.tokens = stored.tokens;
			return note(live, stored.tokens);
		}
		const ended = `The sign-in to “${name}” has ended. Sign in again in Settings, MCP servers.`;
		if (!client || !tokens?.refresh_token) throw new SignInEnded(ended);
		// Not by the client's `auth`: it logs what the server says, and sends the headers that are for another one.
		const { OAuthError, refreshAuthorization } = await import('@modelcontextprotocol/client');
		try {
			const { refresh_token: refreshToken } = tokens;
			const given = await refreshAuthorization(authorizerOf(signIn), {
				...exchangeOf(signIn, client),
				refreshToken,
				fetchFn: fetchFor(url)
			});
			checkSize({ ...signIn, tokens: given }, MAX_BYTES);
			note(live, given);
			await keep({ tokens: { ...given, ...(tokens.issuer !== undefined && { issuer: tokens.issuer }) } });
		} catch (error) {
			if (!(error instanceof OAuthError) || !ENDS.includes(error.code)) {
				const reason = error instanceof Error ? error.message : String(error);
				throw new Error(`Couldn’t renew its sign-in: ${reason}`, { cause: error });
			}
			await keep({ tokens: undefined, ...(error.code !== 'invalid_grant' && { client: undefined }) });
			throw new SignInEnded(ended, { cause: error });
		}
	};

	return {
		async access(name, url) {
			const signIn = await read(name, url);
			if (!signIn?.tokens) return null;
			const known = lives.get(name);
			const live = known?.signIn.id === signIn.id ? known : { signIn, renewal: null, secrets: [] };
			lives.set(name, live);
			note(live, signIn.tokens);
			return {
				token: () => live.signIn.tokens?.access_token,
				renew: () =>
					(live.renewal ??= exclusively(`sign-in renewal ${name}`, () => renew(name, live)).finally(
						() => (live.renewal = null)
					)),
				secrets: () => live.secrets
			};
		},

		async start(name, url, callback) {
			const before = await read(name, url);
			const signIn: SignIn = { id: randomUUID(), url, callback };
			const state = randomBytes(32).toString('base64url');
			const pending: Pending = { signIn, state, verifier: '', startedAt: Date.now(), isAnswered: false };
			// A client is registered for one address to come back to. If nobody came back the last time, the server may have
			// forgotten it and say so only to the person: then another one is registered.
			const isKnown = before?.callback === callback && (await readPending(name))?.signIn.url !== url;
			if (isKnown && before.client) signIn.client = before.client;
			let address: URL | null = null;
			const provider = providerOf(pending, (target) => void (address = target));
			// Loaded on demand: most installations have no MCP server.
			const { auth } = await import('@modelcontextprotocol/client');
			await saying(async () => {
				await auth(provider, { serverUrl: url, fetchFn: fetchFor(url) });
				checkSize(signIn, MAX_DISCOVERY_BYTES);
			});
			const opened = address as URL | null;
			if (!opened || !/^https?:$/.test(opened.protocol) || opened.username !== '' || opened.password !== '') {
				throw new AppError('unavailable', 'The server named no page to sign in on.');
			}
			await inTurn(() => writePending(name, pending));
			return opened.href;
		},

		async complete(name, url, { code, state, iss }) {
			const { signIn, verifier } = await inTurn(async () => {
				const pending = await readPending(name);
				const isOwn = pending?.signIn.url === url && isSame(pending.state, state) && !pending.isAnswered;
				if (!isOwn || Date.now() - pending.startedAt > LONGEST_MS) throw expired();
				await writePending(name, { ...pending, isAnswered: true });
				return pending;
			});
			const { client } = signIn;
			if (!client) throw expired();
			const { exchangeAuthorization } = await import('@modelcontextprotocol/client');
			await saying(async () => {
				const given = await exchangeAuthorization(authorizerOf(signIn), {
					...exchangeOf(signIn, client),
					authorizationCode: code,
					codeVerifier: verifier,
					redirectUri: signIn.callback,
					fetchFn: fetchFor(url),
					...(iss !== undefined && { iss })
				});
				signIn.tokens = { ...given, ...(client.issuer !== undefined && { issuer: client.issuer }) };
				checkSize(signIn, MAX_BYTES);
			});
			const isKept = await inTurn(async () => {
				if ((await readPending(name))?.signIn.id !== signIn.id) return false;
				await write(name, signIn);
				await vault.remove(idOf(name), PENDING);
				return true;
			});
			if (isKept) return;
			await giveBack(name, signIn);
			throw expired();
		},

		async remove(name) {
			const signIn = await inTurn(async () => {
				lives.delete(name);
				const stored = (await readEntry(name, ENTRY)) as SignIn | null | undefined;
				await vault.remove(idOf(name), PENDING);
				await vault.remove(idOf(name), ENTRY);
				return stored;
			});
			// Outside: nothing else waits for the authorization server.
			return { revoked: signIn ? revokeAll(signIn) : Promise.resolve(null) };
		},

		idOf: async (name) => ((await readEntry(name, ENTRY)) as SignIn | null)?.id ?? null
	};
}

/** For a start alone, which has no tokens to renew. */
function providerOf(pending: Pending, open: (url: URL) => void): OAuthClientProvider {
	const { signIn } = pending;
	return {
		redirectUrl: signIn.callback,
		clientMetadata: {
			client_name: 'openrouter-skills',
			redirect_uris: [signIn.callback],
			grant_types: ['authorization_code', 'refresh_token'],
			response_types: ['code'],
			token_endpoint_auth_method: 'none'
		},
		state: () => pending.state,
		clientInformation: () => signIn.client,
		saveClientInformation: (client) => void (signIn.client = client),
		tokens: () => undefined,
		saveTokens: () => undefined,
		redirectToAuthorization: open,
		saveCodeVerifier: (verifier) => void (pending.verifier = verifier),
		codeVerifier: () => pending.verifier,
		saveDiscoveryState: (discovery) => void (signIn.discovery = discovery),
		discoveryState: () => signIn.discovery
	};
}

function authorizerOf({ discovery, url }: SignIn): string {
	return discovery?.authorizationServerUrl ?? new URL('/', url).href;
}

function exchangeOf({ discovery }: SignIn, client: StoredOAuthClientInformation) {
	const { authorizationServerMetadata: metadata, resourceMetadata } = discovery ?? {};
	return {
		clientInformation: client,
		...(metadata && { metadata }),
		...(resourceMetadata && { resource: resourceMetadata.resource })
	};
}

/** Adds to what must not be seen; the latest are the last to go. */
function note(live: Live, { access_token: access, refresh_token: refresh }: StoredOAuthTokens): void {
	const { client } = live.signIn;
	const secret = client && 'client_secret' in client ? client.client_secret : undefined;
	const all = [...live.secrets, access, refresh, secret].filter((each) => each !== undefined);
	live.secrets = [...new Set(all.reverse())].reverse().slice(-MAX_SECRETS);
}

/** Turns an error into a sentence. */
async function saying(work: () => Promise<void>): Promise<void> {
	try {
		await work();
	} catch (error) {
		const reason = plainLine(error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
		throw new AppError('unavailable', `Couldn’t sign in: ${reason}`, { cause: error });
	}
}

function expired(): AppError {
	const hint = 'Sign in again from Settings, MCP servers.';
	return new AppError('conflict', 'This sign-in has expired or wasn’t started here.', { hint });
}

function checkSize(signIn: SignIn, most: number): void {
	if (Buffer.byteLength(JSON.stringify(signIn)) > most) throw new Error('what the server says about it is too long.');
}

function isSame(one: string, other: string): boolean {
	const [a, b] = [Buffer.from(one), Buffer.from(other)];
	return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The server names the addresses where one signs in. Those of its own may be private, since the operator has named that;
 * others must be public (SECURITY, MCP servers). `deadline` is for all requests.
 */
function signInFetch(serverUrl: string, deadline: AbortSignal): Fetch {
	const server = new URL(serverUrl);
	const own = createSafeFetch({ isAllowed: () => true });
	const others = createSafeFetch();
	return async (url, { method = 'GET', headers, body } = {}) => {
		const target = new URL(url);
		const fetched = await (isOwnPlace(target, server) ? own : others)(target.href, {
			method,
			headers: Object.fromEntries(new Headers(headers)),
			...(body && { body: body instanceof URLSearchParams ? body.toString() : String(body as string) }),
			signal: deadline
		});
		if (fetched.truncated) throw new Error(`The answer of ${target.host} is too long.`);
		const shown = Object.entries(fetched.headers).flatMap(([name, value]) =>
			typeof value === 'string' ? [[name, value] as [string, string]] : []
		);
		const hasBody = fetched.status !== 204 && fetched.status !== 304;
		return new Response(hasBody ? new Uint8Array(fetched.body) : null, { status: fetched.status, headers: shown });
	};
}

/**
 * Whether an address is the server's own. Another port of a name is only with https, which asks for the name's
 * certificate: its owner may let a name lead anywhere meanwhile.
 */
export function isOwnPlace(target: URL, server: URL): boolean {
	const { hostname } = server;
	if (target.hostname !== hostname) return false;
	const isFixed = isIP(hostname.replace(/^\[(.*)\]$/, '$1')) > 0 || /^(.+\.)?localhost$/.test(hostname);
	return target.origin === server.origin || target.protocol === 'https:' || isFixed;
}

// Tells an authorization server that tokens are no longer used (RFC 7009, E36).

const methods = z.array(z.string()).optional();
/** Of the metadata of an authorization server, or of an OpenID provider. */
const revocationFacts = z.object({
	revocation_endpoint: z.string(),
	revocation_endpoint_auth_methods_supported: methods,
	token_endpoint_auth_methods_supported: methods
});

/**
 * Null if it's done, or can't be: there are no tokens, or the server has no such endpoint. Otherwise a sentence that says
 * why not, after `timeoutMs` at most. Never rejects.
 */
async function revoke(
	{ url, client, tokens, discovery }: SignIn,
	{ fetchWithin, timeoutMs }: { fetchWithin: (limit: AbortSignal) => Fetch; timeoutMs: number }
): Promise<string | null> {
	if (!tokens || !client) return null;
	const limit = AbortSignal.timeout(timeoutMs);
	const fetchFn = fetchWithin(limit);
	let host = new URL(url).host;
	try {
		const { assertSecureTokenEndpoint, discoverOAuthServerInfo, selectClientAuthMethod } =
			await import('@modelcontextprotocol/client');
		const metadata =
			discovery?.authorizationServerMetadata ??
			(await discoverOAuthServerInfo(url, { fetchFn })).authorizationServerMetadata;
		const { data: facts } = revocationFacts.safeParse(metadata);
		if (!facts) return null;
		const endpoint = assertSecureTokenEndpoint(facts.revocation_endpoint);
		({ host } = endpoint);
		const { revocation_endpoint_auth_methods_supported: own, token_endpoint_auth_methods_supported: usual } = facts;
		const method = selectClientAuthMethod(client, own ?? usual ?? []);
		const ask = (token: string, hint: string) =>
			fetchFn(endpoint, { method: 'POST', ...requestOf({ token, token_type_hint: hint }, client, method) });
		const { refresh_token: renewal, access_token: access } = tokens;
		// With the first, most servers revoke both; not all of them take the second.
		const answers = [await ask(renewal ?? access, renewal ? 'refresh_token' : 'access_token')];
		if (renewal && answers[0]?.ok) await ask(access, 'access_token').catch(() => undefined);
		return answers[0]?.ok ? null : sentence(host, `status ${answers[0]?.status}`);
	} catch (error) {
		const seconds = `no answer within ${timeoutMs / 1000} s`;
		return sentence(host, limit.aborted ? seconds : error instanceof Error ? error.message : String(error));
	}
}

function sentence(host: string, reason: string): string {
	const why = plainLine(reason).slice(0, MAX_REASON);
	return `${host} didn’t revoke the access (${why}). Remove it in your account there.`;
}

function requestOf(
	fields: Record<string, string>,
	client: StoredOAuthClientInformation,
	method: string
): { headers: Record<string, string>; body: string } {
	const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
	const form = new URLSearchParams(fields);
	const secret = 'client_secret' in client ? (client.client_secret ?? '') : '';
	if (method === 'client_secret_basic') {
		const credentials = Buffer.from(`${client.client_id}:${secret}`).toString('base64');
		return { headers: { ...headers, authorization: `Basic ${credentials}` }, body: form.toString() };
	}
	form.set('client_id', client.client_id);
	if (method === 'client_secret_post') form.set('client_secret', secret);
	return { headers, body: form.toString() };
}
