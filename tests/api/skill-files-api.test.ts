/** Creating, editing, checking and exporting skills over HTTP: bodies, codes, and what stays on disk (F1, F4, F8). */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putFile, sharedFolder } from '../support/folder.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type { StagedInstall } from '../../src/lib/shared/install.ts';
import type { SkillCheck, SkillDetail, SkillFileText, SkillList } from '../../src/lib/shared/skills.ts';
import * as list from '../../src/routes/api/skills/+server.ts';
import * as skill from '../../src/routes/api/skills/[...id]/+server.ts';
import * as check from '../../src/routes/api/skills/[...id]/check/+server.ts';
import * as download from '../../src/routes/api/skills/[...id]/export/+server.ts';
import * as file from '../../src/routes/api/skills/[...id]/file/+server.ts';
import * as staging from '../../src/routes/api/skills/install/staged/+server.ts';
import * as staged from '../../src/routes/api/skills/install/staged/[id]/+server.ts';
import { changeSkill, describeSkill } from '../../src/lib/server/skill-admin/skill-details.ts';
import {
	listEdits,
	readSkillFile,
	returnToEdit,
	writeSkillFile
} from '../../src/lib/server/skill-admin/skill-editor.ts';
import { checkedAnswer } from '../support/checked-answer.ts';

const root = sharedFolder();
let app: App;
const SKILL = '---\nname: demo\ndescription: Says things.\n---\nText.\n';
beforeAll(async () => {
	await put('demo/SKILL.md', SKILL);
	await put('demo/scripts/say.sh', 'echo hi\n');
	app = await createApp(
		loadConfig({ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), SKILLS_SANDBOX: 'process' })
	);
});
afterAll(async () => {
	await app.close();
});

const put = (path: string, text: string) => putFile(join(root, 'skills'), path, text);

interface Asked {
	query?: string;
	id?: string;
	body?: unknown;
}

async function answer(handler: (event: never) => Response | Promise<Response>, { query = '', id = '', body }: Asked) {
	const url = new URL(`http://localhost/?${query}`);
	const request = new Request(url, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
	const event = { url, request, params: { id }, locals: { app, caller: MANAGER } };
	return checkedAnswer(handler, await handler(event as never));
}

async function send<Answer = { error: { code: string; message: string } }>(
	handler: (event: never) => Response | Promise<Response>,
	asked: Asked = {}
) {
	const response = await answer(handler, asked);
	const text = await response.text();
	return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Answer };
}

test('F1: a file is read, written and removed; the list follows', async () => {
	const { body: before } = await send<SkillFileText>(file.GET, { id: 'demo', query: 'path=SKILL.md' });
	expect(before).toMatchObject({ text: SKILL, isWritable: true, skill: 'demo' });
	const text = SKILL.replace('things', 'other things');
	const written = await send<SkillFileText>(file.PUT, {
		id: 'demo',
		body: { path: 'SKILL.md', text, digest: before.digest }
	});
	expect(written).toMatchObject({ status: 200, body: { text } });
	expect((await send<SkillDetail>(skill.GET, { id: 'demo' })).body.description).toBe('Says other things.');
	const again = await send(file.PUT, { id: 'demo', body: { path: 'SKILL.md', text: SKILL, digest: before.digest } });
	expect(again).toMatchObject({ status: 409, body: { error: { details: { digest: written.body.digest } } } });
	await send(file.PUT, { id: 'demo', body: { path: 'notes.md', text: 'x', digest: null } });
	expect((await send(file.DELETE, { id: 'demo', query: 'path=notes.md' })).status).toBe(204);
	await expect(readFile(join(root, 'skills/demo/notes.md'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([
	['a path that leads out', { path: '../x', text: '', digest: null }, 400],
	['an absolute path', { path: '/etc/x', text: '', digest: null }, 400],
	['a path with a backslash', { path: 'a\\b', text: '', digest: null }, 400],
	['a name that ends in a dot', { path: 'a./b', text: '', digest: null }, 400],
	['no digest', { path: 'x', text: '' }, 400],
	['a key of no meaning', { path: 'x', text: '', digest: null, mode: 7 }, 400],
	['more than 2 MB', { path: 'x', text: 'x'.repeat(2 * 1024 * 1024 + 1), digest: null }, 400]
])('F1: writing a file is refused with %s', async (_, body, status) => {
	expect((await send(file.PUT, { id: 'demo', body })).status).toBe(status);
});

test.each([
	['a built-in skill', 'builtin/file_read', 400],
	['no skill', 'ghost', 404]
])('F1, F8: %s has no file, no check and no archive', async (_, id, status) => {
	expect((await send(file.GET, { id, query: 'path=SKILL.md' })).status).toBe(status);
	expect((await send(file.PUT, { id, body: { path: 'SKILL.md', text: '', digest: null } })).status).toBe(status);
	expect((await send(check.POST, { id, body: { text: '' } })).status).toBe(status);
	expect((await answer(download.GET, { id })).status).toBe(status);
});

test('F1: a file of any kind is served as bytes that never act as a page; nothing beside the skill is', async () => {
	const dot = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
	await mkdir(join(root, 'skills/demo/assets'), { recursive: true });
	await writeFile(join(root, 'skills/demo/assets/dot.png'), dot);
	await put('demo/assets/page.html', '<script>alert(1)</script>');
	await put('secret.txt', 'not of the skill');
	await symlink(join(root, 'skills/secret.txt'), join(root, 'skills/demo/assets/link.txt'));
	await symlink(join(root, 'skills'), join(root, 'skills/demo/up'));
	const get = (path: string, more = '') =>
		answer(file.GET, { id: 'demo', query: `format=file&path=${encodeURIComponent(path)}${more}` });
	const picture = await get('assets/dot.png');
	expect(Buffer.from(await picture.arrayBuffer())).toEqual(dot);
	expect(picture.headers.get('content-type')).toBe('image/png');
	const page = await get('assets/page.html');
	expect(page.headers.get('content-disposition')).toMatch(/^attachment/);
	expect(page.headers.get('content-type')).toBe('application/octet-stream');
	await page.text();
	const viewed = await get('assets/page.html', '&view=plain');
	expect(viewed.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/);
	await viewed.text();
	for (const path of ['../secret.txt', 'assets/link.txt', 'up/secret.txt', 'assets', 'none.png']) {
		const refused = await get(path);
		expect([path, refused.status >= 400, (await refused.text()).includes('not of the skill')]).toEqual([
			path,
			true,
			false
		]);
	}
	await rm(join(root, 'skills/demo/up'));
	await rm(join(root, 'skills/demo/assets'), { recursive: true });
});

test('F1: a text is checked as the SKILL.md of its folder, with fixes, and nothing is written', async () => {
	const text = '---\nname: Other Name\ndescription: Use when: asked\n---\nText.\n';
	const { body } = await send<SkillCheck>(check.POST, { id: 'demo', body: { text } });
	expect(body.issues).toEqual(
		expect.arrayContaining([expect.objectContaining({ field: 'name', line: 2, fixId: 'name', severity: 'error' })])
	);
	const fixed = await send<SkillCheck>(check.POST, { id: 'demo', body: { text: body.fixes.name } });
	expect(fixed.body).toMatchObject({ name: 'demo', status: 'ready' });
	const torn = await send<SkillCheck>(check.POST, { id: 'demo', body: { text: 'no front matter' } });
	expect(torn.body).toMatchObject({ status: 'broken', issues: [{ severity: 'error', line: 1 }] });
	const right = await send<SkillCheck>(check.POST, { id: 'demo', body: { text: SKILL } });
	expect(right.body).toEqual({
		...{ status: 'ready', name: 'demo', description: 'Says things.', issues: [], fixes: {}, tokens: 2 }
	});
	expect(await readFile(join(root, 'skills/demo/SKILL.md'), 'utf8')).not.toContain('Other Name');
});

test('F8: a skill is made from a template and in the list at once; its name is then taken', async () => {
	const body = { name: 'made-here', description: 'Does things.', template: 'tools' };
	expect(await send<SkillDetail>(list.POST, { body })).toMatchObject({
		status: 201,
		body: { id: 'made-here', status: 'ready', tools: ['made_here'], trust: 'trusted' }
	});
	const { body: listed } = await send<SkillList>(list.GET);
	expect(listed.data.map(({ name }) => name)).toContain('made-here');
	expect((await send(list.POST, { body })).status).toBe(409);
});

test.each(['', 'Upper', 'a--b', '-a', 'a_b', '../x', 'a'.repeat(65)])('F8: no skill is named %j', async (name) => {
	const body = { name, description: 'x', template: 'instructions' };
	expect((await send(list.POST, { body })).status).toBe(400);
});

test('B9: the list says what telling of all its skills costs, without those that are off', async () => {
	const { body: before } = await send<SkillList>(list.GET);
	expect(before.catalog.budgetTokens).toBe(2000);
	expect(before.catalog.tokens).toBeGreaterThan(0);
	await send(skill.PUT, { id: 'demo', body: { mode: 'off' } });
	const { body: after } = await send<SkillList>(list.GET);
	expect(after.catalog.tokens).toBeLessThan(before.catalog.tokens);
	await send(skill.PUT, { id: 'demo', body: { mode: 'auto' } });
});

test('F4, F8: an archive of a skill is installed; an installed copy that is edited has to be trusted again', async () => {
	const response = await answer(download.GET, { id: 'demo' });
	expect(response.headers.get('content-type')).toBe('application/zip');
	expect(response.headers.get('content-disposition')).toBe('attachment; filename="demo.zip"');
	const url = new URL('http://localhost/');
	const headers = { 'content-type': 'application/zip' };
	const request = new Request(url, { method: 'POST', body: await response.arrayBuffer(), headers });
	const event = { url, request, params: {}, locals: { app, caller: MANAGER } } as never;
	const fetched = (await (await staging.POST(event)).json()) as StagedInstall;
	expect(fetched.skills).toMatchObject([{ path: 'demo', name: 'demo', status: 'ready', scripts: ['scripts/say.sh'] }]);
	await send(staged.POST, { id: fetched.id, body: {} });

	const id = 'installed/demo';
	const { body: detail } = await send<SkillDetail>(skill.GET, { id });
	await send(skill.PUT, { id, body: { trust: { digest: detail.digest, isTrusted: true } } });
	expect((await send<SkillDetail>(skill.GET, { id })).body.trust).toBe('trusted');
	const { body: script } = await send<SkillFileText>(file.GET, { id, query: 'path=scripts/say.sh' });
	const body = { path: 'scripts/say.sh', text: 'echo other\n', digest: script.digest };
	expect((await send(file.PUT, { id, body })).status).toBe(200);
	const { body: changed } = await send<SkillDetail>(skill.GET, { id });
	expect(changed).toMatchObject({ trust: 'changed', changes: [{ path: 'scripts/say.sh', kind: 'changed' }] });
});

test('F4: a return to files that were trusted, byte for byte, is trusted; not where another file differs, nor once trust was withdrawn', async () => {
	const skills = join(root, 'asked');
	await putFile(skills, 'kept/SKILL.md', SKILL.replace('demo', 'kept'));
	const asked = await createApp(
		loadConfig({ DATA_DIR: join(root, 'data-asked'), SKILLS_DIRS: skills, SKILLS_TRUST_LOCAL: 'ask' })
	);
	try {
		const now = new Date().toISOString();
		const stateOf = async () => (await describeSkill(asked, 'kept')).trust;
		const trust = async (isTrusted: boolean) => {
			const { digest } = await describeSkill(asked, 'kept');
			await changeSkill(asked, 'kept', { trust: { digest, isTrusted } }, now);
		};
		const write = async (path: string, text: string) => {
			const file = await readSkillFile(asked, 'kept', path).catch(() => null);
			await writeSkillFile(asked, 'kept', { path, text, digest: file?.digest ?? null });
		};
		const newest = async () => (await listEdits(asked, 'kept'))[0]?.id ?? '';

		// Never trusted, so a return brings no trust.
		await write('a.sh', 'echo never\n');
		const never = await newest();
		await write('b.md', 'b\n');
		await trust(true);
		await write('a.sh', 'echo 2\n');
		const first = await newest();
		await trust(true);
		await returnToEdit(asked, 'kept', never);
		expect(await stateOf()).toBe('changed');
		await returnToEdit(asked, 'kept', await newest());
		expect(await stateOf()).toBe('trusted');

		await returnToEdit(asked, 'kept', first);
		expect(await stateOf()).toBe('trusted');
		expect((await readSkillFile(asked, 'kept', 'a.sh')).text).toBe('echo never\n');

		// A file that nobody edited here: its bytes are no longer those that were trusted.
		await returnToEdit(asked, 'kept', await newest());
		await putFile(skills, 'kept/c.sh', 'echo planted\n');
		await returnToEdit(asked, 'kept', first);
		expect(await stateOf()).toBe('changed');
		await rm(join(skills, 'kept/c.sh'));
		expect(await stateOf()).toBe('changed');

		// Withdrawn: whatever was trusted before is asked about again, also once something else is trusted.
		await trust(true);
		await trust(false);
		await write('a.sh', 'echo 3\n');
		await trust(true);
		await returnToEdit(asked, 'kept', await newest());
		expect((await readSkillFile(asked, 'kept', 'a.sh')).text).toBe('echo never\n');
		expect(await stateOf()).toBe('changed');
	} finally {
		await asked.close();
	}
});
