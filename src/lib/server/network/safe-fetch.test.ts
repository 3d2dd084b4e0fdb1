import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isGlobalUnicast } from './addresses.ts';
import { createSafeFetch, type SafeFetchOptions } from './safe-fetch.ts';

const LOOPBACK = '127.0.0.1';
/** The tests' servers stand in for the public internet. */
const isLoopback = (address: string) => address === LOOPBACK;

let servers: Server[];
let sockets: Socket[];
beforeEach(() => {
	servers = [];
	sockets = [];
});
afterEach(async () => {
	for (const socket of sockets) socket.destroy();
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server): Promise<number> {
	servers.push(server);
	server.on('connection', (socket: Socket) => sockets.push(socket));
	server.listen(0, LOOPBACK);
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));
const tcp = (listener: (socket: Socket) => void) => listen(createTcpServer(listener));

/** A resolver that gives its answers in turn and counts. */
function resolver(...answers: string[][]) {
	const asked: string[] = [];
	const resolve = (host: string) => {
		asked.push(host);
		return Promise.resolve(answers[asked.length - 1] ?? []);
	};
	return { asked, resolve };
}

const open = (resolve = resolver([LOOPBACK]).resolve) => createSafeFetch({ resolve, isAllowed: isLoopback });

async function echo(request: IncomingMessage, response: ServerResponse) {
	const chunks: Buffer[] = [];
	for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
	const { method, url, headers } = request;
	response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
}

describe('D28: what is asked for', () => {
	test.each([
		['', 'bad-url'],
		['nonsense', 'bad-url'],
		['//example.org/', 'bad-url'],
		['/etc/passwd', 'bad-url'],
		['file:///etc/passwd', 'bad-url'],
		['ftp://example.org/', 'bad-url'],
		['data:text/plain,hi', 'bad-url'],
		['javascript:alert(1)', 'bad-url'],
		['gopher://example.org:70/_', 'bad-url'],
		['ws://example.org/', 'bad-url'],
		['unix:/run/docker.sock', 'bad-url'],
		['http://', 'bad-url'],
		['http://user@example.org/', 'bad-url'],
		['http://user:pass@example.org/', 'bad-url'],
		['http://example.org:pass@127.0.0.1/', 'bad-url'],
		['http://:secret@example.org/', 'bad-url'],
		['http://example.org:99999/', 'bad-url'],
		['http://[::1', 'bad-url'],
		['http://exa mple.org/', 'bad-url'],
		['http://127.0.0.1/', 'blocked-address'],
		['http:127.0.0.1', 'blocked-address'],
		['http:\\\\127.0.0.1\\', 'blocked-address'],
		['http:///127.0.0.1/', 'blocked-address'],
		[' http://127.0.0.1/ ', 'blocked-address'],
		['ht\ntp://127.0.0.1/', 'blocked-address'],
		['HTTP://0x7F.1/', 'blocked-address'],
		['https://[::ffff:127.0.0.1]/', 'blocked-address'],
		['http://169.254.169.254/latest/meta-data/', 'blocked-address'],
		['http://[fd00:ec2::254]/latest/', 'blocked-address'],
		['http://127.0.0.1#@example.org/', 'blocked-address'],
		['http://127.0.0.1\\@example.org/', 'blocked-address'],
		['http://127。0。0。1/', 'blocked-address'],
		['http://localhost/', 'blocked-address'],
		['http://localhost./', 'blocked-address']
	])('%j is %s, and nobody is connected to', async (url, code) => {
		const { resolve } = resolver([LOOPBACK]);
		await expect(createSafeFetch({ resolve })(url)).rejects.toMatchObject({ name: 'NetworkError', code });
	});

	test.each<SafeFetchOptions>([
		{ headers: { Host: 'other.example' } },
		{ headers: { 'Content-Length': '5' } },
		{ headers: { 'transfer-encoding': 'chunked' } },
		{ headers: { Connection: 'upgrade' } },
		{ headers: { 'Proxy-Authorization': 'x' } },
		{ headers: { 'X-A': 'a\r\nHost: other' } },
		{ headers: { 'X A': 'a' } },
		{ method: 'GET / HTTP/1.1\r\nX:' }
	])('a request with %j is not sent', async (options) => {
		await expect(open()('http://a.example:9/', options)).rejects.toMatchObject({ code: 'bad-request' });
	});

	test('method, headers and body arrive; the name stays in Host', async () => {
		const port = await serve(echo);
		const { asked, resolve } = resolver([LOOPBACK]);
		const response = await open(resolve)(`http://Api.Example:${port}/a%20b?q=1#part`, {
			method: 'POST',
			headers: { 'x-one': '1' },
			body: 'hällo'
		});
		expect(response).toMatchObject({ status: 200, statusText: 'OK', truncated: false });
		expect(response.finalUrl).toBe(`http://api.example:${port}/a%20b?q=1`);
		expect(JSON.parse(response.body.toString())).toMatchObject({
			method: 'POST',
			url: '/a%20b?q=1',
			body: 'hällo',
			headers: { host: `api.example:${port}`, 'x-one': '1', connection: 'close' }
		});
		expect(asked).toEqual(['api.example']);
	});

	test('with https the name is in the handshake as well', async () => {
		const hello = Promise.withResolvers<string>();
		const port = await tcp((socket) => {
			socket.once('data', (data) => {
				hello.resolve(data.toString('latin1'));
				socket.destroy();
			});
			socket.on('error', () => {});
		});
		await expect(open()(`https://secure.example:${port}/`)).rejects.toMatchObject({ code: 'unreachable' });
		expect(await hello.promise).toContain('secure.example');
	});
});

describe('SECURITY: outbound requests', () => {
	test('a name that changes its address after the check gains nothing: it is looked up once, and that is connected to', async () => {
		let hits = 0;
		const port = await serve((_, response) => response.end(String(++hits)));
		const url = `http://rebind.example:${port}/`;
		// It connects to the address it checked: nobody would answer at the second one.
		const first = resolver([LOOPBACK], ['10.0.0.1'], ['10.0.0.1']);
		expect(String((await open(first.resolve)(url)).body)).toBe('1');
		expect(first.asked).toEqual(['rebind.example']);
		// After a refusal it doesn't resolve again, though it would get an allowed address.
		const checked: string[] = [];
		const second = resolver(['8.8.8.8'], [LOOPBACK], [LOOPBACK]);
		const isAllowed = (address: string) => {
			checked.push(address);
			return address === LOOPBACK;
		};
		const rebinding = createSafeFetch({ resolve: second.resolve, isAllowed });
		await expect(rebinding(url)).rejects.toMatchObject({ code: 'blocked-address' });
		expect([second.asked, checked, hits]).toEqual([['rebind.example'], ['8.8.8.8'], 1]);
	});

	test.each([
		[['8.8.8.8', '127.0.0.1']],
		[['::1']],
		[['::ffff:8.8.8.8']],
		[['64:ff9b::7f00:1']],
		[['10.0.0.1', '8.8.8.8']]
	])('a name with the addresses %j is refused', async (addresses) => {
		const { resolve } = resolver(addresses);
		await expect(createSafeFetch({ resolve })('http://a.example/')).rejects.toMatchObject({
			code: 'blocked-address',
			message: 'a.example isn’t on the public internet, so access is blocked.'
		});
	});

	test('a name that does not exist, and a port where nobody listens, are unreachable', async () => {
		const failing = () => Promise.reject(new Error('ENOTFOUND'));
		await expect(open(failing)('http://a.example/')).rejects.toMatchObject({ code: 'unreachable' });
		await expect(open()('http://a.example:1/')).rejects.toMatchObject({ code: 'unreachable' });
	});

	test('a redirect is returned, not followed', async () => {
		let hits = 0;
		const port = await serve((_, response) => {
			hits++;
			response.writeHead(302, { location: 'http://169.254.169.254/' }).end('gone');
		});
		const response = await open()(`http://a.example:${port}/`);
		expect(response).toMatchObject({ status: 302, headers: { location: 'http://169.254.169.254/' } });
		expect(hits).toBe(1);
	});

	test('a proxy of the environment is not asked', async () => {
		let proxied = 0;
		const proxy = await serve((_, response) => response.end(String(++proxied)));
		const port = await serve((_, response) => response.end('direct'));
		const module = JSON.stringify(new URL('./safe-fetch.ts', import.meta.url).href);
		const program = `
			const { createSafeFetch } = await import(${module});
			const safeFetch = createSafeFetch({ resolve: async () => ['127.0.0.1'], isAllowed: () => true });
			console.log(String((await safeFetch('http://a.example:${port}/')).body));`;
		const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
			env: {
				NODE_USE_ENV_PROXY: '1',
				HTTP_PROXY: `http://${LOOPBACK}:${proxy}`,
				http_proxy: `http://${LOOPBACK}:${proxy}`
			},
			stdio: ['ignore', 'pipe', 'inherit']
		});
		let output = '';
		child.stdout.on('data', (chunk) => (output += chunk));
		await once(child, 'close');
		expect([output.trim(), proxied]).toEqual(['direct', 0]);
	});

	test('no connection is kept', async () => {
		const port = await serve((_, response) => response.end('x'));
		const fetchOnce = open(() => Promise.resolve([LOOPBACK]));
		await Promise.all([fetchOnce(`http://a.example:${port}/`), fetchOnce(`http://a.example:${port}/`)]);
		await fetchOnce(`http://a.example:${port}/`);
		expect(sockets).toHaveLength(3);
		await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
	});
});

describe('D28: what comes back is capped', () => {
	test('the body stops at its bytes, exactly, and says so', async () => {
		const port = await serve((_, response) => response.end('x'.repeat(1000)));
		const url = `http://a.example:${port}/`;
		const few = await open()(url, { maxBytes: 999 });
		expect([few.body.length, few.truncated]).toEqual([999, true]);
		const all = await open()(url, { maxBytes: 1000 });
		expect([all.body.length, all.truncated]).toEqual([1000, false]);
	});

	test('a body without an end is cut, and its connection closed', async () => {
		const closed = Promise.withResolvers<void>();
		const port = await serve((request, response) => {
			const write = () => {
				while (!response.destroyed && response.write('y'.repeat(65_536)));
			};
			response.on('drain', write);
			request.on('close', () => closed.resolve());
			write();
		});
		const { body, truncated } = await open()(`http://a.example:${port}/`, { maxBytes: 100_000 });
		expect([body.length, truncated]).toEqual([100_000, true]);
		await closed.promise;
	});

	test.each([
		['gzip', gzipSync],
		['x-gzip', gzipSync],
		['GZip', gzipSync],
		['deflate', deflateSync],
		['br', brotliCompressSync]
	])('%s is unpacked; the cap counts what comes out', async (encoding, pack) => {
		const bomb = pack(Buffer.alloc(50_000_000));
		const port = await serve((request, response) => {
			response.setHeader('content-encoding', encoding);
			response.end(request.url === '/bomb' ? bomb : pack('small'));
		});
		const small = await open()(`http://a.example:${port}/`);
		expect([small.body.toString(), small.truncated]).toEqual(['small', false]);
		expect(small.headers).not.toHaveProperty('content-encoding');
		const large = await open()(`http://a.example:${port}/bomb`, { maxBytes: 5000 });
		expect([large.body.length, large.truncated]).toEqual([5000, true]);
	});

	test('packed bytes that give nothing end too', async () => {
		const empty = Buffer.from([0, 0, 0, 0xff, 0xff]);
		const port = await serve((_, response) => {
			response.setHeader('content-encoding', 'gzip');
			response.write(gzipSync('').subarray(0, 10));
			const write = () => {
				while (!response.destroyed && response.write(Buffer.alloc(50_000, empty)));
			};
			response.on('drain', write);
			write();
		});
		const { body, truncated } = await open()(`http://a.example:${port}/`, { maxBytes: 1000 });
		expect([body.length, truncated]).toEqual([0, true]);
	});

	test.each(['gzip', 'deflate', 'br'])('what is not %s although it says so is a bad response', async (encoding) => {
		const port = await serve((_, response) => {
			response.setHeader('content-encoding', encoding);
			response.end('plain text that was never packed');
		});
		await expect(open()(`http://a.example:${port}/`)).rejects.toMatchObject({ code: 'bad-response' });
	});

	test('a packed body that is cut short is a bad response; an encoding that we do not know stays as it is', async () => {
		const port = await serve((request, response) => {
			response.setHeader('content-encoding', request.url === '/short' ? 'gzip' : 'zstd');
			response.end(request.url === '/short' ? gzipSync('x'.repeat(1000)).subarray(0, 15) : 'raw');
		});
		await expect(open()(`http://a.example:${port}/short`)).rejects.toMatchObject({ code: 'bad-response' });
		const raw = await open()(`http://a.example:${port}/`);
		expect([raw.body.toString(), raw.headers['content-encoding']]).toEqual(['raw', 'zstd']);
	});

	test('HEAD, 204 and 304 have no body, whatever their headers say', async () => {
		const port = await serve((request, response) => {
			response.writeHead(Number(request.url?.slice(1)), { 'content-encoding': 'gzip' }).end();
		});
		for (const [method, status] of [
			['HEAD', 200],
			['GET', 204],
			['GET', 304]
		] as const) {
			const response = await open()(`http://a.example:${port}/${status}`, { method });
			expect([response.status, response.body.length, response.truncated]).toEqual([status, 0, false]);
		}
	});

	test.each([
		['headers without an end', 'bad-response', `HTTP/1.1 200 OK\r\nx: ${'h'.repeat(20_000)}`],
		['no HTTP', 'bad-response', 'SSH-2.0-OpenSSH_9.2p1\r\n'],
		['two lengths', 'bad-response', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx'],
		['an upgrade', 'bad-response', 'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
		['an end within the body', 'unreachable', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxx'],
		['an end before anything', 'unreachable', '']
	])('%s is %s', async (_, code, answer) => {
		const port = await tcp((socket) => {
			socket.on('error', () => {});
			socket.once('data', () => socket.end(answer));
		});
		await expect(open()(`http://a.example:${port}/`)).rejects.toMatchObject({ code });
	});

	test.each([
		['says nothing', ''],
		['never ends its headers', 'HTTP/1.1 200 OK\r\n'],
		['never ends its body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx']
	])('a server that %s is timeout, and its connection closed', async (_, answer) => {
		const port = await tcp((socket) => {
			socket.on('error', () => {});
			socket.once('data', () => socket.write(answer));
		});
		await expect(open()(`http://a.example:${port}/`, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
		await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
	});

	test('a resolver that never answers is timeout', async () => {
		const never = () => new Promise<string[]>(() => {});
		await expect(open(never)('http://a.example/', { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
	});

	test('a signal stops it: before, and on the way', async () => {
		const control = new AbortController();
		const port = await tcp((socket) => {
			socket.on('error', () => {});
			socket.once('data', () => control.abort());
		});
		const url = `http://a.example:${port}/`;
		await expect(open()(url, { signal: control.signal })).rejects.toMatchObject({ code: 'aborted' });
		await expect(open()(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
		expect(sockets).toHaveLength(1);
	});

	test('by default loopback is no place to go', async () => {
		const port = await serve((_, response) => response.end('x'));
		expect(isGlobalUnicast(LOOPBACK)).toBe(false);
		await expect(createSafeFetch()(`http://${LOOPBACK}:${port}/`)).rejects.toMatchObject({ code: 'blocked-address' });
		await expect(createSafeFetch()(`http://localhost:${port}/`)).rejects.toMatchObject({ code: 'blocked-address' });
		expect(sockets).toHaveLength(0);
	});
});
