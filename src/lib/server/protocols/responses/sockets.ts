/** The WebSockets of `/v1/responses`: how many there are, what they may send, and their end (FEATURES F12). */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { AppError } from '../../../shared/errors.ts';
import type { Asker } from '../../runs/unattended.ts';
import type { ResponsesApi } from './responses-api.ts';
import { CONNECTION_LIMITS, serveConnection, type ConnectionLimits } from './socket-connection.ts';

export interface ResponseSockets {
	/** Takes over a connection that the door has let in; `check` is asked again before each turn. @throws AppError unavailable */
	accept(
		upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer },
		who: Pick<Asker, 'apiKeyId'> & { check(): Promise<Asker> }
	): void;
	/** Tells all clients to go away, and waits a moment for it; to be called when no turn is under way any more. */
	close(): Promise<void>;
}

export interface SocketLimits extends ConnectionLimits {
	maxConnections: number;
	/** Of one key. */
	maxOfOne: number;
	/** Of one message, in bytes. */
	maxMessage: number;
}

const LIMITS: SocketLimits = {
	...CONNECTION_LIMITS,
	maxConnections: 512,
	maxOfOne: 256,
	maxMessage: 10 * 1024 * 1024
};
const GOING_AWAY = 1001;
/** For clients to say good-bye. */
const CLOSING_MS = 1000;

export function createResponseSockets(
	api: Pick<ResponsesApi, 'respond' | 'remember'>,
	limits: Partial<SocketLimits> = {}
): ResponseSockets {
	const all = { ...LIMITS, ...limits };
	// Without compression: a small message could become a large one.
	const server = new WebSocketServer({ noServer: true, maxPayload: all.maxMessage, perMessageDeflate: false });
	const owners = new Map<object, string | null>();
	let isClosing = false;

	return {
		accept({ request, socket, head }, { apiKeyId, check }) {
			const ofOne = [...owners.values()].filter((owner) => owner === apiKeyId).length;
			if (isClosing) throw new AppError('unavailable', 'The server is stopping; try again in a moment.');
			if (owners.size >= all.maxConnections || ofOne >= all.maxOfOne) {
				throw new AppError('unavailable', 'There are too many WebSocket connections; close one, or ask over HTTP.');
			}
			server.handleUpgrade(request, socket, head, (ws) => {
				owners.set(ws, apiKeyId);
				ws.on('close', () => owners.delete(ws));
				serveConnection(ws, { api, check, socket: request.socket, limits: all });
			});
		},

		async close() {
			isClosing = true;
			const closed = [...server.clients].map((ws) => new Promise((resolve) => ws.once('close', resolve)));
			for (const ws of server.clients) ws.close(GOING_AWAY, 'The server stops');
			const timer = setTimeout(() => {
				for (const ws of server.clients) ws.terminate();
			}, CLOSING_MS);
			await Promise.all(closed);
			clearTimeout(timer);
			server.close();
		}
	};
}
