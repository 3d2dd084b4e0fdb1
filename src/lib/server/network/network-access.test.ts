import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { skillOf } from '../skills/skill-of.suite.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createNetworkAccess, type NetworkAccessOptions } from './network-access.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const folder = emptyFolder();
let store: Store;
let server: Server;
let port: number;

beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.db'));
	server = createServer((_, response) => response.end('hello'));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
	await store.close();
	await new Promise((resolve) => server.close(resolve));
});

const accessOf = (changes: Partial<NetworkAccessOptions> = {}) =>
	createNetworkAccess({
		grants: store.networkGrants,
		ownDir: folder,
		isEnabled: null,
		resolve: () => Promise.resolve(['127.0.0.1']),
		isAllowed: () => true,
		...changes
	});

const skill = (network: string) => skillOf('weather', { source: 'project', metadata: { network } });

/** The status of a plain request through a proxy's socket. */
async function ask(socketPath: string, url: string): Promise<number | undefined> {
	const outgoing = request({ socketPath, path: url, headers: { host: 'x' }, agent: false }).end();
	const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
	await once(response.resume(), 'end');
	return response.statusCode;
}

describe('D35: a skill has a network only when', () => {
	test('somebody granted hosts to it, and the operator has not said no', async () => {
		const declaring = skill(`granted.example:${port} other.example:${port}`);
		const access = accessOf();
		expect(await access.openNetwork(skillOf('weather'), 'e1')).toBeNull();
		expect(await access.openNetwork(declaring, 'e1')).toBeNull();
		await access.grant('project/weather', [`Granted.example:${port}`], NOW);
		expect(await access.granted('project/weather')).toEqual([`granted.example:${port}`]);
		expect(await accessOf({ isEnabled: false }).openNetwork(declaring, 'e1')).toBeNull();
		expect(await access.openNetwork(skillOf('weather', { ...declaring, source: 'user' }), 'e1')).toBeNull();
		for (const isEnabled of [null, true]) {
			const session = await accessOf({ isEnabled }).openNetwork(declaring, 'e1');
			expect(await ask(session!.socket, `http://granted.example:${port}/`)).toBe(200);
			expect(await ask(session!.socket, `http://other.example:${port}/`)).toBe(403);
			expect(session!.refused()).toEqual([`other.example:${port}`]);
			await session!.close();
		}
		expect(await readdir(join(folder, 'net'))).toEqual([]);
	});

	test('somebody granted it, though the skill forgot to declare it; nothing else is opened by that', async () => {
		const access = accessOf();
		await access.grant('project/weather', [`granted.example:${port}`], NOW);
		for (const asking of [skill('other.example'), skillOf('weather', { source: 'project' })]) {
			const session = await access.openNetwork(asking, 'e1');
			expect(await ask(session!.socket, `http://granted.example:${port}/`)).toBe(200);
			expect(await ask(session!.socket, 'http://other.example/')).toBe(403);
			await session!.close();
		}
	});

	test('its address is public, though the name was granted', async () => {
		const access = accessOf({ isAllowed: undefined });
		await access.grant('project/weather', [`granted.example:${port}`], NOW);
		const session = await access.openNetwork(skill(`granted.example:${port}`), 'e1');
		expect(await ask(session!.socket, `http://granted.example:${port}/`)).toBe(403);
		expect(session!.refused()).toEqual([`granted.example:${port}`]);
		await session!.close();
	});
});

describe('D35: declarations and grants', () => {
	test('a text or a list of metadata.network; what cannot be granted is a sentence', () => {
		const access = accessOf();
		expect(access.declared(skill('a.example, *.B.example localhost'))).toEqual(['a.example', '*.b.example']);
		expect(access.problems(skill('a.example, localhost'))).toEqual([
			'Can’t grant “localhost”: a host name has at least two parts.'
		]);
		expect(access.declared(skillOf('x', { extra: { 'metadata.network': ['a.example', 7] } }))).toEqual(['a.example']);
		expect(access.declared(skillOf('x'))).toEqual([]);
	});

	test('a grant of what is no domain is invalid_input, and changes nothing', async () => {
		const access = accessOf();
		await access.grant('project/weather', ['a.example'], NOW);
		for (const bad of ['*', 'localhost', '127.0.0.1', 'https://a.example/', '']) {
			await expect(access.grant('project/weather', ['b.example', bad], NOW)).rejects.toMatchObject({
				code: 'invalid_input'
			});
		}
		expect(await access.granted('project/weather')).toEqual(['a.example']);
		await access.grant('project/weather', [], NOW);
		expect(await access.granted('project/weather')).toEqual([]);
	});

	test('sockets that a killed server left are gone with the first network; those of this one are not', async () => {
		await mkdir(join(folder, 'net'));
		await writeFile(join(folder, 'net', 'old.sock'), '');
		const access = accessOf();
		await access.grant('project/weather', ['a.example'], NOW);
		const sessions = [
			await access.openNetwork(skill('a.example'), 'e1'),
			await access.openNetwork(skill('a.example'), 'e2')
		];
		expect((await readdir(join(folder, 'net'))).sort()).toEqual(['e1', 'e2']);
		await Promise.all(sessions.map((session) => session!.close()));
	});

	test('a data folder with a path too long for a socket has it elsewhere, and nothing is left of it', async () => {
		const ownDir = join(folder, 'x'.repeat(100));
		const access = accessOf({ ownDir });
		await access.grant('project/weather', ['a.example'], NOW);
		const session = await access.openNetwork(skill('a.example'), 'e1');
		expect(session!.socket.startsWith(ownDir)).toBe(false);
		expect(await ask(session!.socket, 'http://b.example/')).toBe(403);
		await session!.close();
		await expect(readdir(join(session!.socket, '..'))).rejects.toMatchObject({ code: 'ENOENT' });
	});
});
