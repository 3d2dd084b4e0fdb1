import { credentials } from '$lib/shared/api.ts';
import { endpoint } from '$lib/server/endpoint.ts';
import { AppError } from '$lib/shared/errors.ts';

/** Anyone can send this. */
const MAX_BYTES = 16 * 1024;

export const POST = endpoint({
	id: 'logIn',
	tag: 'Server',
	summary: 'Log in a browser',
	body: credentials,
	maxBytes: MAX_BYTES,
	answer: null,
	errors: ['conflict'],
	handler: async ({ app, cookies, locals, body }) => {
		const { login } = app;
		const { token } = await body();
		if (!login.isNeeded) throw new AppError('conflict', 'This server has no ADMIN_TOKEN, so you don’t need to log in.');
		cookies.set(login.cookie.name, await login.logIn(token, locals.client), login.cookie.options);
	}
});

export const DELETE = endpoint({
	id: 'logOut',
	tag: 'Server',
	summary: 'Log out a browser',
	answer: null,
	handler: async ({ app, cookies }) => {
		const { login } = app;
		await login.logOut(cookies.get(login.cookie.name));
		cookies.delete(login.cookie.name, login.cookie.options);
	}
});
