/** One request to a Responses server, and its answer as events. */
import type { ModelEvent, ResponseItem } from '../../agent/model.ts';
import type { ContentEvent } from './items.ts';
import { connect, type Connection, createSseDecoder, Interruption } from './connection.ts';
import { type ErrorContext, excerpt, type Fault, makeFault, networkFault } from './faults.ts';
import { asText, parseJson } from '../../../shared/json.ts';
import { faultOf, readErrorDetail } from './errors.ts';
import { ResponseReader, type Ending } from './reader.ts';

export interface ExchangeOptions {
	url: URL;
	headers: Record<string, string>;
	fetch: typeof fetch;
	idleTimeoutMs: number;
	context: ErrorContext;
}

export interface ExchangeRequest {
	/** JSON. */
	body: string;
	/** Ids of the calls that the body's history holds. */
	usedCallIds: ReadonlySet<string>;
}

export type ExchangeOutcome =
	| Extract<ModelEvent, { type: 'completed' }>
	| { type: 'failed'; fault: Fault; items: ResponseItem[]; hasShown: boolean };

const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Bytes kept of an answer that may turn out to be no event stream. */
const MAX_HEAD_BYTES = 4 * 1024;

/** Yields what can be shown, returns how it ended. Never throws; an end of the caller's interest closes the socket. */
export async function* exchange(
	{ body, usedCallIds }: ExchangeRequest,
	options: ExchangeOptions,
	signal: AbortSignal
): AsyncGenerator<ContentEvent, ExchangeOutcome> {
	const { context, idleTimeoutMs } = options;
	const reader = new ResponseReader(usedCallIds);
	const failed = (fault: Fault): ExchangeOutcome => ({
		type: 'failed',
		fault,
		items: reader.items(),
		hasShown: reader.hasShown
	});
	let connection: Connection | null = null;
	try {
		connection = await connect(
			options.url.href,
			{ method: 'POST', headers: options.headers, body, redirect: 'manual' },
			{ fetch: options.fetch, signal, idleTimeoutMs, maxBytes: MAX_BODY_BYTES }
		);
		if (connection.status < 200 || connection.status > 299) return failed(await statusFault(connection, context));
		const head = yield* readEvents(connection, reader, signal);
		return outcomeOf(reader) ?? failed(endingFault(reader, head, context));
	} catch (error) {
		return failed(
			networkFault(error, { ...context, idleTimeoutMs, hasAnswered: connection !== null, hasShown: reader.hasShown })
		);
	} finally {
		if (reader.ending?.type === 'completed') connection?.finish();
		else connection?.close();
	}
}

/** Reads until the response has ended or the body has. Returns the body's first bytes as text. */
async function* readEvents(
	connection: Connection,
	reader: ResponseReader,
	signal: AbortSignal
): AsyncGenerator<ContentEvent, string> {
	const decoder = createSseDecoder();
	const head: Uint8Array[] = [];
	let headBytes = 0;
	let isStream: boolean | undefined;
	while (!reader.ending) {
		const bytes = await connection.read();
		if (bytes && (isStream === undefined || (reader.frames === 0 && headBytes < MAX_HEAD_BYTES))) {
			head.push(bytes);
			headBytes += bytes.byteLength;
		}
		// An event stream never begins with a bracket. What the header says is not asked: it is wrong too often.
		isStream ??= bytes ? startsLikeStream(bytes) : undefined;
		if (isStream === false) {
			const text = await readText(connection, MAX_JSON_BYTES, head);
			reader.readResponse(parseJson(text));
			yield* takeAll(reader, signal);
			return text;
		}
		for (const frame of bytes ? decoder.push(bytes) : decoder.end()) reader.readFrame(frame, bytes === null);
		yield* takeAll(reader, signal);
		if (bytes === null) break;
	}
	return new TextDecoder().decode(Buffer.concat(head));
}

function* takeAll(reader: ResponseReader, signal: AbortSignal): Generator<ContentEvent, void> {
	for (const event of reader.take()) {
		yield event;
		if (signal.aborted) throw new Interruption('aborted');
	}
}

/** undefined while there is only white space. */
function startsLikeStream(bytes: Uint8Array): boolean | undefined {
	const text = Buffer.from(bytes)
		.toString('latin1')
		.replace(/^(\xef|\xbb|\xbf|\s)+/, '');
	return text === '' ? undefined : !/^[{[<"]/.test(text);
}

/** The rest of a body, after what was read of it; cut at the cap, or where the connection broke or fell silent. */
async function readText(connection: Connection, maxBytes: number, parts: Uint8Array[] = []): Promise<string> {
	let size = parts.reduce((sum, part) => sum + part.byteLength, 0);
	while (size < maxBytes) {
		const bytes = await connection.read();
		if (!bytes) break;
		parts.push(bytes);
		size += bytes.byteLength;
	}
	return new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxBytes));
}

function outcomeOf(reader: ResponseReader): ExchangeOutcome | null {
	const { ending } = reader;
	if (ending?.type !== 'completed' || reader.isEmpty || reader.hasOpenCall) return null;
	return {
		type: 'completed',
		items: reader.items(),
		usage: ending.usage,
		incompleteReason: ending.incompleteReason
	};
}

function endingFault(reader: ResponseReader, head: string, context: ErrorContext): Fault {
	const ending: Ending = reader.ending ?? { type: 'truncated' };
	switch (ending.type) {
		case 'completed':
			return reader.hasOpenCall
				? openCallFault(ending.incompleteReason, context)
				: emptyFault(ending.incompleteReason, context);
		case 'failed':
			return faultOf(readErrorDetail(ending.payload), context);
		case 'malformed':
			return makeFault('provider_error', context, {
				summary: `${context.host} sent an event that ${ending.problem}.`,
				said: ending.text
			});
		case 'truncated':
			if (reader.frames === 0 && !isOnlyComments(head)) return foreignFault(head, context);
			return reader.hasShown ? makeFault('stream_truncated', context) : unbegunFault(context);
		default:
			return ending satisfies never;
	}
}

/** A call whose arguments never became whole is not run, so the turn cannot go on as if it had been. */
function openCallFault(reason: string | null, context: ErrorContext): Fault {
	const why = reason === null ? '' : ` (${excerpt(reason)})`;
	return makeFault('stream_truncated', context, { summary: `${context.model} ended in the middle of a call${why}.` });
}

/** Nothing was shown, so asking again repeats nothing. */
function unbegunFault(context: ErrorContext): Fault {
	return makeFault('stream_truncated', context, {
		summary: `${context.host} ended the answer before it had begun.`,
		advice: 'Try again, or choose another model.',
		isRetryable: true
	});
}

function foreignFault(head: string, context: ErrorContext): Fault {
	const isText = !/[\0\ufffd]/.test(head);
	return makeFault('provider_error', context, {
		summary: `${context.host} answered with something that is not a response of the Responses API.`,
		said: isText ? head : undefined,
		advice: 'Check the base URL.'
	});
}

function emptyFault(reason: string | null, context: ErrorContext): Fault {
	if (reason === 'content_filter') return makeFault('moderation', context);
	if (reason === null) return makeFault('empty_response', context);
	return makeFault('empty_response', context, {
		summary: `${context.model} answered with nothing (${excerpt(reason)}).`
	});
}

/** True for a stream in which nothing was said yet. */
function isOnlyComments(head: string): boolean {
	return head.split(/[\r\n]+/).every((line) => line === '' || /^(:|data|event|id|retry)/.test(line));
}

/** The fault of an answer whose status is not a success; its body is read up to a cap. */
async function statusFault(connection: Connection, context: ErrorContext): Promise<Fault> {
	const { status, headers } = connection;
	// A `fetch` of the browser's kind hides the status of a redirect that it does not follow.
	if (status === 0 || (status >= 300 && status < 400)) {
		const target = headers.get('location');
		return makeFault('provider_error', context, {
			status: status || undefined,
			summary: `${context.host} sends requests on to ${target ? excerpt(target, 200) : 'another address'}.`,
			advice: 'Redirects are not followed, so that the key stays where it belongs: check the base URL.'
		});
	}
	const text = await readErrorText(connection);
	const body = parseJson(text);
	const detail = readErrorDetail(body);
	if (body === undefined) detail.message = asText(excerpt(text));
	return faultOf(detail, context, { status, retryAfter: headers.get('retry-after') });
}

/** The status says enough: a body that breaks off, or falls silent, is no failure of its own. */
async function readErrorText(connection: Connection): Promise<string> {
	try {
		return await readText(connection, MAX_ERROR_BYTES);
	} catch (error) {
		if (error instanceof Interruption && error.reason === 'aborted') throw error;
		return '';
	}
}
