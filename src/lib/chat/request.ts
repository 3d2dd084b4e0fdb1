/** One request to the server's API: resolves to the answer or throws an `ApiError`; without a session it goes to the login page. */
import { ApiError, errorFromBody, unreachable } from './api-error.ts';
import { goToLogin } from './login.ts';
import { toSkillId } from '../shared/skills.ts';

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
		throw new ApiError('internal', `The server's answer to ${path} is no JSON.`, { cause: error });
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
