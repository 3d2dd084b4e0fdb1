/** A chat's files over HTTP: versions, byte ranges, and all of them as one archive (F5). */
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { ListedFile } from '../../src/lib/shared/api.ts';
import * as files from '../../src/routes/api/conversations/[id]/files/+server.ts';
import * as file from '../../src/routes/api/conversations/[id]/files/[...path]/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const root = emptyFolder();
let app: App;
let server: RouteServer;

beforeEach(async () => {
	const paths = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') };
	app = await createApp(loadConfig({ ...paths, SKILLS_SANDBOX: 'process' }));
	server = await serveRoutes(app, {
		'/api/conversations/[id]/files': files,
		'/api/conversations/[id]/files/[...path]': file
	});
});
afterEach(async () => {
	await server.close();
	await app.close();
});

const get = (rest: string, headers: Record<string, string> = {}) =>
	fetch(`${server.url}/api/conversations/c1/files${rest}`, { headers });

async function put(path: string, content: string): Promise<void> {
	const response = await fetch(`${server.url}/api/conversations/c1/files/${path}`, {
		method: 'PUT',
		headers: { 'content-type': 'application/octet-stream' },
		body: content
	});
	expect(response.status).toBe(201);
}

test('F5: the list says what a model is shown of a file, if one is named', async () => {
	await put('a.txt', 'one');
	const seenAs = async (query: string) => ((await (await get(query)).json()) as { data: ListedFile[] }).data[0]?.seenAs;
	expect(await seenAs('')).toBe(undefined);
	const demo = { as: 'name', why: 'Skills can read it.' };
	expect(await seenAs('?model=acme/seeing&path=a.txt')).toEqual(demo);
	expect(await seenAs('?model=acme/seeing&path=b.txt')).toBe(undefined);
	expect((await get(`?model=${'x'.repeat(1000)}`)).status).toBe(400);
});

test('F5: a picture takes a copy for models, which is not listed; what is none is refused, and the file stays', async () => {
	const png = Buffer.from(`89504e470d0a1a0a0000000d49484452${'00000010'.repeat(2)}${'00'.repeat(8)}`, 'hex');
	const copy = async (path: string, body: BodyInit) => {
		const headers = { 'content-type': 'application/octet-stream' };
		const address = `${server.url}/api/conversations/c1/files/${path}?as=copy`;
		return (await fetch(address, { method: 'PUT', headers, body })).status;
	};
	expect(await copy('a.png', png)).toBe(404);
	await put('a.png', 'large');
	expect(await copy('a.png', 'none')).toBe(400);
	expect(await copy('a.png', Buffer.alloc(6 * 1024 * 1024))).toBe(413);
	expect(await copy('a.png', png)).toBe(201);
	const { data } = (await (await get('')).json()) as { data: ListedFile[] };
	expect(data).toMatchObject([{ path: 'a.png', bytes: 5, versions: [] }]);
	expect(await (await get('/a.png')).text()).toBe('large');
});

test('F5: several files of a new chat can arrive at the same time', async () => {
	await Promise.all(['a.txt', 'b.txt', 'c.txt', 'd.txt'].map((path) => put(path, path)));
	const { data } = (await (await get('')).json()) as { data: ListedFile[] };
	expect(data.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt']);
});

test('F5: a file is listed with its versions, and each can be read', async () => {
	for (const content of ['one', 'two', 'three']) {
		await put('a.txt', content);
		await app.workspaces.keepVersions('c1');
	}
	const { data } = (await (await get('')).json()) as { data: ListedFile[] };
	const [newest, oldest] = data[0]?.versions ?? [];
	expect(data).toMatchObject([{ path: 'a.txt', bytes: 5, versions: [{ bytes: 3 }, { bytes: 3 }] }]);
	expect(await (await get(`/a.txt?version=${oldest?.id}`)).text()).toBe('one');
	expect(await (await get(`/a.txt?version=${newest?.id}`)).text()).toBe('two');
	const none = await get(`/a.txt?version=${'0'.repeat(64)}`);
	expect([none.status, await none.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
});

describe('F5: all files in one zip', () => {
	test('are there under their paths, text and bytes as they are', async () => {
		const text = 'line\n'.repeat(20_000);
		await put('notes.txt', text);
		await put('deep/er/%E2%80%AEgpj.png', 'bytes');
		await put('empty.bin', '');
		const response = await get('?format=zip');
		expect(response.headers.get('content-type')).toBe('application/zip');
		expect(response.headers.get('content-disposition')).toBe('attachment; filename="files.zip"');
		const zip = new Uint8Array(await response.arrayBuffer());
		const unpacked = unzipSync(zip);
		expect(Object.keys(unpacked).toSorted()).toEqual(['deep/er/\u202egpj.png', 'empty.bin', 'notes.txt']);
		expect(new TextDecoder().decode(unpacked['notes.txt'])).toBe(text);
		expect(zip.length).toBeLessThan(text.length / 10);
	});

	test('leave out what a script deletes meanwhile', async () => {
		for (const name of ['a', 'b', 'c']) await put(`${name}.txt`, name);
		const pieces = await app.workspaces.archive('c1');
		const made: Uint8Array[] = [];
		for await (const piece of pieces) {
			if (made.length === 0) await app.workspaces.remove('c1', 'b.txt');
			made.push(piece);
		}
		expect(Object.keys(unzipSync(Buffer.concat(made)))).toEqual(['a.txt', 'c.txt']);
	});

	test('of a conversation without any are an empty one', async () => {
		const zip = new Uint8Array(await (await get('?format=zip')).arrayBuffer());
		expect(unzipSync(zip)).toEqual({});
	});
});

test.each([
	['bytes=2-4', 206, '234', 'bytes 2-4/10'],
	['bytes=7-', 206, '789', 'bytes 7-9/10'],
	['bytes=-3', 206, '789', 'bytes 7-9/10'],
	['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
	['bytes=8-99', 206, '89', 'bytes 8-9/10'],
	['bytes=10-', 200, '0123456789', null],
	['bytes=4-2', 200, '0123456789', null],
	['bytes=0-1,4-5', 200, '0123456789', null],
	['bytes=-', 200, '0123456789', null],
	['lines=1-2', 200, '0123456789', null]
])('F5: a player that asks for %s gets %i and %s', async (range, status, body, contentRange) => {
	await put('a.mp3', '0123456789');
	const response = await get('/a.mp3', { range });
	expect([response.status, await response.text()]).toEqual([status, body]);
	expect(response.headers.get('content-range')).toBe(contentRange);
	expect(response.headers.get('content-length')).toBe(String(body.length));
	expect(response.headers.get('content-type')).toBe('audio/mpeg');
});
