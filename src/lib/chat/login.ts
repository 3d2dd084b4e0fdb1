/** The way to the login page and back, and the session that is made there. */
import { ApiError, errorFromBody, unreachable } from './api-error.ts';

/** Leaves the page for the login page, which comes back to it. What has been written is kept by the tab. */
export function goToLogin(): void {
	if (location.pathname === '/login') return;
	const here = location.pathname + location.search + location.hash;
	location.assign(`/login?next=${encodeURIComponent(here)}`);
}

/**
 * Where to go after the login: the path of this server that somebody wanted, or the first page. The whole address, because
 * a path may begin with two slashes once its dots are resolved, and means another server then.
 */
export function addressAfterLogin(next: string | null, origin: string): string {
	// Browsers read `//host`, `/\host` and `/<tab>/host` as another server.
	if (next === null || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return `${origin}/`;
	const url = new URL(next, origin);
	return url.origin === origin && url.pathname !== '/login' ? url.href : `${origin}/`;
}

/** Throws an `ApiError`, as everything here does. */
export async function logIn(token: string): Promise<void> {
	await send('POST', JSON.stringify({ token }));
}

export async function logOut(): Promise<void> {
	await send('DELETE', null);
}

/** Has this browser a session already? A link from another site comes without its cookie, what a page asks for has it. */
export async function isLoggedIn(): Promise<boolean> {
	const response = await fetch('/api/health').catch((error: unknown) => {
		throw unreachable(error);
	});
	return response.ok;
}

async function send(method: string, body: string | null): Promise<void> {
	const headers = { accept: 'application/json', 'content-type': 'application/json' };
	const response = await fetch('/api/session', { method, headers, body }).catch((error: unknown): ApiError => {
		return unreachable(error);
	});
	if (response instanceof ApiError) throw response;
	if (!response.ok) throw errorFromBody(response.status, await response.text());
}
