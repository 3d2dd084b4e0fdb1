/** A short answer of a model's server as text: bounded in bytes and in time, and ended by a signal at any moment. */
import { connect, Interruption, type Connection } from './responses/connection.ts';

export interface TextRequest {
	url: string;
	method?: 'GET' | 'POST';
	headers: Record<string, string>;
	body?: string;
	fetch: typeof fetch;
	/** Milliseconds for all of it. */
	timeoutMs: number;
	/** Bytes of the body, unpacked. */
	maxBytes: number;
	signal?: AbortSignal | undefined;
}

export interface TextAnswer {
	status: number;
	text: string;
}

/** Redirects are not followed: the key is for this host. Throws the signal's reason, `Interruption`, `BodyTooLargeError`, or what `fetch` throws. */
export async function fetchText(request: TextRequest): Promise<TextAnswer> {
	const { url, method = 'GET', headers, body, fetch, timeoutMs, maxBytes, signal } = request;
	signal?.throwIfAborted();
	// One controller of our own: what `AbortSignal.any` returns can be lost to a garbage collection.
	const controller = new AbortController();
	const stop = () => controller.abort();
	let isLate = false;
	const timer = setTimeout(() => {
		isLate = true;
		stop();
	}, timeoutMs);
	signal?.addEventListener('abort', stop, { once: true });
	let connection: Connection | null = null;
	try {
		connection = await connect(
			url,
			{
				method,
				headers: { ...headers, accept: 'application/json', 'accept-encoding': 'gzip' },
				redirect: 'manual',
				body
			},
			{ fetch, signal: controller.signal, idleTimeoutMs: timeoutMs, maxBytes }
		);
		const text = await readText(connection);
		connection.finish();
		return { status: connection.status, text };
	} catch (error) {
		connection?.close();
		signal?.throwIfAborted();
		throw isLate ? new Interruption('idle') : error;
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener('abort', stop);
	}
}

async function readText(connection: Connection): Promise<string> {
	const parts: Uint8Array[] = [];
	for (let bytes = await connection.read(); bytes; bytes = await connection.read()) parts.push(bytes);
	return Buffer.concat(parts).toString('utf8');
}
