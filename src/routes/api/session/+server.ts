import type { RequestHandler } from './$types';
import { api, readJson } from '$lib/server/http.ts';
import { AppError } from '$lib/shared/errors.ts';
import { credentials } from '$lib/shared/api.ts';

/** Whoever sends this need not be anybody. */
const MAX_BYTES = 16 * 1024;

export const POST: RequestHandler = api(async ({ request, cookies, locals }) => {
	const { login } = locals.app;
	const { token } = await readJson(request, credentials, { maxBytes: MAX_BYTES });
	if (!login.isNeeded) throw new AppError('conflict', 'This server has no ADMIN_TOKEN: nobody needs to log in.');
	cookies.set(login.cookie.name, await login.logIn(token, locals.client), login.cookie.options);
	return new Response(null, { status: 204 });
});

export const DELETE: RequestHandler = api(async ({ cookies, locals }) => {
	const { login } = locals.app;
	await login.logOut(cookies.get(login.cookie.name));
	cookies.delete(login.cookie.name, login.cookie.options);
	return new Response(null, { status: 204 });
});
