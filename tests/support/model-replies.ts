/** What a scripted model can answer: proper turns, and everything that goes wrong with them. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Gate } from './gate.ts';
import { responseFrames, type CallOutput, type ItemOutput, type Output, type TextOutput } from './model-frames.ts';

/** A piece of an answer, sent as it is, or a gate that holds back what follows. */
export type Chunk<Piece> = Piece | Gate;

export interface RecordedRequest {
	/** The parsed JSON body. */
	body: Record<string, unknown>;
	headers: IncomingHttpHeaders;
	/** The client's end of the connection: the same one for two requests that share it. */
	clientPort: number | undefined;
	/** Resolves when the connection of this request is gone, whoever ended it, or its answer is complete. */
	closed: Promise<void>;
	/** True once the client has gone away before the answer was complete. */
	readonly isAborted: boolean;
}

/** What a handler answers through. Writes after the client has gone are lost silently, as on a real server. */
export interface Exchange {
	request: RecordedRequest;
	/** Sends status and headers; an event stream unless told otherwise. */
	begin(status?: number, headers?: Record<string, string>): void;
	/** Resolves when the bytes were handed to the system. */
	write(data: string | Uint8Array): Promise<void>;
	end(data?: string): void;
	/** Breaks the connection with a TCP reset. */
	reset(): void;
	/** False when the client went away first. */
	wait(gate: Gate): Promise<boolean>;
	/** `call_1`, `call_2`, `msg_1`, … over the life of the server. */
	nextId(kind: string): string;
}

export type Handler = (exchange: Exchange) => Promise<void> | void;

/** One answer: output items in order (deltas, `[DONE]` and all), or a handler. */
export type Reply = Output | Output[] | Handler;

/** A message, one delta a chunk. */
export function text(...chunks: Chunk<string>[]): TextOutput {
	return { kind: 'text', chunks };
}

/** A message with its sources. */
export function cited(words: string, ...annotations: object[]): TextOutput {
	return { kind: 'text', chunks: [words], annotations };
}

/** What a tool of the server's own has made. */
export function item(type: string, fields: Record<string, unknown> = {}): ItemOutput {
	return { kind: 'item', item: { type, ...fields } };
}

/** A reasoning item, one delta a chunk. */
export function reasoning(...chunks: Chunk<string>[]): TextOutput {
	return { kind: 'reasoning', chunks };
}

/** A function call; `args` that are a string are sent as they are, valid JSON or not. */
export function call(name: string, args: unknown = {}, callId?: string): CallOutput {
	return { kind: 'call', name, arguments: typeof args === 'string' ? args : JSON.stringify(args), callId };
}

/** Several calls in one answer. */
export function calls(list: { name: string; args?: unknown; callId?: string }[]): CallOutput[] {
	return list.map(({ name, args, callId }) => call(name, args, callId));
}

/** Outputs with figures or an ending of their own, e.g. `{ incomplete: 'max_output_tokens' }`. */
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

/** An event stream of exactly these bytes; objects become `data:` frames. It ends where they end. */
export function raw(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (await sendAll(exchange, chunks)) exchange.end();
	};
}

/** A whole response with this status. `body` is sent as JSON unless it is a string. */
export function status(code: number, body: unknown = '', headers: Record<string, string> = {}): Handler {
	return (exchange) => {
		const isText = typeof body === 'string';
		exchange.begin(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
		exchange.end(isText ? body : JSON.stringify(body));
	};
}

/** Falls silent after these chunks; without any, not even headers are sent. Ends when the client goes away. */
export function hang(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (chunks.length > 0 && !(await sendAll(exchange, chunks))) return;
		await exchange.request.closed;
	};
}

/** Sends this again and again, for as long as the client stays. */
export function endless(chunk: string | object): Handler {
	return async (exchange) => {
		exchange.begin();
		while (await send(exchange, chunk)) await new Promise((resolve) => setImmediate(resolve));
	};
}

/** Breaks the connection after these chunks; without any, before the headers. */
export function reset(...chunks: Chunk<string | Uint8Array | object>[]): Handler {
	return async (exchange) => {
		if (chunks.length > 0 && !(await sendAll(exchange, chunks))) return;
		exchange.reset();
	};
}

/** An answer that begins properly and ends, politely, before its terminal event. */
export function truncated(...chunks: Chunk<string>[]): Handler {
	return async (exchange) => {
		exchange.begin();
		for (const chunk of responseFrames([text(...chunks)], exchange.nextId, {})) {
			// A message counts as finished from its last events on: they are what is missing.
			if (typeof chunk === 'object' && 'type' in chunk && String(chunk.type).endsWith('.done')) break;
			if (!(await send(exchange, chunk))) return;
		}
		exchange.end();
	};
}

/** A reply that depends on what was asked. */
export function dynamic(choose: (body: Record<string, unknown>) => Reply): Handler {
	return (exchange) => play(choose(exchange.request.body), exchange);
}

/** Gives a reply. */
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
