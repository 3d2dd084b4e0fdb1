/** The whole app behind a real HTTP server with our access checks and keys, at `/mcp`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { pipeline } from 'node:stream/promises';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { checkScope } from '../../src/lib/server/access/caller.ts';
import { checkDoor } from '../../src/lib/server/access/door.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { errorResponseFor } from '../../src/lib/server/http.ts';
import { lingerAfter } from '../../src/lib/server/linger.ts';
import { putFile } from './folder.ts';

export const MODERN = '2026-07-28';

export interface McpRig {
	app: App;
	url: URL;
	/** Skills folder. */
	skills: string;
	dataDir: string;
	/** Writes a file into the skills folder. */
	put(path: string, text: string | Uint8Array): Promise<void>;
	/** A connected client of the current or a previous version, with or without a key. */
	connect(options?: ConnectOptions): Promise<Client>;
	/** A raw request, for what no client would send. */
	send(init: RequestInit & { headers?: Record<string, string> }): Promise<Response>;
	/** As a bad network does, to the streams that clients keep open. */
	breakStreams(): void;
	close(): Promise<void>;
}

export interface ConnectOptions extends ClientOptions {
	/** `2026-07-28`, or the newest version that has sessions. */
	modern?: boolean;
	key?: string;
	/** `false` for a client that keeps no stream open for messages that answer no request. */
	stream?: boolean;
}

const bundled = join(import.meta.dirname, '../../skills');

export async function openMcpRig(
	env: Record<string, string> = {},
	names = ['count-words', 'data-analysis']
): Promise<McpRig> {
	const root = await mkdtemp(join(tmpdir(), 'mcp-'));
	const skills = join(root, 'skills');
	for (const name of names) await cp(join(bundled, name), join(skills, name), { recursive: true });
	await mkdir(skills, { recursive: true });
	const dataDir = join(root, 'data');
	const config = loadConfig({ DATA_DIR: dataDir, SKILLS_DIRS: skills, SKILLS_SANDBOX: 'process', ...env });
	const app = await createApp(config);
	const streams = new Set<ServerResponse>();
	const server = createServer((request, response) => {
		if (request.method === 'GET') streams.add(response.on('close', () => streams.delete(response)));
		lingerAfter(request, response);
		void answer(app, request, response);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
	const clients: Client[] = [];
	return {
		...{ app, url, skills, dataDir },
		async put(path, text) {
			await putFile(skills, path, text);
		},
		async connect({ modern = false, key, stream = true, ...options } = {}) {
			const mode = modern ? { pin: MODERN } : 'legacy';
			const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode }, ...options });
			const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
			const refuse = () => Promise.resolve(new Response(null, { status: 405 }));
			const withoutStream: typeof fetch = (to, init) => (init?.method === 'GET' ? refuse() : fetch(to, init));
			const transport = { requestInit: { headers }, ...(stream ? {} : { fetch: withoutStream }) };
			await client.connect(new StreamableHTTPClientTransport(url, transport));
			clients.push(client);
			return client;
		},
		send: (init) => fetch(url, init),
		breakStreams() {
			for (const stream of streams) stream.destroy();
		},
		async close() {
			await Promise.all(clients.map((client) => client.close()));
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			await app.close();
			await rm(root, { recursive: true, force: true });
		}
	};
}

async function answer(app: App, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
	const gone = new AbortController();
	outgoing.on('close', () => gone.abort());
	const headers = new Headers(incoming.headers as Record<string, string>);
	const { method = 'GET' } = incoming;
	const hasBody = method !== 'GET' && method !== 'HEAD';
	const request = new Request(`http://${headers.get('host') ?? 'localhost'}/mcp`, {
		...{ method, headers, signal: gone.signal },
		...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {})
	} as RequestInit);
	const response = await admit(app, request).catch((error: unknown) => errorResponseFor('/mcp', error));
	outgoing.writeHead(response.status, Object.fromEntries(response.headers));
	outgoing.flushHeaders();
	if (!response.body) return void outgoing.end();
	// Clients in tests leave early, which ends the stream.
	await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch(() => undefined);
}

async function admit(app: App, request: Request): Promise<Response> {
	const { method, headers } = request;
	checkDoor({ method, route: '/mcp', headers }, app.config);
	const proof = { authorization: headers.get('authorization'), session: undefined, client: '127.0.0.1' };
	const caller = await app.login.check(proof);
	checkScope(caller, 'read');
	return app.mcp.handle(request, caller);
}
