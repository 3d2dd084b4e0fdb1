import fc from 'fast-check';
import { describe, expect, test, afterEach, beforeEach, vi } from 'vitest';
import { createSseDecoder, FrameTooLargeError, BodyTooLargeError, connect, Interruption } from './connection.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function decode(text: string | Uint8Array, cuts: number[] = []): unknown[] {
	const all = typeof text === 'string' ? bytes(text) : text;
	const decoder = createSseDecoder();
	const edges = [0, ...[...cuts].sort((a, b) => a - b), all.length];
	const frames = edges.slice(1).flatMap((end, index) => decoder.push(all.subarray(edges[index], end)));
	return [...frames, ...decoder.end()];
}

describe('the stream decoder', () => {
	test('joins data lines, keeps the event name, skips comments and unknown fields', () => {
		const text = ': OPENROUTER PROCESSING\n\nevent: a\nid: 7\ndata: 1\ndata: 2\nfoo: bar\n\n:\n\ndata:3\n\n';
		expect(decode(text)).toEqual([
			{ event: 'a', data: '1\n2' },
			{ event: undefined, data: '3' }
		]);
	});

	test('reads CRLF and bare CR like LF, and takes a byte order mark off', () => {
		const frames = [
			{ event: 'a', data: '1' },
			{ event: undefined, data: '2' }
		];
		expect(decode('\ufeffevent: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n')).toEqual(frames);
		expect(decode('event: a\rdata: 1\r\rdata: 2\r\r')).toEqual(frames);
	});

	test('a last event counts without its blank line, and without its line end', () => {
		for (const end of ['', '\n', '\r\n', '\r']) {
			expect(decode(`data: 1\n\ndata: 2${end}`)).toEqual([
				{ event: undefined, data: '1' },
				{ event: undefined, data: '2' }
			]);
		}
	});

	test('any cutting of the bytes, also inside a character or a CRLF, gives the same frames', () => {
		const line = fc.constantFrom(
			'data: {"a":1}',
			'data: é€😀',
			'event: x',
			': note',
			'data',
			'',
			'',
			'zzz',
			'data:  two'
		);
		const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 });
		fc.assert(
			fc.property(stream, fc.array(fc.nat(150), { maxLength: 20 }), (lines, cuts) => {
				const all = bytes(lines.map((pair) => pair.join('')).join(''));
				const inside = cuts.map((cut) => Math.min(cut, all.length));
				expect(decode(all, inside)).toEqual(decode(all));
			}),
			{ numRuns: 500 }
		);
	});

	test('a line that never ends is refused at the cap', () => {
		const decoder = createSseDecoder(1_000);
		const feedForEver = () => {
			for (let i = 0; i < 100; i++) decoder.push(bytes(i === 0 ? 'data: ' : 'x'.repeat(100)));
		};
		expect(feedForEver).toThrow(FrameTooLargeError);
	});

	test('a line over the cap is refused when it comes in one piece, and so is an event of many lines', () => {
		expect(() => createSseDecoder(1_000).push(bytes(`data: ${'x'.repeat(1_001)}\n\n`))).toThrow(FrameTooLargeError);
		const decoder = createSseDecoder(1_000);
		expect(() => {
			for (let i = 0; i < 100; i++) decoder.push(bytes(`data: ${'x'.repeat(50)}\n`));
		}).toThrow(FrameTooLargeError);
	});

	test('comments are skipped, however many; one that never ends is refused like any line', () => {
		const decoder = createSseDecoder(1_000);
		for (let i = 0; i < 100; i++) expect(decoder.push(bytes(`:${' '.repeat(500)}\n`))).toEqual([]);
		expect(decoder.push(bytes('data: 1\n\n'))).toEqual([{ event: undefined, data: '1' }]);
		expect(() => decoder.push(bytes(`:${' '.repeat(5_000)}`))).toThrow(FrameTooLargeError);
	});
});

const CHUNK = new TextEncoder().encode(': OPENROUTER PROCESSING\n\n');

/** A connection whose body the test writes, on the test's clock. */
async function open(maxBytes = 1_000) {
	const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
	const connection = await connect(
		'http://models.example/v1/responses',
		{},
		{
			fetch: () => Promise.resolve(new Response(readable)),
			signal: new AbortController().signal,
			idleTimeoutMs: 1_000,
			maxBytes
		}
	);
	return { connection, writer: writable.getWriter() };
}

describe('a connection', () => {
	beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
	afterEach(() => void vi.useRealTimers());

	test('lives as long as anything at all arrives, and is idle once nothing does', async () => {
		const { connection, writer } = await open();
		for (let i = 0; i < 5; i++) {
			const reading = connection.read();
			await vi.advanceTimersByTimeAsync(900);
			await writer.write(CHUNK);
			expect(await reading).toEqual(CHUNK);
		}
		const reading = expect(connection.read()).rejects.toEqual(new Interruption('idle'));
		await vi.advanceTimersByTimeAsync(1_000);
		await reading;
	});

	test('is not idle while nobody reads: a slow reader is not a silent server', async () => {
		const { connection, writer } = await open();
		await vi.advanceTimersByTimeAsync(5_000);
		const writing = writer.write(CHUNK);
		expect(await connection.read()).toEqual(CHUNK);
		await writing;
	});

	test('is refused once its body is over the cap', async () => {
		const { connection, writer } = await open(40);
		const writing = Promise.all([writer.write(CHUNK), writer.write(CHUNK)]);
		await connection.read();
		await expect(connection.read()).rejects.toThrow(BodyTooLargeError);
		connection.close();
		await writing;
	});

	test('cancels an answer that comes after it was stopped', async () => {
		const controller = new AbortController();
		const late = Promise.withResolvers<Response>();
		const cancelled = Promise.withResolvers<void>();
		const connecting = connect(
			'http://models.example/v1/responses',
			{},
			{ fetch: () => late.promise, signal: controller.signal, idleTimeoutMs: 1_000, maxBytes: 1_000 }
		);
		controller.abort();
		await expect(connecting).rejects.toEqual(new Interruption('aborted'));
		late.resolve(new Response(new ReadableStream({ cancel: () => cancelled.resolve() })));
		await cancelled.promise;
	});
});
