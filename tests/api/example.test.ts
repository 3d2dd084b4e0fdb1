/** A skill's example: its message, and its files being added to a chat (E2, F7). */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import * as example from '../../src/routes/api/conversations/[id]/example/+server.ts';
import * as skills from '../../src/routes/api/skills/+server.ts';
import type { SkillList } from '../../src/lib/shared/skills.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

const root = emptyFolder();
let app: App;
let server: RouteServer;

beforeEach(async () => {
	const chart = await folder('chart', 'example: Chart these sales\n  example-title: A chart\n  icon: 📈');
	await putFile(chart, 'examples/sales.csv', 'region,sum\nNorth,1\n');
	await putFile(chart, 'examples/deep/more.csv', 'no');
	await folder('plain', 'icon: not one emoji');
	const sly = await folder('sly', `example: Show me\n  example-title: ${'b'.repeat(61)}`);
	await mkdir(join(sly, 'examples'));
	await writeFile(join(root, 'outside.txt'), 'secret');
	await symlink(join(root, 'outside.txt'), join(sly, 'examples', 'notes.txt'));
	await folder('wordy', `example: ${'a'.repeat(501)}`);
	app = await createApp(loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills') }));
	server = await serveRoutes(app, { '/api/conversations/[id]/example': example, '/api/skills': skills });
});
afterEach(async () => {
	await server.close();
	await app.close();
});

async function folder(name: string, metadata: string): Promise<string> {
	const dir = join(root, 'skills', name);
	await mkdir(dir, { recursive: true });
	const front = `name: ${name}\ndescription: Does ${name}. Use when asked.\nmetadata:\n  ${metadata}`;
	await writeFile(join(dir, 'SKILL.md'), `---\n${front}\n---\nDo it.`);
	return dir;
}

async function put(skill: string): Promise<{ status: number; body: unknown }> {
	const response = await fetch(`${server.url}/api/conversations/c1/example`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ skill })
	});
	return { status: response.status, body: await response.json() };
}

const inWorkspace = (name: string) => readFile(join(app.workspaces.path('c1'), name), 'utf8');

test('E2: the list says which example and which icon a skill brings', async () => {
	const { data } = (await (await fetch(`${server.url}/api/skills`)).json()) as SkillList;
	const of = (name: string) => data.find((skill) => skill.name === name);
	expect(of('chart')).toMatchObject({
		example: { title: 'A chart', prompt: 'Chart these sales', files: ['sales.csv'] },
		icon: '📈'
	});
	expect(of('sly')?.example?.title).toBe('Show me');
	expect(of('plain')).toMatchObject({ example: null, icon: null });
	expect(of('wordy')?.example).toBeNull();
	expect(of('wordy')?.diagnostics.map(({ message }) => message)).toEqual([
		'is longer than 500 characters, so it isn’t offered'
	]);
});

test('F7: its files come into a conversation that is new with them; what is there already stays', async () => {
	const first = await put('chart');
	expect(first).toMatchObject({ status: 200, body: { prompt: 'Chart these sales', files: [{ path: 'sales.csv' }] } });
	expect(await inWorkspace('sales.csv')).toBe('region,sum\nNorth,1\n');
	expect(await app.store.conversations.get('c1')).toMatchObject({ id: 'c1' });
	await writeFile(join(app.workspaces.path('c1'), 'sales.csv'), 'mine');
	expect((await put('chart')).body).toMatchObject({ files: [{ path: 'sales.csv', bytes: 4 }] });
	expect(await inWorkspace('sales.csv')).toBe('mine');
});

test('a skill without one has none to give, and a link leads nowhere', async () => {
	expect(await put('plain')).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
	const { body } = await put('sly');
	expect(JSON.stringify(body)).not.toContain('notes.txt');
	await expect(inWorkspace('notes.txt')).rejects.toThrow('ENOENT');
});
