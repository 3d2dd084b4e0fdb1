import { door } from '$lib/server/endpoint.ts';
import { json } from '@sveltejs/kit';
import { version as release } from '$app/environment';
import { AppError } from '$lib/shared/errors.ts';
import { ownOrigin } from '$lib/server/access/door.ts';

/** The card is public; the skills in it are only listed for callers who may read them. */
export const GET = door('A2A', undefined, async ({ app, request, cookies, locals }) => {
	const { a2a, config, login } = app;
	const { headers } = request;
	const authorization = headers.get('authorization');
	const session = cookies.get(login.cookie.name);
	const reader = await login.check({ authorization, session, client: locals.client }).catch((error: unknown) => {
		const isStranger = error instanceof AppError && error.code === 'unauthorized' && authorization === null;
		if (isStranger) return null;
		throw error;
	});
	const mayRead = reader !== null && reader.scopes.includes('read');
	const agent = { origin: ownOrigin(headers, config), release, version: headers.get('a2a-version') };
	return json(a2a.card(mayRead ? reader : null, agent), { headers: { vary: 'a2a-version, authorization, cookie' } });
});
