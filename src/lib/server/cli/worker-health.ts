/** What a worker answers over HTTP, on WORKER_PORT: whether it lives, whether it can take scripts, and its metrics. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { mayScrape } from '../access/login.ts';
import type { Readiness, Telemetry } from '../telemetry/telemetry.ts';

interface WorkerHealthOptions {
	host: string;
	port: number;
	/** Needed for metrics; null: whoever reaches it may read them. */
	token: string | null;
	readiness: Readiness;
	scrape: Telemetry['scrape'];
}

/** @throws Error if the port can’t be used */
export async function openWorkerHealth({ host, port, token, readiness, scrape }: WorkerHealthOptions) {
	const answer = (response: ServerResponse, status: number, body: object | string): void => {
		const type = typeof body === 'string' ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json';
		response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
		response.end(typeof body === 'string' ? body : JSON.stringify(body));
	};
	const serve = async (path: string, authorization: string | null, response: ServerResponse): Promise<void> => {
		if (path === '/health') return answer(response, 200, { status: 'ok' });
		if (path === '/ready') {
			const reason = await readiness.reason();
			return reason === null
				? answer(response, 200, { status: 'ready' })
				: answer(response, 503, { error: 'unavailable', message: reason });
		}
		if (path !== '/metrics' || !scrape) return answer(response, 404, { error: 'not_found', message: 'Not found' });
		if (token !== null && !mayScrape(authorization, token)) {
			return answer(response, 401, { error: 'unauthorized', message: 'Send METRICS_TOKEN as a bearer token.' });
		}
		return answer(response, 200, await scrape());
	};
	const server = createServer((request, response) => {
		const [path = ''] = (request.url ?? '').split('?', 1);
		serve(path, request.headers.authorization ?? null, response).catch(() => response.destroy());
	});
	server.listen(port, host);
	await once(server, 'listening').catch((cause: unknown) => {
		const message = `WORKER_PORT can’t be used: ${(cause as Error).message}`;
		throw new Error(message, { cause });
	});
	return {
		async close() {
			server.close();
			server.closeAllConnections();
		}
	};
}
