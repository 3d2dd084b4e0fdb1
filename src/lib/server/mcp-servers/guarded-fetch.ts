/** `fetch` for one MCP server: to its own origin alone, with a bound on what comes back (SECURITY, MCP servers). */

/** Of a whole answer, or of one event of a stream. */
const MAX_BYTES = 10 * 1024 * 1024;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** @param address of the server: any host, this machine’s own too, because whoever manages the app has named it */
export function createGuardedFetch(address: string, maxBytes = MAX_BYTES): Fetch {
	const { origin } = new URL(address);
	return async (url, init = {}) => {
		const target = new URL(url);
		if (target.origin !== origin) throw new Error(`It led to ${target.origin}, which is not where it was said to be.`);
		// Where a redirect leads is decided by whoever asked, never followed on the way.
		const response = await fetch(target, { ...init, redirect: 'manual' });
		if (!response.body) return response;
		const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
		return new Response(response.body.pipeThrough(bounded(maxBytes, isStream)), response);
	};
}

/** Fails when there is more than `maxBytes`; of a stream of events, more without a line that is empty. */
function bounded(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
	let bytes = 0;
	return new TransformStream({
		transform(chunk, controller) {
			const end = isStream ? endOfEvent(chunk) : -1;
			bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
			if (bytes > maxBytes) controller.error(new Error(`Its answer is larger than ${maxBytes} bytes.`));
			else controller.enqueue(chunk);
		}
	});
}

/** Behind the last empty line of the chunk; -1 without one. A break that is cut in two only counts for the next event. */
function endOfEvent(chunk: Uint8Array): number {
	const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
	return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
}
