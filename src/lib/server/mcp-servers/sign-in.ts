/** Signing in to MCP servers over HTTP: OAuth 2.1 with discovery, dynamic registration and PKCE, by the official client (E36). */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type {
	OAuthClientProvider,
	OAuthDiscoveryState,
	StoredOAuthClientInformation,
	StoredOAuthTokens
} from '@modelcontextprotocol/client';
import { AppError } from '../../shared/errors.ts';
import { plainLine } from '../../shared/characters.ts';
import { parseJson } from '../../shared/json.ts';
import { createSafeFetch } from '../network/safe-fetch.ts';
import type { Vault } from '../trust/vault.ts';

/** All that is kept of a server's sign-in, in one entry of the vault. */
interface SignIn {
	/** Of this sign-in: what an earlier one's connection still renews is not kept. */
	id: string;
	/** The server's address: another server of this name gets nothing of it. */
	url: string;
	/** Where the person comes back to; registered with the client. */
	callback: string;
	client?: StoredOAuthClientInformation;
	tokens?: StoredOAuthTokens;
	discovery?: OAuthDiscoveryState;
}

/** Under way, in memory: until it's complete, what is stored stays as it is. */
interface Pending {
	signIn: SignIn;
	state: string;
	verifier: string;
	/** Of a clock that nobody sets. */
	startedAt: number;
}

export interface SignInAnswer {
	code: string;
	state: string;
	/** The authorization server, if it says so. */
	iss?: string | undefined;
}

/** What a connection sends as the one who has signed in. */
export interface Access {
	provider: OAuthClientProvider;
	/** Must not be seen anywhere; changes when they are renewed. */
	secrets(): string[];
	fetch: Fetch;
}

export interface SignIns {
	/** null if nobody has signed in. */
	access(name: string, url: string): Promise<Access | null>;
	/** The address to open; the person comes back to `callback`. @throws AppError unavailable */
	start(name: string, url: string, callback: string): Promise<string>;
	/** @throws AppError conflict if it wasn't started here or took too long; unavailable */
	complete(name: string, url: string, answer: SignInAnswer): Promise<void>;
	/** Also tells the server to end what it gave, if it can be told. */
	remove(name: string): Promise<void>;
}

const ENTRY = 'SIGN_IN';
const LONGEST_MS = 10 * 60 * 1000;
const REVOKE_MS = 5_000;
const MAX_REASON = 300;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `idOf`: of the server's entries in the vault. */
export function createSignIns(vault: Vault, idOf: (name: string) => string): SignIns {
	/** By name of the server. */
	const pendings = new Map<string, Pending>();
	const stored = async (name: string) => parseJson((await vault.valuesOf(idOf(name)))[ENTRY] ?? '') as SignIn | null;
	const read = async (name: string, url: string): Promise<SignIn | null> => {
		const signIn = await stored(name);
		return signIn?.url === url ? signIn : null;
	};
	const write = async (name: string, signIn: SignIn) => {
		await vault.set(idOf(name), ENTRY, JSON.stringify(signIn), new Date().toISOString());
	};
	/** A connection's, if nothing is pending: what it's told to keep is written at once. */
	const providerOf = (
		name: string,
		signIn: SignIn,
		{ open, pending }: { open: (url: URL) => void; pending?: Pending }
	): OAuthClientProvider => {
		const keep = async (change: Partial<SignIn>) => {
			Object.assign(signIn, change);
			// Meanwhile somebody may have signed out, or in again.
			if (!pending && (await read(name, signIn.url))?.id === signIn.id) await write(name, signIn);
		};
		return {
			redirectUrl: signIn.callback,
			clientMetadata: {
				client_name: 'openrouter-skills',
				redirect_uris: [signIn.callback],
				grant_types: ['authorization_code', 'refresh_token'],
				response_types: ['code'],
				token_endpoint_auth_method: 'none'
			},
			state: () => pending?.state ?? '',
			clientInformation: () => signIn.client,
			saveClientInformation: (client) => keep({ client }),
			tokens: () => signIn.tokens,
			saveTokens: (tokens) => keep({ tokens }),
			redirectToAuthorization: open,
			saveCodeVerifier: (verifier) => void (pending && (pending.verifier = verifier)),
			codeVerifier: () => pending?.verifier ?? '',
			saveDiscoveryState: (discovery) => keep({ discovery }),
			discoveryState: () => signIn.discovery,
			invalidateCredentials: async (scope) => {
				const all = scope === 'all';
				await keep({
					...((all || scope === 'client') && { client: undefined }),
					...((all || scope === 'tokens') && { tokens: undefined }),
					...((all || scope === 'discovery') && { discovery: undefined })
				});
			}
		};
	};

	return {
		async access(name, url) {
			const signIn = await read(name, url);
			if (!signIn?.tokens) return null;
			const open = () => {
				throw new Error(`The sign-in to “${name}” has ended. Sign in again in Settings, MCP servers.`);
			};
			const provider = providerOf(name, signIn, { open });
			const secrets = () => {
				const { access_token: access, refresh_token: refresh } = signIn.tokens ?? {};
				return [access, refresh, clientSecret(signIn)].filter((each) => each !== undefined);
			};
			return { provider, secrets, fetch: signInFetch(url) };
		},

		async start(name, url, callback) {
			const before = await read(name, url);
			const signIn: SignIn = { id: randomUUID(), url, callback };
			const state = randomBytes(32).toString('base64url');
			const pending: Pending = { signIn, state, verifier: '', startedAt: performance.now() };
			// A client is registered for one address to come back to. If nobody came back the last time, the server may have
			// forgotten it and say so only to the person: then another one is registered.
			const isKnown = before?.callback === callback && pendings.get(name)?.signIn.url !== url;
			if (isKnown && before.client) signIn.client = before.client;
			let address: URL | null = null;
			await run(providerOf(name, signIn, { open: (target) => void (address = target), pending }), url);
			const opened = address as URL | null;
			if (!opened || !/^https?:$/.test(opened.protocol)) {
				throw new AppError('unavailable', 'The server named no page to sign in on.');
			}
			pendings.set(name, pending);
			return opened.href;
		},

		async complete(name, url, { code, state, iss }) {
			const pending = pendings.get(name);
			const isOwn = pending?.signIn.url === url && isSame(pending.state, state);
			if (!isOwn || performance.now() - pending.startedAt > LONGEST_MS) {
				const hint = 'Sign in again from Settings, MCP servers.';
				throw new AppError('conflict', 'This sign-in has expired or wasn’t started here.', { hint });
			}
			// It counts once.
			pendings.delete(name);
			const { signIn } = pending;
			await run(providerOf(name, signIn, { open: () => undefined, pending }), url, { authorizationCode: code, iss });
			await write(name, signIn);
		},

		async remove(name) {
			pendings.delete(name);
			const signIn = await stored(name);
			await vault.remove(idOf(name), ENTRY);
			// Here it has ended in any case; there it ends by itself some time.
			if (signIn) await revoke(signIn).catch(() => undefined);
		}
	};
}

async function run(
	provider: OAuthClientProvider,
	url: string,
	answer: { authorizationCode?: string; iss?: string | undefined } = {}
): Promise<void> {
	// Loaded on demand: most installations have no MCP server.
	const { auth } = await import('@modelcontextprotocol/client');
	try {
		const { authorizationCode, iss } = answer;
		await auth(provider, {
			serverUrl: url,
			fetchFn: signInFetch(url),
			...(authorizationCode !== undefined && { authorizationCode }),
			...(iss !== undefined && { iss })
		});
	} catch (error) {
		const reason = plainLine(error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON);
		throw new AppError('unavailable', `Couldn’t sign in: ${reason}`, { cause: error });
	}
}

/** RFC 7009. The token for renewing ends the others with it. */
async function revoke(signIn: SignIn): Promise<void> {
	const metadata = signIn.discovery?.authorizationServerMetadata ?? {};
	const endpoint = 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
	const { access_token: access, refresh_token: renewal } = signIn.tokens ?? {};
	const token = renewal ?? access;
	if (typeof endpoint !== 'string' || !token) return;
	const secret = clientSecret(signIn);
	const body = new URLSearchParams({
		token,
		token_type_hint: renewal ? 'refresh_token' : 'access_token',
		client_id: signIn.client?.client_id ?? '',
		...(secret !== undefined && { client_secret: secret })
	});
	await signInFetch(signIn.url)(endpoint, {
		method: 'POST',
		headers: { 'content-type': 'application/x-www-form-urlencoded' },
		body,
		signal: AbortSignal.timeout(REVOKE_MS)
	});
}

function clientSecret({ client }: SignIn): string | undefined {
	return client && 'client_secret' in client ? client.client_secret : undefined;
}

function isSame(one: string, other: string): boolean {
	const [a, b] = [Buffer.from(one), Buffer.from(other)];
	return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * The server names the addresses where one signs in. On its own host they may be private, since the operator has named
 * that; others must be public (SECURITY, MCP servers).
 */
function signInFetch(serverUrl: string): Fetch {
	const { hostname } = new URL(serverUrl);
	const own = createSafeFetch({ isAllowed: () => true });
	const others = createSafeFetch();
	return async (url, { method = 'GET', headers, body, signal } = {}) => {
		const target = new URL(url);
		const fetched = await (target.hostname === hostname ? own : others)(target.href, {
			method,
			headers: Object.fromEntries(new Headers(headers)),
			...(body && { body: body instanceof URLSearchParams ? body.toString() : String(body as string) }),
			...(signal && { signal })
		});
		if (fetched.truncated) throw new Error(`The answer of ${target.host} is too long.`);
		const shown = Object.entries(fetched.headers).flatMap(([name, value]) =>
			typeof value === 'string' ? [[name, value] as [string, string]] : []
		);
		const hasBody = fetched.status !== 204 && fetched.status !== 304;
		return new Response(hasBody ? new Uint8Array(fetched.body) : null, { status: fetched.status, headers: shown });
	};
}
