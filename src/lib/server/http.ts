/** HTTP helpers: reads bodies, answers errors, streams events and downloads. */
import type { EventEmitter } from 'node:events';
import { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { json } from '@sveltejs/kit';
import type { z } from 'zod';
import { AppError, isNestedDeeperThan, MAX_NESTING } from '../shared/errors.ts';
import { inPlainWords, sentenceOf } from '../shared/plain-issues.ts';
import type { StoredEvent } from './store/chat/runs.ts';
import { idOfEvent } from '../shared/events.ts';
import { ApiError, toApiError } from './protocols/responses/errors.ts';
import { type Log, logUnexpected } from './log.ts';
import { readText } from './read-text.ts';

const MAX_JSON_BYTES = 10 * 1024 * 1024;
/** Of a body in which files are embedded as base64, which adds a third. */
export const MAX_BYTES_WITH_FILES = 48 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** `retry-after` for temporary errors. */
const RETRY_AFTER_SECONDS = 5;

/** Reads and checks a JSON body. @throws AppError too_large | invalid_input naming the field */
export async function readJson<Schema extends z.ZodType>(
	request: Request,
	schema: Schema,
	limits: { maxBytes?: number } = {}
): Promise<z.infer<Schema>> {
	return parse(schema, await readAnyJson(request, limits));
}

/** Reads a JSON body for the caller to check; `problem` is the message for invalid JSON. @throws AppError too_large | invalid_input */
export async function readAnyJson(
	request: Request,
	{ maxBytes = MAX_JSON_BYTES, problem = 'The body isn’t valid JSON.' } = {}
): Promise<unknown> {
	const text = await readText(request, maxBytes);
	let body: unknown;
	try {
		body = JSON.parse(text);
	} catch {
		// The parser’s message quotes the body, which may contain a secret.
		throw new AppError('invalid_input', problem);
	}
	if (!isNestedDeeperThan(MAX_NESTING, body)) return body;
	throw new AppError('invalid_input', `The body is nested more than ${MAX_NESTING} levels deep.`);
}

/** @throws AppError invalid_input naming the field */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
	const parsed = schema.safeParse(value, { error: inPlainWords });
	if (parsed.success) return parsed.data;
	const { field, sentence } = sentenceOf(parsed.error.issues[0], 'body');
	throw new AppError('invalid_input', sentence, { details: { field } });
}

/** Checks a query; ignores empty parameters. @throws AppError invalid_input naming the field */
export function readQuery<Schema extends z.ZodType>(url: URL, schema: Schema): z.infer<Schema> {
	const given = new Map<string, string>();
	for (const [name, value] of url.searchParams) if (value !== '' && !given.has(name)) given.set(name, value);
	return parse(schema, Object.fromEntries(given));
}

export function errorResponse(error: unknown): Response {
	const known = toAppError(error);
	return json(known.toBody(), { status: known.status, headers: headersOf(known) });
}

function toAppError(error: unknown): AppError {
	return error instanceof AppError ? error : new AppError('internal', 'Something went wrong on the server.');
}

/** ContentTypeNotSupportedError, which A2A has a code for. */
const A2A_REFUSALS = { unsupported_media_type: -32005 };

/** Any error in the format of the route’s or path’s protocol. */
export function errorResponseFor(route: string, error: unknown): Response {
	if (/^\/(mcp|a2a)(\/|$)/.test(route)) {
		const refused = toAppError(error);
		const own = route.startsWith('/a2a') ? A2A_REFUSALS : {};
		return json(rpcRefusal(refused, own), { status: refused.status, headers: headersOf(refused) });
	}
	if (!/^\/v1(\/|$)/.test(route)) return errorResponse(error);
	const known = toApiError(error);
	const headers = known.cause instanceof AppError ? headersOf(known.cause) : {};
	return json(known.toBody(), { status: known.status, headers });
}

function headersOf({ code, details }: AppError): Record<string, string> {
	if (code === 'unavailable') return { 'retry-after': String(RETRY_AFTER_SECONDS) };
	if (code === 'rate_limited') {
		const seconds = (details as { retryAfterSeconds?: number } | undefined)?.retryAfterSeconds;
		return { 'retry-after': String(seconds ?? RETRY_AFTER_SECONDS) };
	}
	return code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {};
}

/** Server-sent events from batches of text, with back-pressure. Comments keep the connection alive. */
export function eventStream(
	log: Log,
	open: (signal: AbortSignal) => AsyncIterable<string>,
	heartbeatMs = HEARTBEAT_MS
): Response {
	const controller = new AbortController();
	const encoder = new TextEncoder();
	let heartbeat: NodeJS.Timeout | undefined;
	let iterator: AsyncIterator<string> | undefined;
	const body = new ReadableStream<Uint8Array>({
		start(stream) {
			iterator = open(controller.signal)[Symbol.asyncIterator]();
			heartbeat = setInterval(() => {
				if ((stream.desiredSize ?? 0) > 0) stream.enqueue(encoder.encode(': alive\n\n'));
			}, heartbeatMs);
			stream.enqueue(encoder.encode(': open\n\n'));
		},
		async pull(stream) {
			try {
				const next = await iterator?.next();
				if (controller.signal.aborted) return;
				if (next && !next.done) return stream.enqueue(encoder.encode(next.value));
				stream.close();
			} catch (error) {
				// Headers are already sent, so only a broken stream can tell the client; it reconnects.
				if (isUnexpected(error)) logUnexpected(log, error);
				stream.error(error);
			}
			clearInterval(heartbeat);
		},
		cancel() {
			clearInterval(heartbeat);
			controller.abort();
		}
	});
	const headers = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
	return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } });
}

/** A download from pieces of text or bytes, with back-pressure. */
export function downloadStream(
	log: Log,
	pieces: AsyncIterable<string | Uint8Array<ArrayBuffer>>,
	file: { name: string; type: string }
): Response {
	const encoder = new TextEncoder();
	const read = async function* () {
		try {
			for await (const piece of pieces) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
		} catch (error) {
			// Headers are already sent, so only a broken connection can tell that the file is incomplete.
			if (isUnexpected(error)) logUnexpected(log, error);
			throw error;
		}
	};
	return new Response(NodeReadableStream.from(read()) as ReadableStream<Uint8Array<ArrayBuffer>>, {
		headers: { 'content-type': file.type, 'content-disposition': attachmentAs(file.name) }
	});
}

/** RFC 6266: a plain ASCII name, plus the UTF-8 name if different. */
function attachmentAs(name: string): string {
	const plain = name.replaceAll(/[^ -~]|["\\%]/g, '_');
	const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
		/['()*]/g,
		(sign) => `%${sign.charCodeAt(0).toString(16)}`
	);
	return `attachment; filename="${plain}"${plain === name ? '' : `; filename*=UTF-8''${encoded}`}`;
}

/** SSE of a run’s stored events, named `event`, if given. Their id is `seq`, or `epoch.seq` once another server goes on. */
export async function* runEventFrames(
	batches: AsyncIterable<StoredEvent[]> | Iterable<StoredEvent[]>,
	event?: string
): AsyncGenerator<string> {
	const name = event === undefined ? '' : `event: ${event}\n`;
	for await (const batch of batches) {
		yield batch.map((each) => `${name}id: ${idOfEvent(each)}\ndata: ${each.data}\n\n`).join('');
	}
}

/** Items of several sources as they come, until all have ended. */
export async function* inTurns<Item>(sources: AsyncGenerator<Item>[]): AsyncGenerator<Item> {
	const arrived: { source: AsyncGenerator<Item>; next: PromiseSettledResult<IteratorResult<Item>> }[] = [];
	let wake = () => {};
	const ask = async (source: AsyncGenerator<Item>) => {
		const [next] = await Promise.allSettled([source.next()]);
		arrived.push({ source, next });
		wake();
	};
	for (const source of sources) void ask(source);
	for (let open = sources.length; open > 0;) {
		const first = arrived.shift();
		if (!first) {
			await new Promise<void>((resolve) => (wake = resolve));
			continue;
		}
		if (first.next.status === 'rejected') throw first.next.reason;
		if (first.next.value.done) {
			open -= 1;
			continue;
		}
		yield first.next.value.value;
		// Only once this one is taken: a reader that is behind costs no more pages.
		void ask(first.source);
	}
}

/** SSE of the Responses API: named events, then `[DONE]`. */
export async function* responseEventFrames(events: AsyncIterable<{ type: string }>): AsyncGenerator<string> {
	for await (const event of events) yield `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
	yield 'data: [DONE]\n\n';
}

/** Not an answer that somebody is to get. */
export function isUnexpected(error: unknown): boolean {
	return !(error instanceof AppError || error instanceof ApiError);
}

/** `platform` is from the adapter; undefined in development. */
interface Connected {
	request: Request;
	platform?: Readonly<{ req: { socket: EventEmitter } }> | undefined;
}

/** Calls `work` with a signal that aborts when the client disconnects. Kit’s own stops working once the body is read. */
export async function whileConnected<Result>(
	{ request, platform }: Connected,
	work: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
	const gone = new AbortController();
	const leave = () => gone.abort(new Error('the client has gone'));
	const socket = platform?.req.socket;
	request.signal.addEventListener('abort', leave, { once: true });
	socket?.once('close', leave);
	try {
		return await work(gone.signal);
	} finally {
		request.signal.removeEventListener('abort', leave);
		socket?.off('close', leave);
	}
}

/** In the range JSON-RPC reserves for servers. */
const REFUSED = -32_000;
const INTERNAL = -32_603;

/** An error of authentication or limits as a JSON-RPC error (E15, E16). */
function rpcRefusal({ code, message, hint }: AppError, own: Partial<Record<string, number>>) {
	const number = own[code] ?? (code === 'internal' ? INTERNAL : REFUSED);
	const sentence = hint === undefined ? message : `${message} ${hint}`;
	return { jsonrpc: '2.0', id: null, error: { code: number, message: sentence, data: { code } } };
}
