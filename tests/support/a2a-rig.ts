/** The whole app behind real HTTP, with A2A's two routes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequest, setResponse } from '@sveltejs/kit/node';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { errorResponse } from '../../src/lib/server/http.ts';
import { lingerAfter } from '../../src/lib/server/linger.ts';
import * as card from '../../src/routes/.well-known/agent-card.json/+server.ts';
import * as a2a from '../../src/routes/a2a/+server.ts';
import { putFiles } from './folder.ts';

export interface A2ARig {
	url: string;
	readonly app: App;
	root: string;
	/** Closes the app and opens it again on the same data, like a restart. */
	reopen(): Promise<void>;
	close(): Promise<void>;
}

/** A skill that prints its arguments, and one that waits until it's killed. */
const SKILLS: Record<string, string> = {
	'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nRun `scripts/say.sh`.',
	'demo/scripts/say.sh': 'echo "said: $*"; echo "made for $*" > made.txt\n',
	'demo/scripts/big.sh': 'head -c 1500000 /dev/zero > big.bin\n',
	'demo/scripts/wait.sh': 'echo waiting; exec sleep "$1"\n'
};

export async function startA2ARig(env: Record<string, string> = {}): Promise<A2ARig> {
	const root = await mkdtemp(join(tmpdir(), 'a2a-rig-'));
	await putFiles(join(root, 'skills'), SKILLS);
	const open = () =>
		createApp(
			loadConfig({
				...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' },
				...{ SHUTDOWN_TIMEOUT_MS: '0', CHAT_TITLES: 'false', ...env }
			})
		);
	let app = await open();
	const routes: Record<string, { id: string; handlers: Record<string, unknown> }> = {
		'/a2a': { id: '/a2a', handlers: a2a },
		'/.well-known/agent-card.json': { id: 'card', handlers: card }
	};
	const server = createServer((incoming, response) => {
		lingerAfter(incoming, response);
		void (async () => {
			const base = `http://${incoming.headers.host}`;
			const request = await getRequest({ request: incoming, base });
			const route = routes[new URL(request.url).pathname];
			const answer = await respond(app, request, route).catch(errorResponse);
			await setResponse(response, answer);
		})();
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		root,
		get app() {
			return app;
		},
		async reopen() {
			await app.close();
			app = await open();
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			await app.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

/** What the hooks do for these two routes. */
async function respond(
	app: App,
	request: Request,
	route: { id: string; handlers: Record<string, unknown> } | undefined
): Promise<Response> {
	const handler = route?.handlers[request.method] as ((event: unknown) => Promise<Response>) | undefined;
	if (!route || !handler) return new Response(null, { status: 404 });
	const locals = { app, client: 'a client', caller: { apiKeyId: null as string | null } };
	if (route.id !== 'card') {
		const proof = { authorization: request.headers.get('authorization'), session: undefined, client: locals.client };
		locals.caller = await app.login.check(proof);
	}
	return handler({ request, url: new URL(request.url), locals, cookies: { get: () => undefined } });
}
