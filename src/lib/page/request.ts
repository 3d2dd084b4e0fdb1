/** Sends files and reports how far it is; `fetch` cannot report the progress of an upload, so XMLHttpRequest. */
import type { ErrorBody, ErrorCode } from '../shared/errors.ts';
import { toSkillId } from '../shared/names.ts';

export interface UploadOptions {
	signal: AbortSignal;
	/** From 0 to 1. */
	onprogress: (share: number) => void;
}

interface Upload {
	method: 'PUT' | 'POST';
	url: string;
	body: Blob | FormData;
	/** Of a blob, whose own type must not decide anything on the server; a form says its type itself. */
	contentType: 'application/octet-stream' | 'application/zip' | 'application/json' | null;
}

/** Throws an `ApiError`; when the signal fires, its reason. */
export function upload<Answer>(
	{ method, url, body, contentType }: Upload,
	{ signal, onprogress }: UploadOptions
): Promise<Answer> {
	return new Promise((resolve, reject) => {
		if (signal.aborted) return reject(signal.reason);
		const request = new XMLHttpRequest();
		const abort = (): void => request.abort();
		signal.addEventListener('abort', abort, { once: true });
		request.upload.onprogress = (event) => {
			if (event.lengthComputable && event.total > 0) onprogress(event.loaded / event.total);
		};
		request.onload = () => {
			if (request.status === 401) goToLogin();
			const isOk = request.status >= 200 && request.status < 300;
			if (isOk) resolve(JSON.parse(request.responseText) as Answer);
			else reject(errorFromBody(request.status, request.responseText));
		};
		request.onerror = () => reject(unreachable());
		request.ontimeout = () => reject(new ApiError('unavailable', 'The upload timed out. Try again.'));
		request.onabort = () => reject(signal.reason);
		request.onloadend = () => signal.removeEventListener('abort', abort);
		request.open(method, url);
		if (contentType !== null) request.setRequestHeader('content-type', contentType);
		request.setRequestHeader('accept', 'application/json');
		request.send(body);
	});
}

// The way to the login page and back, and the session that is made there.

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

// A request that failed, in words for people: the server's own where it said some.

/** `unreachable`: no answer at all, so the request may or may not have been carried out. */
export type ApiErrorCode = ErrorCode | 'unreachable';

export class ApiError extends Error {
	override readonly name = 'ApiError';
	readonly code: ApiErrorCode;
	readonly hint: string | undefined;
	/** What it says beside, to be read by programs. */
	readonly details: unknown;

	constructor(
		code: ApiErrorCode,
		message: string,
		options: { hint?: string; details?: unknown; cause?: unknown } = {}
	) {
		super(message, { cause: options.cause });
		this.code = code;
		this.hint = options.hint;
		this.details = options.details;
	}
}

export function unreachable(cause?: unknown): ApiError {
	return new ApiError('unreachable', 'Can’t reach the server.', {
		hint: 'Check that it’s running, then try again.',
		cause
	});
}

/** Reads the body of a failed request; anything that is not ours (a proxy's page, say) becomes a sentence with the status. */
export function errorFromBody(status: number, text: string): ApiError {
	const error = parseError(text);
	if (!error) return new ApiError('internal', `The server returned an error (${status}). Try again.`);
	const { code, message, hint, details } = error;
	return new ApiError(code, message, hint === undefined ? { details } : { hint, details });
}

/** What to send as `approve` with the same request, to allow this once what it would run; null where that allows nothing. */
export function digestToAllow({ details }: { details?: unknown }): string | null {
	const { error, digest } = (details ?? {}) as { error?: unknown; digest?: unknown };
	const canBeAllowed = error === 'ApprovalRequired' || error === 'MissingSecret';
	return canBeAllowed && typeof digest === 'string' ? digest : null;
}

/** Any failure as an `ApiError`, for the places that show one. */
export function asApiError(error: unknown): ApiError {
	return error instanceof ApiError ? error : new ApiError('internal', String(error), { cause: error });
}

function parseError(text: string): ErrorBody['error'] | null {
	try {
		const body = JSON.parse(text) as Partial<ErrorBody> | null;
		return typeof body?.error?.message === 'string' ? body.error : null;
	} catch {
		return null;
	}
}

// One request to the server's API: resolves to the answer or throws an `ApiError`; without a session it goes to the login page.

/** @throws ApiError; when the signal fires, its reason */
export async function request<Answer>(
	path: string,
	method = 'GET',
	body?: unknown,
	signal: AbortSignal | null = null
): Promise<Answer> {
	const headers: Record<string, string> = { accept: 'application/json' };
	if (body !== undefined) headers['content-type'] = 'application/json';
	let response: Response;
	let text: string;
	try {
		response = await fetch(path, { method, headers, signal, body: body === undefined ? null : JSON.stringify(body) });
		text = await response.text();
	} catch (error) {
		if (signal?.aborted) throw error;
		throw unreachable(error);
	}
	if (response.status === 401) goToLogin();
	if (!response.ok) throw errorFromBody(response.status, text);
	if (text === '') return undefined as Answer;
	try {
		return JSON.parse(text) as Answer;
	} catch (error) {
		throw new ApiError('internal', `The server's answer to ${path} isn't JSON.`, { cause: error });
	}
}

/** Address of a skill in the API; the slash of `source/name` stays one. */
export function skillUrl(id: string): string {
	return `/api/skills/${toSkillId(id).split('/').map(encodeURIComponent).join('/')}`;
}

/** `?a=1&b=2` of what is not empty. */
export function queryOf(values: Record<string, string | number | undefined>): string {
	const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
	return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
