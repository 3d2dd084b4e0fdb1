/** A program that is told of its tasks over HTTP, and may answer as it likes. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Told {
	headers: IncomingHttpHeaders;
	body: Record<string, Record<string, unknown> | undefined>;
}

export interface PushReceiver {
	url: string;
	/** `host:port`, for A2A_PUSH_HOSTS. */
	host: string;
	told: Told[];
	close(): Promise<void>;
}

/** `answer` gets the number of the request, from 0. By default, all is well. */
export async function startPushReceiver(
	answer: (response: ServerResponse, index: number) => void = (response) => response.end()
): Promise<PushReceiver> {
	const told: Told[] = [];
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			told.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) as Told['body'] });
			answer(response, told.length - 1);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/told`,
		host: `127.0.0.1:${port}`,
		told,
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		}
	};
}
