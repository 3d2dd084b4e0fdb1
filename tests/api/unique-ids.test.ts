/** Every skill can be read by the id from the list, whatever else is in the folder (E2, F1). */
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putFile, sharedFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillDetail, SkillList } from '../../src/lib/shared/skills.ts';
import * as list from '../../src/routes/api/skills/+server.ts';
import * as one from '../../src/routes/api/skills/[...id]/+server.ts';
import { serveRoutes, type RouteServer } from '../support/route-server.ts';

/** Folders whose ids could clash with another: with a prefix character, a version, a built-in skill's name, an owner's. */
const BROKEN = [
	...['skills/install', 'skills/~install', 'skills/~~install', 'skills/~.', 'skills/a/~run', 'skills/a/run'],
	...[
		'skills/twin@1.0.0',
		'skills/twin~@1.0.0',
		'skills/twin~:1.0.0',
		'skills/twin:1.0.0',
		'skills/x~y',
		'skills/x~~y',
		'builtin/browser'
	],
	...['install/one', '~install/one', 'key.0123456789abcdef01234567/own', 'run@1.0.0/b', 'bi\u202edi/b']
];
const READY: [path: string, name: string][] = [
	['first/twin', 'twin'],
	['skills/twin', 'twin'],
	['skills/another-twin', 'twin'],
	['skills/third-twin', 'twin'],
	['first/sign', 'twin~'],
	['skills/sign', 'twin~'],
	['builtin/file_read', 'file_read'],
	['builtin/http', 'http']
];

const root = sharedFolder();
let app: App;
let server: RouteServer;

beforeAll(async () => {
	for (const path of BROKEN) await put(path, `---\nname: [\n---\nBroken.`);
	for (const [path, name] of READY) {
		await put(path, `---\nname: ${name}\ndescription: In ${path}.\nmetadata:\n  version: 1.0.0\n---\nText.`);
	}
	const roots = new Set(['first', 'skills', 'builtin', ...BROKEN.map((path) => path.split('/')[0] ?? '')]);
	const paths = [...roots].map((name) => join(root, name));
	const env = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: paths.join(delimiter), SKILLS_SANDBOX: 'process' };
	app = await createApp(loadConfig(env));
	server = await serveRoutes(app, { '/api/skills': list, '/api/skills/[...id]': one });
});
afterAll(async () => {
	await server.close();
	await app.close();
});

async function put(path: string, text: string): Promise<void> {
	await putFile(root, `${path}/SKILL.md`, text);
}
const read = async <Answer>(path: string) => (await (await fetch(`${server.url}${path}`)).json()) as Answer;

test('E2, F1: no two skills have one id, and each is read by its own', async () => {
	const { data } = await read<SkillList>('/api/skills?limit=200');
	const ids = data.map(({ id }) => id);
	expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
	for (const { id, path, status, trust } of data) {
		const address = id.split('/').map(encodeURIComponent).join('/');
		const detail = await read<SkillDetail>(`/api/skills/${address}`);
		expect([id, detail]).toMatchObject([id, { id, path, status, trust }]);
	}
	expect(data.filter(({ status }) => status === 'broken')).toHaveLength(BROKEN.length + 2);
	expect(data.find(({ path }) => path.includes('third-twin'))?.diagnostics).toMatchObject([
		{ field: 'name' },
		{ field: 'name', severity: 'error', message: expect.stringContaining('skills/another-twin') }
	]);
});

test('E2: a root of skills is called neither as the built-in ones nor as a key’s', async () => {
	const { data } = await read<SkillList>('/api/skills?limit=200');
	for (const { id, trust } of data) {
		if (trust !== 'builtin') expect(id).not.toMatch(/^builtin\/|^key\./);
		expect(id).not.toMatch(/[\u202e]/);
	}
	expect(data.filter(({ trust }) => trust === 'builtin').length).toBeGreaterThan(4);
});
