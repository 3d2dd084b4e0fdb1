/** A search in a real HTTP server that plays the registry. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRegistrySearch } from './registry.ts';

let server: Server;
let asked: string[];
let answer: { status: number; body: string };
let address: string;

beforeEach(async () => {
	asked = [];
	server = createServer((request, response) => {
		asked.push(request.url ?? '');
		response.writeHead(answer.status, { 'content-type': 'application/json' });
		response.end(answer.body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise<void>((resolve) => void server.close(() => resolve())));

const search = (query: string) => createRegistrySearch(address)(query, new AbortController().signal);
const tell = (servers: unknown[], status = 200) =>
	(answer = {
		status,
		body: JSON.stringify({ servers: servers.map((each) => ({ server: each, _meta: {} })), metadata: {} })
	});

test('E36: a search asks for the newest versions, and says how each server can be used and what it needs', async () => {
	tell([
		{
			...{ name: 'io.github.x/mail', title: 'Mail', description: 'Reads mail.', version: '1.2.0' },
			remotes: [
				{ type: 'streamable-http', url: 'https://mail.test/mcp', headers: [{ name: 'X-Key', isRequired: true }] },
				{ type: 'sse', url: 'https://mail.test/sse' },
				{ type: 'streamable-http', url: 'https://{tenant}.test/mcp' }
			],
			packages: [
				{
					...{ registryType: 'npm', identifier: '@x/mail', version: '1.2.0', transport: { type: 'stdio' } },
					packageArguments: [
						{ type: 'positional', valueHint: 'folder', isRequired: true },
						{ type: 'named', name: '--mode', value: 'read' },
						{ type: 'named', name: '--other' }
					],
					environmentVariables: [
						{ name: 'MAIL_KEY', description: 'From\u202E mail.test/keys.', isRequired: true },
						{ name: 'MAIL_LOG' }
					]
				},
				{ registryType: 'pypi', identifier: 'x-mail', version: '2.0' },
				{ registryType: 'oci', identifier: 'x/mail' }
			]
		}
	]);
	expect((await search('mail & more')).data).toEqual([
		{
			...{ name: 'io.github.x/mail', title: 'Mail', description: 'Reads mail.', version: '1.2.0' },
			...{ page: null, isDeprecated: false },
			ways: [
				{ type: 'http', url: 'https://mail.test/mcp', headers: [{ name: 'X-Key', about: '' }] },
				{
					type: 'stdio',
					command: 'npx',
					args: ['-y', '@x/mail@1.2.0', '<folder>', '--mode', 'read'],
					env: [{ name: 'MAIL_KEY', about: 'From mail.test/keys.' }]
				},
				{ type: 'stdio', command: 'uvx', args: ['x-mail@2.0'], env: [] }
			]
		}
	]);
	const { pathname, searchParams } = new URL(asked[0] ?? '', address);
	expect(pathname).toBe('/v0.1/servers');
	expect(Object.fromEntries(searchParams)).toEqual({ search: 'mail & more', version: 'latest', limit: '20' });
});

test.each([
	[{ repository: { url: 'https://github.com/x/y' }, websiteUrl: 'https://y.test' }, 'https://github.com/x/y'],
	[{ repository: { url: 'git@github.com:x/y' }, websiteUrl: 'https://y.test/' }, 'https://y.test/'],
	[{ repository: { url: 'javascript:alert(1)' }, websiteUrl: 7 }, null],
	[{ repository: 'none', websiteUrl: 'https://name:word@y.test' }, null],
	[{ websiteUrl: `https://y.test/${'a'.repeat(3000)}` }, null]
])('E36: where a server is described is a web address or nothing: %j', async (given, expected) => {
	tell([{ name: 'x/y', ...given }]);
	expect((await search('x')).data).toMatchObject([{ name: 'x/y', page: expected }]);
});

test('E36: a deleted server isn’t found, one that its publisher advises against says so, and that there are more is said', async () => {
	const of = (name: string, status: string) => ({
		server: { name },
		_meta: { 'io.modelcontextprotocol.registry/official': { status } }
	});
	const servers = [of('a/active', 'active'), of('a/old', 'deprecated'), of('a/gone', 'deleted')];
	answer = { status: 200, body: JSON.stringify({ servers, metadata: { nextCursor: 'c', count: 3 } }) };
	const found = await search('a');
	expect(found.data.map(({ name, isDeprecated }) => [name, isDeprecated])).toEqual([
		['a/active', false],
		['a/old', true]
	]);
	expect(found.hasMore).toBe(true);
	answer.body = JSON.stringify({ servers, metadata: { nextCursor: 7 } });
	expect((await search('a')).hasMore).toBe(false);
});

test.each([
	['an option', { registryType: 'npm', identifier: '--eval=1', version: '1' }],
	['a version with a space', { registryType: 'npm', identifier: 'x', version: '1 --yes' }],
	['a script', { registryType: 'pypi', identifier: 'x; rm -rf /' }],
	['another place', { registryType: 'npm', identifier: 'https://evil.test/x.tgz' }],
	['a repository', { registryType: 'npm', identifier: 'evil/x' }],
	['a repository with its host', { registryType: 'npm', identifier: 'github:evil/x', version: '1' }],
	['another name', { registryType: 'npm', identifier: '@a/b@npm:evil' }],
	['a file', { registryType: 'npm', identifier: 'file:/tmp/x' }],
	['a repository for Python', { registryType: 'pypi', identifier: 'git+https://evil.test/x' }]
])('E36: a package whose name is %s is no way to use a server', async (_what, given) => {
	tell([{ name: 'x/y', packages: [given] }]);
	expect((await search('x')).data).toMatchObject([{ name: 'x/y', ways: [] }]);
});

test('E36: what isn’t a server is left out, hidden characters go, and long texts are cut', async () => {
	tell([null, { title: 'nameless' }, { name: 'a\u202Eb\u0007', description: 'd'.repeat(5000), packages: 'none' }]);
	const { data } = await search('x');
	const [only, ...others] = data;
	expect(others).toEqual([]);
	expect(only?.name).not.toMatch(/\p{C}/u);
	expect(only?.description).toHaveLength(500);
});

test.each([
	['an error', { status: 500, body: '{}' }],
	['no JSON', { status: 200, body: '<html>' }],
	['another answer', { status: 200, body: '{"servers":{}}' }],
	['too much', { status: 200, body: ' '.repeat(3_000_000) }]
])('E36: %s of the registry is said', async (_what, given) => {
	answer = given;
	await expect(search('x')).rejects.toMatchObject({
		code: 'unavailable',
		message: expect.stringContaining('Couldn’t search') as string
	});
});

test('E36: a registry that is not there is said, too', async () => {
	const search = createRegistrySearch('http://127.0.0.1:9');
	await expect(search('x', new AbortController().signal)).rejects.toMatchObject({ code: 'unavailable' });
});

const npm = (more: object) => ({ registryType: 'npm', identifier: 'x', version: '1', ...more });
const args = (...values: string[]) => npm({ packageArguments: values.map((value) => ({ type: 'positional', value })) });

test.each([
	['an argument of two lines', { packages: [args('good\n--evil')] }],
	['an argument with hidden characters', { packages: [args('a\u202Eb')] }],
	['an argument that is longer than one may be', { packages: [args('a'.repeat(10_000))] }],
	['more arguments than there may be', { packages: [args(...Array.from({ length: 200 }, () => 'a'))] }],
	['a variable that is none', { packages: [npm({ environmentVariables: [{ name: 'A\nB', isRequired: true }] })] }],
	['a header that is none', { remotes: [remote('https://a.test/', [{ name: 'A\r\nB', isRequired: true }])] }],
	['an address with a password', { remotes: [remote('https://user:word@a.test/')] }],
	['an address with hidden characters', { remotes: [remote('https://a.test\u202E/mcp')] }],
	['an address that is too long', { remotes: [remote(`https://a.test/${'a'.repeat(3_000)}`)] }]
])('E36: SECURITY MCP servers: %s in the registry is no way to use a server', async (_what, given) => {
	tell([{ name: 'x/y', ...given }]);
	expect((await search('x')).data).toMatchObject([{ name: 'x/y', ways: [] }]);
});

test('E36: what the registry has twice, a server or a way to use it, is there once', async () => {
	const twice = {
		name: 'x/y',
		packages: [npm({}), npm({})],
		remotes: [remote('https://a.test/'), remote('https://A.test')]
	};
	tell([twice, twice]);
	const found = (await search('x')).data;
	expect(found).toHaveLength(1);
	expect(found[0]?.ways.map(({ type }) => type)).toEqual(['http', 'stdio']);
});

function remote(url: string, headers: object[] = []): object {
	return { type: 'streamable-http', url, headers };
}
