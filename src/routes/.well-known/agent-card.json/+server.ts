import { createHash } from 'node:crypto';
import { door } from '$lib/server/endpoint.ts';
import { version as release } from '$app/environment';
import { AppError } from '$lib/shared/errors.ts';
import { ownOrigin } from '$lib/server/access/door.ts';

/** Skills can be switched at any time, and some callers see more of them. */
const CACHING = { 'cache-control': 'private, max-age=60', vary: 'a2a-version, authorization, cookie' };

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
	const body = JSON.stringify(a2a.card(mayRead ? reader : null, agent));
	const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
	const known = headers.get('if-none-match')?.split(',') ?? [];
	const isKnown = known.some((each) => [etag, '*'].includes(each.trim().replace(/^W\//, '')));
	if (isKnown) return new Response(null, { status: 304, headers: { ...CACHING, etag } });
	return new Response(body, { headers: { ...CACHING, etag, 'content-type': 'application/json' } });
});
