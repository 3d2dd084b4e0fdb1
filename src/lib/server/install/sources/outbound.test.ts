import { readFile } from 'node:fs/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import {
	failing,
	htmlPage,
	json,
	rateLimited,
	redirectTo,
	startPlayedServer,
	type PlayedAnswer,
	type PlayedServer
} from '../../../../../tests/support/catalog/played-server.ts';
import type { AppError } from '../../../shared/errors.ts';
import { createOutbound, fetchJson, type OutboundRequest } from './outbound.ts';

const servers: PlayedServer[] = [];
const request = (more: Partial<OutboundRequest> = {}): OutboundRequest => ({
	service: 'GitHub',
	what: 'repository acme/skills',
	signal: new AbortController().signal,
	...more
});

async function play(answer: PlayedAnswer | ((path: string) => PlayedAnswer)): Promise<PlayedServer> {
	const server = await startPlayedServer(({ path }) => (typeof answer === 'function' ? answer(path) : answer));
	servers.push(server);
	return server;
}

/** The error when a server on an allowed host gives this answer. */
async function errorOf(answer: PlayedAnswer, more: Partial<OutboundRequest> = {}): Promise<AppError> {
	const server = await play(answer);
	const outbound = createOutbound({ hosts: [server.host] });
	return outbound(`${server.url}/x`, request(more)).then(
		() => expect.unreachable('it should have failed'),
		(error: AppError) => error
	);
}

afterEach(async () => {
	await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('createOutbound', () => {
	it('SECURITY Outbound requests: a server of this machine is refused unless the operator named its host and port', async () => {
		const server = await play({ body: 'x' });
		const error = { code: 'forbidden', hint: expect.stringContaining('SKILLS_INSTALL_HOSTS') as string };
		await expect(createOutbound({ hosts: [] })(`${server.url}/`, request())).rejects.toMatchObject(error);
		const otherPort = createOutbound({ hosts: ['127.0.0.1:1', '127.0.0.1'] });
		await expect(otherPort(`${server.url}/`, request())).rejects.toMatchObject(error);
		expect(server.requests).toEqual([]);
	});

	it('SECURITY Outbound requests: a name that leads to a private address is refused unless it was named', async () => {
		const server = await play({ body: 'x' });
		const port = new URL(server.url).port;
		const resolve = () => Promise.resolve(['127.0.0.1']);
		const url = `http://skills.example:${port}/`;
		await expect(createOutbound({ hosts: [server.host], resolve })(url, request())).rejects.toMatchObject({
			code: 'forbidden'
		});
		const { body } = await createOutbound({ hosts: [`Skills.example:${port}`], resolve })(url, request());
		expect(body.toString()).toBe('x');
	});

	it('SECURITY Outbound requests: a redirect to a private address is refused', async () => {
		const secret = await play({ body: 'secret' });
		const server = await play(redirectTo(`${secret.url}/`));
		const outbound = createOutbound({ hosts: [server.host] });
		await expect(outbound(`${server.url}/`, request())).rejects.toMatchObject({ code: 'forbidden' });
		expect(secret.requests).toEqual([]);
	});

	it.each([
		['another scheme', 'file:///etc/passwd'],
		['a user name', 'http://me:key@127.0.0.1/'],
		['no address', 'skills']
	])('SECURITY Outbound requests: %s is refused, also where a redirect leads there', async (_, address) => {
		const outbound = createOutbound({ hosts: ['127.0.0.1:80'] });
		await expect(outbound(address, request())).rejects.toMatchObject({ code: 'invalid_input' });
		if (address.includes(':')) expect(await errorOf(redirectTo(address))).toMatchObject({ code: 'invalid_input' });
	});

	it('E9: five redirects are followed, relative ones too, and a circle ends', async () => {
		const server = await play((path) => {
			const step = Number(path.slice(1));
			return step < 5 ? redirectTo(`/${step + 1}`, 301 + (step % 2)) : { body: `at ${step}` };
		});
		const outbound = createOutbound({ hosts: [server.host] });
		const { body, url } = await outbound(`${server.url}/0`, request());
		expect([body.toString(), url]).toEqual(['at 5', `${server.url}/5`]);
		expect(await errorOf(redirectTo('/again'))).toMatchObject({
			code: 'unavailable',
			message: 'GitHub redirects too many times.'
		});
	});

	it('SECURITY Outbound requests: a key goes to its own origin alone, not with a redirect to another', async () => {
		const other = await play({ body: 'x' });
		const own = await play((path) => (path === '/away' ? redirectTo(`${other.url}/`) : { body: 'y' }));
		const outbound = createOutbound({ hosts: [other.host, own.host] });
		const bearer = { token: 'ghp_key', baseUrl: `${own.url}/api` };
		await outbound(`${own.url}/away`, request({ bearer }));
		await outbound(`${other.url}/`, request({ bearer }));
		expect(own.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer ghp_key']);
		expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
	});

	it('SECURITY Outbound requests: a redirect from https to http is refused, and nothing is asked there', async () => {
		const fixture = (name: string) =>
			readFile(new URL(`../../../../../tests/fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
		const tls = { key: await fixture('key'), cert: await fixture('cert') };
		const trusted = getCACertificates('default');
		setDefaultCACertificates([...trusted, tls.cert]);
		onTestFinished(() => setDefaultCACertificates(trusted));
		const plain = await play({ body: 'anybody may have changed this' });
		const secure = await startPlayedServer(({ path }) => {
			if (path === '/down') return redirectTo(`${plain.url}/skill.zip`);
			return path === '/along' ? redirectTo('/here') : { body: 'as it was signed' };
		}, tls);
		servers.push(secure);
		const outbound = createOutbound({ hosts: [plain.host, secure.host] });

		expect((await outbound(`${secure.url}/along`, request())).body.toString()).toBe('as it was signed');
		await expect(outbound(`${secure.url}/down`, request())).rejects.toMatchObject({
			code: 'unavailable',
			message: 'GitHub redirects to an address that isn’t followed.'
		});
		expect(plain.requests).toEqual([]);
	});

	it('E9: a rate limit says until when', async () => {
		const until = new Date('2031-05-06T07:08:09Z');
		expect(await errorOf(rateLimited(until))).toMatchObject({
			code: 'unavailable',
			message: 'GitHub has reached its request limit. Try again at 2031-05-06T07:08:09.000Z.',
			hint: 'Set GITHUB_TOKEN to get a higher limit.'
		});
		const date = { status: 429, headers: { 'retry-after': 'Tue, 06 May 2031 07:08:09 GMT' } };
		expect((await errorOf(date)).message).toContain('2031-05-06T07:08:09.000Z');
		for (const after of ['soon', '-1e300', '1e300']) {
			const { code, message } = await errorOf({ status: 429, headers: { 'retry-after': after } });
			expect([code, message]).toEqual(['unavailable', 'GitHub has reached its request limit. Try again later.']);
		}
	});

	it.each([
		[404, 'not_found', 'GitHub has no repository acme/skills.'],
		[401, 'forbidden', 'GitHub denied access to repository acme/skills.'],
		[403, 'forbidden', 'GitHub denied access to repository acme/skills.'],
		[500, 'unavailable', 'GitHub responded with status 500.'],
		[302, 'unavailable', 'GitHub responded with status 302.'],
		[204, 'unavailable', 'GitHub responded with status 204.']
	])('E9: status %i is %s', async (status, code, message) => {
		expect(await errorOf(failing(status))).toMatchObject({ code, message });
	});

	it('E9: a server that never answers is left after its time, or when nobody waits any more', async () => {
		expect(await errorOf('hang', { timeoutMs: 50 })).toMatchObject({
			code: 'unavailable',
			message: expect.stringContaining('took too long to respond') as string
		});
		const server = await play('hang');
		const stop = new AbortController();
		const outbound = createOutbound({ hosts: [server.host] });
		const answer = outbound(`${server.url}/`, request({ signal: stop.signal }));
		const failed = expect(answer).rejects.toMatchObject({ code: 'unavailable' });
		await server.asked('/');
		stop.abort();
		await failed;
	});

	it('E9: a body without end is not read to its end', async () => {
		expect(await errorOf({ zeros: 1e12 }, { maxBytes: 1000 })).toMatchObject({ code: 'too_large' });
	});

	it('E9: a host where nobody listens is unavailable', async () => {
		const outbound = createOutbound({ hosts: ['127.0.0.1:9'] });
		await expect(outbound('http://127.0.0.1:9/', request())).rejects.toMatchObject({ code: 'unavailable' });
	});
});

describe('fetchJson', () => {
	const shape = z.object({ name: z.string() });

	it.each([
		['a web page', htmlPage(), 'sent a web page'],
		['half of it', { body: '{"name": "a' }, 'Try again later'],
		['nothing', { body: '' }, 'Try again later'],
		['something else', json({ name: 1 }), 'Try again later'],
		['null', json(null), 'Try again later'],
		['bytes that are no text', { body: Buffer.from([0xff, 0xfe, 0]) }, 'Try again later'],
		['brackets without end', { body: '['.repeat(200_000) }, 'Try again later']
	])('E23: %s instead of the JSON that was asked for is unavailable', async (_, reply, hint) => {
		const server = await play(reply);
		const outbound = createOutbound({ hosts: [server.host] });
		await expect(fetchJson(outbound, server.url, shape, request())).rejects.toMatchObject({
			code: 'unavailable',
			message: 'GitHub sent something other than repository acme/skills.',
			hint: expect.stringContaining(hint) as string
		});
	});

	it('E23: fields that nobody knows are left out', async () => {
		const server = await play(json({ name: 'a', more: 1 }));
		const outbound = createOutbound({ hosts: [server.host] });
		expect(await fetchJson(outbound, server.url, shape, request())).toEqual({ name: 'a' });
	});
});
