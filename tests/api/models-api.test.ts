/** The endpoints for models, the account and their settings, with a server that plays OpenRouter. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { emptyFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { Health } from '../../src/lib/shared/api.ts';
import type { KeyStatus, LocalServer, ModelList, SignInStart } from '../../src/lib/shared/models.ts';
import type { Settings } from '../../src/lib/shared/settings.ts';
import * as signIn from '../../src/routes/api/account/sign-in/+server.ts';
import * as complete from '../../src/routes/api/account/sign-in/complete/+server.ts';
import * as models from '../../src/routes/api/models/+server.ts';
import * as check from '../../src/routes/api/models/check/+server.ts';
import * as local from '../../src/routes/api/models/local/+server.ts';
import * as settings from '../../src/routes/api/settings/+server.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { checkedAnswer } from '../support/checked-answer.ts';
import { startOpenRouter, type OpenRouterServer } from '../support/openrouter-server.ts';

const KEY = 'sk-or-v1-0123456789abcdef';

const root = emptyFolder();
let app: App;
let server: OpenRouterServer;
const logged: string[] = [];
beforeEach(async () => {
	server = await startOpenRouter();
	server.answers['/key'] = { json: { data: { label: 'Mine', limit: null, limit_remaining: null, usage: 1 } } };
	logged.length = 0;
	for (const stream of [process.stdout, process.stderr]) {
		vi.spyOn(stream, 'write').mockImplementation((chunk) => {
			logged.push(String(chunk));
			return true;
		});
	}
	app = await open();
});
afterEach(async () => {
	vi.restoreAllMocks();
	await app.close();
	await server.close();
});

const open = (env: Record<string, string> = {}) =>
	createApp(
		loadConfig({
			...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' },
			...{ MODEL_PORTS: new URL(server.origin).port, ...env }
		})
	);

/** Every response, to search for what must not be in it. */
const answers: string[] = [];

async function send<Answer>(handler: (event: never) => Response | Promise<Response>, body?: unknown) {
	const headers = { host: '127.0.0.1:3000', 'content-type': 'application/json' };
	const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
	const request = new Request('http://127.0.0.1:3000/', { ...init, headers });
	const event = { url: new URL(request.url), request, params: {}, locals: { app, caller: MANAGER } };
	const response = await checkedAnswer(handler, await handler(event as never));
	const text = await response.text();
	answers.push(text, JSON.stringify([...response.headers]));
	return { status: response.status, body: JSON.parse(text) as Answer & { error?: { code: string; message: string } } };
}

const change = (patch: unknown) => send<Settings>(settings.PUT, patch);

/** Everything on disk, as text. */
async function stored(): Promise<string> {
	const files = await readdir(join(root, 'data'), { recursive: true, withFileTypes: true });
	const texts = files
		.filter((file) => file.isFile())
		.map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
	return (await Promise.all(texts)).join('\n');
}

test('F9, F11: a server and a key that are set while the app runs answer at once, and after a restart', async () => {
	expect(app.models.current()).toMatchObject({ offline: true, baseUrl: null } satisfies Partial<Health['model']>);
	expect((await send<ModelList>(models.GET)).body).toMatchObject({ data: [], baseUrl: null });
	const { body } = await change({ modelBaseUrl: server.baseUrl, modelApiKey: KEY, model: 'acme/large' });
	expect(body.model).toMatchObject({ baseUrl: server.baseUrl, keyFrom: 'settings', isOffline: false, canSignIn: true });
	expect(app.models.current()).toEqual({ id: 'acme/large', offline: false, baseUrl: server.baseUrl });
	expect((await send<ModelList>(models.GET)).body).toMatchObject({ data: [{ id: 'acme/large' }], problem: null });
	expect(server.requests.at(-1)).toMatchObject({ authorization: `Bearer ${KEY}` });
	await app.close();
	app = await open();
	expect(app.models.current()).toEqual({ id: 'acme/large', offline: false, baseUrl: server.baseUrl });
});

test('F9: signing in stores a key, which is used from then on', async () => {
	await change({ modelBaseUrl: server.baseUrl });
	const returnTo = 'http://127.0.0.1:3000/settings';
	const { body } = await send<SignInStart>(signIn.POST, { returnTo });
	const { searchParams } = new URL(body.url);
	const state = new URL(searchParams.get('callback_url') ?? '').searchParams.get('state');
	server.allow('the-code', searchParams.get('code_challenge') ?? '', KEY);
	const completed = await send<Settings>(complete.POST, { code: 'the-code', state });
	expect(completed.body.model.keyFrom).toBe('settings');
	await send<KeyStatus>(check.POST, {});
	expect(server.requests.find(({ url }) => url.endsWith('/key'))?.authorization).toBe(`Bearer ${KEY}`);
	const again = await send(complete.POST, { code: 'the-code', state });
	expect(again).toMatchObject({ status: 400, body: { error: { code: 'invalid_input' } } });
	const elsewhere = await send(signIn.POST, { returnTo: 'http://127.0.0.1:3001/settings' });
	expect(elsewhere).toMatchObject({ status: 400, body: { error: { code: 'invalid_input' } } });
});

test('F9: a key of a sign-in that ends after another server was set is not kept', async () => {
	await change({ modelBaseUrl: server.baseUrl });
	const { body } = await send<SignInStart>(signIn.POST, { returnTo: 'http://127.0.0.1:3000/' });
	const { searchParams } = new URL(body.url);
	const state = new URL(searchParams.get('callback_url') ?? '').searchParams.get('state');
	server.allow('the-code', searchParams.get('code_challenge') ?? '', KEY);
	await change({ modelBaseUrl: null });
	expect((await send(complete.POST, { code: 'the-code', state })).status).toBe(409);
	expect((await send<Settings>(settings.GET)).body.model).toMatchObject({ keyFrom: null, isOffline: true });
});

test('F11: servers on this machine are found at the ports that are set', async () => {
	expect((await send<{ data: LocalServer[] }>(local.GET)).body.data).toEqual([]);
	const plain = await startOpenRouter('/v1');
	try {
		await app.close();
		app = await open({ MODEL_PORTS: `${new URL(plain.origin).port}` });
		const { body } = await send<{ data: LocalServer[] }>(local.GET);
		expect(body.data).toMatchObject([{ baseUrl: plain.baseUrl, models: ['acme/large'] }]);
		expect(plain.requests.map(({ authorization }) => authorization)).toEqual([undefined]);
	} finally {
		await plain.close();
	}
});

test.each([
	[{ modelBaseUrl: 'ftp://host/v1' }, 'modelBaseUrl'],
	[{ modelBaseUrl: 'http://user:secret@host/v1' }, 'modelBaseUrl'],
	[{ modelBaseUrl: 'http://host/v1?key=secret' }, 'modelBaseUrl'],
	[{ modelApiKey: 'two words' }, 'modelApiKey'],
	[{ effort: 'hard' }, 'effort'],
	[{ maxSteps: 0 }, 'maxSteps']
])('F11: %j is refused, with the field named and nothing changed', async (patch, field) => {
	const before = app.settings.current();
	const { status, body } = await change(patch);
	expect(status).toBe(400);
	expect(body.error?.message).toMatch(new RegExp(`^${field}`));
	expect(app.settings.current()).toEqual(before);
});

test('SECURITY Outbound requests: a key is in no answer, no error, no log and no file, whatever is done with it', async () => {
	const others = [`${server.origin}/v1`, 'http://127.0.0.1:1/api/v1'];
	server.answers['/models'] = { status: 401, json: { error: { message: `Bad key ${KEY}` } } };
	await change({ modelBaseUrl: server.baseUrl, modelApiKey: KEY, model: 'acme/large' });
	await send(models.GET);
	await send(check.POST, {});
	for (const baseUrl of others) await send(check.POST, { apiKey: KEY, baseUrl });
	server.answers['/key'] = { json: { data: { label: KEY, usage: 1 } } };
	await send(check.POST, { apiKey: KEY });
	server.answers['/key'] = (_request, response) => void response.end(KEY);
	await send(check.POST, { apiKey: KEY });
	await send(settings.GET);
	const run = { conversationId: 'c', runId: 'r', kind: 'ask' as const, tools: [] };
	await app.runner.start({ ...run, message: { id: 'q', text: 'hello', files: [] } });
	const events = await app.runner.follow('r', 0, new AbortController().signal);
	for await (const batch of events ?? []) answers.push(...batch.map(({ data }) => data));
	expect(answers.some((text) => text.includes('model_not_found') || text.includes('unauthorized'))).toBe(true);
	expect(answers.join('\n')).not.toContain(KEY);
	expect(logged.join('\n')).not.toContain(KEY);
	expect(await stored()).not.toContain(KEY);
	expect(server.requests.some(({ authorization }) => authorization === `Bearer ${KEY}`)).toBe(true);
});
