/** Who may use a server that has an ADMIN_TOKEN: browsers that have logged in, programs that send the token (E19). */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { LoginSessions } from '../store/access.ts';
import { type ApiKeys, type Caller, isApiKey, MANAGER } from './caller.ts';

/** Who asks: the headers that can prove something, and the address that failures are counted by. */
export interface Proof {
	authorization: string | null;
	/** Value of the session cookie. */
	session: string | undefined;
	client: string;
}

export interface Login {
	/** False: whoever comes through the door may do everything. */
	isNeeded: boolean;
	cookie: {
		name: string;
		options: { path: '/'; httpOnly: true; sameSite: 'strict'; secure: boolean; maxAge: number };
	};
	/** Whose request it is: a key's, where one is sent, even if nobody needs to log in. @throws AppError unauthorized | rate_limited */
	check(proof: Proof): Promise<Caller>;
	/** Returns the value of a new session's cookie. @throws AppError unauthorized | rate_limited */
	logIn(token: string, client: string): Promise<string>;
	logOut(session: string | undefined): Promise<void>;
}

export interface LoginOptions {
	adminToken: string | null;
	publicOrigin: string | null;
	sessions: LoginSessions;
	keys: Pick<ApiKeys, 'find'>;
	/** Milliseconds since 1970. */
	now?: () => number;
	/** Milliseconds of a clock that is never set back. */
	uptime?: () => number;
}

const SESSION_SECONDS = 30 * 24 * 60 * 60;
const FAILURES = { perClient: 10, inAll: 100, windowMs: 60_000 };
const ADVICE = 'Log in at /login, or send the header “Authorization: Bearer <ADMIN_TOKEN>”.';

export function createLogin(options: LoginOptions): Login {
	const { adminToken, publicOrigin, sessions, keys, now = Date.now, uptime = () => performance.now() } = options;
	const failures = createFailureLimit({ ...FAILURES, now: uptime });
	const isHttps = publicOrigin?.startsWith('https:') ?? false;
	const isoAfter = (seconds: number): string => new Date(now() + seconds * 1000).toISOString();
	// Keyed with the token, so that another token ends all sessions.
	const hashOf = (session: string): string =>
		createHmac('sha256', adminToken ?? '')
			.update(session)
			.digest('hex');

	/** Of what was looked at and is wrong: a flood of it keeps nobody out who has the right one. */
	const refuse = (client: string, message: string, hint: string): AppError => {
		const wait = failures.waitSeconds(client);
		if (wait > 0) {
			return new AppError('rate_limited', `Too many wrong tokens. Try again in ${wait} s.`, {
				details: { retryAfterSeconds: wait }
			});
		}
		failures.fail(client);
		return new AppError('unauthorized', message, { hint });
	};

	const checkToken = (given: string, client: string): void => {
		if (adminToken === null || !isSameText(given, adminToken)) {
			const hint = 'Enter the ADMIN_TOKEN that the server was started with.';
			throw refuse(client, 'Wrong token.', hint);
		}
		failures.succeed(client);
	};

	const checkKey = async (given: string, client: string): Promise<Caller> => {
		const key = await keys.find(given);
		if (!key) {
			const message = 'This API key is unknown or was revoked.';
			throw refuse(client, message, 'Create a new one on the Connect page.');
		}
		return { apiKeyId: key.id, scopes: key.scopes };
	};

	return {
		isNeeded: adminToken !== null,
		cookie: {
			// Browsers take the prefix only from a server with TLS, and then let no other host of the domain set it.
			name: `${isHttps ? '__Host-' : ''}openrouter-skills-session`,
			options: { path: '/', httpOnly: true, sameSite: 'strict', secure: isHttps, maxAge: SESSION_SECONDS }
		},

		async check({ authorization, session, client }) {
			const bearer = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
			if (bearer !== undefined && isApiKey(bearer)) return checkKey(bearer, client);
			if (adminToken === null) return MANAGER;
			if (bearer !== undefined) {
				checkToken(bearer, client);
				return MANAGER;
			}
			if (session && (await sessions.isValid(hashOf(session), isoAfter(0)))) return MANAGER;
			throw new AppError('unauthorized', 'You need to log in.', { hint: ADVICE });
		},

		async logIn(token, client) {
			checkToken(token, client);
			const session = randomBytes(32).toString('base64url');
			await sessions.create({
				tokenHash: hashOf(session),
				createdAt: isoAfter(0),
				expiresAt: isoAfter(SESSION_SECONDS)
			});
			return session;
		},

		async logOut(session) {
			if (session) await sessions.remove(hashOf(session));
		}
	};
}

/** Takes the same time wherever they differ, and whatever their lengths are. */
function isSameText(a: string, b: string): boolean {
	const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
	return timingSafeEqual(digest(a), digest(b));
}

/**
 * The address that failures are counted by: of the connection, or, behind a proxy of ours, the one that this proxy saw. It
 * appends it, so it is the last; what stands before it was sent by the client.
 */
export function clientAddress(connected: string, forwardedFor: string | null, trustsProxy: boolean): string {
	const last = trustsProxy ? forwardedFor?.split(',').at(-1)?.trim() : undefined;
	return (last || connected).slice(0, 100);
}

// Counts wrong tokens, by client and in all: whoever sends too many is told to wait. The right one is let in at any time.

export interface FailureLimit {
	/** Whole seconds until the client may try again; 0 when it may now. */
	waitSeconds(client: string): number;
	fail(client: string): void;
	/** Forgets what the client has done wrong. */
	succeed(client: string): void;
}

export interface FailureLimitOptions {
	perClient: number;
	/** Counted over all clients; as no more are taken, this bounds the memory as well. */
	inAll: number;
	windowMs: number;
	/** Milliseconds of a clock that is never set back. */
	now: () => number;
}

interface Failures {
	since: number;
	count: number;
}

export function createFailureLimit({ perClient, inAll, windowMs, now }: FailureLimitOptions): FailureLimit {
	const clients = new Map<string, Failures>();
	let all: Failures = { since: now(), count: 0 };

	const isOver = ({ since }: Failures): boolean => now() - since >= windowMs;
	const dropOld = (): void => {
		if (isOver(all)) all = { since: now(), count: 0 };
		for (const [client, failures] of clients) if (isOver(failures)) clients.delete(client);
	};
	const secondsLeft = ({ since }: Failures): number => Math.max(1, Math.ceil((since + windowMs - now()) / 1000));

	return {
		waitSeconds(client) {
			dropOld();
			const own = clients.get(client);
			if (own && own.count >= perClient) return secondsLeft(own);
			return all.count >= inAll ? secondsLeft(all) : 0;
		},
		fail(client) {
			dropOld();
			all.count++;
			const own = clients.get(client) ?? { since: now(), count: 0 };
			own.count++;
			clients.set(client, own);
		},
		succeed(client) {
			clients.delete(client);
		}
	};
}
