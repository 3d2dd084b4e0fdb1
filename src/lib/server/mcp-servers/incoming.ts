/** Limits on what an MCP server sends and where requests to it go (E36; SECURITY, MCP servers). */

interface Wire {
	onmessage?: Handler | undefined;
	send(message: never): Promise<void>;
}

type Handler = (message: never, extra?: never) => void;

interface Incoming {
	id?: string | number;
	method?: string;
	params?: unknown;
	result?: { content?: unknown; inputRequests?: unknown };
}

const TOO_MUCH = 'It sent more than can be read.';
const MAX_VALUES = 20_000;
const MAX_CHARACTERS = 1_000_000;

/** Before the client checks a message: for one of many small values that takes it seconds, in which everybody waits. */
export function refuseVast(wire: Wire): void {
	let guarded: Handler | undefined;
	const guard =
		(handler: Handler) =>
		(message: Incoming, extra?: never): void => {
			const { id, method, params, result } = message;
			if (method !== undefined && isVast(params, MAX_CHARACTERS)) {
				if (id === undefined) return;
				const refusal =
					method === 'elicitation/create'
						? { result: { action: 'decline' } }
						: { error: { code: -32_602, message: TOO_MUCH } };
				// If it can't be told, the connection is over.
				void wire.send({ jsonrpc: '2.0', id, ...refusal } as never).catch(() => undefined);
			} else if (isVast(result?.content, Infinity) || isVast(result?.inputRequests, MAX_CHARACTERS)) {
				handler({ jsonrpc: '2.0', id, error: { code: -32_603, message: TOO_MUCH } } as never, extra);
			} else handler(message as never, extra);
		};
	Object.defineProperty(wire, 'onmessage', {
		get: () => guarded,
		set: (handler?: Handler) => void (guarded = handler && guard(handler))
	});
}

/** Counts values, and characters of names and texts, until it's sure. */
function isVast(whole: unknown, mostCharacters: number): boolean {
	let [values, characters] = [0, 0];
	const open = [whole];
	while (open.length > 0) {
		const value = open.pop();
		values += 1;
		if (typeof value === 'string') characters += value.length;
		const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
		if (values + open.length + names.length > MAX_VALUES) return true;
		for (const name of names) {
			characters += name.length;
			open.push((value as Record<string, unknown>)[name]);
		}
		if (characters > mostCharacters) return true;
	}
	return false;
}

// `fetch` for an MCP server: only to its own origin, with limited responses (SECURITY, MCP servers).

/** Size of a response, or of one event of a stream. */
const MAX_BYTES = 10 * 1024 * 1024;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `address` may be any host, because the operator set it. */
export function createGuardedFetch(address: string, maxBytes = MAX_BYTES): Fetch {
	const { origin } = new URL(address);
	return async (url, init = {}) => {
		const target = new URL(url);
		if (target.origin !== origin) throw new Error(`It redirected to ${target.origin}, which isn’t allowed.`);
		// The client decides about redirects.
		const response = await fetch(target, { ...init, redirect: 'manual' });
		if (!response.body) return response;
		const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
		return new Response(response.body.pipeThrough(bounded(maxBytes, isStream)), response);
	};
}

/** Fails beyond `maxBytes`; in an event stream, per event. */
function bounded(maxBytes: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
	let bytes = 0;
	return new TransformStream({
		transform(chunk, controller) {
			const end = isStream ? endOfEvent(chunk) : -1;
			bytes = end < 0 ? bytes + chunk.length : chunk.length - end;
			if (bytes > maxBytes) controller.error(new Error(`Its response is larger than ${maxBytes} bytes.`));
			else controller.enqueue(chunk);
		}
	});
}

/** Index of the last empty line; -1 without one. Ignores one split between chunks, which then counts for the next event. */
function endOfEvent(chunk: Uint8Array): number {
	const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
	return Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n'), text.lastIndexOf('\r\r'));
}
