/** Signing in at OpenRouter instead of pasting a key: OAuth with PKCE, the verifier kept here (FEATURES F9). */
import { createHash, randomBytes } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import { asObject, asText } from './json.ts';
import { senderTo } from './key-check.ts';
import { askOpenRouter, StatusError } from './openrouter.ts';
import { siblingUrl } from './responses-request.ts';
import { problemOf } from './server-problem.ts';

export interface SignIns {
	/** The address to go to; it comes back to `returnTo` with `code` and `state` in the query. */
	start(baseUrl: string, returnTo: URL): string;
	/**
	 * The key, and where it is for. A state counts once.
	 * @throws AppError `invalid_input` for a state that is not open any more, or a code that is refused; `unavailable`
	 */
	complete(code: string, state: string, signal?: AbortSignal): Promise<{ apiKey: string; baseUrl: string }>;
}

interface Open {
	baseUrl: string;
	verifier: string;
	startedAt: number;
}

const OPEN_MS = 10 * 60_000;
const MAX_OPEN = 20;
const TIMEOUT_MS = 15_000;
const AGAIN = 'Start the sign-in again from the settings.';

export function createSignIns({
	fetch,
	now = () => performance.now()
}: {
	fetch: typeof globalThis.fetch;
	now?: () => number;
}): SignIns {
	const open = new Map<string, Open>();

	const dropOld = () => {
		for (const [state, { startedAt }] of open) if (now() - startedAt >= OPEN_MS) open.delete(state);
	};

	return {
		start(baseUrl, returnTo) {
			dropOld();
			// The oldest goes: whoever began it has begun many since.
			for (const state of [...open.keys()].slice(0, Math.max(0, open.size - MAX_OPEN + 1))) open.delete(state);
			const state = randomBytes(32).toString('base64url');
			const verifier = randomBytes(32).toString('base64url');
			open.set(state, { baseUrl, verifier, startedAt: now() });
			const callback = new URL(returnTo);
			callback.searchParams.set('state', state);
			const url = new URL('/auth', baseUrl);
			url.searchParams.set('callback_url', callback.href);
			url.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
			url.searchParams.set('code_challenge_method', 'S256');
			return url.href;
		},

		async complete(code, state, signal) {
			dropOld();
			const started = open.get(state);
			open.delete(state);
			if (!started) {
				throw new AppError('invalid_input', 'This sign-in is not open any more: it was used, or began too long ago.', {
					hint: AGAIN
				});
			}
			const { baseUrl, verifier } = started;
			return { apiKey: await exchange({ baseUrl, verifier, code, fetch, signal }), baseUrl };
		}
	};
}

/** @throws AppError, or the signal's reason */
async function exchange(options: {
	baseUrl: string;
	verifier: string;
	code: string;
	fetch: typeof globalThis.fetch;
	signal: AbortSignal | undefined;
}): Promise<string> {
	const { baseUrl, verifier, code, fetch, signal } = options;
	const body = JSON.stringify({ code, code_verifier: verifier, code_challenge_method: 'S256' });
	try {
		const key = await askOpenRouter({
			baseUrl,
			send: senderTo({ baseUrl, apiKey: null, fetch, signal, timeoutMs: TIMEOUT_MS }),
			ask: (sdk) => sdk.exchange(code, verifier),
			plain: { url: siblingUrl(baseUrl, 'auth/keys').href, method: 'POST', body },
			read: (json) => asText(asObject(json).key) ?? ''
		});
		if (!/^[!-~]{1,512}$/.test(key)) throw new Error('The answer holds no key');
		return key;
	} catch (error) {
		signal?.throwIfAborted();
		const { host } = new URL(baseUrl);
		if (error instanceof StatusError && error.status >= 400 && error.status < 500 && error.status !== 429) {
			throw new AppError('invalid_input', `${host} did not accept the sign-in’s code (${error.status}).`, {
				hint: AGAIN
			});
		}
		throw new AppError('unavailable', problemOf(error, { baseUrl, hasKey: false, timeoutMs: TIMEOUT_MS }), {
			hint: AGAIN
		});
	}
}
