/** HTTP as bytes on a connection, for what no client library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** All that comes back until the server ends the connection; `isCut` where the client ends it first. */
export function exchange(url: string, { bytes, isCut }: { bytes: Buffer; isCut: boolean }): Promise<string> {
	return new Promise((resolve) => {
		const chunks: Buffer[] = [];
		const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
			isCut ? socket.end(bytes) : socket.write(bytes)
		);
		socket.on('data', (chunk) => chunks.push(chunk));
		// A connection that is cut is one of the right answers.
		socket.on('error', () => undefined);
		socket.on('close', () => {
			resolve(Buffer.concat(chunks).toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
		});
	});
}

export interface HalfRequest {
	socket: Socket;
	/** All that has come back so far. */
	received(): string;
}

/** A request whose end is not sent; `text` has reached the system when this resolves. */
export async function beginRequest(url: string, text: string): Promise<HalfRequest> {
	const socket = connect(Number(new URL(url).port), '127.0.0.1');
	let received = '';
	socket.on('data', (chunk) => (received += String(chunk)));
	socket.on('error', () => undefined);
	await once(socket, 'connect');
	await new Promise<void>((resolve) => socket.write(text, () => resolve()));
	return { socket, received: () => received };
}

/** Head of a request that sends JSON, up to where its body begins. */
export function postHead(path: string, headers: Record<string, string>): string {
	const lines = Object.entries({ host: '127.0.0.1', 'content-type': 'application/json', ...headers });
	return [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}
