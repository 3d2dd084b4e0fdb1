/** A real HTTP server that plays a Responses API model from a script, and fails if it gets too many or too few calls. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { play, type Exchange, type RecordedRequest, type Reply } from './model-replies.ts';

export { gate } from './gate.ts';
export * from './model-replies.ts';

export interface ModelServer {
	/** Base URL, including `/v1`. */
	readonly url: string;
	readonly requests: RecordedRequest[];
	/** Replies not used yet. */
	readonly remaining: number;
	/** Requests that shouldn't have come. */
	readonly violations: string[];
	/** Adds replies to the script. */
	push(...replies: Reply[]): void;
	/** Starts over with another script and forgets earlier requests. */
	restart(script: Reply[]): void;
	/** Resolves with request number n (from 1) as soon as it arrives. */
	received(number: number): Promise<RecordedRequest>;
	/** Throws if a request came without a reply in the script, or if replies are left over. */
	assertDone(): void;
	close(): Promise<void>;
}

/** Starts a server on loopback; `models` is what `GET /models` lists. */
export async function startModelServer(
	script: Reply[] = [],
	options: { port?: number; models?: Record<string, unknown>[] } = {}
): Promise<ModelServer> {
	const replies = [...script];
	const requests: RecordedRequest[] = [];
	const violations: string[] = [];
	const arrivals: (() => void)[] = [];
	const ids = new Map<string, number>();

	async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const body = await readBody(request);
		if (request.method === 'GET' && request.url?.endsWith('/models')) {
			return sendJson(response, 200, { data: options.models ?? [{ id: 'test/model' }] });
		}
		const recorded = record(request, response, body);
		if (request.method !== 'POST' || !request.url?.endsWith('/v1/responses') || !recorded) {
			violations.push(`${request.method} ${request.url} is not a request of the Responses API: ${body.slice(0, 200)}`);
			return sendJson(response, 404, { error: { code: 404, message: 'No such address' } });
		}
		requests.push(recorded);
		const reply = replies.shift();
		for (const arrived of arrivals.splice(0)) arrived();
		if (reply === undefined) {
			violations.push(`Request ${requests.length} has no reply in the script`);
			return sendJson(response, 500, { error: { code: 500, message: 'The script has no reply for this request' } });
		}
		await play(reply, createExchange(recorded, response, nextId));
	}

	function nextId(kind: string): string {
		const number = (ids.get(kind) ?? 0) + 1;
		ids.set(kind, number);
		return `${kind}_${number}`;
	}

	const server = createServer((request, response) => {
		respond(request, response).catch((error: unknown) => {
			violations.push(`A reply failed: ${String(error)}`);
			response.destroy();
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject);
		server.listen(options.port ?? 0, '127.0.0.1', resolve);
	});

	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
		requests,
		violations,
		get remaining() {
			return replies.length;
		},
		push: (...more) => void replies.push(...more),
		restart(script) {
			replies.splice(0, Infinity, ...script);
			for (const list of [requests, violations]) list.length = 0;
		},
		async received(number) {
			for (;;) {
				const request = requests[number - 1];
				if (request) return request;
				await new Promise<void>((resolve) => arrivals.push(resolve));
			}
		},
		assertDone() {
			const left =
				replies.length > 0
					? [`${replies.length} repl${replies.length === 1 ? 'y' : 'ies'} of the script not asked for`]
					: [];
			const all = [...violations, ...left];
			if (all.length > 0) throw new Error(`The model server saw: ${all.join('; ')}`);
		},
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			server.closeAllConnections();
			await closed;
		}
	};
}

function createExchange(
	request: RecordedRequest,
	response: ServerResponse,
	nextId: (kind: string) => string
): Exchange {
	return {
		request,
		nextId,
		begin(status = 200, headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }) {
			response.writeHead(status, headers);
			response.flushHeaders();
		},
		// The callback gets an error if the client is gone; `isAborted` tells that.
		write: (data) => new Promise((resolve) => response.write(data, () => resolve())),
		end: (data) => void response.end(data),
		reset: () => void response.socket?.resetAndDestroy(),
		wait: async ({ opened }) => {
			await Promise.race([opened, request.closed]);
			return !request.isAborted;
		}
	};
}

/** null if the body isn't a JSON object. */
function record(request: IncomingMessage, response: ServerResponse, text: string): RecordedRequest | null {
	let body: unknown;
	try {
		body = JSON.parse(text);
	} catch {
		// The caller reports it, with the text.
		return null;
	}
	if (typeof body !== 'object' || body === null) return null;
	const { promise, resolve } = Promise.withResolvers<void>();
	response.once('close', resolve);
	return {
		body: body as Record<string, unknown>,
		headers: request.headers,
		clientPort: request.socket.remotePort,
		closed: promise,
		get isAborted() {
			return response.destroyed && !response.writableFinished;
		}
	};
}

async function readBody(request: IncomingMessage): Promise<string> {
	const parts: Buffer[] = [];
	for await (const part of request) parts.push(part as Buffer);
	return Buffer.concat(parts).toString('utf8');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { 'content-type': 'application/json' });
	response.end(JSON.stringify(body));
}
