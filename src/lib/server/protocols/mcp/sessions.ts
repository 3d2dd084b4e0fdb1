/** The sessions of 2025 clients: opened by `initialize`, found by `Mcp-Session-Id`, ended by DELETE or by silence. */
import { isInitializeRequest, type AuthInfo, type Server } from '@modelcontextprotocol/server';
import { rpcError } from './messages.ts';
import type { McpCaller } from './parts.ts';
import { openSession, type McpSession } from './session.ts';

export interface McpSessions {
	handle(request: Request, body: unknown, caller: McpCaller, authInfo: AuthInfo): Promise<Response>;
	/** Those that are open. */
	servers(): Server[];
	/** Ends those that nobody has used for long. */
	sweep(): Promise<void>;
	close(): Promise<void>;
}

export interface SessionsOptions {
	createServer(sessionId: string, caller: McpCaller): Server;
	maxSessions: number;
	idleMs: number;
	graceMs: number;
	now(): number;
}

const MISSING = 'There is no such session. Begin with “initialize”.';

export function createSessions(options: SessionsOptions): McpSessions {
	const { maxSessions, idleMs, graceMs, now } = options;
	const sessions = new Map<string, McpSession>();
	let opening = 0;

	/** Of those in which nothing happens, the one that was used the longest ago makes room. */
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
	const open = async (request: Request, body: unknown, caller: McpCaller, authInfo: AuthInfo): Promise<Response> => {
		if (!(await makeRoom())) {
			return rpcError(503, -32_000, `There are ${maxSessions} sessions already.`, { headers: { 'retry-after': '30' } });
		}
		opening += 1;
		try {
			const session = await openSession({
				apiKeyId: caller.apiKeyId,
				createServer: (id) => options.createServer(id, caller),
				onClosed: (id) => void sessions.delete(id),
				...{ now, graceMs }
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
				// Whose it is nobody else is told.
				if (!session || session.apiKeyId !== caller.apiKeyId) return rpcError(404, -32_001, MISSING, idOf(body));
				return session.handle(request, body, authInfo);
			}
			if (isInitializeRequest(body)) return open(request, body, caller, authInfo);
			if ((body as { method?: unknown } | null | undefined)?.method === 'initialize') {
				return rpcError(400, -32_602, 'The parameters of “initialize” are not right.', idOf(body));
			}
			return rpcError(400, -32_000, 'The header Mcp-Session-Id is missing.', idOf(body));
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
	const { id } = (body ?? {}) as { id?: unknown };
	return id === undefined ? {} : { id };
}
