/** Accepts WebSocket connections, with the same checks as every request (F12). */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError } from '../shared/errors.ts';
import { checkScope, type Caller } from './access/caller.ts';
import { enter, securityHeaders } from './access/door.ts';
import type { App } from './app.ts';
import { isUnexpected } from './http.ts';
import { logUnexpected } from './log.ts';
import { ApiError, toApiError } from './protocols/responses/errors.ts';

const ROUTE = '/v1/responses';

/** Never throws: refusals are sent in the format of the Responses API. */
export async function upgrade(app: App, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
	socket.on('error', () => socket.destroy());
	try {
		const check = () => admit(app, request);
		const { apiKeyId } = await check();
		app.sockets.accept({ request, socket, head }, { apiKeyId, check });
	} catch (error) {
		if (isUnexpected(error)) logUnexpected(app.log, error, { route: ROUTE });
		refuse(app, socket, toApiError(error));
	}
}

/** @throws AppError | ApiError if refused */
async function admit({ config, login }: App, request: IncomingMessage): Promise<Caller> {
	const { headers: given, socket, url = '', method = '' } = request;
	const headers = new Headers();
	for (const [name, value] of Object.entries(given)) if (value !== undefined) headers.set(name, String(value));
	const path = url.replace(/[?#].*$/s, '');
	const client = enter(
		// GET, because the handshake has no body.
		{ method: 'GET', route: ROUTE, headers, connected: socket.remoteAddress },
		config,
		{ isLoginNeeded: login.isNeeded }
	);
	const session = cookieOf(headers.get('cookie') ?? '', login.cookie.name);
	const caller = await login.check({ authorization: headers.get('authorization'), session, client });
	if (path !== ROUTE) throw new AppError('not_found', `There’s no WebSocket at ${path.slice(0, 200)}.`);
	checkScope(caller, 'execute');
	// Older versions send the origin in another header.
	if (headers.get('sec-websocket-version') !== '13') {
		throw new ApiError(426, 'This server supports version 13 of WebSockets.', { code: 'invalid_value' });
	}
	if (method !== 'GET' || !/^[+/\w]{22}==$/.test(headers.get('sec-websocket-key') ?? '')) {
		throw new ApiError(400, 'This isn’t a WebSocket handshake.', { code: 'invalid_value' });
	}
	return caller;
}

function cookieOf(cookies: string, name: string): string | undefined {
	const pair = cookies.split(';').find((each) => each.trim().startsWith(`${name}=`));
	return pair?.trim().slice(name.length + 1);
}

function refuse({ config }: App, socket: Duplex, error: ApiError): void {
	const { status } = error;
	const body = JSON.stringify(error.toBody());
	const headers = [
		...securityHeaders(config.publicOrigin),
		['content-type', 'application/json'],
		['content-length', String(Buffer.byteLength(body))],
		['cache-control', 'private, no-cache'],
		['connection', 'close'],
		...(status === 401 ? [['www-authenticate', 'Bearer']] : []),
		...(status === 426 ? [['sec-websocket-version', '13']] : []),
		...(status === 429 || status === 503 ? [['retry-after', '5']] : [])
	];
	const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
	socket.once('finish', () => socket.destroy());
	socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${head}\r\n${body}`);
}
