import { dev } from '$app/environment';
import type { Handle, HandleServerError, RequestEvent, ResolveOptions, ServerInit } from '@sveltejs/kit';
import { AppError } from '$lib/shared/errors.ts';
import { createApp, type App } from '$lib/server/app.ts';
import { loadConfig } from '$lib/server/config.ts';
import { DataFolderInUse } from '$lib/server/data-folder.ts';
import { checkCaller, isProgramRoute, MANAGER } from '$lib/server/access/caller.ts';
import { enter, securityHeaders } from '$lib/server/access/door.ts';
import { errorResponseFor, isUnexpected } from '$lib/server/http.ts';
import { createLog, logUnexpected } from '$lib/server/log.ts';
import { ApiError } from '$lib/server/protocols/responses/errors.ts';
import type { Asker } from '$lib/server/telemetry/telemetry.ts';
import { upgrade } from '$lib/server/upgrade.ts';

// The dev server reloads this module after a change; the old app has to close its files first.
const kept = globalThis as typeof globalThis & { openrouterSkills?: Promise<App> | undefined };

/** A load balancer asks them, which has no token and names the host as it likes. They tell nothing that is secret. */
const PROBES: readonly (string | null)[] = ['/health', '/ready'];

/** Reachable without a session. Kit serves scripts and styles before this hook. */
const LOGIN_ROUTES: readonly (string | null)[] = [
	'/login',
	'/api/session',
	'/.well-known/agent-card.json',
	'/.well-known/agent-skills/[...path]'
];

export const init: ServerInit = async () => {
	const old = kept.openrouterSkills;
	kept.openrouterSkills = (async () => {
		await (await old?.catch(() => undefined))?.close();
		return createApp(loadConfig(process.env));
	})();
	if (!old) process.on('sveltekit:shutdown', shutDown);
	// The HTTP server passes WebSocket upgrades through this.
	globalThis.openrouterSkillsUpgrade = (request, socket, head) => {
		void kept.openrouterSkills?.then(
			(app) => upgrade(app, request, socket, head),
			() => socket.destroy()
		);
	};
	await kept.openrouterSkills.catch((error: unknown) => {
		if (!dev || !(error instanceof DataFolderInUse)) throw error;
		// Otherwise the dev server would keep running and answer every request with a meaningless error.
		process.stderr.write(`Couldn’t start the app: ${error.message}\n`);
		process.exit(1);
	});
};

/** `server.js` waits for this: runs get time to finish and write their last event, and scripts are ended. */
function shutDown(reason: string, waitFor?: (work: Promise<void>) => void): void {
	const closing = kept.openrouterSkills?.then(async (app) => {
		// A second, impatient shutdown; the first call continues from here.
		const graceMs = reason === 'now' ? 0 : app.config.shutdownTimeoutMs;
		await app.readiness.stop(reason === 'now' ? 0 : app.config.shutdownDelayMs);
		await Promise.all([app.runner.close(graceMs), app.responses.close(graceMs)]);
		if (reason !== 'now') await app.close();
	});
	if (closing) waitFor?.(closing);
}

export const handle: Handle = async ({ event, resolve }) => {
	const app = await kept.openrouterSkills;
	if (!app) throw new Error('couldn’t start the app');
	event.locals.app = app;
	const { method, headers: given } = event.request;
	const request = { method, route: event.route.id, url: event.url, headers: given };
	const response = await app.telemetry.request(request, {
		admit: () => admit(event),
		answer: async () => asJson(event, await resolve(event, resolving(app))),
		refuse: (error) => refusal(event, error)
	});
	// Proxies must not cache what only this client may see.
	const headers: [string, string][] = [['cache-control', 'private, no-cache']];
	// `server.js` has set them, on files and refusals, too.
	if (dev) headers.push(...securityHeaders(app.config.publicOrigin));
	for (const [name, value] of headers) {
		if (!response.headers.has(name)) response.headers.set(name, value);
	}
	return response;
};

/** Tells a page about demo mode before its first request; a later notice would shift the layout. */
function resolving({ models }: App): ResolveOptions {
	return {
		preload: ({ type }) => type !== 'asset',
		transformPageChunk: ({ html }) => html.replace('%demo%', String(models.current().offline))
	};
}

/** Who asks; the operator, too, where nobody has to log in. @throws AppError or ApiError when the request may not go on */
async function admit(event: RequestEvent): Promise<Asker> {
	const { config, login, dataFolder } = event.locals.app;
	const { method, headers } = event.request;
	const isScraped = event.route.id === '/metrics' && login.mayScrape(headers.get('authorization'));
	if (isScraped || PROBES.includes(event.route.id)) {
		event.locals.caller = MANAGER;
		return 'anybody';
	}
	const knock = { method, route: event.route.id, headers, connected: event.getClientAddress() };
	event.locals.client = enter(knock, config, { isLoginNeeded: login.isNeeded });
	// Also without a key: clients tell by it which of OpenAI's endpoints there are.
	if (event.route.id === null && /^\/v1(\/|$)/.test(event.url.pathname)) {
		throw new ApiError(404, `Unknown address: ${method} ${event.url.pathname.slice(0, 200)}`, { code: 'not_found' });
	}
	event.locals.caller = MANAGER;
	// Only names the door admits get here; the first request comes from the server itself.
	dataFolder.tellAddress(event.url.origin);
	const isForAll = LOGIN_ROUTES.includes(event.route.id);
	if (!isForAll) {
		const session = event.cookies.get(login.cookie.name);
		const proof = { authorization: headers.get('authorization'), session, client: event.locals.client };
		event.locals.caller = await login.check(proof);
		// Endpoints check their own scope; pages are for managers only.
		if (event.isDataRequest || !isProgramRoute(event.route.id ?? '')) checkCaller(event.locals.caller, undefined);
	}
	// A parameter matcher would do, but Kit imports matchers anew for each request, which costs a fifth of a small one.
	const isHidden = !dev && event.route.id === '/dev/parts';
	if (isHidden || (isProgramRoute(event.url.pathname) && event.route.id === null)) {
		throw new AppError('not_found', `Not found: ${event.url.pathname}`);
	}
	if (isForAll && login.isNeeded) return 'anybody';
	return event.locals.caller.apiKeyId === null ? 'operator' : 'program';
}

/** Turns Kit's plain-text 405 into JSON. */
function asJson({ request, route }: RequestEvent, response: Response): Response {
	if (response.status !== 405 || !isProgramRoute(route.id ?? '')) return response;
	const error = new AppError('method_not_allowed', `${request.method} isn’t supported here.`);
	const answer = errorResponseFor(route.id ?? '', error);
	answer.headers.set('allow', response.headers.get('allow') ?? '');
	return answer;
}

/** JSON for programs; a browser asking for a page goes to the login page, which leads back. */
function refusal({ request, route, url, isDataRequest, locals }: RequestEvent, error: unknown): Response {
	if (isUnexpected(error)) logUnexpected(locals.app.log, error, { route: route.id });
	const isPage = request.method === 'GET' && !isDataRequest && !isProgramRoute(route.id ?? url.pathname);
	if (!isPage || !(error instanceof AppError && error.code === 'unauthorized')) {
		return errorResponseFor(route.id ?? url.pathname, error);
	}
	const location = `/login?next=${encodeURIComponent(url.pathname + url.search)}`;
	return new Response(null, { status: 303, headers: { location } });
}

export const handleError: HandleServerError = ({ error, event, status }) => {
	// Without an app there is nobody who could have been told to write it in another way.
	if (status >= 500) logUnexpected(event.locals.app?.log ?? createLog(), error, { route: event.route.id });
	return { message: status === 404 ? 'Page not found' : 'Something went wrong on the server.' };
};
