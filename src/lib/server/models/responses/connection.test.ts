import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BodyTooLargeError, connect, Interruption } from './connection.ts';

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
