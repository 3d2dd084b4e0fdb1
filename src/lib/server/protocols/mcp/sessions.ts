/** Sessions of 2025 clients: opened by `initialize`, identified by `Mcp-Session-Id`, ended by DELETE or inactivity. */
import { randomUUID } from 'node:crypto';
import {
	type AuthInfo,
	type EventStore,
	isInitializeRequest,
	isJsonContentType,
	isJSONRPCErrorResponse,
	isJSONRPCResultResponse,
	type JSONRPCMessage,
	type RequestId,
	type Server,
	WebStandardStreamableHTTPServerTransport
} from '@modelcontextprotocol/server';
import type { Asker } from '../../turns/toolbox.ts';
import { AppError, isNestedDeeperThan, MAX_NESTING } from '../../../shared/errors.ts';
import { asObject, isObject } from '../../../shared/json.ts';
import { readText } from '../../read-text.ts';

export interface McpSessions<Kind extends Server> {
	handle(request: Request, body: unknown, caller: Asker, authInfo: AuthInfo): Promise<Response>;
	/** The servers of all open sessions. */
	servers(): Kind[];
	/** Closes idle sessions. */
	sweep(): Promise<void>;
	close(): Promise<void>;
}

export interface SessionsOptions<Kind extends Server = Server> {
	createServer(sessionId: string, caller: Asker): Kind;
	/** The client takes messages that answer no request, until the signal aborts. */
	onStream?(server: Kind, until: AbortSignal): void;
	maxSessions: number;
	/** A session ends after this long without activity. */
	idleMs: number;
	/** How long a disconnected client has to reconnect for its results. */
	graceMs: number;
	/** Monotonic clock, in milliseconds. */
	now(): number;
}

const MISSING = 'Session not found. Start with “initialize”.';

export function createSessions<Kind extends Server>(options: SessionsOptions<Kind>): McpSessions<Kind> {
	const { maxSessions, idleMs, graceMs, now } = options;
	const sessions = new Map<string, McpSession<Kind>>();
	let opening = 0;

	/** Closes the least recently used idle session if the limit is reached. */
	const makeRoom = async (): Promise<boolean> => {
		if (sessions.size + opening < maxSessions) return true;
		const [oldest] = [...sessions.values()]
			.filter((session) => session.isIdle())
			.sort((a, b) => a.lastUsed() - b.lastUsed());
		if (!oldest) return false;
		sessions.delete(oldest.id);
		await oldest.close();
		return true;
	};
	const open = async (request: Request, body: unknown, caller: Asker, authInfo: AuthInfo): Promise<Response> => {
		if (!(await makeRoom())) {
			return rpcError(503, -32_000, `This server already has ${maxSessions} sessions. Close one first.`, {
				headers: { 'retry-after': '30' }
			});
		}
		opening += 1;
		try {
			const session = await openSession({
				apiKeyId: caller.apiKeyId,
				createServer: (id) => options.createServer(id, caller),
				onStream: options.onStream,
				onClosed: (id) => void sessions.delete(id),
				now,
				graceMs
			});
			const response = await session.handle(request, body, authInfo);
			if (response.ok) sessions.set(session.id, session);
			else await session.close();
			return response;
		} finally {
			opening -= 1;
		}
	};

	return {
		async handle(request, body, caller, authInfo) {
			const id = request.headers.get('mcp-session-id');
			if (id !== null) {
				const session = sessions.get(id);
				// Don't reveal another key's session.
				if (!session || session.apiKeyId !== caller.apiKeyId) return rpcError(404, -32_001, MISSING, idOf(body));
				return session.handle(request, body, authInfo);
			}
			if (isInitializeRequest(body)) return open(request, body, caller, authInfo);
			if (asObject(body).method === 'initialize') {
				return rpcError(400, -32_602, 'The parameters of “initialize” aren’t valid.', idOf(body));
			}
			return rpcError(400, REFUSED, 'The Mcp-Session-Id header is missing.', idOf(body));
		},
		servers: () => [...sessions.values()].map(({ server }) => server),
		async sweep() {
			const stale = [...sessions.values()].filter((each) => each.isIdle() && now() - each.lastUsed() > idleMs);
			await Promise.all(stale.map((session) => session.close()));
		},
		async close() {
			await Promise.all([...sessions.values()].map((session) => session.close()));
		}
	};
}

function idOf(body: unknown): { id?: unknown } {
	return { id: asObject(body).id };
}

type McpSession<Kind extends Server> = Awaited<ReturnType<typeof openSession<Kind>>>;

interface SessionParts<Kind extends Server> extends Pick<SessionsOptions<Kind>, 'now' | 'graceMs' | 'onStream'> {
	/** The key that opens it; null for the server's owner. */
	apiKeyId: string | null;
	createServer(sessionId: string): Kind;
	onClosed(id: string): void;
}

/** How long a disconnected client should wait before reconnecting. */
const RETRY_MS = 1000;
/** Concurrent requests per session. */
const MAX_REQUESTS = 64;
/** The SDK's name of the stream that belongs to no request. */
const STANDALONE = '_GET_stream';
/** The protocol version that removed batches. */
const FIRST_WITHOUT_BATCHES = '2025-06-18';

interface Incoming {
	id?: RequestId;
	method?: string;
	params?: { requestId?: unknown };
}

async function openSession<Kind extends Server>({ apiKeyId, now, graceMs, ...parts }: SessionParts<Kind>) {
	const id = randomUUID();
	const underWay = new Set<RequestId>();
	/** Timers of disconnected requests. */
	const graces = new Set<NodeJS.Timeout>();
	let streams = 0;
	let lastUsed = now();
	const eventStore = createEventStore();
	const transport = new WebStandardStreamableHTTPServerTransport({
		sessionIdGenerator: () => id,
		eventStore,
		retryInterval: RETRY_MS
	});
	const server = parts.createServer(id);
	const onServerClosed = server.onclose;
	server.onclose = () => {
		for (const timer of graces) clearTimeout(timer);
		onServerClosed?.();
		parts.onClosed(id);
	};
	await server.connect(transport);

	const send = transport.send.bind(transport);
	transport.send = async (message, options) => {
		if ((isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id !== undefined) {
			underWay.delete(message.id);
			lastUsed = now();
		}
		await send(message, options);
	};
	const cancel = (requestId: RequestId, reason: string): void => {
		if (!underWay.delete(requestId)) return;
		transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } });
		// A cancelled request gets no response, so nothing else would end its stream.
		transport.closeSSEStream(requestId);
	};
	/** A disconnect doesn't cancel; not reconnecting in time does. */
	const abandon = (requestIds: readonly RequestId[]): void => {
		const timer = setTimeout(() => {
			graces.delete(timer);
			for (const requestId of requestIds) cancel(requestId, 'The client disconnected.');
		}, graceMs);
		graces.add(timer);
	};
	const refusal = (messages: readonly Incoming[]): Response | null => {
		const version = server.getNegotiatedProtocolVersion();
		if (messages.length > 1 && version !== undefined && version >= FIRST_WITHOUT_BATCHES) {
			return rpcError(400, INVALID_REQUEST, `Protocol version ${version} doesn’t support batches.`);
		}
		const ids = requestsOf(messages);
		const twice = ids.find((each, index) => underWay.has(each) || ids.indexOf(each) !== index);
		if (twice !== undefined) {
			return rpcError(400, INVALID_REQUEST, 'A request with this id is already running.', { id: twice });
		}
		if (underWay.size + ids.length <= MAX_REQUESTS) return null;
		return rpcError(429, -32_000, `More than ${MAX_REQUESTS} requests are running.`, { id: ids[0] });
	};

	return {
		id,
		apiKeyId,
		server,
		/** No request is running and no stream is open. */
		isIdle: () => streams === 0 && underWay.size === 0,
		/** Last activity, in milliseconds of `now`. */
		lastUsed: () => lastUsed,
		async handle(request: Request, body: unknown, authInfo: AuthInfo): Promise<Response> {
			lastUsed = now();
			const messages = (Array.isArray(body) ? body : body === undefined ? [] : [body]) as Incoming[];
			const refused = refusal(messages);
			if (refused) return refused;
			const ids = requestsOf(messages);
			for (const each of ids) underWay.add(each);
			const response = await transport.handleRequest(request, { authInfo, parsedBody: body });
			if (!response.ok) for (const each of ids) underWay.delete(each);
			for (const { method, params } of messages) {
				const cancelled = method === 'notifications/cancelled' ? params?.requestId : undefined;
				if (response.ok && (typeof cancelled === 'string' || typeof cancelled === 'number')) {
					underWay.delete(cancelled);
					transport.closeSSEStream(cancelled);
				}
			}
			if (response.ok && request.headers.has('last-event-id')) {
				for (const timer of graces) clearTimeout(timer);
				graces.clear();
			}
			if (!response.body || !response.ok) return response;
			streams += 1;
			const stream = new AbortController();
			const lastId = request.headers.get('last-event-id');
			const streamId = lastId === null ? STANDALONE : await eventStore.getStreamIdForEventId?.(lastId);
			if (request.method === 'GET' && streamId === STANDALONE) parts.onStream?.(server, stream.signal);
			return watched(response, (isBroken) => {
				streams -= 1;
				stream.abort();
				lastUsed = now();
				const left = ids.filter((each) => underWay.has(each));
				if (isBroken && left.length > 0) abandon(left);
			});
		},
		/** Also ends running requests. */
		close: () => server.close()
	};
}

function requestsOf(messages: readonly Incoming[]): RequestId[] {
	return messages.flatMap(({ id, method }) => (id !== undefined && method !== undefined ? [id] : []));
}

/** Calls `onEnd` when the response has been sent, or (`isBroken`) when the client disconnects before that. */
function watched(response: Response, onEnd: (isBroken: boolean) => void): Response {
	const reader = (response.body as ReadableStream<Uint8Array>).getReader();
	const body = new ReadableStream<Uint8Array>({
		async pull(stream) {
			const { done, value } = await reader.read();
			if (!done) return stream.enqueue(value);
			onEnd(false);
			stream.close();
		},
		async cancel(reason) {
			onEnd(true);
			await reader.cancel(reason);
		}
	});
	return new Response(body, { status: response.status, headers: response.headers });
}

const MAX_EVENTS = 256;
const MAX_BYTES = 512 * 1024;

interface StoredEvent {
	id: string;
	streamId: string;
	message: JSONRPCMessage;
	bytes: number;
}

/**
 * Keeps a session's newest messages for clients that reconnect (Streamable HTTP, resumability): at most 256 of them and
 * 512 KB, but always the newest. An id no longer kept gets a 400.
 */
export function createEventStore(limits = { events: MAX_EVENTS, bytes: MAX_BYTES }): EventStore {
	const events: StoredEvent[] = [];
	let stored = 0;
	let bytes = 0;
	return {
		async storeEvent(streamId, message) {
			const event = { id: `${(stored += 1)}`, streamId, message, bytes: JSON.stringify(message).length };
			events.push(event);
			bytes += event.bytes;
			while (events.length > 1 && (events.length > limits.events || bytes > limits.bytes)) {
				bytes -= events.shift()?.bytes ?? 0;
			}
			return event.id;
		},
		async getStreamIdForEventId(id) {
			return events.find((event) => event.id === id)?.streamId;
		},
		async replayEventsAfter(lastId, { send }) {
			const start = events.findIndex(({ id }) => id === lastId);
			const last = events[start];
			if (!last) throw new Error('This event is no longer available.');
			// The event that opens a stream is empty; it only gives the client an id.
			const missed = events
				.slice(start + 1)
				.filter(({ streamId, message }) => streamId === last.streamId && 'jsonrpc' in message);
			for (const { id, message } of missed) await send(id, message);
			return last.streamId;
		}
	};
}

// Bodies of POST; errors are JSON-RPC responses.

const MAX_BODY = 4 * 1024 * 1024;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const REFUSED = -32_000;

export function rpcError(
	status: number,
	code: number,
	message: string,
	{ id = null, data, headers = {} }: { id?: unknown; data?: unknown; headers?: Record<string, string> } = {}
): Response {
	const isId = typeof id === 'string' || typeof id === 'number';
	return Response.json({ jsonrpc: '2.0', error: { code, message, data }, id: isId ? id : null }, { status, headers });
}

/** The parsed body (a JSON-RPC message or a batch, checked in outline only), or an error response. */
export async function readMessages(request: Request): Promise<{ body: unknown } | Response> {
	if (!isJsonContentType(request.headers.get('content-type'))) {
		return rpcError(415, REFUSED, 'The content type must be application/json.');
	}
	let body: unknown;
	try {
		body = JSON.parse(await readText(request, MAX_BODY));
	} catch (error) {
		if (error instanceof AppError && error.code === 'too_large') {
			return rpcError(413, REFUSED, 'The body is larger than 4 MiB. Send less in one request.');
		}
		return rpcError(400, PARSE_ERROR, 'The body isn’t valid JSON.');
	}
	if (isNestedDeeperThan(MAX_NESTING, body)) {
		return rpcError(400, INVALID_REQUEST, `The body is nested more than ${MAX_NESTING} levels deep.`);
	}
	const messages = Array.isArray(body) ? (body as unknown[]) : [body];
	const wrong = messages.length === 0 ? [undefined] : messages.filter((message) => !isMessage(message));
	if (wrong.length === 0) return { body };
	return rpcError(400, INVALID_REQUEST, 'The body isn’t a JSON-RPC 2.0 message.', idOf(wrong[0]));
}

function isMessage(value: unknown): boolean {
	if (!isObject(value)) return false;
	const { jsonrpc, id, method, params } = value;
	if (jsonrpc !== '2.0') return false;
	if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return false;
	if (method === undefined) return id !== undefined && ('result' in value || 'error' in value);
	return typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
}
