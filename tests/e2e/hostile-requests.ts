/** Hostile or malformed requests, byte by byte, for raw connections. */

export interface HostileRequest {
	name: string;
	bytes: Buffer;
	/** The client closes the connection, since the request may be incomplete. */
	isCut: boolean;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const PATHS = [
	'/%',
	'/%0',
	'/%00',
	'/%FF',
	'/%ff%fe',
	'/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd',
	'/%ed%a0%80',
	'/../../../../etc/passwd',
	'/..%2f..%2f..%2fetc%2fpasswd',
	'/%2e%2e/%2e%2e/package.json',
	'/..%5c..%5cwindows',
	'//evil.example/',
	'///',
	'/\\evil.example',
	'/;/',
	'/?',
	'/#fragment',
	'/' + '/'.repeat(5000),
	'/' + 'a'.repeat(12_000),
	'/' + '%41'.repeat(4000),
	'/' + 'a/'.repeat(4000),
	'/__data.json',
	'/skills/__data.json?x-sveltekit-invalidated=%',
	'/c/%00/__data.json',
	'/__route.js',
	'/%E0%A4%A/__route.js',
	'/_app/version.json/..',
	'/_app/env.js',
	'/_app/remote/x/y?payload=%',
	'/_app/immutable/%00',
	'/_app/immutable/..%2f..%2f..%2fserver%2findex.js',
	'/_app/immutable/../../../handler.js',
	'/.env',
	'/.git/config',
	'/server.js',
	'/c/__proto__',
	'/c/..%2f..%2fapi%2fhealth',
	'/%61pi/health',
	'/api',
	'/api/',
	'/api//health',
	'/api/%',
	'/api/%00',
	'/api/__proto__',
	'/api/health/..%2f',
	'/api/conversations?page=1e9',
	'/api/conversations?page=-1',
	'/api/conversations?page=NaN&limit=0',
	'/api/conversations?page[]=1',
	'/api/conversations?page=%',
	'/api/conversations?page=1&page=2&limit=' + '9'.repeat(400),
	'/api/conversations/%00',
	'/api/conversations/%ff',
	'/api/conversations/..',
	'/api/conversations/%2e%2e%2f',
	"/api/conversations/'%20or%201=1--",
	'/api/conversations/' + 'x'.repeat(5000),
	'/api/conversations/__proto__/messages?before=constructor',
	'/api/conversations/x/messages?before=%00',
	'/api/conversations/x/files/',
	'/api/conversations/x/files/%00',
	'/api/conversations/x/files/%ff',
	'/api/conversations/x/files/..%2f..%2f..%2fapp.sqlite',
	'/api/conversations/x/files/%2e%2e/%2e%2e/app.sqlite',
	'/api/conversations/..%2f/files/app.sqlite',
	'/api/conversations/x/files/' + 'd/'.repeat(3000) + 'f',
	'/api/conversations/x/files/' + 'n'.repeat(3000),
	'/api/conversations/x/files/con:nul|*?.txt',
	'/api/conversations/x/queue/__proto__',
	'/api/conversations/x/approvals/%00',
	'/api/runs/__proto__',
	'/api/runs/constructor/events?after=-1',
	'/api/runs/%00/events?after=1e400',
	'/api/runs/x/events?after=%',
	'/api/skills?page=0x1',
	'/login?next=//evil.example',
	'/login?next=%00'
];

/** Replacements for the path. */
const TARGETS = [
	'*',
	'http://evil.example/',
	'http://127.0.0.1/api/health',
	'https://',
	'file:///etc/passwd',
	'evil.example:443',
	'?',
	'.'
];

const LONG = 'x'.repeat(9000);

/** Header lines, each sent with a GET of a page, the API, a file and a stream. */
const HEADERS = [
	'cookie: %',
	'cookie: openrouter-skills-session=%',
	'cookie: openrouter-skills-session=%00%ff; openrouter-skills-session=x',
	'cookie: __proto__=1; constructor=2; hasOwnProperty=3',
	'cookie: ;;;===;;; =; ="',
	`cookie: ${'a=b; '.repeat(2000)}`,
	`cookie: openrouter-skills-session=${LONG}`,
	'cookie: openrouter-skills-session="\xff\xfe"',
	'authorization: Bearer',
	'authorization: Bearer %00',
	'authorization: Basic Og==',
	`authorization: Bearer ${LONG}`,
	'origin: null',
	'origin: %',
	'origin: http://[',
	'sec-fetch-site: cross-site',
	'sec-fetch-site: \xff',
	'range: bytes=9-1',
	'range: bytes=-',
	'range: bytes=0-99999999999999999999',
	'range: bytes=a-b,,,',
	'if-none-match: "',
	'if-modified-since: yesterday',
	'accept-encoding: gzip;q=x, br;q=9, *;q=-1',
	`accept: ${'*/*,'.repeat(2000)}`,
	'accept: \xff/\xff',
	'accept-language: %',
	'last-event-id: -1',
	'last-event-id: 1e400',
	'last-event-id: __proto__',
	'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: eA==\r\nsec-websocket-version: 13',
	'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAA',
	'expect: 100-continue',
	'expect: the-unexpected',
	'x-forwarded-for: \xff, ' + '1.1.1.1, '.repeat(500),
	'x-forwarded-host: evil.example',
	'x-forwarded-proto: javascript:',
	'x-app-protocol: javascript:',
	'x-app-protocol: %',
	'forwarded: host=evil.example;proto=%',
	'x-http-method-override: DELETE',
	'x-original-url: /api/health',
	'x-sveltekit-pathname: /api/health',
	'x-sveltekit-search: %',
	'x-sveltekit-action: true',
	'content-type: application/json; charset=%',
	'__proto__: x',
	'constructor: x',
	Array.from({ length: 1900 }, (_, index) => `h${index}: 1`).join('\r\n')
];

const HEADER_PATHS = ['/', '/api/conversations', '/favicon.svg', '/api/runs/x/events'];

const BODY_ROUTES: readonly [method: string, path: string][] = [
	['POST', '/api/chat'],
	['POST', '/api/session'],
	['PATCH', '/api/conversations/x'],
	['POST', '/api/conversations/x/queue'],
	['POST', '/api/conversations/x/fork'],
	['POST', '/api/conversations/x/approvals/y'],
	['POST', '/api/skills/reload']
];

const BODIES: readonly (string | Buffer)[] = [
	'',
	' ',
	'null',
	'true',
	'0',
	'-',
	'"x"',
	'[]',
	'{}',
	'{',
	'}',
	'{"a":}',
	'{"a":1}garbage',
	'{"__proto__":{"isAdmin":true}}',
	'{"constructor":{"prototype":{"isAdmin":true}}}',
	'{"threadId":{"__proto__":1},"runId":[],"messages":{}}',
	'{"threadId":"__proto__","runId":"constructor","messages":[{"id":"toString","role":"user","content":"x"}]}',
	'{"threadId":"a","runId":"b","messages":[{"id":"c","role":"system","content":"x"}]}',
	'{"threadId":"../../x","runId":"\\u0000","messages":[{"id":"\\ud800","role":"user","content":"\\udfff"}]}',
	`{"threadId":"${'x'.repeat(100_000)}","runId":"b","messages":[]}`,
	`{"title":"${'\\u0000'.repeat(10_000)}"}`,
	`{"text":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
	'['.repeat(200_000),
	'{"a":'.repeat(50_000),
	`[${'1,'.repeat(100_000)}1]`,
	`{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
	'{"limit":1e400,"after":-1e400}',
	`{"n":${'9'.repeat(50_000)}}`,
	'\ufeff{}',
	Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
	Buffer.from('{"title":"\xff\xfe"}', 'latin1'),
	Buffer.alloc(50_000)
];

const CLIENT_HELLO = Buffer.from('16030100a5010000a10303' + 'ab'.repeat(32) + '00', 'hex');

/** Violations of HTTP itself. */
const RAW: readonly (string | Buffer)[] = [
	'\r\n\r\n\r\n',
	'GET\r\n\r\n',
	'GET / HTTP/0.9\r\n\r\n',
	'GET / HTTP/1.0\r\n\r\n',
	'GET / HTTP/9.9\r\nhost: 127.0.0.1\r\n\r\n',
	'GET / HTTP/1.1\r\n\r\n',
	'GET / HTTP/1.1\r\nhost:\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1 evil.example\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: [::1\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1:99999\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: a@127.0.0.1\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1/x?y#z\r\n\r\n',
	'GET / HTTP/1.1\nhost: 127.0.0.1\n\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nno colon\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n folded: x\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: \0\r\n\r\n',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx y: z\r\n\r\n',
	`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`,
	`GET /${'x'.repeat(40_000)} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`,
	`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n${'a: b\r\n'.repeat(5000)}\r\n`,
	'TRACE / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'TRACE /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n',
	'CONNECT / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'PROPFIND / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'BREW /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'get / http/1.1\r\nhost: 127.0.0.1\r\n\r\n',
	'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: x\r\n\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 99999999999999999999\r\n\r\n{}',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{}',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}',
	'POST /api/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"threadId"',
	'PUT /api/conversations/x/files/cut.txt HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 1000000\r\n\r\nonly this',
	'PUT /api/conversations/x/files/cut.txt HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab',
	'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\n\r\nhello',
	`${'GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(50)}`,
	'GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nGARBAGE\r\n\r\n',
	CLIENT_HELLO,
	Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 151 + 7) % 256)),
	Buffer.alloc(4096, 0xff)
];

export function hostileRequests(): HostileRequest[] {
	const requests: HostileRequest[] = [];
	const add = (name: string, head: string, body: string | Buffer = ''): void => {
		requests.push({
			name: name.slice(0, 120),
			bytes: Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]),
			isCut: false
		});
	};
	const host = 'host: 127.0.0.1\r\nconnection: close\r\n';
	for (const method of METHODS) {
		for (const path of PATHS) {
			const hasBody = method === 'POST' || method === 'PATCH';
			const rest = hasBody ? 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}' : '\r\n';
			add(`${method} ${path}`, `${method} ${path} HTTP/1.1\r\n${host}${rest}`);
		}
	}
	for (const target of TARGETS) {
		for (const method of ['GET', 'POST', 'OPTIONS']) {
			add(`${method} ${target}`, `${method} ${target} HTTP/1.1\r\n${host}\r\n`);
		}
	}
	for (const line of HEADERS) {
		for (const path of HEADER_PATHS) add(`${path} with ${line}`, `GET ${path} HTTP/1.1\r\n${host}${line}\r\n\r\n`);
	}
	for (const [method, path] of BODY_ROUTES) {
		for (const body of BODIES) {
			const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
			add(`${method} ${path} of ${body.toString('latin1')}`, `${method} ${path} HTTP/1.1\r\n${host}${length}`, body);
		}
	}
	for (const bytes of RAW) {
		const name = `the bytes ${JSON.stringify(bytes.toString('latin1'))}`;
		requests.push({ name: name.slice(0, 120), bytes: Buffer.from(bytes as string, 'latin1'), isCut: true });
	}
	return requests;
}
