/** One request to a model's server whose answer can be stopped at any moment and may not fall silent. */
import { createParser } from 'eventsource-parser';

export interface ConnectionOptions {
	fetch: typeof fetch;
	signal: AbortSignal;
	/** How long a read may wait for the next byte, or the request for its headers. */
	idleTimeoutMs: number;
	/** Bytes of body after which the answer is refused. */
	maxBytes: number;
}

export interface Connection {
	readonly status: number;
	readonly headers: Headers;
	/** The next bytes, null at the end. Throws `Interruption`, `BodyTooLargeError`, or what the network says. */
	read(): Promise<Uint8Array | null>;
	/** Ends the answer and its socket at once. */
	close(): void;
	/** To call after the answer's last event: the socket is kept for the next request if the body ends soon. */
	finish(): void;
}

/** The caller's signal fired, or nothing was received for too long. */
export class Interruption extends Error {
	override readonly name = 'Interruption';
	readonly reason: 'aborted' | 'idle';

	constructor(reason: 'aborted' | 'idle') {
		super(reason === 'aborted' ? 'The request was aborted' : 'The server was silent for too long');
		this.reason = reason;
	}
}

/** The body is longer than `maxBytes`. */
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
	// `Promise.withResolvers` and `Promise.try` are newer than the oldest Node that the command line runs on.
	let rejectInterrupted: (interruption: Interruption) => void = () => undefined;
	const interrupted = new Promise<never>((_, reject) => {
		rejectInterrupted = reject;
	});
	interrupted.catch(() => {
		// Listened to only until the headers are there; afterwards `read` throws the interruption itself.
	});
	let interruption: Interruption | null = null;
	let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
	let isWaiting = true;
	let received = 0;

	const onAbort = () => interrupt('aborted');
	const timer = setTimeout(() => {
		// A slow reader is not a silent server: only a pending read may time out.
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
		// The signal alone is not enough: `fetch` may lose its hold on it once a garbage collection has run.
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
			// Aborting what has ended would close a socket that can serve the next request.
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
				// The answer is complete: how its connection ends matters to nobody, only that it ends.
				drain().catch(close);
			}
		};
	} catch (error) {
		// A `fetch` that does not heed the signal may still answer: nobody will read that.
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
		// Cancelling a broken stream rejects with what broke it, which its reader has been told already.
	});
}

// Turns the bytes of a server-sent event stream into frames, wherever the network cut them.

/** One dispatched event: the `event` field where there was one, and the joined `data` lines. */
export interface SseFrame {
	event: string | undefined;
	data: string;
}

export interface SseDecoder {
	/** The frames that these bytes complete. Throws `FrameTooLargeError`; the decoder is then of no more use. */
	push(bytes: Uint8Array): SseFrame[];
	/** The frame that was still open when the stream ended: one without its blank line counts as well. */
	end(): SseFrame[];
}

/** A line or an event grew over the cap before it ended. */
export class FrameTooLargeError extends Error {
	override readonly name = 'FrameTooLargeError';
	readonly maxCharacters: number;

	constructor(maxCharacters: number) {
		super(`An event of the stream is longer than ${maxCharacters} characters`);
		this.maxCharacters = maxCharacters;
	}
}

/** A decoder for one stream. Comments and unknown fields are skipped; a line without an end is too long whatever it is. */
export function createSseDecoder(maxCharacters = 16 * 1024 * 1024): SseDecoder {
	const utf8 = new TextDecoder();
	let frames: SseFrame[] = [];
	let isTooLarge = false;
	const parser = createParser({
		maxBufferSize: maxCharacters,
		onEvent({ event, data }) {
			// A line that arrives whole in one chunk never passes through the buffer that the parser limits.
			if (data.length > maxCharacters) isTooLarge = true;
			else frames.push({ event, data });
		},
		onError(error) {
			// Fields that the specification does not know are none of our business.
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
		push: (bytes) => feed(utf8.decode(bytes, { stream: true })),
		end: () => feed(`${utf8.decode()}\n\n`)
	};
}
