/** Serves some of the app's routes over real HTTP, without a build, using Kit's own adapter code. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequest, setResponse } from '@sveltejs/kit/node';
import { MANAGER, type Caller } from '../../src/lib/server/access/caller.ts';
import type { App } from '../../src/lib/server/app.ts';
import { checkedAnswer } from './checked-answer.ts';
import { lingerAfter } from '../../src/lib/server/linger.ts';

type Handler = (event: never) => Response | Promise<Response>;

/** A route's path, with parameters in brackets as in Kit, and its exports. */
export type Routes = Record<string, Partial<Record<string, unknown>>>;

export interface RouteServer {
	url: string;
	/** For what isn't a request. */
	http: Server;
	close(): Promise<void>;
}

/** `callerOf` says who the caller is; the server's manager by default. */
export async function serveRoutes(
	app: App,
	routes: Routes,
	callerOf: (request: Request) => Caller | Promise<Caller> = () => MANAGER
): Promise<RouteServer> {
	const table = Object.entries(routes).map(([path, methods]) => ({ pattern: toPattern(path), methods }));
	const respond = async (request: Request, req: IncomingMessage): Promise<Response> => {
		const url = new URL(request.url);
		for (const { pattern, methods } of table) {
			const found = pattern.exec(url.pathname);
			const handler = methods[request.method] as Handler | undefined;
			if (!found || !handler) continue;
			const params = Object.fromEntries(
				Object.entries(found.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)])
			);
			const locals = { app, caller: await callerOf(request) };
			return checkedAnswer(handler, await handler({ request, url, params, locals, platform: { req } } as never));
		}
		return new Response('There is no such route.', { status: 404 });
	};
	const server = createServer((incoming, outgoing) => {
		lingerAfter(incoming, outgoing);
		const base = `http://${incoming.headers.host}`;
		getRequest({ request: incoming, base })
			.then((request) => respond(request, incoming))
			.then((response) => setResponse(outgoing, response))
			.catch((error: unknown) => outgoing.destroy(error as Error));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		http: server,
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			server.closeAllConnections();
			await closed;
		}
	};
}

/** `[name]` matches one segment, `[...name]` any number. */
function toPattern(path: string): RegExp {
	const source = path.replaceAll(/\[(\.\.\.)?(\w+)\]/g, (_whole, rest: string | undefined, name: string) => {
		return rest ? `(?<${name}>.+)` : `(?<${name}>[^/]+)`;
	});
	return new RegExp(`^${source}$`);
}
