/** The endpoint for setting skills' secrets: nothing that was sent ever comes back. */
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillNeeds } from '../../src/lib/shared/skills.ts';
import { GET, PUT } from '../../src/routes/api/skills/[...id]/secrets/+server.ts';
import { checkedAnswer } from '../support/checked-answer.ts';

const root = sharedFolder();
let app: App;

beforeAll(async () => {
	await mkdir(join(root, 'skills', 'demo'), { recursive: true });
	const text = '---\nname: demo\ndescription: A demo.\nmetadata:\n  env: API_KEY\n---\nBody.';
	await writeFile(join(root, 'skills', 'demo', 'SKILL.md'), text);
	app = await createApp(
		loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' })
	);
});
afterAll(async () => {
	await app.close();
});

async function send(handler: typeof PUT | typeof GET, id: string, body?: string) {
	const url = new URL('http://localhost/');
	const request = new Request(url, body === undefined ? {} : { method: 'PUT', body });
	const event = { url, params: { id }, request, locals: { app, client: '', caller: MANAGER } };
	const response = await checkedAnswer(handler, await handler(event as never));
	return { status: response.status, text: await response.text() };
}

test.each([
	['no JSON', '{"API_KEY": hush-hush}'],
	['no record', '["hush-hush"]'],
	['a value that is no text', '{"API_KEY": {"hush-hush": 1}}'],
	['no value', '{"API_KEY": "", "B_KEY": "hush-hush"}'],
	['a value with a NUL', '{"API_KEY": "hush-hush\\u0000"}'],
	['a name that decides how programs start', '{"API_KEY": "hush-hush", "LD_PRELOAD": "hush-hush"}']
])('F3: %s is refused, without what was sent, and stores nothing', async (_name, body) => {
	const { status, text } = await send(PUT, 'demo', body);
	expect(status).toBe(400);
	expect(text).not.toContain('hush');
	expect(JSON.parse((await send(GET, 'demo')).text)).toMatchObject({ variables: [{ name: 'API_KEY', isSet: false }] });
});

test.each(['Demo', 'other', 'demo@2.0.0', '__proto__', 'x/demo'])('F3: there is no skill “%s”', async (id) => {
	const { status, text } = await send(PUT, id, '{"API_KEY": "hush-hush"}');
	expect(status).toBe(404);
	expect(text).not.toContain('hush');
});

test('F3: a value is stored, shown as set and never sent back, and is removed with null', async () => {
	const source = app.skills.registry.snapshot().skills[0]?.source ?? '';
	const stored = await send(PUT, `${source}/demo`, '{"API_KEY": "hush-hush"}');
	expect(stored.status).toBe(200);
	const needs = JSON.parse(stored.text) as SkillNeeds;
	expect(needs.variables).toEqual([
		{ name: 'API_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: true, setBy: 'secret' }
	]);
	expect(stored.text + (await send(GET, 'demo')).text).not.toContain('hush');
	expect(await app.vault.valuesOf(`${source}/demo`)).toEqual({ API_KEY: 'hush-hush' });
	await send(PUT, 'demo', '{"API_KEY": null}');
	expect(await app.vault.valuesOf(`${source}/demo`)).toEqual({});
});
