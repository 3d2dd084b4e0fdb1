/**
 * A small S3 server over HTTP, for tests: PUT, GET, HEAD, DELETE and lists of one bucket, in memory. It checks every
 * signature and every body's digest itself, and can be turned off, hang, and damage what it has.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const KEY = { id: 'AKIATEST', secret: 'a/secret+with=signs' };
const REGION = 'eu-test-1';
const BUCKET = 'files';

type Fault = 'none' | 'error' | 'cut' | 'hang';

export interface BucketServer {
	/** For S3_URL. */
	url: string;
	settings: { url: string; accessKeyId: string; secretAccessKey: string; region: string };
	/** By name, with the folder in the bucket. */
	objects: Map<string, Buffer>;
	/** `METHOD name`, in the order of arrival. */
	requests: string[];
	/** Requests that were open at once, at most. */
	mostAtOnce: number;
	/** `error`: 503; `cut`: connections break; `hang`: no answer. From the request `after` these of the method on. */
	fail(fault: Fault, when?: { method?: string; after?: number }): void;
	/** Flips a bit of every object. */
	damage(): void;
	close(): Promise<void>;
}

export async function startBucketServer(): Promise<BucketServer> {
	const objects = new Map<string, Buffer>();
	const requests: string[] = [];
	let fault: { kind: Fault; method?: string; after: number } = { kind: 'none', after: 0 };
	const open = new Set<IncomingMessage>();
	const state = { most: 0 };
	const answer = (response: ServerResponse, status: number, code?: string, body?: Buffer | string) => {
		const xml = code ? `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>` : '';
		response.writeHead(status, { 'content-type': code ? 'application/xml' : 'application/octet-stream' });
		response.end(body ?? xml);
	};
	const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const url = new URL(request.url ?? '/', 'http://bucket');
		const [, bucket, ...rest] = url.pathname.split('/');
		const name = rest.map(decodeURIComponent).join('/');
		requests.push(`${request.method} ${name}`);
		const isMeant = fault.method === undefined || fault.method === request.method;
		if (isMeant) fault.after -= 1;
		if (isMeant && fault.after < 0) {
			if (fault.kind === 'hang') return;
			if (fault.kind === 'cut') return void request.destroy();
			if (fault.kind === 'error') return answer(response, 503, 'SlowDown');
		}
		const pieces: Buffer[] = [];
		for await (const piece of request) pieces.push(piece as Buffer);
		const body = Buffer.concat(pieces);
		const problem = signatureProblem(request, url);
		if (problem) return answer(response, 403, problem);
		if (request.headers['x-amz-content-sha256'] !== createHash('sha256').update(body).digest('hex')) {
			return answer(response, 400, 'XAmzContentSHA256Mismatch');
		}
		if (bucket !== BUCKET) return answer(response, 404, 'NoSuchBucket');
		const known = objects.get(name);
		switch (request.method) {
			case 'PUT':
				if (request.headers['content-length'] === undefined) return answer(response, 411, 'MissingContentLength');
				objects.set(name, body);
				return answer(response, 200);
			case 'GET':
				if (name === '') return answer(response, 200, undefined, listOf(objects, url.searchParams.get('prefix') ?? ''));
				return known ? answer(response, 200, undefined, known) : answer(response, 404, 'NoSuchKey');
			case 'HEAD':
				return answer(response, known ? 200 : 404);
			case 'DELETE':
				objects.delete(name);
				return answer(response, 204);
			default:
				return answer(response, 405, 'MethodNotAllowed');
		}
	};
	const server = createServer((request, response) => {
		open.add(request);
		state.most = Math.max(state.most, open.size);
		response.once('close', () => open.delete(request));
		serve(request, response).catch(() => request.destroy());
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const address = `http://127.0.0.1:${port}/${BUCKET}/app`;
	const credentials = `${KEY.id}:${encodeURIComponent(KEY.secret)}`;
	return {
		url: `${address.replace('//', `//${credentials}@`)}?region=${REGION}`,
		settings: { url: address, accessKeyId: KEY.id, secretAccessKey: KEY.secret, region: REGION },
		objects,
		requests,
		get mostAtOnce() {
			return state.most;
		},
		fail(kind, { method, after = 0 } = {}) {
			fault = { kind, method, after };
			if (kind === 'none') for (const request of open) request.destroy();
		},
		damage() {
			for (const [name, body] of objects) {
				const other = Buffer.from(body);
				other[0] = (other[0] ?? 0) ^ 1;
				objects.set(name, other);
			}
		},
		close: () =>
			new Promise((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			})
	};
}

function listOf(objects: ReadonlyMap<string, Buffer>, prefix: string): string {
	const rows = [...objects].filter(([name]) => name.startsWith(prefix));
	const contents = rows.map(([name, body]) => `<Contents><Key>${name}</Key><Size>${body.length}</Size></Contents>`);
	return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
}

/** As the specification of Signature Version 4 says; the error code if it's wrong. */
function signatureProblem(request: IncomingMessage, url: URL): string | null {
	const pattern =
		/^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
	const [, id, day = '', region = '', names = '', signature = ''] =
		pattern.exec(request.headers.authorization ?? '') ?? [];
	if (id !== KEY.id || region !== REGION) return 'InvalidAccessKeyId';
	const signed = names.split(';');
	if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name))) return 'AccessDenied';
	const date = String(request.headers['x-amz-date']);
	const query = [...url.searchParams]
		.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
		.sort();
	const canonical = [
		request.method,
		url.pathname,
		query.join('&'),
		...signed.map((name) => `${name}:${String(request.headers[name]).trim()}`),
		'',
		names,
		request.headers['x-amz-content-sha256']
	].join('\n');
	const scope = `${day}/${region}/s3/aws4_request`;
	const digest = createHash('sha256').update(canonical).digest('hex');
	const sign = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
	const key = ['s3', 'aws4_request'].reduce(sign, sign(sign(`AWS4${KEY.secret}`, day), region));
	const wanted = sign(key, ['AWS4-HMAC-SHA256', date, scope, digest].join('\n'));
	return timingSafeEqual(wanted, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
}
