/** WebSockets of `/v1/responses`: one turn at a time, each event a JSON message (F12). */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../../shared/errors.ts';
import { isObject, parseJson } from '../../../shared/json.ts';
import type { Asker } from '../../turns/toolbox.ts';
import { ApiError, badParameter, toApiError } from './errors.ts';
import type { ResponsesApi } from './responses-api.ts';
import { type ResponseEvent, isLast } from './wire.ts';

export interface ConnectionOptions {
	api: Pick<ResponsesApi, 'respond' | 'remember'>;
	/** Checks the caller again, as the key may have been revoked. @throws AppError */
	check(): Promise<Asker>;
	/** The underlying TCP socket. */
	socket: Pick<Socket, 'bytesRead'>;
	limits: ConnectionLimits;
}

export interface ConnectionLimits {
	/** After this no new turn starts; a running one finishes. */
	lifetimeMs: number;
	/** Interval of the pings that detect a lost client. */
	heartbeatMs: number;
	/** Bytes of unsent output after which the turn waits. */
	maxWaiting: number;
	/** Invalid messages in a row. */
	maxRefused: number;
}

const CONNECTION_LIMITS: ConnectionLimits = {
	lifetimeMs: 60 * 60 * 1000,
	heartbeatMs: 30_000,
	maxWaiting: 1024 * 1024,
	maxRefused: 100
};

// Close codes of RFC 6455.
const POLICY_VIOLATION = 1008;
const NORMAL = 1000;
const GOING_AWAY = 1001;

/** Serves one connection. A running turn ends when it closes. */
function serveConnection(ws: WebSocket, { api, check, socket, limits }: ConnectionOptions): void {
	const gone = new AbortController();
	const memory = api.remember();
	let isBusy = false;
	let isOld = false;
	let refused = 0;
	let bytesRead = -1;

	const send = (message: ResponseEvent | SocketError): Promise<void> =>
		new Promise((resolve) => {
			if (ws.readyState !== ws.OPEN) return resolve();
			ws.send(JSON.stringify(message), () => resolve());
			if (ws.bufferedAmount <= limits.maxWaiting) resolve();
		});

	const refuse = (error: unknown): void => {
		refused += 1;
		void send(socketError(error));
		if (toApiError(error).status === 401) ws.close(POLICY_VIOLATION, 'No longer allowed');
		if (refused > limits.maxRefused) ws.close(POLICY_VIOLATION, 'Too many invalid messages');
	};

	const retire = (): void => {
		const sentence = 'This connection has reached its limit of 60 minutes. Open another one to continue.';
		void send(socketError(new ApiError(400, sentence, { code: 'websocket_connection_limit_reached' })));
		ws.close(NORMAL, 'The connection is too old');
	};

	/** Sends all events but the last, which it returns: that one is sent once the next request is allowed. */
	async function turn(body: Record<string, unknown>): Promise<ResponseEvent | null> {
		const asker = await check();
		const { events } = await api.respond(body, asker, gone.signal, { memory });
		let last: ResponseEvent | null = null;
		for await (const event of events) {
			if (isLast(event)) last = event;
			else await send(event);
		}
		return last;
	}

	async function take(text: string): Promise<void> {
		let previous: unknown;
		const forget = () => void (typeof previous === 'string' && memory.drop(previous));
		try {
			const body = readMessage(text);
			previous = body.previous_response_id;
			const last = await turn(body);
			isBusy = false;
			refused = 0;
			if (last?.type === 'response.failed') forget();
			if (last) await send(last);
		} catch (error) {
			isBusy = false;
			forget();
			refuse(error);
		}
		if (isOld) retire();
	}

	ws.on('message', (data, isBinary) => {
		if (isBusy) return refuse(new ApiError(409, BUSY, { code: 'response_in_progress' }));
		if (isOld) return;
		if (isBinary) return refuse(new ApiError(400, 'Send JSON as text.', { code: 'invalid_type' }));
		isBusy = true;
		// A Buffer, as `binaryType` is the default.
		void take((data as Buffer).toString());
	});
	// A protocol error: the connection closes by itself.
	ws.on('error', () => undefined);
	ws.on('ping', () => {
		// Every ping gets a pong. A client that never reads them would fill the memory.
		if (ws.bufferedAmount > 2 * limits.maxWaiting) ws.terminate();
	});

	const heartbeat = setInterval(() => {
		if (socket.bytesRead === bytesRead) return ws.terminate();
		bytesRead = socket.bytesRead;
		ws.ping();
	}, limits.heartbeatMs);
	const age = setTimeout(() => {
		isOld = true;
		if (!isBusy) retire();
	}, limits.lifetimeMs);
	ws.on('close', () => {
		clearInterval(heartbeat);
		clearTimeout(age);
		gone.abort(new Error('the client disconnected'));
	});
}

const BUSY = 'A response is still running on this connection. Wait for its last event, or open another connection.';

export interface ResponseSockets {
	/** Accepts an authorized connection. Calls `check` before each turn. @throws AppError unavailable */
	accept(
		upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer },
		who: Pick<Asker, 'apiKeyId'> & { check(): Promise<Asker> }
	): void;
	/** Closes all connections, within a second. Call it when no turn is running. */
	close(): Promise<void>;
}

export interface SocketLimits extends ConnectionLimits {
	maxConnections: number;
	/** Connections per key. */
	maxOfOne: number;
	/** Bytes per message. */
	maxMessage: number;
}

const LIMITS: SocketLimits = {
	...CONNECTION_LIMITS,
	maxConnections: 512,
	maxOfOne: 256,
	maxMessage: 10 * 1024 * 1024
};
/** Time for clients to close their side. */
const CLOSING_MS = 1000;

export function createResponseSockets(
	api: Pick<ResponsesApi, 'respond' | 'remember'>,
	limits: Partial<SocketLimits> = {}
): ResponseSockets {
	const all = { ...LIMITS, ...limits };
	// No compression: a small message could expand to a huge one.
	const server = new WebSocketServer({ noServer: true, maxPayload: all.maxMessage, perMessageDeflate: false });
	const owners = new Map<object, string | null>();
	let isClosing = false;

	return {
		accept({ request, socket, head }, { apiKeyId, check }) {
			const ofOne = [...owners.values()].filter((owner) => owner === apiKeyId).length;
			if (isClosing) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
			if (owners.size >= all.maxConnections || ofOne >= all.maxOfOne) {
				throw new AppError('unavailable', 'Too many WebSocket connections. Close one, or use HTTP.');
			}
			server.handleUpgrade(request, socket, head, (ws) => {
				owners.set(ws, apiKeyId);
				ws.on('close', () => owners.delete(ws));
				serveConnection(ws, { api, check, socket: request.socket, limits: all });
			});
		},

		async close() {
			isClosing = true;
			const closed = [...server.clients].map((ws) => new Promise((resolve) => ws.once('close', resolve)));
			for (const ws of server.clients) ws.close(GOING_AWAY, 'The server is stopping');
			const timer = setTimeout(() => {
				for (const ws of server.clients) ws.terminate();
			}, CLOSING_MS);
			await Promise.all(closed);
			clearTimeout(timer);
			server.close();
		}
	};
}

/** `WebSocketErrorEvent` of Open Responses. */
export interface SocketError {
	type: 'error';
	status: number;
	error: { type: string; code: string; message: string; param: string | null };
}

/** Parameters for HTTP only, or of other servers; refused rather than ignored. */
const UNSUPPORTED: readonly string[] = ['stream', 'stream_options', 'background', 'stream_id'];

/** The body of a `response.create`. @throws ApiError */
function readMessage(text: string): Record<string, unknown> {
	const message = parseJson(text);
	// Without the parser's own error: it quotes the message, which could contain a secret.
	if (message === undefined) throw new AppError('invalid_input', 'The message isn’t valid JSON.');
	if (!isObject(message)) throw new ApiError(400, 'A message must be a JSON object.', { code: 'invalid_type' });
	const { type, ...body } = message;
	if (type !== 'response.create') throw badParameter('type', 'type must be “response.create”.');
	const other = UNSUPPORTED.find((name) => body[name] !== undefined && body[name] !== null);
	if (other !== undefined) {
		throw badParameter(other, `${other} isn’t supported on WebSockets. Leave it out.`, 'unsupported_parameter');
	}
	if (body.generate === false) {
		const sentence = '“generate: false” isn’t supported: there’s nothing to warm up.';
		throw badParameter('generate', sentence, 'unsupported_parameter');
	}
	return body;
}

function socketError(error: unknown): SocketError {
	const { status, type, code, message, param } = toApiError(error);
	return { type: 'error', status, error: { type, code: code ?? type, message, param } };
}
