import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { AppError } from '../shared/errors.ts';
import { mostReactions } from '../../../tests/support/reactions.ts';
import { errorResponse, errorResponseFor, eventStream, inTurns, readAnyJson, runEventFrames } from './http.ts';
import { createLog } from './log.ts';

let server: Server | undefined;
afterEach(async () => {
	server?.closeAllConnections();
	server?.close();
});

/** Serves one event stream over HTTP like the adapter: it reads only as much as the connection takes. */
async function serve(open: (signal: AbortSignal) => AsyncIterable<string>, heartbeatMs?: number): Promise<string> {
	server = createServer((_request, response) => {
		const answer = eventStream(createLog(), open, heartbeatMs);
		response.writeHead(answer.status, Object.fromEntries(answer.headers));
		const body = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
		response.on('close', () => body.destroy());
		body.on('error', () => response.destroy());
		body.pipe(response);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function get(url: string): Promise<IncomingMessage> {
	const sent = httpRequest(url);
	sent.end();
	const [response] = (await once(sent, 'response')) as [IncomingMessage];
	return response;
}

async function* forever(signal: AbortSignal): AsyncGenerator<string> {
	await new Promise((resolve) => signal.addEventListener('abort', resolve));
	yield* [];
}

describe('an event stream', () => {
	test('says that it is alive while nothing happens, so that nothing between closes it', async () => {
		const response = await get(await serve(forever, 5));
		let text = '';
		for await (const chunk of response) {
			text += String(chunk);
			if (text.split(': alive\n\n').length > 3) break;
		}
		expect(text.startsWith(': open\n\n')).toBe(true);
	});

	test('is never compressed or kept by anything between', async () => {
		const response = await get(await serve(forever));
		expect(response.headers).toMatchObject({
			'content-type': 'text/event-stream',
			'cache-control': 'no-cache, no-transform',
			'x-accel-buffering': 'no'
		});
		expect(response.headers['content-encoding']).toBeUndefined();
		response.destroy();
	});

	test('reads no further than its reader: one that stops reading costs what the connection holds, and goes on later', async () => {
		const event = { data: JSON.stringify({ delta: 'x'.repeat(10_000) }) };
		const COUNT = 5000;
		let given = 0;
		async function* events(): AsyncGenerator<{ seq: number; data: string }[]> {
			for (let seq = 1; seq <= COUNT; seq += 1) {
				given = seq;
				yield [{ seq, ...event }];
			}
		}
		const response = await get(await serve(() => runEventFrames(events())));
		// The client doesn't read, so sending stops when the connection's buffers are full.
		let before = -1;
		while (given !== before) {
			before = given;
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
		expect(given).toBeLessThan(COUNT / 2);
		let text = '';
		for await (const chunk of response) text += String(chunk);
		const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
		expect(ids).toEqual(Array.from({ length: COUNT }, (_, index) => index + 1));
	});

	test('ends its source when the reader goes away', async () => {
		let isEnded = false;
		const url = await serve(async function* (signal) {
			yield 'data: {}\n\n';
			await new Promise((resolve) => signal.addEventListener('abort', resolve));
			isEnded = true;
		});
		const response = await get(url);
		await once(response, 'data');
		response.destroy();
		while (!isEnded) await new Promise((resolve) => setImmediate(resolve));
		expect(isEnded).toBe(true);
	});
});

describe('several sources in turns', () => {
	async function* numbers(count: number, until?: Promise<void>): AsyncGenerator<number> {
		for (let at = 0; at < count; at += 1) yield at;
		await until;
	}

	test('F14: give all they have, the slow one at its end; what waits for it doesn’t grow with what the fast one gives', async () => {
		const slow = Promise.withResolvers<void>();
		const got: number[] = [];
		const most = await mostReactions(async () => {
			for await (const item of inTurns([numbers(0, slow.promise), numbers(500)])) {
				got.push(item);
				if (got.length === 500) slow.resolve();
			}
		});
		expect(got).toEqual(Array.from({ length: 500 }, (_, at) => at));
		expect(most).toBeLessThan(10);
	});

	test('F14: the error of one is the error of all', async () => {
		async function* broken(): AsyncGenerator<number> {
			yield 1;
			throw new Error('broken');
		}
		const read = async () => {
			for await (const _ of inTurns([numbers(3, new Promise(() => undefined)), broken()]));
		};
		await expect(read()).rejects.toThrow('broken');
	});
});

test('SECURITY The server: a body that is nested so deep that it could not be written again is refused', async () => {
	const read = (levels: number) =>
		readAnyJson(
			new Request('http://x', { method: 'POST', body: `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}` })
		);
	expect(JSON.stringify(await read(100))).toContain('[{"a":1}]');
	for (const levels of [102, 5000, 200_000]) {
		await expect(read(levels)).rejects.toMatchObject({
			code: 'invalid_input',
			message: 'The body is nested more than 100 levels deep.'
		});
	}
});

test('what is not available for a moment says when to come again', () => {
	const response = errorResponse(new AppError('unavailable', 'The server is stopping.'));
	expect(response.status).toBe(503);
	expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('E15, E16: what the door refuses before a JSON-RPC protocol is a JSON-RPC error', async () => {
	for (const route of ['/mcp', '/a2a', '/mcp/nowhere']) {
		const refused = errorResponseFor(route, new AppError('unauthorized', 'Who are you?', { hint: 'Say it.' }));
		expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
		expect(await refused.json()).toEqual({
			jsonrpc: '2.0',
			id: null,
			error: { code: -32_000, message: 'Who are you? Say it.', data: { code: 'unauthorized' } }
		});
		const failed = errorResponseFor(route, new Error('/secret/path'));
		expect(failed.status).toBe(500);
		expect(await failed.json()).toMatchObject({
			error: { code: -32_603, message: expect.not.stringContaining('secret') }
		});
	}
});
