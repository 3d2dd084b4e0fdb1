/** Fetches a short text from a model's server, with a limit on size and time. */
import { startTimeLimit } from '../agent/time-limit.ts';
import { connect, Interruption, type Connection } from './responses/connection.ts';

export interface TextRequest {
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
