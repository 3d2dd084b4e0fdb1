import { dev } from '$app/environment';
import type { Handle, HandleServerError, RequestEvent, ResolveOptions, ServerInit } from '@sveltejs/kit';
import { AppError } from '$lib/shared/errors.ts';
import { createApp, type App } from '$lib/server/app.ts';
import { loadConfig } from '$lib/server/config.ts';
import { DataFolderInUse } from '$lib/server/data-folder.ts';
import { checkCaller, isProgramRoute, MANAGER } from '$lib/server/access/caller.ts';
import { enter, securityHeaders } from '$lib/server/access/door.ts';
import { errorResponseFor } from '$lib/server/http.ts';
import { upgrade } from '$lib/server/upgrade.ts';

// The development server loads this module anew after a change; the old app must let go of its files first.
const kept = globalThis as typeof globalThis & { openrouterSkills?: Promise<App> | undefined };

/** What one needs to log in, or to learn how; Kit serves the scripts and styles of pages before it asks here. */
const LOGIN_ROUTES: readonly (string | null)[] = ['/login', '/api/session', '/.well-known/agent-card.json'];

export const init: ServerInit = async () => {
	const old = kept.openrouterSkills;
	kept.openrouterSkills = (async () => {
		await (await old?.catch(() => undefined))?.close();
		return createApp(loadConfig(process.env));
	})();
	if (!old) process.on('sveltekit:shutdown', shutDown);
	// Whoever has the HTTP server hands over here what wants to be a WebSocket.
	globalThis.openrouterSkillsUpgrade = (request, socket, head) => {
		void kept.openrouterSkills?.then(
			(app) => upgrade(app, request, socket, head),
			() => socket.destroy()
		);
	};
	await kept.openrouterSkills.catch((error: unknown) => {
		if (!dev || !(error instanceof DataFolderInUse)) throw error;
		// The development server would go on, and answer every request with an error that says nothing.
		process.stderr.write(`Couldn’t start the app: ${error.message}\n`);
		process.exit(1);
	});
};

/** `server.js` waits for what it is given here: runs get their time and their last event, and scripts are ended. */
function shutDown(reason: string, waitFor?: (work: Promise<void>) => void): void {
	const closing = kept.openrouterSkills?.then(async (app) => {
		// Asked again, by somebody who does not want to wait: the first call goes on from here.
		const graceMs = reason === 'now' ? 0 : app.config.shutdownTimeoutMs;
		await Promise.all([app.runner.close(graceMs), app.responses.close(graceMs)]);
		if (reason !== 'now') await app.close();
	});
	if (closing) waitFor?.(closing);
}

export const handle: Handle = async ({ event, resolve }) => {
	const app = await kept.openrouterSkills;
	if (!app) throw new Error('couldn’t start the app');
	event.locals.app = app;
	const response = await admit(event).then(
		async () => asJson(event, await resolve(event, resolving(app))),
		(error: unknown) => refusal(event, error)
	);
	// Whoever stands between must not keep what only this client may see.
	const headers: [string, string][] = [
		...securityHeaders(app.config.publicOrigin),
		['cache-control', 'private, no-cache']
	];
	for (const [name, value] of headers) {
		if (!response.headers.has(name)) response.headers.set(name, value);
	}
	return response;
};

/** A page knows of demo mode before it has asked for anything: what says so would push away what is there by then. */
function resolving({ models }: App): ResolveOptions {
	return {
		preload: ({ type }) => type !== 'asset',
		transformPageChunk: ({ html }) => html.replace('%demo%', String(models.current().offline))
	};
}

/** @throws AppError when the request may not go on */
async function admit(event: RequestEvent): Promise<void> {
	const { config, login, dataFolder } = event.locals.app;
	const { method, headers } = event.request;
	const knock = { method, route: event.route.id, headers, connected: event.getClientAddress() };
	event.locals.client = enter(knock, config, { isLoginNeeded: login.isNeeded });
	event.locals.caller = MANAGER;
	// By a name that the door lets in; the first to ask is the server itself.
	dataFolder.tellAddress(event.url.origin);
	if (!LOGIN_ROUTES.includes(event.route.id)) {
		const session = event.cookies.get(login.cookie.name);
		const proof = { authorization: headers.get('authorization'), session, client: event.locals.client };
		event.locals.caller = await login.check(proof);
		// What an endpoint asks for, it checks itself; pages are for whoever manages the server.
		if (event.isDataRequest || !isProgramRoute(event.route.id ?? '')) checkCaller(event.locals.caller, undefined);
	}
	if (isProgramRoute(event.url.pathname) && event.route.id === null) {
		throw new AppError('not_found', `Not found: ${event.url.pathname}`);
	}
}

/** Kit says by itself, as plain text, that a route has no such method. */
function asJson({ request, route }: RequestEvent, response: Response): Response {
	if (response.status !== 405 || !isProgramRoute(route.id ?? '')) return response;
	const error = new AppError('method_not_allowed', `${request.method} isn’t supported here.`);
	const answer = errorResponseFor(route.id ?? '', error);
	answer.headers.set('allow', response.headers.get('allow') ?? '');
	return answer;
}

/** Programs get the error as JSON; a browser that wants a page gets the login page, which leads back. */
function refusal({ request, route, url, isDataRequest }: RequestEvent, error: unknown): Response {
	if (!(error instanceof AppError)) logError(url.pathname, error);
	const isPage = request.method === 'GET' && !isDataRequest && !isProgramRoute(route.id ?? url.pathname);
	if (!isPage || !(error instanceof AppError && error.code === 'unauthorized')) {
		return errorResponseFor(route.id ?? url.pathname, error);
	}
	const location = `/login?next=${encodeURIComponent(url.pathname + url.search)}`;
	return new Response(null, { status: 303, headers: { location } });
}

function logError(path: string, error: unknown): void {
	process.stderr.write(`${JSON.stringify({ path, error: String(error) })}\n`);
}

export const handleError: HandleServerError = ({ error, event, status }) => {
	if (status >= 500) logError(event.url.pathname, error);
	return { message: status === 404 ? 'Page not found' : 'Something went wrong on the server.' };
};
