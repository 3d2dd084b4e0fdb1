/** How long somebody waits for an answer. */
import type { EventEmitter } from 'node:events';

/** What the adapter knows of a request; nothing in development. */
interface Connected {
	request: Request;
	platform?: Readonly<{ req: { socket: EventEmitter } }> | undefined;
}

/** Works with a signal for a client that goes away: Kit's own tells of it only until the body has been read. */
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
