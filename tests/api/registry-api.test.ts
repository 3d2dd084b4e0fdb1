/** The registry endpoints: settings, list, executions, export and scores, with their status codes. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillExecutionList } from '../../src/lib/shared/try-out.ts';
import type { SkillList, SkillScoreList } from '../../src/lib/shared/skills.ts';
import type { Settings } from '../../src/lib/shared/settings.ts';
import * as list from '../../src/routes/api/skills/+server.ts';
import * as skill from '../../src/routes/api/skills/[...id]/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import * as execution from '../../src/routes/api/skills/executions/[id]/+server.ts';
import * as download from '../../src/routes/api/skills/executions/export/+server.ts';
import * as reload from '../../src/routes/api/skills/reload/+server.ts';
import * as score from '../../src/routes/api/skills/score/+server.ts';
import * as settings from '../../src/routes/api/settings/+server.ts';
import { checkedAnswer } from '../support/checked-answer.ts';

const root = sharedFolder();
let app: App;
beforeAll(async () => {
	await put('demo/SKILL.md', '---\nname: demo\ndescription: Says things.\n---\nText.');
	await put('demo/scripts/say.sh', 'echo "said: $*"\n');
	await put('demo/scripts/sleep.sh', 'echo begun; exec sleep 600\n');
	app = await open();
});
afterAll(async () => {
	await app.close();
});

const open = (env: Record<string, string> = {}) =>
	createApp(
		loadConfig({
			...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' },
			...{ SKILLS_TIMEOUT_MS: '300', ...env }
		})
	);

async function put(path: string, text: string): Promise<void> {
	const file = join(root, 'skills', path);
	await mkdir(dirname(file), { recursive: true });
	await writeFile(file, text);
}

interface Asked {
	query?: string;
	id?: string;
	body?: unknown;
	/** Sent unchanged, for bodies that aren't JSON. */
	text?: string;
}

/** Calls a handler with the parts of an event that handlers use. */
async function send<Answer>(
	handler: (event: never) => Response | Promise<Response>,
	{ query = '', id = '', body, text = JSON.stringify(body) }: Asked = {}
) {
	const url = new URL(`http://localhost/?${query}`);
	const request = new Request(url, text === undefined ? {} : { method: 'POST', body: text });
	const event = { url, request, params: { id }, locals: { app, caller: MANAGER } };
	const response = await checkedAnswer(handler, await handler(event as never));
	const answer = await response.text();
	return { status: response.status, text: answer, body: parsed(answer) as Answer & { error?: { message: string } } };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

const run = (body: unknown) => send<{ execution: { id: string; status: string } }>(executions.POST, { body });

test.each([
	['page=0', 'page'],
	['limit=201', 'limit'],
	['mode=sometimes', 'mode'],
	['status=fine', 'status'],
	[`q=${'x'.repeat(1001)}`, 'q']
])('E2: the list refuses %.20s, and names the field', async (query, field) => {
	const { status, body } = await send(list.GET, { query });
	expect(status).toBe(400);
	expect(body.error?.message).toMatch(new RegExp(`^${field} (must|has) `));
});

test('E2: the list has its skills under both names, the total, the pages and the active provider', async () => {
	const { body } = await send<SkillList>(list.GET, { query: 'limit=2&source=builtin&mode=&q=' });
	expect(body.skills).toEqual(body.data);
	expect(body.data).toHaveLength(2);
	expect(body).toMatchObject({ page: 1, limit: 2, provider: 'skillssh', popularDefaults: [] });
	expect(body.totalPages).toBe(Math.ceil(body.total / 2));
	expect((await send<SkillList>(list.GET, { query: 'q=nothing+has+this' })).body).toMatchObject({
		...{ data: [], total: 0, totalPages: 1 }
	});
});

test('E3: a skill that is not there is 404, a patch that changes nothing 400', async () => {
	expect((await send(skill.PUT, { id: 'ghost', body: { mode: 'on' } })).status).toBe(404);
	expect((await send(skill.PUT, { id: 'demo', body: {} })).status).toBe(400);
	expect((await send(skill.PUT, { id: 'demo', text: '{' })).status).toBe(400);
	expect((await send(skill.PUT, { id: 'demo', body: { mode: 'sometimes' } })).body.error?.message).toMatch(
		/^mode must /
	);
});

test('E34: a reload finds what was edited by hand', async () => {
	const before = (await send<SkillList>(list.GET)).body.revision;
	await put('later/SKILL.md', '---\nname: later\ndescription: Came later.\n---\nText.');
	const { revision } = (await send<{ revision: string }>(reload.POST)).body;
	expect(revision).not.toBe(before);
	const { body } = await send<SkillList>(list.GET, { query: 'q=came+later' });
	expect(body).toMatchObject({ revision, data: [{ id: 'later' }] });
});

test.each([
	['E10: a body that is no JSON', 400, { text: '{' }],
	['E10: a body that names nothing to run', 400, { body: { skillName: 'demo' } }],
	['E10: a skill that is not there', 404, { body: { skillName: 'ghost', script: 'x.sh' } }],
	['E10: a script that is not there', 404, { body: { skillName: 'demo', script: 'scripts/ghost.sh' } }],
	['E10: a key that nobody knows', 400, { body: { skillName: 'demo', script: 'scripts/say.sh', force: true } }]
])('%s: %i', async (_name, status, asked) => {
	expect((await send(executions.POST, asked)).status).toBe(status);
});

test('E10: an execution that is not there can neither be shown nor ended', async () => {
	expect((await send(execution.GET, { id: "' or 1=1--" })).status).toBe(404);
	expect((await send(execution.DELETE, { id: 'ghost' })).status).toBe(404);
});

test('E10, E12: what ran and what took too long are found by status, skill, key and time, and paged', async () => {
	expect((await run({ skillName: 'demo', script: 'scripts/say.sh', args: ['hi'], apiKeyId: 'team-a' })).status).toBe(
		201
	);
	const late = await run({ skillName: 'demo', script: 'scripts/sleep.sh', apiKeyId: 'team-b' });
	expect(late.body.execution.status).toBe('timeout');
	const found = async (query: string) => {
		const { body } = await send<SkillExecutionList>(executions.GET, { query });
		return { ids: body.data.map(({ apiKeyId, status }) => [apiKeyId, status]), total: body.total };
	};
	expect(await found('status=timeout')).toEqual({ ids: [['team-b', 'timeout']], total: 1 });
	expect(await found('apiKeyId=team-a&skill=demo')).toEqual({ ids: [['team-a', 'success']], total: 1 });
	expect((await found('limit=1&page=2')).ids).toEqual([['team-a', 'success']]);
	expect((await found('since=2999-01-01T00:00:00Z')).total).toBe(0);
	const { status, body } = await send(executions.GET, { query: "until=2999-01-01T00:00:00Z'+or+'1" });
	expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^until must /)]);
});

test('E29: the history downloads as CSV and as JSON, narrowed like the list', async () => {
	const csv = await send(download.GET, { query: 'format=csv&apiKeyId=team-a' });
	expect(csv.text.split('\r\n').filter(Boolean)).toHaveLength(2);
	expect((await send(download.GET, { query: 'apiKeyId=team-a' })).body).toMatchObject([{ status: 'success' }]);
	expect((await send(download.GET, { query: 'format=xlsx' })).body.error?.message).toMatch(/^format must /);
});

test('D10: the time limit of scripts is a setting, and counts for the next run', async () => {
	const set = (scriptTimeoutMs: number | null) => send<Settings>(settings.PUT, { body: { scriptTimeoutMs } });
	const sleep = async () => {
		const { body } = await run({ skillName: 'demo', script: 'scripts/sleep.sh' });
		return (await send(execution.GET, { id: body.execution.id })).body;
	};
	expect((await set(120)).body.limits.scriptTimeoutMs).toBe(120);
	expect(JSON.stringify(await sleep())).toContain('ran for 0.12 s');
	expect((await set(null)).body.limits.scriptTimeoutMs).toBe(300);
	expect(JSON.stringify(await sleep())).toContain('ran for 0.3 s');
	expect((await set(10)).status).toBe(400);
});

test('E11: switched off in the settings, nothing is executed (503), and the registry still lists', async () => {
	const off = await send<Settings>(settings.PUT, { body: { skillsEnabled: false } });
	expect(off.body).toMatchObject({ skillsEnabled: false, canEnableSkills: true });
	expect((await run({ skillName: 'demo', script: 'scripts/say.sh' })).status).toBe(503);
	expect((await run({ skillName: 'file_read', input: { path: 'x' } })).status).toBe(503);
	expect((await send<SkillList>(list.GET)).body.total).toBeGreaterThan(1);
	expect((await send<SkillScoreList>(score.POST, { body: { text: 'say' } })).body.data.length).toBeGreaterThan(0);
	await send(settings.PUT, { body: { skillsEnabled: true } });
	expect((await run({ skillName: 'demo', script: 'scripts/say.sh' })).status).toBe(201);
});

test('B6: a skill that is off is not executed: 409', async () => {
	await send(skill.PUT, { id: 'demo', body: { enabled: false } });
	expect((await run({ skillName: 'demo', script: 'scripts/say.sh' })).status).toBe(409);
	await send(skill.PUT, { id: 'demo', body: { enabled: true } });
});

test.each([
	['nothing', {}, 'body'],
	['a provider that is none', { skillsProvider: 'npm' }, 'skillsProvider'],
	['a number that is none', { autoMaxSkills: 1.5 }, 'autoMaxSkills'],
	['a key of blanks', { skillsmpApiKey: '          ' }, 'skillsmpApiKey'],
	['what nobody knows', { admin: true }, 'body']
])('E1: settings refuse %s, and name the field', async (_name, body, field) => {
	const before = (await send<Settings>(settings.GET)).body;
	const answer = await send(settings.PUT, { body });
	expect(answer.status).toBe(400);
	expect(answer.body.error?.message).toMatch(new RegExp(`^${field} (must|has) `));
	expect((await send<Settings>(settings.GET)).body).toEqual(before);
});

test('E1, B8: a key goes in and does not come out; the limits of scoring count at once', async () => {
	const body = { skillsmpApiKey: 'sk_live_0123456789', autoMaxSkills: 0, skillsProvider: 'github' };
	const { text } = await send<Settings>(settings.PUT, { body });
	expect(text + (await send(settings.GET)).text).not.toContain('sk_live');
	expect(app.settings.skillsmpApiKey()).toBe('sk_live_0123456789');
	expect((await send<SkillScoreList>(score.POST, { body: { text: 'demo' } })).body.autoMaxSkills).toBe(0);
	expect((await send<SkillList>(list.GET)).body.provider).toBe('github');
});

test('E11: SKILLS_ENABLED=false is 409 to whoever wants them on', async () => {
	const other = await open({ SKILLS_ENABLED: 'false', DATA_DIR: join(root, 'other') });
	const before = app;
	app = other;
	try {
		expect((await send(settings.PUT, { body: { skillsEnabled: true } })).status).toBe(409);
		expect((await run({ skillName: 'demo', script: 'scripts/say.sh' })).status).toBe(503);
		expect((await send<SkillList>(list.GET)).body.total).toBeGreaterThan(1);
	} finally {
		app = before;
		await other.close();
	}
});
