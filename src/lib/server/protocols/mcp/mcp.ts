/** The MCP server over HTTP, stdio and a local socket. Protocol 2026-07-28 has no sessions, 2025 ones do (FEATURES E15). */
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
	CLIENT_INFO_META_KEY,
	createMcpHandler,
	isLegacyRequest,
	type AuthInfo,
	type Server,
	type ServerContext,
	type Transport
} from '@modelcontextprotocol/server';
import { serveStdio, type StdioServerHandle } from '@modelcontextprotocol/server/stdio';
import { API_SCOPES } from '../../../shared/names.ts';
import { createQuestions } from './consent.ts';
import { createTurns } from '../../skills/turns.ts';
import { readMessages, rpcError } from './messages.ts';
import type { McpCaller, McpContext, McpParts } from './parts.ts';
import { createMcpServer } from './server.ts';
import { createSessions } from './sessions.ts';
import { isObject } from '../../../shared/json.ts';

/** Concurrent calls per client, across its sessions. */
const MAX_CALLS = 64;

export interface Mcp {
	/** Handles an authorized request to `/mcp`. Never throws. */
	handle(request: Request, caller: McpCaller): Promise<Response>;
	/** Serves a local client (stdio or socket) with full rights: it runs as the same user. */
	serve(transport: Transport, onClosed: () => void): StdioServerHandle;
	/** Ends all sessions and their calls. */
	close(): Promise<void>;
}

export interface McpOptions {
	maxSessions?: number;
	/** A session ends after this long without activity. */
	idleMs?: number;
	/** How long a disconnected 2025 client has to reconnect for its results. */
	graceMs?: number;
	/** Monotonic clock, in milliseconds. */
	now?: () => number;
}

const LOCAL: McpCaller = { apiKeyId: null, scopes: API_SCOPES };
const SWEEP_MS = 60_000;
/** Changes within this time cause one notification. */
const DEBOUNCE_MS = 50;

export function createMcp(parts: McpParts, options: McpOptions = {}): Mcp {
	const { maxSessions = 500, idleMs = 30 * 60_000, graceMs = 10_000, now = () => performance.now() } = options;
	const context: McpContext = { ...parts, turns: createTurns({ perCaller: MAX_CALLS }), questions: createQuestions() };
	const local = new Set<Server>();
	const handles = new Set<StdioServerHandle>();
	const closing = new AbortController();
	const sessions = createSessions({
		createServer: (id, caller) => {
			const sessionId = label('session', id);
			const peerOf = (handled: ServerContext) => ({ caller: callerOf(handled.http?.authInfo) ?? caller, sessionId });
			return createMcpServer(context, { peerOf, first: { caller, sessionId }, isModern: false });
		},
		maxSessions,
		idleMs,
		graceMs,
		now
	});
	const modern = createMcpHandler(
		({ authInfo }) => {
			const caller = callerOf(authInfo) ?? { apiKeyId: null, scopes: [] };
			const peerOf = (handled: ServerContext) => ({ caller, sessionId: label('client', clientName(handled)) });
			return createMcpServer(context, { peerOf, first: { caller, sessionId: '' }, isModern: true });
		},
		{ legacy: 'reject', maxSubscriptions: maxSessions }
	);
	const note = (error: Error) =>
		parts.log.info({ error: error.message.slice(0, 300) }, 'couldn’t notify an MCP client of a change');
	const sweeper = setInterval(() => void sessions.sweep(), SWEEP_MS).unref();
	void notifyChanges(parts, closing.signal, async () => {
		modern.notify.toolsChanged();
		modern.notify.resourcesChanged();
		modern.notify.promptsChanged();
		for (const server of [...sessions.servers(), ...local]) await notify(server).catch(note);
	}).catch(note);

	return {
		async handle(request, caller) {
			try {
				const authInfo = authInfoOf(caller);
				if (request.method !== 'POST') return await sessions.handle(request, undefined, caller, authInfo);
				const read = await readMessages(request);
				if (read instanceof Response) return read;
				const { body } = read;
				return (await isLegacyRequest(request, body))
					? await sessions.handle(request, body, caller, authInfo)
					: await modern.fetch(request, { parsedBody: body, authInfo });
			} catch (error) {
				parts.log.error({ error: String(error) }, 'MCP request failed');
				return rpcError(503, -32_603, 'The request couldn’t be answered. Try again in a moment.');
			}
		},
		serve(transport, onClosed) {
			const sessionId = label('local', randomUUID());
			const peer = { caller: LOCAL, sessionId };
			const handle = serveStdio(
				({ era }) => {
					const server = createMcpServer(context, { peerOf: () => peer, first: peer, isModern: era === 'modern' });
					local.add(server);
					server.onclose = () => void local.delete(server);
					return server;
				},
				{ transport, maxSubscriptions: 16 }
			);
			handles.add(handle);
			const closed = transport.onclose;
			transport.onclose = () => {
				closed?.();
				handles.delete(handle);
				onClosed();
			};
			return handle;
		},
		async close() {
			closing.abort();
			clearInterval(sweeper);
			await Promise.all([sessions.close(), modern.close(), ...[...handles].map((handle) => handle.close())]);
		}
	};
}

/** Calls `onChange` after each change of the library or of its settings. */
async function notifyChanges(
	{ revisions }: McpParts,
	signal: AbortSignal,
	onChange: () => Promise<void>
): Promise<void> {
	let isFirst = true;
	for await (const _revision of revisions.follow(signal)) {
		if (!isFirst) await onChange();
		isFirst = false;
		await delay(DEBOUNCE_MS, undefined, { ref: false });
	}
}

async function notify(server: Server): Promise<void> {
	if (!server.transport) return;
	await server.sendToolListChanged();
	await server.sendResourceListChanged();
	await server.sendPromptListChanged();
}

/** For records and workspace names. Hashed, because a session’s id is secret. */
function label(kind: string, id: string): string {
	return `mcp-${kind}-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** Without sessions, calls from the same program share a workspace. */
function clientName({ mcpReq }: ServerContext): string {
	const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
	const info = envelope[CLIENT_INFO_META_KEY];
	return isObject(info) && typeof info.name === 'string' ? info.name : '';
}

function authInfoOf(caller: McpCaller): AuthInfo {
	return { token: '', clientId: caller.apiKeyId ?? '', scopes: [...caller.scopes], extra: { caller } };
}

function callerOf(authInfo: AuthInfo | undefined): McpCaller | null {
	return (authInfo?.extra?.caller as McpCaller | undefined) ?? null;
}
