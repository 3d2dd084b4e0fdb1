/** An HTTP proxy for one execution or download, which only reaches allowed hosts (D35). */
import { chmod, mkdir, rm } from 'node:fs/promises';
import {
	createServer,
	type IncomingHttpHeaders,
	type IncomingMessage,
	request as requestHttp,
	type ServerResponse
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { type AddressGuardOptions, createAddressGuard, NetworkError } from './addresses.ts';

export interface ProxyLimits {
	/** Concurrent. */
	connections: number;
	/** Maximum silence of a connection. */
	idleMs: number;
	/** Time to receive the headers. */
	headersMs: number;
}

const DEFAULT_PROXY_LIMITS: ProxyLimits = { connections: 64, idleMs: 60_000, headersMs: 10_000 };

export interface ProxyOptions extends AddressGuardOptions {
	/** Created with access for everyone, in a private folder. At most 107 bytes. null: a port on 127.0.0.1. */
	socketPath: string | null;
	/** `host` is lower case, without brackets or a trailing dot. */
	allows: (host: string, port: number) => boolean;
	limits?: Partial<ProxyLimits>;
}

export interface Proxy {
	/** The socket’s path, or `http://127.0.0.1:PORT`. */
	socket: string;
	/** Refused targets as `host:port`: unique, in order, at most 100. */
	refused(): string[];
	/** Allowed hosts that it couldn’t reach, as `host:port`; at most 100. */
	unreached(): string[];
	/** Ends all connections and deletes the socket. */
	close(): Promise<void>;
}

const MAX_REFUSED = 100;
const MAX_HEADER_BYTES = 16 * 1024;

/** Supports `CONNECT host:port` and `GET http://host/path`. @throws Error if the socket can’t be created */
export async function openProxy({ socketPath, allows, limits, ...addresses }: ProxyOptions): Promise<Proxy> {
	const { connections, idleMs, headersMs } = { ...DEFAULT_PROXY_LIMITS, ...limits };
	const guard = createAddressGuard(addresses);
	const sockets = new Set<Duplex>();
	const refused = new Set<string>();
	const unreached = new Set<string>();

	/** Closes the socket with the proxy, or when idle. */
	function own<T extends Socket>(socket: T): T {
		sockets.add(socket);
		socket.on('close', () => sockets.delete(socket));
		socket.on('error', () => socket.destroy());
		socket.setTimeout(idleMs, () => socket.destroy(new Error('no data for too long')));
		return socket;
	}

	/** Status and sentence for a forbidden target. */
	function refusalOf(target: Target): [number, string] | null {
		if (!allows(target.host, target.port)) {
			remember(target);
			return [403, `This skill has no access to ${target.host} at port ${target.port}.`];
		}
		try {
			guard.check(target.host);
			return null;
		} catch (error) {
			return failureOf(error as Error, target);
		}
	}

	function remember({ host, port }: Target): void {
		if (refused.size < MAX_REFUSED) refused.add(`${host}:${port}`);
	}

	/** Status and sentence for a failed connection. */
	function failureOf(error: Error, target: Target): [number, string] {
		if (error instanceof NetworkError && error.code === 'blocked-address') {
			remember(target);
			return [403, error.message];
		}
		if (unreached.size < MAX_REFUSED) unreached.add(`${target.host}:${target.port}`);
		if (error instanceof NetworkError) return [502, error.message];
		return [502, `Couldn’t connect to ${target.host}: ${(error as NodeJS.ErrnoException).code ?? error.message}.`];
	}

	const server = createServer({
		maxHeaderSize: MAX_HEADER_BYTES,
		headersTimeout: headersMs,
		connectionsCheckingInterval: headersMs,
		requestTimeout: 0
	});
	// Applied again to each request of a connection.
	server.timeout = idleMs;
	server.maxConnections = connections;
	server.on('connection', own);
	server.on('clientError', (_, socket) => {
		if (socket.writable) socket.end(answer(400, 'This isn’t a proxy request.'));
		else socket.destroy();
	});
	server.on('connect', (request: IncomingMessage, near: Socket, head: Buffer) => {
		const target = targetOfAuthority(request.url ?? '');
		if (!target) return void near.end(answer(400, 'CONNECT needs a host and a port.'));
		const refusal = refusalOf(target);
		if (refusal) return void near.end(answer(...refusal));
		tunnel(near, head, target);
	});
	server.on('request', (request, response) => {
		const target = targetOfUrl(request.url ?? '');
		if (!target) return reply(response, 400, 'This proxy takes CONNECT, and addresses that start with http://.');
		const refusal = refusalOf(target);
		if (refusal) return reply(response, ...refusal);
		try {
			forward(request, response, target);
		} catch (error) {
			// Node can’t send some headers that it can read.
			reply(response, ...failureOf(error as Error, target));
		}
	});

	function tunnel(near: Socket, head: Buffer, target: Target): void {
		const far = own(connect({ ...target, lookup: guard.lookup, allowHalfOpen: true }));
		let isOpen = false;
		far.on('connect', () => {
			isOpen = true;
			near.write('HTTP/1.1 200 Connection established\r\n\r\n');
			far.write(head);
			near.pipe(far).pipe(near);
		});
		far.on('error', (error) => {
			if (isOpen) near.destroy();
			else near.end(answer(...failureOf(error, target)));
		});
		far.on('close', () => isOpen && near.destroySoon());
		near.on('close', () => far.destroy());
	}

	function forward(request: IncomingMessage, response: ServerResponse, target: UrlTarget): void {
		const fail = (error: Error) => {
			if (response.headersSent) response.destroy();
			else reply(response, ...failureOf(error, target));
		};
		const outgoing = requestHttp(target.url, {
			method: request.method,
			headers: {
				...endToEnd(request.headers),
				// Always the allowed host.
				host: target.url.host,
				...(request.headers['transfer-encoding'] ? { 'transfer-encoding': 'chunked' } : {})
			},
			lookup: guard.lookup,
			agent: false,
			maxHeaderSize: MAX_HEADER_BYTES
		});
		outgoing.on('socket', own);
		outgoing.on('error', fail);
		outgoing.on('upgrade', (_, socket) => {
			socket.destroy();
			fail(new Error('it switched to an unexpected protocol'));
		});
		outgoing.on('response', (incoming) => {
			incoming.on('error', () => response.destroy());
			try {
				response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming.headers));
			} catch (error) {
				// Node can’t write some responses that it can read, such as a reason with control characters.
				outgoing.destroy();
				return fail(error as Error);
			}
			incoming.pipe(response);
		});
		response.on('close', () => outgoing.destroy());
		request.on('error', () => outgoing.destroy());
		request.pipe(outgoing);
	}

	if (socketPath !== null) {
		await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
		await rm(socketPath, { force: true });
	}
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(socketPath === null ? { port: 0, host: '127.0.0.1' } : { path: socketPath }, resolve);
	});
	// A connection that can’t be accepted, for lack of descriptors, must not end the others.
	server.on('error', () => {});
	if (socketPath !== null) await chmod(socketPath, 0o666);

	return {
		socket: socketPath ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		refused: () => [...refused],
		unreached: () => [...unreached],
		async close() {
			const closed = new Promise((resolve) => server.close(resolve));
			for (const socket of sockets) socket.destroy();
			await closed;
			if (socketPath !== null) await rm(socketPath, { force: true });
		}
	};
}

export interface Target {
	/** Lower case, without brackets or a trailing dot. */
	host: string;
	port: number;
}

export interface UrlTarget extends Target {
	url: URL;
}

const HOP_HEADERS = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'];

/** From `host:port` of CONNECT. */
function targetOfAuthority(authority: string): Target | null {
	const { host, port } = /^(?<host>[^\s/?#@\\]+):(?<port>\d{1,5})$/.exec(authority)?.groups ?? {};
	const url = host ? URL.parse(`http://${host}/`) : null;
	// Refuses a second port in the host.
	if (!url || url.port || Number(port) < 1 || Number(port) > 65_535) return null;
	return { host: bareHost(url), port: Number(port) };
}

/** From the `http://` URL of a plain request. */
function targetOfUrl(text: string): UrlTarget | null {
	const url = /^http:\/\//i.test(text) ? URL.parse(text) : null;
	if (!url || url.username || url.password) return null;
	return { host: bareHost(url), port: Number(url.port || 80), url };
}

function bareHost({ hostname }: URL): string {
	return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
	const named = headers.connection?.toLowerCase().split(/\s*,\s*/) ?? [];
	return Object.fromEntries(
		Object.entries(headers).filter(
			([name]) => !HOP_HEADERS.includes(name) && !name.startsWith('proxy-') && !named.includes(name)
		)
	);
}

const REASONS: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' };

function answer(status: number, sentence: string): string {
	const body = `${sentence}\n`;
	return [
		`HTTP/1.1 ${status} ${REASONS[status]}`,
		'Content-Type: text/plain; charset=utf-8',
		`Content-Length: ${Buffer.byteLength(body)}`,
		'Connection: close',
		'',
		body
	].join('\r\n');
}

function reply(response: ServerResponse, status: number, sentence: string): void {
	if (response.headersSent) return;
	response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
	response.end(`${sentence}\n`);
}
