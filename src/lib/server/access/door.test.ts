import { describe, expect, test } from 'vitest';
import { checkDoor, enter, ownOrigin, type DoorSettings } from './door.ts';

const LOCAL: DoorSettings = { host: '127.0.0.1', publicOrigin: null };
const JSON_TYPE = { 'content-type': 'application/json' };

interface Options {
	method?: string;
	route?: string | null;
	settings?: DoorSettings;
}

/** The result for a request with these headers: `open`, or the error code. */
function knock(
	headers: Record<string, string>,
	{ method = 'GET', route = '/', settings = LOCAL }: Options = {}
): string {
	try {
		checkDoor({ method, route, headers: new Headers({ host: '127.0.0.1:3000', ...headers }) }, settings);
		return 'open';
	} catch (error) {
		return (error as { code: string }).code;
	}
}

describe('SECURITY The server: the door checks the host', () => {
	test('on loopback: loopback names only', () => {
		for (const host of ['localhost', 'localhost:3000', '127.0.0.1:3000', '127.8.0.1', '[::1]:3000', 'LOCALHOST:80']) {
			expect(knock({ host }), host).toBe('open');
		}
		for (const host of [
			'',
			'evil.example',
			'localhost.evil.example',
			'127.0.0.1.evil.example',
			'10.0.0.1',
			'0.0.0.0',
			'127.0.0.1@evil.example',
			'127.0.0.1:3000, evil.example',
			'localhost:3000/evil',
			'[::1',
			'::1'
		]) {
			expect(knock({ host }), host).toBe('forbidden');
		}
	});

	test('on every address: addresses in figures and this machine, but no name that somebody could point here', () => {
		for (const settings of [
			{ host: '0.0.0.0', publicOrigin: null },
			{ host: '::', publicOrigin: null }
		]) {
			for (const host of ['192.168.1.5:3000', '[fd00::1]:3000', 'localhost:3000', '0.0.0.0:3000']) {
				expect(knock({ host }, { settings }), host).toBe('open');
			}
			for (const host of ['evil.example', '192.168.1.5.evil.example', 'chat.example:3000']) {
				expect(knock({ host }, { settings }), host).toBe('forbidden');
			}
		}
	});

	test('on one address or name: that one', () => {
		const address = { host: '192.168.1.5', publicOrigin: null };
		expect(knock({ host: '192.168.1.5:3000' }, { settings: address })).toBe('open');
		for (const host of ['192.168.1.6:3000', 'localhost:3000', 'evil.example']) {
			expect(knock({ host }, { settings: address }), host).toBe('forbidden');
		}
		expect(knock({ host: 'box.lan:3000' }, { settings: { host: 'Box.lan', publicOrigin: null } })).toBe('open');
		expect(knock({ host: '[fd00::1]:3000' }, { settings: { host: 'fd00::1', publicOrigin: null } })).toBe('open');
	});

	test('of PUBLIC_ORIGIN is served as well, with the port that browsers leave out', () => {
		const settings = { host: '127.0.0.1', publicOrigin: 'https://chat.example' };
		for (const host of ['chat.example', 'CHAT.example', 'chat.example:443', '127.0.0.1:3000']) {
			expect(knock({ host }, { settings }), host).toBe('open');
		}
		for (const host of ['chat.example:80', 'a.chat.example', 'chat.example.evil.example']) {
			expect(knock({ host }, { settings }), host).toBe('forbidden');
		}
	});

	test('of PUBLIC_ORIGIN without TLS has the port 80, and the other way round none', () => {
		const settings = { host: '127.0.0.1', publicOrigin: 'http://chat.example' };
		expect(knock({ host: 'chat.example:80' }, { settings })).toBe('open');
		expect(knock({ host: 'chat.example:443' }, { settings })).toBe('forbidden');
	});

	test('an address between brackets is nothing else', () => {
		const settings = { host: 'fd00::1', publicOrigin: null };
		for (const host of ['fd00::1', 'x[fd00::1]', '[fd00::1]x']) expect(knock({ host }, { settings })).toBe('forbidden');
		expect(knock({ host: '[box]' }, { settings: { host: 'box', publicOrigin: null } })).toBe('forbidden');
	});

	test('a request without one is refused, and has no origin of this server', () => {
		const headers = new Headers();
		expect(() => checkDoor({ method: 'GET', route: '/', headers }, LOCAL)).toThrow(
			'This server doesn’t answer for the host “”.'
		);
		expect(ownOrigin(headers, LOCAL)).toBe('http://');
		expect(ownOrigin(new Headers({ host: 'LocalHost:3000' }), LOCAL)).toBe('http://localhost:3000');
	});

	test('a refusal names the host, cut, and says what helps', () => {
		const host = `${'a'.repeat(200)}.example`;
		const headers = new Headers({ host });
		const open = { method: 'GET', route: '/', headers };
		const shown = `This server doesn’t answer for the host “${host.slice(0, 100)}”.`;
		const setting = 'PUBLIC_ORIGIN to the app’s public address.';
		expect(() => checkDoor(open, LOCAL)).toThrow(
			expect.objectContaining({ message: shown, hint: `Open it at 127.0.0.1 or localhost, or set ${setting}` })
		);
		expect(() => checkDoor(open, { host: '0.0.0.0', publicOrigin: null })).toThrow(
			expect.objectContaining({ message: shown, hint: `Set ${setting}` })
		);
	});

	test('and takes nobody’s word for another one', () => {
		const headers = { host: 'evil.example', 'x-forwarded-host': '127.0.0.1:3000', forwarded: 'host=127.0.0.1:3000' };
		expect(knock(headers)).toBe('forbidden');
		expect(knock({ 'x-forwarded-host': 'evil.example' })).toBe('open');
	});
});

describe('SECURITY The server: the door checks where a request comes from', () => {
	test('the own origin and none other, not even another port or scheme', () => {
		expect(knock({ origin: 'http://127.0.0.1:3000' })).toBe('open');
		for (const origin of [
			'http://evil.example',
			'http://127.0.0.1:4000',
			'http://localhost:3000',
			'https://127.0.0.1:3000',
			'http://127.0.0.1:3000.evil.example',
			'null',
			''
		]) {
			expect(knock({ origin }), origin).toBe('forbidden');
			expect(knock({ origin }, { method: 'OPTIONS', route: '/api/chat' }), origin).toBe('forbidden');
		}
	});

	test('PUBLIC_ORIGIN is the own origin behind a proxy, which may or may not pass the host on', () => {
		const settings = { host: '127.0.0.1', publicOrigin: 'https://chat.example' };
		for (const host of ['chat.example', '127.0.0.1:3000']) {
			expect(knock({ host, origin: 'https://chat.example' }, { settings }), host).toBe('open');
			expect(knock({ host, origin: 'http://chat.example' }, { settings }), host).toBe('forbidden');
			expect(knock({ host, origin: 'https://evil.example' }, { settings }), host).toBe('forbidden');
		}
	});

	test('what a browser says of another site or port is refused, but for a link that opens a page', () => {
		const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
		for (const site of ['cross-site', 'same-site', 'what-comes-next']) {
			const from = { 'sec-fetch-site': site };
			expect(knock({ ...from, ...link }), site).toBe('open');
			expect(knock({ ...from, ...link }, { route: null }), site).toBe('open');
			expect(knock({ ...from, ...link }, { route: '/api/health' }), site).toBe('forbidden');
			expect(knock({ ...from, ...link, ...JSON_TYPE }, { method: 'POST' }), site).toBe('forbidden');
			expect(knock(from), site).toBe('forbidden');
			for (const destination of ['iframe', 'frame', 'embed', 'object', 'image', 'script', 'empty', '']) {
				expect(knock({ ...from, ...link, 'sec-fetch-dest': destination }), destination).toBe('forbidden');
			}
			expect(knock({ ...from, ...link, 'sec-fetch-mode': 'no-cors' }), site).toBe('forbidden');
		}
		expect(knock({ 'sec-fetch-site': 'none' }, { route: '/api/health' })).toBe('open');
		expect(knock({ 'sec-fetch-site': 'same-origin' }, { route: '/api/health' })).toBe('open');
	});
});

describe('SECURITY The server: the door takes writes as JSON only, because a form of another site cannot send that', () => {
	const post = (type: string, method = 'POST'): string =>
		knock({ 'content-type': type }, { method, route: '/api/chat' });

	test('of any method', () => {
		for (const method of ['POST', 'PUT', 'PATCH', 'PROPFIND']) {
			for (const type of ['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json']) {
				expect(post(type, method), type).toBe('open');
			}
			for (const type of [
				'',
				'text/plain',
				'application/jsonp',
				'text/plain; application/json',
				'multipart/form-data',
				'application/x-www-form-urlencoded'
			]) {
				expect(post(type, method), type).toBe('unsupported_media_type');
			}
		}
	});

	test('nothing that only reads', () => {
		for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(post('text/plain', method), method).toBe('open');
	});

	test('a type that only contains one of JSON is none', () => {
		for (const type of ['xapplication/json', 'application/json+x', 'application/x+jsonx'])
			expect(post(type), type).toBe('unsupported_media_type');
		expect(knock({}, { method: 'POST', route: '/api/chat' })).toBe('unsupported_media_type');
	});

	test('a file of any type where files are put, and nowhere else', () => {
		const type = { 'content-type': 'text/csv' };
		const files = '/api/conversations/[id]/files/[...path]';
		expect(knock(type, { method: 'PUT', route: files })).toBe('open');
		expect(knock(type, { method: 'POST', route: files })).toBe('unsupported_media_type');
		expect(knock(type, { method: 'PUT', route: '/api/conversations/[id]/files' })).toBe('unsupported_media_type');
		expect(knock(type, { method: 'PUT', route: null })).toBe('unsupported_media_type');
	});

	test('F16: an archive where results of evals are imported, and nowhere beside it', () => {
		const route = '/api/skills/[...id]/evals/import';
		const upload = { 'content-type': 'application/zip' };
		expect(knock(upload, { method: 'POST', route })).toBe('open');
		expect(knock({ ...upload, 'sec-fetch-site': 'cross-site' }, { method: 'POST', route })).toBe('forbidden');
		expect(knock(upload, { method: 'POST', route: '/api/skills/[...id]/evals' })).toBe('unsupported_media_type');
		const form = { 'content-type': 'multipart/form-data; boundary=x' };
		expect(knock(form, { method: 'POST', route })).toBe('unsupported_media_type');
	});

	test('E20: archives and folders of skills where skills are staged, and nowhere else', () => {
		const route = '/api/skills/install/staged';
		for (const type of ['application/zip', 'multipart/form-data; boundary=x']) {
			const upload = { 'content-type': type };
			expect(knock(upload, { method: 'POST', route }), type).toBe('open');
			expect(knock({ ...upload, origin: 'http://evil.example' }, { method: 'POST', route }), type).toBe('forbidden');
			expect(knock({ ...upload, 'sec-fetch-site': 'cross-site' }, { method: 'POST', route })).toBe('forbidden');
			expect(knock(upload, { method: 'PUT', route }), type).toBe('unsupported_media_type');
			expect(knock(upload, { method: 'POST', route: '/api/skills/install' })).toBe('unsupported_media_type');
			expect(knock(upload, { method: 'POST', route: `${route}/[id]` })).toBe('unsupported_media_type');
		}
		for (const type of ['', 'text/plain', 'application/x-www-form-urlencoded', 'application/zipper']) {
			expect(knock({ 'content-type': type }, { method: 'POST', route }), type).toBe('unsupported_media_type');
		}
	});

	test('a deletion needs no type when it has no body', () => {
		const deletion = { method: 'DELETE', route: '/api/conversations/[id]' };
		expect(knock({}, deletion)).toBe('open');
		expect(knock({ 'content-length': '0' }, deletion)).toBe('open');
		expect(knock({ 'content-length': '5', 'content-type': 'text/plain' }, deletion)).toBe('unsupported_media_type');
		expect(knock({ 'transfer-encoding': 'chunked' }, deletion)).toBe('unsupported_media_type');
		expect(knock({ 'content-length': '5', ...JSON_TYPE }, deletion)).toBe('open');
	});

	test('F12: a response is cancelled without a body and a type, as OpenAI’s clients do; no form of another site can', () => {
		const to = { method: 'POST', route: '/v1/responses/[id]/cancel' };
		const untyped = { 'content-type': 'application/octet-stream' };
		const may: Record<string, string>[] = [{}, { 'content-length': '0' }, untyped, JSON_TYPE];
		for (const headers of may) {
			expect(knock(headers, to)).toBe('open');
			expect(knock({ ...headers, origin: 'http://evil.example' }, to)).toBe('forbidden');
		}
		expect(knock({ 'content-type': 'application/x-www-form-urlencoded' }, to)).toBe('unsupported_media_type');
		expect(knock({ 'content-length': '5' }, to)).toBe('unsupported_media_type');
		expect(knock({}, { ...to, route: '/v1/responses' })).toBe('unsupported_media_type');
	});
});

test('SECURITY The server: whoever has hung up has no address, and is let in as nobody', () => {
	const gone = { method: 'GET', route: '/', headers: new Headers({ host: '127.0.0.1:3000' }), connected: undefined };
	const settings = { ...LOCAL, trustsProxy: false };
	const code = 'forbidden';
	expect(() => enter(gone, settings, { isLoginNeeded: false })).toThrow(expect.objectContaining({ code }));
	expect(enter(gone, settings, { isLoginNeeded: true })).toBe('');
});
