/** Sends requests through the server's own hooks to its routes, without a build, so refusals are the app's own. */
import { vi } from 'vitest';
import type { App } from '../../src/lib/server/app.ts';
import { checkedAnswer } from './checked-answer.ts';
import { handle } from '../../src/hooks.server.ts';

type Handler = (event: never) => Response | Promise<Response>;

/** Exports of each route, by Kit's route id. */
type HookedRoutes = Record<string, Partial<Record<string, unknown>>>;

interface Sent {
	/** API key or token. */
	bearer?: string | undefined;
	params?: Record<string, string>;
	query?: string;
	/** Sent as JSON. */
	body?: unknown;
	/** Sent unchanged, with the content type of JSON. */
	text?: string;
	accept?: string;
	/** The caller's IP address. */
	from?: string;
}

export type Send = (method: string, route: string, sent?: Sent) => Promise<Response>;

/** The hooks serve one app at a time. A route missing from `routes` answers 404 once reached. */
export function hookRoutes(app: App, routes: HookedRoutes): Send {
	vi.stubGlobal('openrouterSkills', Promise.resolve(app));
	return async (method, route, sent = {}) => {
		const { bearer, params = {}, query = '', body, text, accept, from = '127.0.0.1' } = sent;
		const path = route.replaceAll(/\[(?:\.\.\.)?(\w+)\]/g, (_whole, name: string) =>
			(params[name] ?? '').split('/').map(encodeURIComponent).join('/')
		);
		const url = new URL(`http://127.0.0.1:3000${path}${query}`);
		const content = text ?? (body === undefined ? undefined : JSON.stringify(body));
		const headers = {
			host: url.host,
			...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
			...(accept === undefined ? {} : { accept }),
			...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` })
		};
		const request = new Request(url, { method, headers, ...(content === undefined ? {} : { body: content }) });
		const event = {
			...{ request, url, params, route: { id: route }, locals: {}, isDataRequest: false },
			cookies: { get: () => undefined },
			getClientAddress: () => from
		};
		const resolve = async (): Promise<Response> => {
			const handler = routes[route]?.[method] as Handler | undefined;
			if (!handler) return new Response('There is no such route.', { status: 404 });
			return checkedAnswer(handler, await handler(event as never));
		};
		return handle({ event, resolve } as never);
	};
}
