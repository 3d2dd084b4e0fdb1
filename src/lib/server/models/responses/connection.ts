/** One request to a model's server, abortable at any moment and with an idle timeout; and a parser for its events. */
import { createParser } from 'eventsource-parser';
import { startTimeLimit } from '../../agent/time-limit.ts';

interface ConnectionOptions {
	fetch: typeof fetch;
	signal: AbortSignal;
	/** Maximum wait for the headers and for each next byte. */
	idleTimeoutMs: number;
	/** Maximum bytes of the body. */
	maxBytes: number;
}

export interface Connection {
	readonly status: number;
	readonly headers: Headers;
	/** The next bytes; null at the end. Throws `Interruption`, `BodyTooLargeError`, or a network error. */
	read(): Promise<Uint8Array | null>;
	/** Closes the socket at once. */
	close(): void;
	/** Call after the last event. Keeps the socket for the next request if the body ends soon. */
	finish(): void;
}

/** The signal aborted, or the server was idle for too long. */
export class Interruption extends Error {
	override readonly name = 'Interruption';
	readonly reason: 'aborted' | 'idle';

	constructor(reason: 'aborted' | 'idle') {
		super(reason === 'aborted' ? 'The request was aborted' : 'The server was silent for too long');
		this.reason = reason;
	}
}

export class BodyTooLargeError extends Error {
	override readonly name = 'BodyTooLargeError';
	readonly maxBytes: number;

	constructor(maxBytes: number) {
		super(`The reply is larger than ${maxBytes} bytes`);
		this.maxBytes = maxBytes;
	}
}

const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;

/** Resolves with the headers. Throws `Interruption`, or what `fetch` throws. */
export async function connect(url: string, init: RequestInit, options: ConnectionOptions): Promise<Connection> {
	const { signal, idleTimeoutMs, maxBytes } = options;
	if (signal.aborted) throw new Interruption('aborted');

	const controller = new AbortController();
	// No `Promise.withResolvers` or `Promise.try`: the command line supports older Node versions.
	let rejectInterrupted: (interruption: Interruption) => void = () => undefined;
	const interrupted = new Promise<never>((_, reject) => {
		rejectInterrupted = reject;
	});
	interrupted.catch(() => {
		// Only awaited until the headers arrive; afterwards `read` throws the interruption itself.
	});
	let interruption: Interruption | null = null;
	let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
	let isWaiting = true;
	let received = 0;

	const onAbort = () => interrupt('aborted');
	const timer = setTimeout(() => {
		// Only a pending read may time out: a slow consumer isn't a silent server.
		if (isWaiting) interrupt('idle');
	}, idleTimeoutMs);
	signal.addEventListener('abort', onAbort, { once: true });

	function interrupt(reason: Interruption['reason']): void {
		interruption ??= new Interruption(reason);
		rejectInterrupted(interruption);
		close();
	}

	function release(): void {
		clearTimeout(timer);
		signal.removeEventListener('abort', onAbort);
	}

	function close(): void {
		release();
		controller.abort();
		// The signal isn't enough: `fetch` may lose it in a garbage collection.
		if (reader) discard(reader);
	}

	async function read(): Promise<Uint8Array | null> {
		if (interruption) throw interruption;
		if (!reader) return null;
		isWaiting = true;
		timer.refresh();
		try {
			const { done, value } = await reader.read();
			if (interruption) throw interruption as Interruption;
			if (done) return null;
			received += value.byteLength;
			if (received > maxBytes) throw new BodyTooLargeError(maxBytes);
			return value;
		} catch (error) {
			throw interruption ?? error;
		} finally {
			isWaiting = false;
		}
	}

	async function drain(): Promise<void> {
		const limit = setTimeout(close, DRAIN_MS);
		limit.unref();
		const end = received + DRAIN_BYTES;
		try {
			while ((await read()) !== null) {
				if (received > end) return close();
			}
			// No abort here: it would close a reusable socket.
			release();
		} finally {
			clearTimeout(limit);
		}
	}

	const pending = (async () => options.fetch(url, { ...init, signal: controller.signal }))();
	try {
		const response = await Promise.race([pending, interrupted]);
		isWaiting = false;
		reader = response.body?.getReader() ?? null;
		return {
			status: response.status,
			headers: response.headers,
			read,
			close,
			finish: () => {
				// The response is complete, so errors no longer matter.
				drain().catch(close);
			}
		};
	} catch (error) {
		// A `fetch` that ignores the signal may still respond: discard that.
		pending.then(
			(late) => late.body && discard(late.body),
			() => undefined
		);
		close();
		throw interruption ?? error;
	}
}

function discard(body: { cancel(): Promise<void> }): void {
	body.cancel().catch(() => {
		// Rejects with the stream's error, which the reader already has.
	});
}

/** A server-sent event: its `event` field, if any, and the joined `data` lines. */
export interface SseFrame {
	event: string | undefined;
	data: string;
}

export class FrameTooLargeError extends Error {
	override readonly name = 'FrameTooLargeError';
	readonly maxCharacters: number;

	constructor(maxCharacters: number) {
		super(`An event of the stream is longer than ${maxCharacters} characters`);
		this.maxCharacters = maxCharacters;
	}
}

/** Decodes one event stream. Skips comments and unknown fields, but limits the length of every line. */
export function createSseDecoder(maxCharacters = 16 * 1024 * 1024) {
	const utf8 = new TextDecoder();
	let frames: SseFrame[] = [];
	let isTooLarge = false;
	const parser = createParser({
		maxBufferSize: maxCharacters,
		onEvent({ event, data }) {
			// The parser's limit doesn't apply to a line that arrives complete in one chunk.
			if (data.length > maxCharacters) isTooLarge = true;
			else frames.push({ event, data });
		},
		onError(error) {
			// Ignore unknown fields.
			if (error.type === 'max-buffer-size-exceeded') isTooLarge = true;
		}
	});

	function feed(text: string): SseFrame[] {
		if (text !== '') parser.feed(text);
		if (isTooLarge) throw new FrameTooLargeError(maxCharacters);
		const complete = frames;
		frames = [];
		return complete;
	}

	return {
		/** Returns the frames these bytes complete. Throws `FrameTooLargeError`; don't use the decoder after that. */
		push: (bytes: Uint8Array): SseFrame[] => feed(utf8.decode(bytes, { stream: true })),
		/** Returns the last frame if the stream ended without the blank line after it. */
		end: (): SseFrame[] => feed(`${utf8.decode()}\n\n`)
	};
}

// A short text of a model's server, with a limit on size and time.

interface TextRequest {
	url: string;
	method?: 'GET' | 'POST';
	headers: Record<string, string>;
	body?: string;
	fetch: typeof fetch;
	/** For the whole request. */
	timeoutMs: number;
	/** Of the decompressed body. */
	maxBytes: number;
	signal?: AbortSignal | undefined;
}

export interface TextAnswer {
	status: number;
	text: string;
}

/**
 * Doesn't follow redirects, because the key is only for this host.
 * Throws the signal's reason, `Interruption`, `BodyTooLargeError`, or what `fetch` throws.
 */
export async function fetchText(request: TextRequest): Promise<TextAnswer> {
	const { url, method = 'GET', headers, body, fetch, timeoutMs, maxBytes, signal } = request;
	signal?.throwIfAborted();
	const time = startTimeLimit(timeoutMs, signal ?? new AbortController().signal);
	const all = { ...headers, accept: 'application/json', 'accept-encoding': 'gzip' };
	let connection: Connection | null = null;
	try {
		connection = await connect(
			url,
			{ method, headers: all, redirect: 'manual', body },
			{ fetch, signal: time.signal, idleTimeoutMs: timeoutMs, maxBytes }
		);
		const text = await readText(connection);
		connection.finish();
		return { status: connection.status, text };
	} catch (error) {
		connection?.close();
		signal?.throwIfAborted();
		throw time.isOver ? new Interruption('idle') : error;
	} finally {
		time.clear();
	}
}

async function readText(connection: Connection): Promise<string> {
	const parts: Uint8Array[] = [];
	for (let bytes = await connection.read(); bytes; bytes = await connection.read()) parts.push(bytes);
	return Buffer.concat(parts).toString('utf8');
}
