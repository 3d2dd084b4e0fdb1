/** A WebSocket client of `/v1/responses` that checks everything it receives against the document. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';
import { validate, validateEvent } from './open-responses.ts';
import type { StreamedEvent } from './responses-rig.ts';

export interface ResponsesSocket {
	ws: WebSocket;
	/** Sends a `response.create` and reads up to the turn's last event or error. */
	turn(body: Record<string, unknown>): Promise<StreamedEvent[]>;
	/** Text and bytes are sent unchanged, anything else as JSON. */
	send(message: unknown): void;
	/** The next event in order of arrival. Throws if the connection closes first. */
	next(): Promise<StreamedEvent>;
	/** The next error. */
	error(): Promise<SocketRefusal>;
	/** Close code and reason. */
	closed: Promise<{ code: number; reason: string }>;
	close(): Promise<void>;
}

export interface SocketRefusal {
	type: string;
	status: number;
	error: { type: string; code: string; message: string; param: string | null };
}

export interface SocketSettings {
	key?: string;
	headers?: Record<string, string>;
	options?: ClientOptions;
}

function dial(url: string, { key, headers = {}, options = {} }: SocketSettings): WebSocket {
	const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
	return new WebSocket(url.replace(/^http/, 'ws'), { ...options, headers: { ...authorization, ...headers } });
}

/** `url` ends in `/v1/responses`. */
export async function connectResponses(url: string, settings: SocketSettings = {}): Promise<ResponsesSocket> {
	const ws = dial(url, settings);
	const events: StreamedEvent[] = [];
	let wake: () => void = () => undefined;
	const closed = new Promise<{ code: number; reason: string }>((resolve) => {
		ws.on('close', (code, reason) => {
			resolve({ code, reason: String(reason) });
			wake();
		});
	});
	ws.on('message', (data) => {
		events.push(JSON.parse(String(data)) as StreamedEvent);
		wake();
	});
	await once(ws, 'open');

	const next = async (): Promise<StreamedEvent> => {
		for (;;) {
			const event = events.shift();
			if (event) return checked(event);
			if (ws.readyState === ws.CLOSED) throw new Error('the connection was closed');
			await new Promise<void>((resolve) => (wake = resolve));
		}
	};
	const send = (message: unknown): void => {
		ws.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message));
	};
	return {
		...{ ws, next, send, closed },
		async turn(body) {
			send({ type: 'response.create', ...body });
			const told: StreamedEvent[] = [];
			while (!isLast(told.at(-1))) told.push(await next());
			if (told.at(-1)?.type === 'error') return told;
			for (const [index, event] of told.entries()) {
				if (event.sequence_number !== index) throw new Error(`event ${index} has number ${event.sequence_number}`);
			}
			return told;
		},
		async error() {
			const event = await next();
			if (event.type !== 'error') throw new Error(`no error but ${event.type}`);
			return event as unknown as SocketRefusal;
		},
		async close() {
			ws.close();
			await closed;
		}
	};
}

/** The server's response when it refuses the connection. */
export async function refusalOf(
	url: string,
	settings: SocketSettings = {}
): Promise<{ status: number; body: unknown; headers: Record<string, string | string[] | undefined> }> {
	const ws = dial(url, settings);
	ws.on('error', () => undefined);
	const [, response] = (await once(ws, 'unexpected-response')) as [unknown, IncomingMessage];
	let text = '';
	for await (const chunk of response) text += String(chunk);
	ws.terminate();
	return { status: response.statusCode ?? 0, body: JSON.parse(text), headers: response.headers };
}

function checked(event: StreamedEvent): StreamedEvent {
	if (event.type === 'error') validate('WebSocketErrorEvent', event);
	else validateEvent(event);
	return event;
}

function isLast(event: StreamedEvent | undefined): boolean {
	return event !== undefined && /^(error|response\.(completed|incomplete|failed))$/.test(event.type);
}
