/** Drains the body of a request that is answered early, because closing the connection would lose the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Limits of draining: bytes, total time and silence. Beyond them, the connection is closed. */
const LIMITS = { bytes: 1024 * 1024 * 1024, ms: 60_000, silenceMs: 5_000 };

/**
 * Call it before the request is handled. The answer is sent at once, but ended only after the body is drained: Node would
 * close the connection then, and the system resets it if bytes are unread. Many clients send the whole body before they
 * read, so they would see the reset instead of the answer.
 */
export function lingerAfter(request: IncomingMessage, response: ServerResponse, limits = LIMITS): void {
	const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
	if (length === '0' && coding === undefined) return;
	const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
	let isEnding = false;
	response.end = ((...given: unknown[]) => {
		if (isEnding) return response;
		if (request.complete || request.destroyed || response.destroyed) return end(...given);
		isEnding = true;
		const [content, encoding] = given;
		if (typeof content === 'string') response.write(content, encoding as BufferEncoding);
		else if (content instanceof Uint8Array) response.write(content);
		else response.flushHeaders();
		takeOff(request, limits, () => void end(given.find((each) => typeof each === 'function')));
		return response;
	}) as typeof response.end;
}

function takeOff(request: IncomingMessage, limits: typeof LIMITS, done: () => void): void {
	const since = performance.now();
	let bytes = 0;
	const cut = () => {
		done();
		request.socket.destroySoon();
	};
	const silence = setTimeout(cut, limits.silenceMs);
	request.once('close', () => clearTimeout(silence));
	request.once('end', () => {
		clearTimeout(silence);
		done();
	});
	// Earlier readers would buffer unneeded data and stop the flow.
	request.removeAllListeners('data');
	request.on('data', (chunk: Buffer) => {
		silence.refresh();
		bytes += chunk.length;
		if (bytes <= limits.bytes && performance.now() - since <= limits.ms) return;
		request.removeAllListeners('data');
		clearTimeout(silence);
		cut();
	});
	request.resume();
}
