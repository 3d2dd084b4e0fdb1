/** Skills outside the project: in the user's own folders, and behind links (A27, F4), over HTTP. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { SkillDetail, SkillSummary } from '../../src/lib/shared/skills.ts';
import * as skills from '../../src/routes/api/skills/+server.ts';
import * as skill from '../../src/routes/api/skills/[...id]/+server.ts';
import * as executions from '../../src/routes/api/skills/executions/+server.ts';
import { hookRoutes, type Send } from '../support/hooked-routes.ts';

const ROUTES = {
	'/api/skills': skills,
	'/api/skills/[...id]': skill,
	'/api/skills/executions': executions
};

const root = sharedFolder();
let app: App;
let send: Send;

/** Adds a skill with a script. */
async function put(folder: string, name: string): Promise<void> {
	const files = {
		'SKILL.md': `---\nname: ${name}\ndescription: Says hello.\n---\nRun say.sh.`,
		'scripts/say.sh': 'echo hello\n'
	};
	for (const [path, text] of Object.entries(files)) {
		const file = join(root, folder, name, path);
		await mkdir(dirname(file), { recursive: true });
		await writeFile(file, text);
	}
}

beforeAll(async () => {
	await put('home/.claude/skills', 'of-claude');
	await put('home/.agents/skills', 'of-agents');
	await put('home/.config/agents/skills', 'of-config');
	await put('project/skills', 'own');
	await put('elsewhere', 'linked');
	await symlink(join(root, 'elsewhere/linked'), join(root, 'project/skills/linked'));
	const cwd = vi.spyOn(process, 'cwd').mockReturnValue(join(root, 'project'));
	vi.stubEnv('HOME', join(root, 'home'));
	const config = loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_SANDBOX: 'process' });
	cwd.mockRestore();
	vi.unstubAllEnvs();
	app = await createApp(config);
	send = hookRoutes(app, ROUTES);
});
afterAll(async () => {
	vi.unstubAllGlobals();
	await app.close();
});

const detailOf = async (id: string) =>
	(await (await send('GET', '/api/skills/[...id]', { params: { id } })).json()) as SkillDetail;
const run = async (skillName: string) =>
	(await send('POST', '/api/skills/executions', { body: { skillName, script: 'scripts/say.sh' } })).status;
const trust = async (id: string) => {
	const { digest } = await detailOf(id);
	return send('PUT', '/api/skills/[...id]', { params: { id }, body: { trust: { digest, isTrusted: true } } });
};

test('A27: what lies in the project is trusted by its place', async () => {
	expect(await detailOf('own')).toMatchObject({ trust: 'trusted', isTrustedByPlace: true });
	expect(await run('own')).toBe(201);
});

test.each(['of-claude', 'of-agents', 'of-config'])(
	'F4: a skill of the user’s own folders is found, and asks until somebody trusts it (%s)',
	async (name) => {
		expect(await detailOf(name)).toMatchObject({ trust: 'untrusted', isTrustedByPlace: false });
		expect(await run(name)).toBe(403);
		expect((await trust(name)).status).toBe(200);
		expect(await run(name)).toBe(201);
	}
);

test('F4: a linked folder that really lies elsewhere asks until somebody trusts it, and its page says why', async () => {
	const { data } = (await (await send('GET', '/api/skills')).json()) as { data: SkillSummary[] };
	expect(data.find(({ name }) => name === 'linked')).toMatchObject({ trust: 'untrusted' });
	const detail = await detailOf('linked');
	expect(detail).toMatchObject({ trust: 'untrusted', isTrustedByPlace: false });
	const told = JSON.stringify(detail.diagnostics);
	expect(told).toContain('is a link to a folder outside its skill folder');
	// Callers who may only list skills don't learn where the link points.
	expect(told).not.toContain(root);
	expect(JSON.stringify((await detailOf('own')).diagnostics)).not.toContain('leads out');
	expect(await run('linked')).toBe(403);
	expect((await trust('linked')).status).toBe(200);
	expect(await run('linked')).toBe(201);
	await writeFile(join(root, 'elsewhere/linked/scripts/say.sh'), 'echo other\n');
	expect(await run('linked')).toBe(403);
});
