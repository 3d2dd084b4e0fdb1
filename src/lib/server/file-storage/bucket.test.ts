import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BucketServer, startBucketServer } from '../../../../tests/support/bucket-server.ts';
import { BlobDamaged, BucketUnavailable, openBucket, requireBucket } from './bucket.ts';

const QUICK = { answerMs: 300, bytesPerSecond: 1024 * 1024, againMs: [1] };
let server: BucketServer;
beforeEach(async () => {
	server = await startBucketServer();
});
afterEach(() => server.close());

const { signal } = new AbortController();
const contentOf = (text: string | Buffer) => {
	const body = Buffer.from(text);
	const half = Math.ceil(body.length / 2);
	return {
		sha256: createHash('sha256').update(body).digest('hex'),
		bytes: body.length,
		async *read() {
			yield body.subarray(0, half);
			if (half < body.length) yield body.subarray(half);
		}
	};
};
async function textOf(pieces: AsyncIterable<Uint8Array>): Promise<string> {
	const all: Uint8Array[] = [];
	for await (const piece of pieces) all.push(piece);
	return Buffer.concat(all).toString();
}

test('F5: what is put into a bucket comes back, whatever its size', async () => {
	const bucket = openBucket(server.settings, QUICK);
	for (const text of ['', 'a', 'häß', 'x'.repeat(3_000_000)]) {
		const content = contentOf(text);
		expect(await bucket.put('one', content, signal)).toBe(true);
		expect(server.objects.get('app/one')?.length).toBe(content.bytes);
		expect(await textOf(bucket.get('one', content, signal))).toBe(text);
	}
	await bucket.remove('one', signal);
	await bucket.remove('one', signal);
	expect(server.objects.size).toBe(0);
});

test('F5: a file that changes while it is sent is not stored under the digest of the other content', async () => {
	const bucket = openBucket(server.settings, QUICK);
	const longer = { ...contentOf('before'), read: contentOf('before and after').read };
	const other = { ...contentOf('before'), read: contentOf('behind').read };
	const gone = { ...contentOf('before'), async *read() {} };
	for (const content of [longer, other, gone]) expect(await bucket.put('one', content, signal)).toBe(false);
	expect(server.objects.size).toBe(0);
});

test('F5: a damaged, shortened or missing object is found', async () => {
	const bucket = openBucket(server.settings, QUICK);
	const content = contentOf('the content');
	await bucket.put('one', content, signal);
	server.damage();
	await expect(textOf(bucket.get('one', content, signal))).rejects.toThrow(BlobDamaged);
	server.objects.set('app/one', Buffer.from('the'));
	await expect(textOf(bucket.get('one', content, signal))).rejects.toThrow(BlobDamaged);
	server.objects.set('app/one', Buffer.from('the content and more'));
	await expect(textOf(bucket.get('one', content, signal))).rejects.toThrow(BlobDamaged);
	await expect(textOf(bucket.get('two', content, signal))).rejects.toThrow(BlobDamaged);
});

test.each(['error', 'cut', 'hang'] as const)(
	'F5: an outage (%s) is one error after a second attempt',
	async (fault) => {
		const bucket = openBucket(server.settings, QUICK);
		const content = contentOf('text');
		server.fail(fault);
		await expect(bucket.put('one', content, signal)).rejects.toThrow(BucketUnavailable);
		expect(server.requests).toEqual(['PUT app/one', 'PUT app/one']);
		await expect(textOf(bucket.get('one', content, signal))).rejects.toThrow(BucketUnavailable);
		await expect(bucket.remove('one', signal)).rejects.toThrow(BucketUnavailable);
		server.fail('none');
		expect(await bucket.put('one', content, signal)).toBe(true);
	}
);

test('F5: wrong keys are refused at once, and no error says the secret or the address', async () => {
	const bucket = openBucket({ ...server.settings, secretAccessKey: 'wrong-secret' }, QUICK);
	const error: Error = await bucket.put('one', contentOf('text'), signal).then(
		() => expect.fail('It was put.'),
		(error: Error) => error
	);
	expect(error).toBeInstanceOf(BucketUnavailable);
	expect(error.message).toBe('it answered 403 SignatureDoesNotMatch');
	expect(server.requests).toHaveLength(1);
});

test('F5: a bucket that isn’t there is an outage, not the loss of every object', async () => {
	const content = contentOf('text');
	const bucket = openBucket({ ...server.settings, url: server.settings.url.replace('/files/', '/gone/') }, QUICK);
	await expect(textOf(bucket.get('one', content, signal))).rejects.toThrow('it answered 404 NoSuchBucket');
	await expect(bucket.remove('one', signal)).rejects.toThrow(BucketUnavailable);
});

test('F5: of an error that has no end, only the beginning is read', async () => {
	const endless = createServer((_, response) => {
		response.writeHead(403).write('<Code>AccessDenied</Code>');
		const more = () => void (response.destroyed || response.write('x'.repeat(65_536), more));
		more();
	});
	await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
	const { port } = endless.address() as AddressInfo;
	const bucket = openBucket(
		{ ...server.settings, url: `http://127.0.0.1:${port}/files` },
		{ ...QUICK, answerMs: 600_000 }
	);
	await expect(bucket.put('one', contentOf('text'), signal)).rejects.toThrow('it answered 403 AccessDenied');
	endless.closeAllConnections();
	await new Promise((resolve) => endless.close(resolve));
});

test.each(['../other', '..', 'a/../../b', '/etc', 'a?list-type=2', '%2e%2e/b', ''])(
	'F5: %j in the database is no object, and isn’t asked for',
	async (object) => {
		const bucket = openBucket(server.settings, QUICK);
		await expect(textOf(bucket.get(object, contentOf('text'), signal))).rejects.toThrow(BlobDamaged);
		await bucket.remove(object, signal);
		expect(server.requests).toEqual([]);
	}
);

test('F5: an aborted transfer ends at once', async () => {
	const bucket = openBucket(server.settings, { ...QUICK, answerMs: 60_000 });
	const stop = new AbortController();
	server.fail('hang');
	const put = bucket.put('one', contentOf('text'), stop.signal);
	stop.abort(new Error('stopped'));
	await expect(put).rejects.toThrow('stopped');
});

describe('at the start', () => {
	const logged: string[] = [];
	const log = {
		info() {},
		error: (facts: object, sentence: string) => void logged.push(sentence + JSON.stringify(facts))
	};
	const url = (path: string) => new URL(path, server.settings.url).href;

	test('F5: a bucket that takes, gives and deletes a file is used, and left as it was', async () => {
		await requireBucket(server.settings, log);
		expect(server.requests.map((request) => request.split(' ')[0])).toEqual(['PUT', 'GET', 'DELETE']);
		expect(server.objects.size).toBe(0);
	});

	test('F5: what is set wrong is said with what to do, and without the secret', async () => {
		const secret = requireBucket({ ...server.settings, secretAccessKey: 'wrong-secret' }, log);
		await expect(secret).rejects.toThrow(
			/^Files can’t be stored at http.*\(it answered 403 SignatureDoesNotMatch\)\. Check the key and the secret in S3_URL\.$/
		);
		await expect(secret).rejects.not.toThrow('wrong-secret');
		await expect(requireBucket({ ...server.settings, url: url('/nowhere') }, log)).rejects.toThrow(
			'(it answered 404 NoSuchBucket). Create the bucket, or correct its name in S3_URL.'
		);
	});

	test('F5: a server that is away only delays the start, and is logged', async () => {
		server.fail('error');
		logged.length = 0;
		await requireBucket(server.settings, log);
		expect(logged).toEqual(['The file storage can’t be used yet{"reason":"it answered 503 SlowDown"}']);
	});

	test('F5: files of a bucket that was deleted are away, not damaged, and none counts as deleted', async () => {
		const bucket = openBucket({ ...server.settings, url: url('/nowhere') }, QUICK);
		await expect(textOf(bucket.get('one', contentOf('text'), signal))).rejects.toThrow(BucketUnavailable);
		await expect(bucket.remove('one', signal)).rejects.toThrow(BucketUnavailable);
	});
});
