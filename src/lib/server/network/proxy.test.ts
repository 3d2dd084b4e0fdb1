import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { openProxy, type Proxy, type ProxyOptions } from './proxy.ts';

const LOOPBACK = '127.0.0.1';
const folder = emptyFolder();
let servers: Server[];
let sockets: Socket[];
let proxy: Proxy;

beforeEach(() => {
	servers = [];
	sockets = [];
});
afterEach(async () => {
	for (const socket of sockets) socket.destroy();
	await proxy?.close();
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});

async function listen(server: Server): Promise<number> {
	servers.push(server);
	server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => {})));
	server.listen(0, LOOPBACK);
	await once(server, 'listening');
	return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener) => listen(createServer(listener));
const serveEcho = () =>
	serve((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const { method, url, headers } = request;
			response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
		});
	});

async function open(options: Partial<ProxyOptions> = {}): Promise<Proxy> {
	proxy = await openProxy({
		socketPath: join(folder, 'net', 'proxy.sock'),
		allows: (host) => host === 'granted.example',
		resolve: () => Promise.resolve([LOOPBACK]),
		isAllowed: (address) => address === LOOPBACK,
		...options
	});
	return proxy;
}

function dial(): Socket {
	const socket = connect({ path: proxy.socket, allowHalfOpen: true });
	socket.on('error', () => {});
	sockets.push(socket);
	return socket;
}

/** Resolves once the other side has closed it, one way or another. */
function endOf(socket: Socket): Promise<void> {
	return new Promise((resolve) => {
		for (const event of ['end', 'close']) socket.on(event, () => resolve());
		socket.resume();
	});
}

/** Sends a text and returns everything received until the proxy closes the connection. */
async function ask(text: string | Buffer): Promise<string> {
	const socket = dial();
	let received = '';
	socket.on('data', (chunk) => (received += chunk.toString()));
	socket.write(text);
	await endOf(socket);
	socket.destroy();
	return received;
}

const get = (url: string, ...headers: string[]) =>
	ask([`GET ${url} HTTP/1.1`, 'Host: whatever.example', 'Connection: close', ...headers, '', ''].join('\r\n'));

/** Opens a tunnel and returns its socket once the proxy has accepted. */
async function tunnel(authority: string): Promise<Socket> {
	const socket = dial();
	socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
	const [head] = (await once(socket, 'data')) as [Buffer];
	expect(head.toString()).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
	return socket;
}

describe('D35: the proxy refuses, says why, and remembers', () => {
	test.each([
		['other.example', 80],
		['granted.example.evil.test', 80],
		['evil-granted.example', 443],
		['127.0.0.1', 80],
		['169.254.169.254', 80],
		['localhost', 3000]
	])('%s:%i, asked for plainly and by CONNECT', async (host, port) => {
		await open();
		for (const answer of [
			await get(`http://${host}:${port}/`),
			await ask(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`),
			await ask(`CONNECT ${host.toUpperCase()}.:${port} HTTP/1.1\r\n\r\n`)
		]) {
			expect(answer).toContain('HTTP/1.1 403 Forbidden');
			expect(answer).toContain(`This skill has no access to ${host} at port ${port}.`);
		}
		expect(proxy.refused()).toEqual([`${host}:${port}`]);
	});

	test('a granted name with an address that is not public, and an address that was granted by mistake', async () => {
		const { promise: reached, resolve: reach } = Promise.withResolvers<string>();
		const port = await serve((_, response) => response.end(reach('reached') as unknown as string));
		await open({ allows: () => true, isAllowed: undefined });
		for (const target of [
			`granted.example:${port}`,
			`127.0.0.1:${port}`,
			`[::1]:${port}`,
			`[::ffff:127.0.0.1]:${port}`
		]) {
			expect(await get(`http://${target}/`)).toContain('isn’t on the public internet, so access is blocked');
			expect(await ask(`CONNECT ${target} HTTP/1.1\r\n\r\n`)).toContain('HTTP/1.1 403 Forbidden');
		}
		expect(proxy.refused()).toEqual([
			`granted.example:${port}`,
			`127.0.0.1:${port}`,
			`::1:${port}`,
			`::ffff:7f00:1:${port}`
		]);
		expect(await Promise.race([reached, Promise.resolve('nothing')])).toBe('nothing');
	});

	test('a name is looked up once for a connection, and what was checked is connected to', async () => {
		const port = await serveEcho();
		const asked: string[] = [];
		const resolve = (host: string) => Promise.resolve([asked.push(host) % 2 === 1 ? LOOPBACK : '10.0.0.1']);
		await open({ resolve });
		expect(await get(`http://granted.example:${port}/`)).toContain('200 OK');
		expect(asked).toEqual(['granted.example']);
		expect(await get(`http://granted.example:${port}/`)).toContain('403 Forbidden');
		(await tunnel(`granted.example:${port}`)).destroy();
		expect(asked).toHaveLength(3);
	});

	test('each once, and at most a hundred', async () => {
		await open();
		for (let port = 1; port <= 120; port++) await ask(`CONNECT other.example:${port} HTTP/1.1\r\n\r\n`);
		await get('http://other.example:1/');
		expect(proxy.refused()).toHaveLength(100);
		expect(proxy.refused()[0]).toBe('other.example:1');
	});

	test('what nobody refused but nobody answers either is no refusal', async () => {
		await open();
		expect(await get('http://granted.example:1/')).toContain('502 Bad Gateway');
		expect(await ask('CONNECT granted.example:1 HTTP/1.1\r\n\r\n')).toContain(
			'Couldn’t connect to granted.example: ECONNREFUSED'
		);
		await proxy.close();
		await open({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
		expect(await get('http://granted.example/')).toContain('Couldn’t find the address of granted.example.');
		expect(proxy.refused()).toEqual([]);
	});
});

describe('D35: the proxy reaches what was granted', () => {
	test('plainly: method, path, headers and body arrive; those of the connection do not; Host is the granted one', async () => {
		const port = await serveEcho();
		await open();
		const request = [
			`POST http://granted.example:${port}/a?b=1 HTTP/1.1`,
			'Host: other.example',
			'Connection: close, X-Hop',
			'X-Hop: 1',
			'X-Own: 2',
			'Proxy-Authorization: Basic eA==',
			'Proxy-Connection: keep-alive',
			'Content-Length: 4',
			'',
			'body'
		];
		const answer = await ask(request.join('\r\n'));
		const echoed = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as object;
		expect(echoed).toEqual({
			method: 'POST',
			url: '/a?b=1',
			body: 'body',
			headers: { host: `granted.example:${port}`, 'x-own': '2', 'content-length': '4', connection: 'close' }
		});
	});

	test('plainly: a chunked body stays one body, with any method', async () => {
		const port = await serveEcho();
		await open();
		for (const method of ['POST', 'GET', 'DELETE']) {
			const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
			const answer = await ask(
				`${method} http://granted.example:${port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n` +
					`${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`
			);
			expect(answer).toContain(`"body":${JSON.stringify(smuggled)}`);
			expect(answer.match(/"method"/g)).toHaveLength(1);
		}
	});

	test('by CONNECT: bytes go both ways, also those sent along, and each side may end first', async () => {
		const port = await listen(
			createTcpServer({ allowHalfOpen: true }, (socket) => {
				let text = '';
				socket.on('data', (chunk) => (text += chunk.toString()));
				socket.on('end', () => socket.end(`got ${text}`));
			})
		);
		await open();
		const socket = dial();
		let received = '';
		socket.on('data', (chunk) => (received += chunk.toString()));
		socket.write(`CONNECT granted.example:${port} HTTP/1.1\r\n\r\nearly`);
		await once(socket, 'data');
		socket.end(' late');
		await once(socket, 'end');
		expect(received).toBe('HTTP/1.1 200 Connection established\r\n\r\ngot early late');

		const closing = await listen(createTcpServer((far) => far.end()));
		const second = await tunnel(`granted.example:${closing}`);
		await once(second, 'end');
	});

	test('by CONNECT: megabytes pass whole', async () => {
		const port = await listen(createTcpServer((socket) => socket.pipe(socket)));
		await open();
		const socket = await tunnel(`granted.example:${port}`);
		const sent = Buffer.alloc(8_000_000, 'pattern of the test ');
		const chunks: Buffer[] = [];
		socket.on('data', (chunk: Buffer) => chunks.push(chunk));
		socket.end(sent);
		await once(socket, 'end');
		expect(Buffer.concat(chunks).equals(sent)).toBe(true);
	});
});

describe('D35: the proxy survives its clients and its servers', () => {
	const BAD_REQUESTS: [string, string | Buffer][] = [
		['garbage', 'garbage\r\n\r\n'],
		['bytes', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7) % 256))],
		['a TLS handshake', Buffer.from('160301020001', 'hex')],
		['headers of 100 kB', `GET http://granted.example/ HTTP/1.1\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`],
		['ten thousand headers', `GET http://granted.example/ HTTP/1.1\r\n${'x: y\r\n'.repeat(10_000)}\r\n`],
		['a path', 'GET / HTTP/1.1\r\nHost: granted.example\r\n\r\n'],
		['https in plain', 'GET https://granted.example/ HTTP/1.1\r\nHost: x\r\n\r\n'],
		['a file', 'GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n'],
		['a user name', 'GET http://granted.example@127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n'],
		['no host', 'GET http:// HTTP/1.1\r\nHost: x\r\n\r\n'],
		['two lengths', 'GET http://granted.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
		['a length and chunks', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
		['CONNECT without a port', 'CONNECT granted.example HTTP/1.1\r\n\r\n'],
		['CONNECT to port 0', 'CONNECT granted.example:0 HTTP/1.1\r\n\r\n'],
		['CONNECT to port 65536', 'CONNECT granted.example:65536 HTTP/1.1\r\n\r\n'],
		['CONNECT with two ports', 'CONNECT granted.example:81:80 HTTP/1.1\r\n\r\n'],
		['CONNECT with a user', 'CONNECT a@granted.example:80 HTTP/1.1\r\n\r\n'],
		['CONNECT with a path', 'CONNECT granted.example/:80 HTTP/1.1\r\n\r\n'],
		['CONNECT to nothing', 'CONNECT :80 HTTP/1.1\r\n\r\n'],
		['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
		['a star', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n']
	];

	test.each(BAD_REQUESTS)('%s is a bad request, and the next one is served', async (_, text) => {
		const port = await serveEcho();
		await open();
		const closing =
			typeof text === 'string' ? text.replace(' HTTP/1.1\r\n', ' HTTP/1.1\r\nConnection: close\r\n') : text;
		expect(await ask(closing)).toMatch(/^(HTTP\/1\.1 400 Bad Request|$)/);
		expect(await get(`http://granted.example:${port}/`)).toContain('200 OK');
		expect(proxy.refused()).toEqual([]);
	});

	test.each([
		['a reset before anything', ''],
		['no HTTP', 'SSH-2.0-x\r\n'],
		['headers of 100 kB', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`],
		['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
		['half a body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf']
	])('a server that answers with %s costs one request', async (_, bytes) => {
		const bad = await listen(createTcpServer((socket) => socket.once('data', () => socket.end(bytes))));
		const good = await serveEcho();
		await open();
		expect(await get(`http://granted.example:${bad}/`)).toMatch(/^HTTP\/1\.1 (502 Bad Gateway|200 OK)/);
		expect(await get(`http://granted.example:${good}/`)).toContain('200 OK');
	});

	test('a client that goes away in the middle takes its connection to the server along', async () => {
		const gone = Promise.withResolvers<void>();
		const port = await serve((request, response) => {
			request.on('close', () => gone.resolve());
			response.write('first');
		});
		await open();
		const socket = dial();
		socket.write(`GET http://granted.example:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
		await once(socket, 'data');
		socket.destroy();
		await gone.promise;

		const tcpGone = Promise.withResolvers<void>();
		const tcp = await listen(createTcpServer((far) => far.on('close', () => tcpGone.resolve())));
		(await tunnel(`granted.example:${tcp}`)).destroy();
		await tcpGone.promise;
	});

	test('more connections than the limit are closed; when one ends, another is taken', async () => {
		const port = await listen(createTcpServer((socket) => socket.pipe(socket)));
		await open({ limits: { connections: 2 } });
		const first = await tunnel(`granted.example:${port}`);
		await tunnel(`granted.example:${port}`);
		expect(await get(`http://granted.example:${port}/`)).toBe('');
		first.destroy();
		await expect.poll(() => get('http://other.example/')).toContain('403 Forbidden');
	});

	test('silence ends a connection: before a request, within it, and in a tunnel', async () => {
		const silent = await listen(createTcpServer(() => {}));
		await open({ limits: { idleMs: 50, headersMs: 50 } });
		await ask('GET http://granted');
		await endOf(dial());
		const tunnelled = await tunnel(`granted.example:${silent}`);
		await endOf(tunnelled);
		expect(await get(`http://granted.example:${silent}/`)).toMatch(/^(HTTP\/1\.1 502|$)/);
	});

	test('close ends all of them and takes the socket away', async () => {
		const ended = Promise.withResolvers<void>();
		const tcp = await listen(createTcpServer((far) => far.on('close', () => ended.resolve())));
		const slow = await serve(() => {});
		await open();
		const clients = [await tunnel(`granted.example:${tcp}`), dial(), dial()];
		clients[1]!.write(`GET http://granted.example:${slow}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
		clients[2]!.write('GET http://gran');
		await once(servers[1]!, 'request');
		const closed = clients.map(endOf);
		await proxy.close();
		await Promise.all([...closed, ended.promise]);
		await expect(stat(proxy.socket)).rejects.toMatchObject({ code: 'ENOENT' });
		await proxy.close();
	});

	// Windows doesn't have these modes.
	test.skipIf(process.platform === 'win32')(
		'the socket is for everybody who is shown it, its folder for the owner',
		async () => {
			await open();
			expect((await stat(proxy.socket)).mode & 0o777).toBe(0o666);
			expect((await stat(join(folder, 'net'))).mode & 0o777).toBe(0o700);
		}
	);

	test('a socket left by one that was killed is replaced; a path that is too long is an error', async () => {
		await open();
		const { socket } = proxy;
		const first = proxy;
		await open();
		expect(proxy.socket).toBe(socket);
		expect(await get('http://other.example/')).toContain('403');
		await first.close();
		await expect(open({ socketPath: join(folder, 'x'.repeat(120)) })).rejects.toThrow();
	});
});
