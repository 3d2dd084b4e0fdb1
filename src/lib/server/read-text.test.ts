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

test('a body that is too large is read to its end, for its client reads no answer before', async () => {
	let left = 100;
	const body = new ReadableStream({
		pull(stream) {
			if ((left -= 1) > 0) stream.enqueue(bytes('x'.repeat(1000)));
			else stream.close();
		}
	});
	await expect(readText(requestOf(body), 5000)).rejects.toMatchObject({ code: 'too_large' });
	expect(left).toBe(0);
});
