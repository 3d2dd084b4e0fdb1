/** One WebSocket of `/v1/responses`: one turn after the other, each event a message of JSON (FEATURES F12). */
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Asker } from '../../runs/unattended.ts';
import { ApiError, toApiError } from './errors.ts';
import type { ResponsesApi } from './responses-api.ts';
import { readMessage, socketError, type SocketError } from './socket-messages.ts';
import type { ResponseEvent } from './wire.ts';

export interface ConnectionOptions {
	api: Pick<ResponsesApi, 'respond' | 'remember'>;
	/** Who asks, as of now: a key may have been revoked since. @throws AppError */
	check(): Promise<Asker>;
	/** What the connection lies on. */
	socket: Pick<Socket, 'bytesRead'>;
	limits: ConnectionLimits;
}

export interface ConnectionLimits {
	/** Then no turn begins any more; the one under way is told to its end. */
	lifetimeMs: number;
	/** Between two looks whether the client is still there. */
	heartbeatMs: number;
	/** What may wait to be taken by the client before the turn waits too, in bytes. */
	maxWaiting: number;
	/** Messages in a row that are no requests. */
	maxRefused: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
	lifetimeMs: 60 * 60 * 1000,
	heartbeatMs: 30_000,
	maxWaiting: 1024 * 1024,
	maxRefused: 100
};

/** Codes of RFC 6455. */
const POLICY_VIOLATION = 1008;
const NORMAL = 1000;

/** Answers until the connection is gone; what is under way then is ended. */
export function serveConnection(ws: WebSocket, { api, check, socket, limits }: ConnectionOptions): void {
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
		if (toApiError(error).status === 401) ws.close(POLICY_VIOLATION, 'Not allowed any more');
		if (refused > limits.maxRefused) ws.close(POLICY_VIOLATION, 'Too many messages that are no requests');
	};

	const retire = (): void => {
		const sentence = 'The connection has reached its limit of 60 minutes: open another, and go on there.';
		void send(socketError(new ApiError(400, sentence, { code: 'websocket_connection_limit_reached' })));
		ws.close(NORMAL, 'The connection is old');
	};

	/** Everything up to the last event; that one is for when the next request may come. */
	async function turn(body: Record<string, unknown>): Promise<ResponseEvent | null> {
		const asker = await check();
		const { events } = await api.respond(body, asker, gone.signal, memory);
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
		if (isBinary) return refuse(new ApiError(400, 'Send text: a message is JSON.', { code: 'invalid_type' }));
		isBusy = true;
		void take(textOf(data));
	});
	// What a client sends that is no WebSocket any more; the connection closes by itself.
	ws.on('error', () => undefined);
	ws.on('ping', () => {
		// Each is answered: who never reads the answers would fill the memory.
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
		gone.abort(new Error('the client has gone'));
	});
}

const BUSY = 'A response is under way on this connection: wait for its last event, or open another connection.';

function isLast({ type }: ResponseEvent): boolean {
	return type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed';
}

function textOf(data: RawData): string {
	if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
	return Buffer.from(data as Buffer).toString('utf8');
}
