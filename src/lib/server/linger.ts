/** Takes off the rest of a request that is answered before its body was read: closing the connection would lose the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Of what is thrown away: bytes, time altogether, and time without any of it. Whoever goes beyond is cut off. */
const LIMITS = { bytes: 1024 * 1024 * 1024, ms: 60_000, silenceMs: 5_000 };

/**
 * To be called before the request is handled. The answer goes out at once, but Node is told of its end only when the body
 * has been taken off: it closes a connection that is not kept right then, and with bytes unread the system resets it.
 * Many clients send all of a body before they read, so they would see the reset and no answer.
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
	// Whoever read so far would gather in memory what nobody asks for any more, and stop the rest from coming.
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
