/** `/v1/files`: uploaded once, named by id in requests, and each key's own (F12). */
import OpenAI, { toFile } from 'openai';
import { afterAll, afterEach, expect, test } from 'vitest';
import { text, type Reply } from '../support/model-server.ts';
import { createResponsesRigs, type ResponsesRig } from '../support/responses-rig.ts';
import { SALES } from '../support/tasks.ts';

const PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64'
);

const rigs = createResponsesRigs({ 'demo/SKILL.md': '---\nname: demo\ndescription: Says things.\n---\nHi.' });
let rig: ResponsesRig;
afterEach(() => rigs.settle());
afterAll(() => rigs.close());
/** A key for each test, which has no files yet. */
let number = 0;
const open = async (script: Reply[] = []) => {
	rig = await rigs.open(script);
	number += 1;
	return clientOf(`key_files_${number}`);
};
const clientOf = (apiKey: string) => new OpenAI({ baseURL: rig.url, apiKey, maxRetries: 0 });
const upload = (client: OpenAI, name: string, content: string | Buffer, more: object = {}) =>
	toFile(Buffer.from(content), name).then((file) => client.files.create({ file, purpose: 'user_data', ...more }));
const send = (body: BodyInit, headers: Record<string, string> = {}) =>
	fetch(`${rig.url}/files`, { method: 'POST', body, headers });

test('F12: a file is uploaded, listed, described, read and deleted', async () => {
	const client = await open();
	const file = await upload(client, SALES.name, SALES.text);
	expect(file).toMatchObject({
		...{ id: expect.stringMatching(/^file-[0-9a-f]{32}$/), object: 'file', filename: SALES.name },
		...{ purpose: 'user_data', bytes: SALES.text.length, status: 'processed', expires_at: null }
	});
	expect(Math.abs(file.created_at - Date.now() / 1000)).toBeLessThan(60);
	expect(await client.files.retrieve(file.id)).toEqual(file);
	const content = await client.files.content(file.id);
	expect(content.headers.get('content-disposition')).toContain('attachment');
	expect(await content.text()).toBe(SALES.text);
	const picture = await upload(client, 'a.png', PIXEL, { purpose: 'vision' });
	const listed = [];
	for await (const each of client.files.list({ limit: 1, order: 'asc' })) listed.push(each.id);
	expect(listed.sort()).toEqual([file.id, picture.id].sort());
	expect((await client.files.list({ purpose: 'vision' })).data).toEqual([picture]);
	expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
	await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: 'file_not_found' });
	await expect(client.files.content(file.id)).rejects.toMatchObject({ status: 404 });
	await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 404 });
	expect((await client.files.list()).data).toEqual([picture]);
});

test('F12: a request that names it gives the model its text, and a script its file; the upload stays as it was', async () => {
	const client = await open([text('Read.'), text('Seen.')]);
	const { id } = await upload(client, 'notes.txt', 'the words of the notes');
	await client.responses.create({
		model: 'any',
		input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }]
	});
	const sent = JSON.stringify(rig.model?.requests[0]?.body.input);
	expect(sent).toContain('the words of the notes');
	expect(sent).toContain('notes.txt');
	expect(sent).not.toContain(id);
	const picture = await upload(client, 'a.png', PIXEL);
	await client.responses.create({
		model: 'any',
		input: [{ role: 'user', content: [{ type: 'input_image', detail: 'high', file_id: picture.id }] }]
	});
	const seen = JSON.stringify(rig.model?.requests[1]?.body.input);
	expect(seen).toContain('data:image/png;base64,');
	expect(seen).not.toContain(picture.id);
	expect(await (await client.files.content(id)).text()).toBe('the words of the notes');
});

test('F12, E18: nobody but its own key lists, reads, names or deletes a file', async () => {
	const owner = await open();
	const { id } = await upload(owner, 'mine.txt', 'mine');
	for (const other of [clientOf('key_someone_else'), clientOf('none')]) {
		expect((await other.files.list()).data.map((file) => file.id)).not.toContain(id);
		await expect(other.files.retrieve(id)).rejects.toMatchObject({ status: 404 });
		await expect(other.files.content(id)).rejects.toMatchObject({ status: 404 });
		await expect(other.files.delete(id)).rejects.toMatchObject({ status: 404 });
		const input = [{ role: 'user' as const, content: [{ type: 'input_file' as const, file_id: id }] }];
		await expect(other.responses.create({ model: 'any', input })).rejects.toMatchObject({
			...{ status: 400, param: 'input[0].content[0].file_id' }
		});
	}
	expect(await (await owner.files.content(id)).text()).toBe('mine');
});

test('F12: the id of a file at the model’s server is passed on', async () => {
	const client = await open([text('Yes.')]);
	await client.responses.create({
		model: 'any',
		input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-abc' }] }]
	});
	expect(JSON.stringify(rig.model?.requests[0]?.body.input)).toContain('file-abc');
});

test('F12: a file that has expired is gone, with its bytes', async () => {
	const client = await open();
	const file = await upload(client, 'a.txt', 'a', { expires_after: { anchor: 'created_at', seconds: 3600 } });
	expect(file.expires_at).toBe(file.created_at + 3600);
	const { uploadedFiles } = rig.app.store;
	const apiKeyId = `key_files_${number}`;
	const stored = await uploadedFiles.get(file.id, apiKeyId);
	if (!stored) throw new Error('the file is not there');
	await uploadedFiles.remove(file.id, apiKeyId);
	await uploadedFiles.put({ ...stored, expiresAt: '2026-01-01T00:00:00.000Z' });
	await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
	expect((await client.files.list()).data).toEqual([]);
	expect(await uploadedFiles.get(file.id, apiKeyId)).toBeNull();
});

test.each([
	['../../escaped.txt', 'escaped.txt'],
	['C:\\Users\\a.txt', 'a.txt'],
	['con', 'con'],
	['a\u0000b\u202e.txt', /^ab?.*\.txt$/],
	['.htaccess', 'htaccess'],
	['x'.repeat(500), /^x{120}$/],
	['naïve 🦜.txt', 'naïve 🦜.txt']
])('F12: a file named “%s” is kept under its id, and has a name that is safe everywhere', async (name, expected) => {
	const client = await open();
	const file = await upload(client, name, 'x');
	if (typeof expected === 'string') expect(file.filename).toBe(expected);
	else expect(file.filename).toMatch(expected);
	expect(await (await client.files.content(file.id)).text()).toBe('x');
});

test('F12: what is no form, has no file, or wrong fields, is refused, and never a 500', async () => {
	await open();
	const form = (fields: Record<string, string | Blob>) => {
		const data = new FormData();
		for (const [name, value] of Object.entries(fields)) data.append(name, value);
		return data;
	};
	const file = new Blob(['x']);
	const bad: [BodyInit, Record<string, string>?][] = [
		['{}', { 'content-type': 'application/json' }],
		['x', { 'content-type': 'multipart/form-data' }],
		['x', { 'content-type': 'multipart/form-data; boundary=a' }],
		['--a\r\n\r\n--a--', { 'content-type': 'multipart/form-data; boundary=a' }],
		['--a--'.repeat(5000), { 'content-type': 'multipart/form-data; boundary=a' }],
		[form({})],
		[form({ file: 'text', purpose: 'vision' })],
		[form({ file, purpose: 'anything' })],
		[form({ file, purpose: '' })],
		[form({ file, 'expires_after[seconds]': '3600' })],
		[form({ file, 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': '1' })],
		[form({ file, 'expires_after[anchor]': 'created_at', 'expires_after[seconds]': 'NaN' })]
	];
	for (const [body, headers] of bad) {
		const answer = await send(body, headers);
		const told = await answer.json();
		expect([400, 413], JSON.stringify(told)).toContain(answer.status);
		expect(told).toMatchObject({ error: { message: expect.any(String), type: 'invalid_request_error' } });
	}
	for (const id of ['file-none', `file-${'0'.repeat(32)}`, '%00', '..%2f..', '__proto__', 'x'.repeat(1000)]) {
		for (const path of [`/files/${id}`, `/files/${id}/content`]) expect((await rig.get(path)).status).toBe(404);
		expect((await rig.get(`/files/${id}`, { method: 'DELETE' })).status).toBe(404);
	}
	for (const query of ['limit=0', 'limit=10001', 'order=x', 'after=file-none']) {
		expect((await rig.get(`/files?${query}`)).status).toBe(400);
	}
});

test('F12: a request that names uploads again and again is refused once they come to too much', async () => {
	const client = await open([text('Read.')]);
	const { id } = await upload(client, 'big.bin', Buffer.alloc(30 * 1024 * 1024, 7));
	const naming = (times: number) =>
		client.responses.create({
			model: 'any',
			input: Array.from({ length: times }, () => ({
				role: 'user' as const,
				content: [{ type: 'input_file' as const, file_id: id }]
			}))
		});
	await expect(naming(1000)).rejects.toMatchObject({
		...{ status: 400, code: 'too_large', param: 'input[3].content[0].file_id' }
	});
	expect((await naming(3)).output_text).toBe('Read.');
});
