/** A real HTTP server on loopback with scripted answers; records requests. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface PlayedRequest {
	method: string;
	/** Including the query, as sent. */
	path: string;
	url: URL;
	headers: IncomingHttpHeaders;
}

export interface PlayedReply {
	status?: number;
	headers?: Record<string, string>;
	/** Text, bytes, or a value to send as JSON. */
	body?: unknown;
	/** Sends this many zero bytes instead of a body. */
	zeros?: number;
}

/** `hang`: no answer until the server closes. */
export type PlayedAnswer = PlayedReply | 'hang';

export interface PlayedServer {
	/** Without a trailing slash. */
	url: string;
	/** `127.0.0.1:port`, as in `config.catalog.hosts`. */
	host: string;
	requests: PlayedRequest[];
	/** Overrides answers if it returns one; can be changed at any time. */
	intercept: ((request: PlayedRequest) => PlayedAnswer | undefined) | null;
	/** Resolves when a path with this prefix has been requested. */
	asked(path: string): Promise<PlayedRequest>;
	close(): Promise<void>;
}

export const rateLimited = (resetsAt: Date): PlayedReply => ({
	status: 403,
	headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(resetsAt.getTime() / 1000)) },
	body: { message: 'API rate limit exceeded for 127.0.0.1.' }
});
export const failing = (status = 500): PlayedReply => ({ status, body: { message: 'Server Error' } });
export const htmlPage = (status = 200): PlayedReply => ({
	status,
	headers: { 'content-type': 'text/html' },
	body: '<!doctype html><title>Hello</title>'
});
export const redirectTo = (location: string, status = 302): PlayedReply => ({ status, headers: { location } });
export const json = (body: unknown, status = 200): PlayedReply => ({ status, body });
export const notFound = (message = 'Not Found'): PlayedReply => ({ status: 404, body: { message } });

/** @param tls key and certificate, for one that speaks HTTPS */
export async function startPlayedServer(
	answer: (request: PlayedRequest) => PlayedAnswer,
	tls: { key: string; cert: string } | null = null
): Promise<PlayedServer> {
	const requests: PlayedRequest[] = [];
	const waiting: { path: string; resolve: (request: PlayedRequest) => void }[] = [];
	const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
		const request = requestOf(incoming);
		requests.push(request);
		for (const { path, resolve } of waiting) if (request.path.startsWith(path)) resolve(request);
		const reply = played.intercept?.(request) ?? answer(request);
		if (reply !== 'hang') send(outgoing, reply);
	};
	const server = tls ? createHttpsServer(tls, onRequest) : createServer(onRequest);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const played: PlayedServer = {
		url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
		host: `127.0.0.1:${port}`,
		requests,
		intercept: null,
		asked(path) {
			const already = requests.find((request) => request.path.startsWith(path));
			return already ? Promise.resolve(already) : new Promise((resolve) => waiting.push({ path, resolve }));
		},
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		}
	};
	return played;
}

function requestOf({ method = 'GET', url: path = '/', headers }: IncomingMessage): PlayedRequest {
	return { method, path, url: new URL(path, 'http://played.invalid'), headers };
}

function send(outgoing: ServerResponse, { status = 200, headers = {}, body, zeros }: PlayedReply): void {
	if (zeros !== undefined) {
		outgoing.writeHead(status, headers);
		sendZeros(outgoing, zeros);
		return;
	}
	const isRaw = typeof body === 'string' || body instanceof Uint8Array;
	const type = isRaw ? 'application/octet-stream' : 'application/json; charset=utf-8';
	outgoing.writeHead(status, { 'content-type': type, ...headers });
	outgoing.end(isRaw ? body : body === undefined ? '' : JSON.stringify(body));
}

/** With backpressure, so that a client that stops reading doesn't get the rest. */
function sendZeros(outgoing: ServerResponse, left: number): void {
	while (left > 0) {
		const size = Math.min(left, 65_536);
		left -= size;
		if (!outgoing.write(Buffer.alloc(size))) {
			outgoing.once('drain', () => sendZeros(outgoing, left));
			return;
		}
	}
	outgoing.end();
}
