/** Raw HTTP over a socket, for requests no client library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Everything received until the server closes the connection; with `isCut`, the client closes it first. */
export function exchange(url: string, { bytes, isCut }: { bytes: Buffer; isCut: boolean }): Promise<string> {
	return new Promise((resolve) => {
		const chunks: Buffer[] = [];
		const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
			isCut ? socket.end(bytes) : socket.write(bytes)
		);
		socket.on('data', (chunk) => chunks.push(chunk));
		// Cutting the connection is an acceptable response.
		socket.on('error', () => undefined);
		socket.on('close', () => {
			resolve(Buffer.concat(chunks).toString('latin1').replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
		});
	});
}

export interface HalfRequest {
	socket: Socket;
	/** Everything received so far. */
	received(): string;
}

/** An unfinished request; resolves once `text` was handed to the system. */
export async function beginRequest(url: string, text: string): Promise<HalfRequest> {
	const socket = connect(Number(new URL(url).port), '127.0.0.1');
	let received = '';
	socket.on('data', (chunk) => (received += String(chunk)));
	socket.on('error', () => undefined);
	await once(socket, 'connect');
	await new Promise<void>((resolve) => socket.write(text, () => resolve()));
	return { socket, received: () => received };
}

/** The head of a JSON request, up to the body. */
export function postHead(path: string, headers: Record<string, string>): string {
	const lines = Object.entries({ host: '127.0.0.1', 'content-type': 'application/json', ...headers });
	return [`POST ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
}

export interface LargeBody {
	method: string;
	path: string;
	bytes: number;
	headers?: Record<string, string>;
	/** Chunked instead of with a `content-length`. */
	isChunked?: boolean;
}

export interface LargeAnswer {
	/** 0 if there was none. */
	status: number;
	body: string;
	/** What broke the connection, if anything. */
	error: string | null;
}

/** Sends the whole body with `connection: close` before it reads anything, as simple clients do. */
export function sendBeforeReading(
	url: string,
	{ method, path, bytes, headers, isChunked = false }: LargeBody
): Promise<LargeAnswer> {
	const piece = Buffer.alloc(1024 * 1024, 'x');
	return new Promise((resolve) => {
		let left = bytes;
		let text = '';
		let error: string | null = null;
		const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
			const length: Record<string, string> = isChunked
				? { 'transfer-encoding': 'chunked' }
				: { 'content-length': String(bytes) };
			socket.write(postHead(path, { connection: 'close', ...length, ...headers }).replace(/^POST/, method));
			send();
		});
		const send = (): void => {
			while (left > 0) {
				const data = piece.subarray(0, left);
				left -= data.length;
				if (isChunked) socket.write(`${data.length.toString(16)}\r\n`);
				const hasRoom = socket.write(data);
				if (isChunked) socket.write(left > 0 ? '\r\n' : '\r\n0\r\n\r\n');
				if (!hasRoom) return void socket.once('drain', send);
			}
			// Called once everything is sent; only now start reading.
			socket.write('', () => {
				socket.on('data', (data) => (text += String(data)));
				socket.resume();
			});
		};
		socket.pause();
		socket.on('error', (reason) => (error = reason.message));
		socket.on('close', () => {
			const [head = '', ...rest] = text.split('\r\n\r\n');
			resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), body: rest.join('\r\n\r\n'), error });
		});
	});
}
