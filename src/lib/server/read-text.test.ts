import { expect, test } from 'vitest';
import { readText } from './read-text.ts';

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
