/** Requests to the server's API, uploads with progress, login, and their errors. */
import type { Approval } from '../shared/message.ts';
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
	/** Generic for blobs, so their own type decides nothing on the server. Null for forms, which set it themselves. */
	contentType: 'application/octet-stream' | 'application/zip' | 'application/json' | null;
}

/** Uses XMLHttpRequest, because `fetch` can't report upload progress. @throws ApiError; the signal's reason on abort */
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

/** Goes to the login page, which returns here. The tab keeps what was typed. */
export function goToLogin(): void {
	if (location.pathname === '/login') return;
	const here = location.pathname + location.search + location.hash;
	location.assign(`/login?next=${encodeURIComponent(here)}`);
}

/**
 * Where to go after the login: a path on this server, or the first page. Returns the whole address, because a path may begin
 * with two slashes once its dots are resolved, and would mean another server then.
 */
export function addressAfterLogin(next: string | null, origin: string): string {
	// Browsers read `//host`, `/\host` and `/<tab>/host` as another server.
	if (next === null || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(next)) return `${origin}/`;
	const url = new URL(next, origin);
	return url.origin === origin && url.pathname !== '/login' ? url.href : `${origin}/`;
}

/** @throws ApiError */
export async function logIn(token: string): Promise<void> {
	await send('POST', JSON.stringify({ token }));
}

export async function logOut(): Promise<void> {
	await send('DELETE', null);
}

/** Whether this browser has a session. A link from another site arrives without the cookie; a request from the page has it. */
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

/** `unreachable`: no response, so the request may or may not have been carried out. */
export type ApiErrorCode = ErrorCode | 'unreachable';

export class ApiError extends Error {
	override readonly name = 'ApiError';
	readonly code: ApiErrorCode;
	readonly hint: string | undefined;
	/** For programs. */
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

/** Whether a chat isn't found because it was deleted, and can be restored. */
export function isInTrash({ details }: ApiError): boolean {
	return (details as { isDeleted?: boolean } | null | undefined)?.isDeleted === true;
}

export function unreachable(cause?: unknown): ApiError {
	return new ApiError('unreachable', 'Can’t reach the server.', {
		hint: 'Check that it’s running, then try again.',
		cause
	});
}

/** Reads the body of a failed request; a foreign one (a proxy's page, say) becomes a sentence with the status. */
export function errorFromBody(status: number, text: string): ApiError {
	const error = parseError(text);
	if (!error) return new ApiError('internal', `The server returned an error (${status}). Try again.`);
	const { code, message, hint, details } = error;
	return new ApiError(code, message, hint === undefined ? { details } : { hint, details });
}

/** What an approval card asks about; null if the error isn’t about consent. Sent as `approve`, the digest allows it once. */
export function approvalOf(
	{ message, details }: { message: string; details?: unknown },
	what: Pick<Approval, 'skill' | 'script' | 'args' | 'skillId'>
): Approval | null {
	const { error, digest, trust, missing, reach } = (details ?? {}) as Partial<Approval> & { error?: unknown };
	const canBeAllowed = error === 'ApprovalRequired' || error === 'MissingSecret' || error === 'NotTrusted';
	if (!canBeAllowed || typeof digest !== 'string') return null;
	return { ...what, interruptId: '', reason: message, digest, trust, missing, reach };
}

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

/** One API request. Without a session, goes to the login page. @throws ApiError; the signal's reason on abort */
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

/** API address of a skill; the slash in `source/name` stays. */
export function skillUrl(id: string): string {
	return `/api/skills/${toSkillId(id).split('/').map(encodeURIComponent).join('/')}`;
}

/** `?a=1&b=2`, without empty values. */
export function queryOf(values: Record<string, string | number | undefined>): string {
	const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
	return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
