import { expect, test } from 'vitest';
import { readFields } from './install/sources/upload.ts';
import { mostReactions } from '../../../tests/support/reactions.ts';
import { createBodyReader, readText } from './read-text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function requestOf(body: ReadableStream): Request {
	return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit);
}

test('a body that breaks off is the client’s mistake, and nothing that nobody expected', async () => {
	const body = new ReadableStream({
		start(stream) {
			stream.enqueue(bytes('{"a":'));
			stream.error(new Error('aborted'));
		}
	});
	await expect(readText(requestOf(body), 100)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a body that is too large is read no further, and not cancelled, for that would cut the connection', async () => {
	let given = 0;
	let isCancelled = false;
	const body = new ReadableStream({
		pull: (stream) => void ((given += 1), stream.enqueue(bytes('x'.repeat(1000)))),
		cancel: () => void (isCancelled = true)
	});
	await expect(readText(requestOf(body), 5000)).rejects.toMatchObject({ code: 'too_large' });
	expect(given).toBeLessThan(10);
	expect(isCancelled).toBe(false);
});

test('F12: forms count towards the same limit: who keeps many of them open is given up', async () => {
	const piece = new Uint8Array(45 * 1024 * 1024);
	const open = () =>
		readFields(new ReadableStream({ start: (stream) => stream.enqueue(piece) }), 'multipart/form-data; boundary=x');
	const [first, ...others] = Array.from({ length: 6 }, open);
	for (const other of others) other.catch(() => undefined);
	await expect(first).rejects.toMatchObject({ code: 'unavailable' });
});

test('a body that comes byte by byte keeps nothing for each of them but the byte', async () => {
	let left = 2000;
	const body = new ReadableStream({
		pull: (stream) => ((left -= 1) < 0 ? stream.close() : stream.enqueue(bytes('x')))
	});
	let text = '';
	const most = await mostReactions(async () => (text = await readText(requestOf(body), 5000)));
	expect(text).toHaveLength(2000);
	expect(most).toBeLessThan(10);
});

test('of bodies that together are too much, the one that has been coming for the longest is given up', async () => {
	const read = createBodyReader(1000);
	const slow = () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		const body = new ReadableStream({
			start: (stream) => stream.enqueue(bytes('x'.repeat(400))),
			pull: async (stream) => {
				await promise;
				stream.close();
			}
		});
		return { answer: read(requestOf(body), 900), finish: resolve };
	};
	const [first, second, third] = [slow(), slow(), slow()];
	await expect(first.answer).rejects.toMatchObject({ code: 'unavailable' });
	// Finished and abandoned requests free their space.
	expect(await read(requestOf(new Blob(['y'.repeat(200)]).stream()), 900)).toHaveLength(200);
	second.finish();
	third.finish();
	expect([await second.answer, await third.answer].map(({ length }) => length)).toEqual([400, 400]);
	expect(await read(requestOf(new Blob(['y'.repeat(900)]).stream()), 900)).toHaveLength(900);
	expect(await read(new Request('http://localhost/', { method: 'POST' }), 900)).toHaveLength(0);
});
