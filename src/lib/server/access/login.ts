/** Login for servers with an ADMIN_TOKEN: sessions for browsers, bearer tokens for programs (E19). */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { LoginFailures, LoginSessions } from '../store/access.ts';
import { type ApiKeys, type Caller, isApiKey, MANAGER } from './caller.ts';

export interface Login {
	/** False if everyone may do everything. */
	isNeeded: boolean;
	cookie: {
		name: string;
		options: { path: '/'; httpOnly: true; sameSite: 'strict'; secure: boolean; maxAge: number };
	};
	/** An API key takes precedence, even if no login is needed. @throws AppError unauthorized | rate_limited */
	check(proof: { authorization: string | null; session: string | undefined; client: string }): Promise<Caller>;
	/** @returns the new session cookie’s value. @throws AppError unauthorized | rate_limited */
	logIn(token: string, client: string): Promise<string>;
	logOut(session: string | undefined): Promise<void>;
	/** Whether it’s the token for `/metrics`, which opens nothing else. */
	mayScrape(authorization: string | null): boolean;
}

export interface LoginOptions {
	adminToken: string | null;
	metricsToken?: string | null;
	publicOrigin: string | null;
	sessions: LoginSessions;
	failures: LoginFailures;
	keys: Pick<ApiKeys, 'find'>;
	/** Milliseconds since 1970. */
	now?: () => number;
}

const SESSION_SECONDS = 30 * 24 * 60 * 60;
/** `inAll` is over all clients, which also limits what is stored. */
const FAILURES = { perClient: 10, inAll: 100, windowMs: 60_000 };
const ADVICE =
	'Log in at /login. A program sends “Authorization: Bearer <key>”, with a key from the page “Other programs”.';

export function createLogin(options: LoginOptions): Login {
	const { adminToken, metricsToken = null, publicOrigin, sessions, failures, keys, now = Date.now } = options;
	/** Clients that failed here: a right token costs nothing more for all others. */
	const failed = new Set<string>();
	const isHttps = publicOrigin?.startsWith('https:') ?? false;
	const isoAfter = (seconds: number): string => new Date(now() + seconds * 1000).toISOString();
	// Keyed with the token, so that changing it ends all sessions.
	const hashOf = (text: string): string =>
		createHmac('sha256', adminToken ?? '')
			.update(text)
			.digest('hex');
	/** Nobody's address is stored. */
	const nameOf = (client: string): string => hashOf(`client ${client}`);

	/** Only for wrong credentials, so that an attack can’t lock out a valid client. */
	const refuse = async (client: string, message: string, hint: string): Promise<AppError> => {
		const wait = Math.ceil((await failures.add(nameOf(client), { ...FAILURES, now: now() })) / 1000);
		if (wait > 0) {
			const details = { retryAfterSeconds: wait };
			return new AppError('rate_limited', `Too many wrong tokens. Try again in ${wait} s.`, { details });
		}
		if (failed.size >= FAILURES.inAll) failed.clear();
		failed.add(client);
		return new AppError('unauthorized', message, { hint });
	};

	const checkToken = async (given: string, client: string): Promise<void> => {
		if (adminToken === null || !isSameText(given, adminToken)) {
			throw await refuse(client, 'Wrong token.', 'Enter the ADMIN_TOKEN that the server was started with.');
		}
		if (failed.delete(client)) await failures.forget(nameOf(client));
	};

	const checkKey = async (given: string, client: string): Promise<Caller> => {
		const key = await keys.find(given);
		if (!key)
			throw await refuse(client, 'This API key is unknown or was revoked.', 'Create a new one on the Connect page.');
		return { apiKeyId: key.id, scopes: key.scopes };
	};

	return {
		isNeeded: adminToken !== null,
		cookie: {
			// Browsers accept this prefix only over TLS, and then no other host of the domain can set the cookie.
			name: `${isHttps ? '__Host-' : ''}openrouter-skills-session`,
			options: { path: '/', httpOnly: true, sameSite: 'strict', secure: isHttps, maxAge: SESSION_SECONDS }
		},

		async check({ authorization, session, client }) {
			const bearer = bearerOf(authorization);
			if (bearer !== undefined && isApiKey(bearer)) return checkKey(bearer, client);
			if (adminToken === null) return MANAGER;
			if (bearer !== undefined) {
				await checkToken(bearer, client);
				return MANAGER;
			}
			if (session && (await sessions.isValid(hashOf(session), isoAfter(0)))) return MANAGER;
			throw new AppError('unauthorized', 'You need to log in.', { hint: ADVICE });
		},

		async logIn(token, client) {
			await checkToken(token, client);
			// It may have failed at another server.
			await failures.forget(nameOf(client));
			const session = randomBytes(32).toString('base64url');
			const [createdAt, expiresAt] = [isoAfter(0), isoAfter(SESSION_SECONDS)];
			await sessions.create({ tokenHash: hashOf(session), createdAt, expiresAt });
			return session;
		},

		async logOut(session) {
			if (session) await sessions.remove(hashOf(session));
		},

		mayScrape: (authorization) => metricsToken !== null && mayScrape(authorization, metricsToken)
	};
}

/** Whether a request brings this token. */
export function mayScrape(authorization: string | null, token: string): boolean {
	const bearer = bearerOf(authorization);
	return bearer !== undefined && isSameText(bearer, token);
}

function bearerOf(authorization: string | null): string | undefined {
	return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
}

/** Compares in constant time, whatever the lengths. */
function isSameText(a: string, b: string): boolean {
	const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
	return timingSafeEqual(digest(a), digest(b));
}

/** The client’s address. A trusted proxy appends the one it saw, so only the last entry of the header counts. */
export function clientAddress(connected: string, forwardedFor: string | null, trustsProxy: boolean): string {
	const last = trustsProxy ? forwardedFor?.split(',').at(-1)?.trim() : undefined;
	return (last || connected).slice(0, 100);
}
