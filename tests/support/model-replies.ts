/** What a scripted model can answer: correct replies, and everything that can go wrong. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Gate } from './gate.ts';
import { responseFrames, type CallOutput, type ItemOutput, type Output, type TextOutput } from './model-frames.ts';

/** Part of a reply, sent unchanged, or a gate that holds back the rest. */
export type Chunk<Piece> = Piece | Gate;

export interface RecordedRequest {
	/** The parsed JSON body. */
	body: Record<string, unknown>;
	headers: IncomingHttpHeaders;
	/** The client's port: equal for two requests on the same connection. */
	clientPort: number | undefined;
	/** Resolves when this request's connection is closed, by either side, or its reply is complete. */
	closed: Promise<void>;
	/** True if the client left before the reply was complete. */
	readonly isAborted: boolean;
}

/** For writing a handler's reply. Writes after the client has gone are lost silently, as on a real server. */
export interface Exchange {
	request: RecordedRequest;
	/** Sends status and headers; an event stream by default. */
	begin(status?: number, headers?: Record<string, string>): void;
	/** Resolves when the bytes were handed to the system. */
	write(data: string | Uint8Array): Promise<void>;
	end(data?: string): void;
	/** Breaks the connection with a TCP reset. */
	reset(): void;
	/** False if the client left first. */
	wait(gate: Gate): Promise<boolean>;
	/** `call_1`, `call_2`, `msg_1`, … for the server's lifetime. */
	nextId(kind: string): string;
}

export type Handler = (exchange: Exchange) => Promise<void> | void;

/** A reply: output items in order (with deltas, `[DONE]` and so on), or a handler. */
export type Reply = Output | Output[] | Handler;

/** A message, one delta per chunk. */
export function text(...chunks: Chunk<string>[]): TextOutput {
	return { kind: 'text', chunks };
}

/** A message with its sources. */
export function cited(words: string, ...annotations: object[]): TextOutput {
	return { kind: 'text', chunks: [words], annotations };
}

/** The result of one of the server's own tools. */
export function item(type: string, fields: Record<string, unknown> = {}): ItemOutput {
	return { kind: 'item', item: { type, ...fields } };
}

/** A reasoning item, one delta per chunk. */
export function reasoning(...chunks: Chunk<string>[]): TextOutput {
	return { kind: 'reasoning', chunks };
}

/** A function call; string `args` are sent unchanged, valid JSON or not. */
export function call(name: string, args: unknown = {}, callId?: string): CallOutput {
	return { kind: 'call', name, arguments: typeof args === 'string' ? args : JSON.stringify(args), callId };
}

/** Several calls in one reply. */
export function calls(list: { name: string; args?: unknown; callId?: string }[]): CallOutput[] {
	return list.map(({ name, args, callId }) => call(name, args, callId));
}

/** Outputs with their own usage or ending, e.g. `{ incomplete: 'max_output_tokens' }`. */
export function response(
	outputs: Output[],
	ending: { usage?: unknown; incomplete?: string; model?: string } = {}
): Handler {
	return async (exchange) => {
		exchange.begin();
		for (const chunk of responseFrames(outputs, exchange.nextId, ending)) {
			if (!(await send(exchange, chunk))) return;
		}
		exchange.end('data: [DONE]\n\n');
	};
}

/** An event stream of exactly these bytes, then the end; objects become `data:` frames. */
export function raw(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (await sendAll(exchange, chunks)) exchange.end();
	};
}

/** A whole response with this status. `body` is sent as JSON unless it's a string. */
export function status(code: number, body: unknown = '', headers: Record<string, string> = {}): Handler {
	return (exchange) => {
		const isText = typeof body === 'string';
		exchange.begin(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
		exchange.end(isText ? body : JSON.stringify(body));
	};
}

/** Goes silent after these chunks; without any, it doesn't even send headers. Ends when the client leaves. */
export function hang(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (chunks.length > 0 && !(await sendAll(exchange, chunks))) return;
		await exchange.request.closed;
	};
}

/** Repeats this as long as the client stays. */
export function endless(chunk: string | object): Handler {
	return async (exchange) => {
		exchange.begin();
		while (await send(exchange, chunk)) await new Promise((resolve) => setImmediate(resolve));
	};
}

/** Resets the connection after these chunks; without any, before the headers. */
export function reset(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (chunks.length > 0 && !(await sendAll(exchange, chunks))) return;
		exchange.reset();
	};
}

/** A reply that starts correctly and ends cleanly, but before its terminal event. */
export function truncated(...chunks: Chunk<string>[]): Handler {
	return async (exchange) => {
		exchange.begin();
		for (const chunk of responseFrames([text(...chunks)], exchange.nextId, {})) {
			// A message counts as finished from its last events on, so those are left out.
			if (typeof chunk === 'object' && 'type' in chunk && String(chunk.type).endsWith('.done')) break;
			if (!(await send(exchange, chunk))) return;
		}
		exchange.end();
	};
}

/** A reply that depends on the request. */
export function dynamic(choose: (body: Record<string, unknown>) => Reply): Handler {
	return (exchange) => play(choose(exchange.request.body), exchange);
}

/** Sends a reply. */
export function play(reply: Reply, exchange: Exchange): Promise<void> | void {
	if (typeof reply === 'function') return reply(exchange);
	return response(Array.isArray(reply) ? reply : [reply])(exchange);
}

async function sendAll(exchange: Exchange, chunks: Chunk<string | Uint8Array | object>[]): Promise<boolean> {
	exchange.begin();
	for (const chunk of chunks) {
		if (!(await send(exchange, chunk))) return false;
	}
	return true;
}

async function send(exchange: Exchange, chunk: Chunk<string | Uint8Array | object>): Promise<boolean> {
	if (typeof chunk === 'object' && 'opened' in chunk) return exchange.wait(chunk);
	const isRaw = typeof chunk === 'string' || chunk instanceof Uint8Array;
	await exchange.write(isRaw ? chunk : `data: ${JSON.stringify(chunk)}\n\n`);
	return !exchange.request.isAborted;
}
