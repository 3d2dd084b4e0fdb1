/** Fuzzes every API operation from its description: no request breaks the server or leaves work half done. */

import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiDescription } from '../../src/lib/page/connect/api-description.ts';
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import type { Settings, SettingsPatch } from '../../src/lib/shared/settings.ts';
import type { SkillList } from '../../src/lib/shared/skills.ts';
import type { App } from '../support/app-process.ts';
import { responseFrames } from '../support/model-frames.ts';
import { startOpenRouter, type OpenRouterServer } from '../support/openrouter-server.ts';
import { expect, test as base } from './app.ts';
import { concurrentRequests, fuzzRequests, withAddresses, type FuzzRequest } from './fuzz-requests.ts';

const AT_ONCE = 16;
const DUPLICATES = 8;
const SEED = Number(process.env.FUZZ_SEED ?? 6);
/** An address where nothing listens, so fetches fail. */
const NOWHERE = 'http://127.0.0.1:9';

const CATALOGS = ['GITHUB_API_URL', 'GITHUB_RAW_URL', 'SKILLSSH_URL', 'SKILLSSH_AUDIT_URL', 'SKILLSMP_URL'];

const test = base.extend<object, { openRouter: OpenRouterServer }>({
	openRouter: [
		// Playwright reads a fixture's dependencies from this pattern: none.
		// eslint-disable-next-line no-empty-pattern
		async ({}, use) => {
			const server = await startOpenRouter();
			server.answers['/responses'] = (_request, response) => {
				response.writeHead(200, { 'content-type': 'text/event-stream' });
				for (const frame of responseFrames([{ kind: 'text', chunks: ['Fine.'] }], (kind) => `${kind}_1`, {})) {
					response.write(`data: ${JSON.stringify(frame)}\n\n`);
				}
				response.end();
			};
			await use(server);
			await server.close();
		},
		{ scope: 'worker' }
	],
	appOptions: async ({ openRouter }, use) => {
		const model = { OPENROUTER_BASE_URL: openRouter.baseUrl, OPENROUTER_API_KEY: 'a-key', MODEL_PORTS: '9' };
		await use({ env: { ...model, ...Object.fromEntries(CATALOGS.map((name) => [name, NOWHERE])) } });
	}
});
test.setTimeout(120_000);

interface Answer {
	request: FuzzRequest;
	status: number;
	type: string;
	/** For short answers that aren't streams. */
	text: string;
}

async function send(app: App, request: FuzzRequest): Promise<Answer> {
	const { operation, url, headers, body } = request;
	const response = await fetch(app.url + url, {
		method: operation.method,
		headers,
		...(body === undefined ? {} : { body })
	});
	const type = response.headers.get('content-type') ?? '';
	// These continue while the client listens.
	if (type.startsWith('text/event-stream')) await response.body?.cancel();
	const text = response.bodyUsed || type.startsWith('text/event-stream') ? '' : await response.text();
	return { request, status: response.status, type, text };
}

async function sendAll(app: App, requests: readonly FuzzRequest[]): Promise<Answer[]> {
	const answers: Answer[] = [];
	const waiting = [...requests];
	const work = async (): Promise<void> => {
		for (let next = waiting.shift(); next; next = waiting.shift()) answers.push(await send(app, next));
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	return answers;
}

/** An API error: JSON with a code and a sentence. */
function isError({ type, text }: Answer): boolean {
	if (!type.startsWith('application/json')) return false;
	const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
	return typeof error?.code === 'string' && typeof error.message === 'string' && error.message !== '';
}

const brief = ({ request, status, text }: Answer): string => `${request.name} → ${status} ${text.slice(0, 200)}`;

async function read<Body>(app: App, path: string): Promise<Body> {
	const response = await fetch(app.url + path);
	expect(response.status, path).toBe(200);
	return (await response.json()) as Body;
}

/** Resets all settings to the server's configuration. */
async function restoreSettings(app: App, before: Settings): Promise<void> {
	const { skillsEnabled, skillsProvider, autoMaxSkills, autoMinScore } = before;
	const { presets } = await read<Settings>(app, '/api/settings');
	const patch: SettingsPatch = {
		presets: Object.fromEntries(Object.keys(presets).map((id) => [id, null])),
		...{ routing: null, instructions: null, autoTitles: null, catalogRequests: null, web: null },
		...{ skillsEnabled, skillsProvider, autoMaxSkills, autoMinScore, skillsmpApiKey: null },
		...{ modelBaseUrl: null, modelApiKey: null, model: null, effort: null },
		...{ maxSteps: null, maxCostUsd: null, maxDurationMs: null, scriptTimeoutMs: null }
	};
	const headers = { 'content-type': 'application/json' };
	const response = await fetch(`${app.url}/api/settings`, { method: 'PUT', headers, body: JSON.stringify(patch) });
	expect(await response.json()).toEqual(before);
}

const foldersIn = (path: string): Promise<string[]> => readdir(path).catch(() => []);

/** Disk and API agree, and no work is left half done. */
async function expectConsistent(app: App, answers: readonly Answer[]): Promise<void> {
	// Staged installs are expected until they're discarded.
	for (const { request, status, text } of answers) {
		if (status !== 201 || !/\/(staged|update)$/.test(request.operation.path)) continue;
		const { id } = JSON.parse(text) as { id: string };
		await fetch(`${app.url}/api/skills/install/staged/${id}`, { method: 'DELETE' });
	}
	expect(await foldersIn(join(app.dataDir, 'staging'))).toEqual([]);
	const { data, total } = await read<SkillList>(app, '/api/skills?source=installed&limit=200');
	expect(data).toHaveLength(total);
	const folders = data.map(({ path }) => path.split(/[\\/]/).at(-2));
	expect((await foldersIn(join(app.dataDir, 'skills'))).toSorted()).toEqual(folders.toSorted());
	expect(data.filter(({ status }) => status === 'broken')).toEqual([]);
	for (const path of ['skills', 'conversations', 'settings', 'health', 'openapi.json']) await read(app, `/api/${path}`);
	const trash = await read<{ data: { id: string }[] }>(app, '/api/skills/trash');
	expect((await foldersIn(join(app.dataDir, 'trash'))).toSorted()).toEqual(trash.data.map(({ id }) => id).toSorted());
	for (const status of ['pending', 'running']) {
		await expect
			.poll(async () => (await read<SkillExecutionList>(app, `/api/skills/executions?status=${status}`)).total)
			.toBe(0);
	}
	await read(app, '/api/skills/executions/export?format=json');
}

test('E2–E13, SECURITY Figures: no request made from the API’s description breaks the server or leaves half of anything', async ({
	app
}) => {
	console.log(`FUZZ_SEED=${SEED}`);
	const conversation = randomUUID();
	const file = `${app.url}/api/conversations/${conversation}/files/a.txt`;
	expect((await fetch(file, { method: 'PUT', body: 'a', headers: { 'content-type': 'text/plain' } })).status).toBe(201);
	const description = withAddresses(await read<ApiDescription>(app, '/api/openapi.json'), (field) =>
		field === 'returnTo' ? `${app.url}/account/callback` : `${NOWHERE}/api/v1`
	);
	const before = await read<Settings>(app, '/api/settings');
	const known = { skill: 'count-words', conversation };
	const requests = fuzzRequests(description, known, SEED);
	expect(requests.length).toBeGreaterThan(1000);

	const answers = await sendAll(app, requests);
	await restoreSettings(app, before);
	for (const same of concurrentRequests(description, known, DUPLICATES)) {
		answers.push(...(await Promise.all(same.map((request) => send(app, request)))));
	}

	await restoreSettings(app, before);

	// Each operation succeeded at least once.
	for (const id of ['changeSettings', 'checkModelKey', 'startSignIn', 'listModels', 'findLocalModelServers']) {
		const statuses = answers.filter(({ request }) => request.operation.operationId === id).map(({ status }) => status);
		expect(statuses, id).toContain(200);
	}
	// Full storage and disabled features have their own codes; any other 5xx is a bug.
	expect(answers.filter(({ status }) => status >= 500 && status !== 503).map(brief)).toEqual([]);
	expect(answers.filter((answer) => answer.status >= 400 && !isError(answer)).map(brief)).toEqual([]);
	// Answers match the description.
	const isDescribed = ({ request, status }: Answer): boolean => String(status) in request.operation.responses;
	expect(answers.filter((answer) => !isDescribed(answer)).map(brief)).toEqual([]);
	// Answers reveal neither install paths nor stack traces.
	expect(answers.filter(({ text }) => /\n\s+at .*:\d+:\d+|node_modules|SQLITE_/.test(text)).map(brief)).toEqual([]);
	expect(app.logs.filter((line) => /^\s+at |Error:/.test(line))).toEqual([]);
	expect(app.logs.filter((line) => line.startsWith('Listening on'))).toHaveLength(1);
	expect(({} as { isAdmin?: true }).isAdmin).toBeUndefined();
	await expectConsistent(app, answers);

	// Unsupported methods are refused in the same format.
	for (const [path, methods] of Object.entries(description.paths)) {
		const method = ['PUT', 'DELETE', 'POST', 'PATCH'].find((each) => !(each.toLowerCase() in methods)) ?? 'PUT';
		const headers = { 'content-type': 'application/json' };
		const response = await fetch(app.url + path.replace(/\{\w+\}/g, 'ghost'), { method, headers, body: '{}' });
		expect([response.status, await response.json()], `${method} ${path}`).toMatchObject([
			405,
			{ error: { code: 'method_not_allowed', message: expect.any(String) } }
		]);
	}
});
