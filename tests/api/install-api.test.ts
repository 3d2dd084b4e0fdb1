/** Installing skills over HTTP, from fake catalogs and from uploads: bodies, codes, and what stays on disk. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sharedFolder } from '../support/folder.ts';
import { MANAGER } from '../../src/lib/server/access/caller.ts';
import { createApp, type App } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import type {
	CatalogPage,
	InstalledSkill,
	OutdatedSkill,
	SkillVersions,
	StagedInstall,
	TrashedSkill
} from '../../src/lib/shared/install.ts';
import * as skill from '../../src/routes/api/skills/[...id]/+server.ts';
import * as rollback from '../../src/routes/api/skills/[...id]/rollback/+server.ts';
import * as update from '../../src/routes/api/skills/[...id]/update/+server.ts';
import * as versions from '../../src/routes/api/skills/[...id]/versions/+server.ts';
import * as install from '../../src/routes/api/skills/install/+server.ts';
import * as staging from '../../src/routes/api/skills/install/staged/+server.ts';
import * as staged from '../../src/routes/api/skills/install/staged/[id]/+server.ts';
import * as marketplace from '../../src/routes/api/skills/marketplace/+server.ts';
import * as marketplaceInstall from '../../src/routes/api/skills/marketplace/install/+server.ts';
import * as outdated from '../../src/routes/api/skills/outdated/+server.ts';
import * as skillssh from '../../src/routes/api/skills/skillssh/+server.ts';
import * as skillsshInstall from '../../src/routes/api/skills/skillssh/install/+server.ts';
import * as trash from '../../src/routes/api/skills/trash/+server.ts';
import * as trashed from '../../src/routes/api/skills/trash/[id]/+server.ts';
import {
	failing,
	playedEnvironment,
	startGithub,
	startSkillsmp,
	startSkillssh,
	type PlayedGithub,
	type PlayedSkillsmp,
	type PlayedSkillssh
} from '../support/catalog-servers.ts';
import { checkedAnswer } from '../support/checked-answer.ts';
import { zipOf } from '../support/zip-writer.ts';

const root = sharedFolder();
let app: App;
let github: PlayedGithub;
let sh: PlayedSkillssh;
let mp: PlayedSkillsmp;

const pdf = (body: string, version = '1.0.0') =>
	`---\nname: pdf\ndescription: Fills forms.\nmetadata:\n  version: "${version}"\n---\n${body}\n`;

beforeAll(async () => {
	const files = {
		'README.md': 'hello',
		'skills/pdf/SKILL.md': pdf('First.'),
		'skills/pdf/scripts/fill.sh': 'echo hi\n'
	};
	github = await startGithub({ repos: { 'acme/skills': { defaultBranch: 'trunk', branches: { trunk: files } } } });
	sh = await startSkillssh({ skills: [{ skillId: 'pdf', name: 'pdf', installs: 7, source: 'acme/skills' }] });
	const entry = { id: '1', name: 'pdf', author: 'acme', description: 'Fills forms.', stars: 3 };
	mp = await startSkillsmp({
		skills: [{ ...entry, githubUrl: 'https://github.com/acme/skills/tree/trunk/skills/pdf' }]
	});
	app = await createApp(
		loadConfig({
			...{ DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'none'), SKILLS_SANDBOX: 'process' },
			...playedEnvironment({ github, skillssh: sh, skillsmp: mp })
		})
	);
});
afterAll(async () => {
	await app.close();
	await Promise.all([github.close(), sh.close(), mp.close()]);
});
beforeEach(async () => {
	for (const { skills, shadowed } = app.skills.registry.snapshot(); skills.length + shadowed.length > 0;) {
		const each = [...skills, ...shadowed];
		for (const one of each) await app.installer.remove(one);
		break;
	}
	for (const { id } of await app.installer.trash()) await app.installer.purge(id);
	github.repos['acme/skills']!.branches.trunk!['skills/pdf/SKILL.md'] = pdf('First.');
	await app.settings.change({ skillsProvider: 'skillsmp' }, new Date().toISOString());
});

interface Asked {
	query?: string;
	id?: string;
	json?: unknown;
	body?: BodyInit;
	type?: string;
	signal?: AbortSignal;
}

interface Failed {
	error: { code: string; message: string; details?: { field?: string } };
}

async function send<Answer = Failed>(handler: (event: never) => Response | Promise<Response>, asked: Asked = {}) {
	const {
		query = '',
		id = '',
		json,
		body = json === undefined ? undefined : JSON.stringify(json),
		type,
		signal
	} = asked;
	const url = new URL(`http://localhost/?${query}`);
	const headers = new Headers(type === undefined ? [] : [['content-type', type]]);
	const made = body === undefined ? {} : { method: 'POST', body, headers, duplex: 'half' };
	const request = new Request(url, { ...made, ...(signal ? { signal } : {}) });
	const event = { url, request, params: { id }, locals: { app, caller: MANAGER } };
	const response = await checkedAnswer(handler, await handler(event as never));
	const text = await response.text();
	return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as Answer };
}

type Outcome = { installed: InstalledSkill[]; skipped: string[] };

const folders = (name: string) => readdir(join(root, 'data', name)).catch(() => []);
const fromGithub = { source: { type: 'github', repository: 'acme/skills' } };

test.each([
	['no object', [], 'body'],
	['an unknown key', { ...fromGithub, extra: 1 }, 'body'],
	['a source of no kind', { source: { type: 'ftp' } }, 'source.type'],
	['a conflict of no kind', { ...fromGithub, conflict: 'ask' }, 'conflict'],
	[
		'a custom skill without a handler',
		{ name: 'x', version: '1.0.0', description: 'd', schema: { input: {} } },
		'handlerCode'
	],
	[
		'a version of two numbers',
		{ name: 'x', version: '1.0', description: 'd', schema: { input: {} }, handlerCode: 'h' },
		'version'
	],
	[
		'a name of 101 characters',
		{ name: 'x'.repeat(101), version: '1.0.0', description: 'd', schema: { input: {} }, handlerCode: 'h' },
		'name'
	],
	[
		'a name that cannot name a skill',
		{ name: '../x', version: '1.0.0', description: 'd', schema: { input: {} }, handlerCode: 'h' },
		'name'
	]
])('E5: %s is refused, with the field named', async (_case, json, field) => {
	const { status, body } = await send(install.POST, { json });
	expect([status, body.error.code, body.error.details?.field]).toEqual([400, 'invalid_input', field]);
	expect(await folders('skills')).toEqual([]);
});

test('E5: the OmniRoute document’s example works as it is written', async () => {
	const json = JSON.parse(`{
    "name": "reverse-text",
    "version": "1.0.0",
    "description": "Reverses a string",
    "schema": {
      "input":  { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
      "output": { "type": "object", "properties": { "reversed": { "type": "string" } } }
    },
    "handlerCode": "echo-handler",
    "apiKeyId": "your-api-key-id"
  }`) as object;
	const made = await send<Outcome & { id: string; name: string; version: string }>(install.POST, { json });
	expect(made.status).toBe(201);
	expect(made.body).toMatchObject({
		name: 'reverse-text',
		version: '1.0.0',
		installed: [{ owner: 'your-api-key-id' }]
	});
	expect(made.body.id).toBe(made.body.installed[0]?.id);
	const again = await send(install.POST, { json });
	expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
	expect((await send(install.POST, { json: { ...json, replace: true } })).status).toBe(201);
});

test('E20: a zip is staged, shown, confirmed and installed', async () => {
	const zip = zipOf([
		{ name: 'skills/pdf/SKILL.md', content: pdf('Zipped.') },
		{ name: 'skills/pdf/scripts/run.sh', content: 'echo hi\n' }
	]);
	const { status, body } = await send<StagedInstall>(staging.POST, {
		body: new Uint8Array(zip),
		type: 'application/zip',
		query: 'file=tools.zip'
	});
	expect(status).toBe(201);
	expect(body.skills[0]?.origin.file).toBe('tools.zip');
	expect(body.skills).toMatchObject([{ path: 'skills/pdf', status: 'ready', scripts: ['scripts/run.sh'] }]);
	expect((await send(staged.GET, { id: body.id })).body).toEqual(body);
	const placed = await send<Outcome>(staged.POST, { id: body.id, json: { enabled: true } });
	expect([placed.status, placed.body.installed.length]).toEqual([201, 1]);
	expect((await send(staged.GET, { id: body.id })).status).toBe(404);
	expect(await folders('staging')).toEqual([]);
});

test('E20: what is no zip, or leads out of it, is refused, and nothing is left', async () => {
	const hostile = zipOf([{ name: '../evil/SKILL.md', content: pdf('x') }]);
	for (const body of [new Uint8Array(hostile), 'not a zip', '']) {
		const refused = await send(staging.POST, { body, type: 'application/zip' });
		expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_input']);
	}
	expect(await folders('staging')).toEqual([]);
});

test('E20: a body of more than 50 MB is too large, and the answer is still given', async () => {
	let sent = 0;
	const chunk = new Uint8Array(1024 * 1024);
	const body = new ReadableStream<Uint8Array>({
		pull: (stream) => void (sent++ < 52 ? stream.enqueue(chunk) : stream.close())
	});
	const { status } = await send(staging.POST, { body, type: 'application/zip' });
	expect(status).toBe(413);
	expect(sent).toBeLessThan(53);
	expect(await folders('staging')).toEqual([]);
});

test('E20: the files of a folder come as a form, each with its relative path', async () => {
	const form = new FormData();
	form.append('files', new Blob([pdf('Folder.')]), 'pdf/SKILL.md');
	form.append('files', new Blob(['#!/bin/sh\necho hi\n']), 'pdf/scripts/run.sh');
	const { status, body } = await send<StagedInstall>(staging.POST, formOf(form));
	expect(status).toBe(201);
	expect(body.skills).toMatchObject([{ path: 'pdf', name: 'pdf', scripts: ['scripts/run.sh'] }]);
	await send(staged.DELETE, { id: body.id });
	expect(await folders('staging')).toEqual([]);
});

test('E20: a form that leads out of its folder, is none, or has 1,001 parts is refused', async () => {
	const hostile = new FormData();
	hostile.append('files', new Blob([pdf('x')]), '../SKILL.md');
	const text = new FormData();
	text.append('files', 'text');
	const many = new FormData();
	for (let count = 0; count <= 1000; count += 1) many.append('files', new Blob(['x']), `${count}.md`);
	expect((await send(staging.POST, formOf(hostile))).status).toBe(400);
	expect((await send(staging.POST, formOf(text))).status).toBe(400);
	expect((await send(staging.POST, formOf(many))).status).toBe(413);
	for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
		expect((await send(staging.POST, { body: 'no form', type })).status).toBe(400);
	}
	expect(await folders('staging')).toEqual([]);
});

/** Includes the content type with the boundary. */
function formOf(form: FormData): Asked {
	const { body, headers } = new Response(form);
	if (!body) throw new Error('a form has a body');
	return { body, type: headers.get('content-type') ?? '' };
}

test('E9, E32: from GitHub, the whole folder, of any branch, pinned to its commit, byte for byte', async () => {
	const { status, body } = await send<Outcome>(install.POST, { json: { ...fromGithub, enabled: true } });
	expect(status).toBe(201);
	const commit = github.commitOf('acme/skills');
	expect(body.installed).toMatchObject([{ name: 'pdf', origin: { provider: 'github', commit, path: 'skills/pdf' } }]);
	const placed = join(root, 'data', 'skills', 'pdf@1.0.0');
	expect((await readdir(placed, { recursive: true })).sort()).toEqual(['SKILL.md', 'scripts', 'scripts/fill.sh']);
	expect(await readFile(join(placed, 'SKILL.md'), 'utf8')).toBe(pdf('First.'));
});

test('E28: outdated, update with a difference, versions and roll-back', async () => {
	await send(install.POST, { json: { ...fromGithub, enabled: true } });
	const ask = async () => (await send<{ data: OutdatedSkill[] }>(outdated.GET)).body.data.map(({ state }) => state);
	expect(await ask()).toEqual(['current']);
	github.repos['acme/skills']!.branches.trunk!['skills/pdf/SKILL.md'] = pdf('Second.', '1.1.0');
	expect(await ask()).toEqual(['outdated']);

	const fetched = await send<StagedInstall>(update.POST, { id: 'pdf', json: {} });
	expect(fetched.status).toBe(201);
	expect(fetched.body.skills[0]).toMatchObject({ installed: { version: '1.0.0', isSameOrigin: true } });
	expect(fetched.body.skills[0]?.changes?.[0]?.diff).toContain('+Second.');
	await send(staged.POST, { id: fetched.body.id, json: { enabled: true } });
	expect((await send<SkillVersions>(versions.GET, { id: 'pdf' })).body).toMatchObject({
		current: '1.1.0',
		pinned: null
	});
	expect((await send<SkillVersions>(rollback.POST, { id: 'pdf', json: {} })).body).toMatchObject({ current: '1.0.0' });
	const used = await send<SkillVersions>(versions.PUT, { id: 'pdf', json: { use: null } });
	expect([used.status, used.body.current]).toEqual([200, '1.1.0']);
	expect((await send(versions.PUT, { id: 'pdf', json: { use: { version: '7.0.0' } } })).status).toBe(404);
	expect((await send(versions.PUT, { id: 'pdf', json: { use: 'newest' } })).status).toBe(400);
});

test('E28: when GitHub does not answer an update fails, and the installed version serves on', async () => {
	await send(install.POST, { json: { ...fromGithub, enabled: true } });
	github.api.intercept = () => failing();
	try {
		const failed = await send(update.POST, { id: 'pdf', json: {} });
		expect([failed.status, failed.body.error.code]).toEqual([503, 'unavailable']);
	} finally {
		github.api.intercept = null;
	}
	expect(app.skills.registry.snapshot().skills).toMatchObject([{ name: 'pdf', version: '1.0.0' }]);
	expect(await folders('staging')).toEqual([]);
});

test('E20: a request that is given up ends the fetch, and nothing is left', async () => {
	const stop = new AbortController();
	github.api.intercept = () => {
		stop.abort();
		return 'hang';
	};
	try {
		await send(staging.POST, { json: fromGithub, signal: stop.signal });
	} finally {
		github.api.intercept = null;
	}
	expect(await folders('staging')).toEqual([]);
});

test('E7, E9: each catalog installs while it is the active one, whole folders, switched off', async () => {
	const fromSh = { name: 'pdf', source: 'acme/skills', skillId: 'pdf' };
	const sourceUrl = 'https://github.com/acme/skills/tree/trunk/skills/pdf';
	expect((await send(skillsshInstall.POST, { json: fromSh })).status).toBe(409);
	const made = await send<Outcome>(marketplaceInstall.POST, { json: { name: 'pdf', sourceUrl } });
	expect(made.status).toBe(201);
	expect(made.body.installed).toMatchObject([
		{ owner: 'system', origin: { provider: 'skillsmp', path: 'skills/pdf' } }
	]);
	const [placed] = app.skills.registry.snapshot().skills;
	if (!placed) throw new Error('nothing was installed');
	expect(placed.scripts).toEqual(['scripts/fill.sh']);
	expect(app.modes.modeOf(placed)).toBe('off');

	await app.settings.change({ skillsProvider: 'skillssh' }, new Date().toISOString());
	expect((await send(marketplaceInstall.POST, { json: { name: 'pdf', sourceUrl } })).status).toBe(409);
	// These files are installed already.
	const again = await send<Outcome>(skillsshInstall.POST, { json: fromSh });
	expect([again.status, again.body.skipped]).toEqual([201, ['pdf@1.0.0']]);
	expect((await send(skillsshInstall.POST, { json: { ...fromSh, source: 'acme' } })).status).toBe(400);
});

test('E7: a marketplace’s text alone becomes a skill; neither text nor address is refused', async () => {
	expect((await send(marketplaceInstall.POST, { json: { name: 'pdf' } })).status).toBe(400);
	const json = { name: 'pdf', skillMdContent: pdf('Text.'), version: '1.0.0', description: 'd' };
	const made = await send<Outcome>(marketplaceInstall.POST, { json });
	expect(made.body.installed).toMatchObject([{ name: 'pdf', origin: { provider: 'skillsmp', source: null } }]);
});

test('E7: the document\u2019s own body, with its text, is installed without a word to GitHub', async () => {
	const sourceUrl = 'https://github.com/acme/skills/tree/trunk/skills/pdf';
	const json = { name: 'pdf', description: 'd', skillMdContent: pdf('Given.'), version: '1.0.0', sourceUrl };
	const asked = [github.api.requests.length, github.raw.requests.length];
	const made = await send<Outcome>(marketplaceInstall.POST, { json });
	expect(made.status).toBe(201);
	expect(made.body.installed).toMatchObject([{ origin: { provider: 'skillsmp', source: null, url: sourceUrl } }]);
	expect(app.skills.registry.snapshot().skills).toMatchObject([{ name: 'pdf', body: 'Given.' }]);
	expect([github.api.requests.length, github.raw.requests.length]).toEqual(asked);
});

test('E6: without a key, nothing asked for is an empty page; a question says what it needs', async () => {
	const { SKILLSMP_API_KEY: _key, ...played } = playedEnvironment({ github, skillssh: sh, skillsmp: mp });
	const keyless = await createApp(
		loadConfig({ DATA_DIR: join(root, 'keyless'), SKILLS_DIRS: join(root, 'none'), ...played })
	);
	try {
		const ask = async (query: string) => {
			const url = new URL(`http://localhost/?${query}`);
			const event = { url, request: new Request(url), locals: { app: keyless, caller: MANAGER } };
			const response = await marketplace.GET(event as never);
			return { status: response.status, body: (await response.json()) as unknown };
		};
		expect(await ask('')).toEqual({ status: 200, body: { skills: [], total: 0, page: 1, limit: 20 } });
		expect(await ask('q=pdf')).toMatchObject({
			status: 400,
			body: { error: { hint: expect.stringContaining('SKILLSMP_API_KEY') as string } }
		});
	} finally {
		await keyless.close();
	}
});

test('E6, E8: both catalogs are searched', async () => {
	const found = await send<CatalogPage>(marketplace.GET, { query: 'q=pdf&page=1&limit=5' });
	expect(found.body).toMatchObject({ page: 1, limit: 5, skills: [{ name: 'pdf', provider: 'skillsmp' }] });
	const others = await send<CatalogPage>(skillssh.GET, { query: 'q=pdf&limit=200' });
	expect(others.body).toMatchObject({ skills: [{ name: 'pdf', provider: 'skillssh' }] });
	expect((await send(skillssh.GET, { query: 'limit=none' })).status).toBe(400);
	expect((await send(marketplace.GET, { query: `q=${'x'.repeat(300)}` })).status).toBe(400);
});

test('E4: DELETE moves a skill to the trash, from where it is restored or deleted for good', async () => {
	expect((await send(skill.DELETE, { id: 'pdf' })).status).toBe(404);
	await send(install.POST, { json: { ...fromGithub, enabled: true } });
	const removed = await send<TrashedSkill>(skill.DELETE, { id: 'pdf' });
	expect([removed.status, removed.body.skillId]).toEqual([200, 'installed/pdf']);
	expect(app.skills.registry.snapshot().skills).toEqual([]);
	expect((await send<{ data: TrashedSkill[] }>(trash.GET)).body.data).toEqual([removed.body]);
	const restored = await send(trashed.POST, { id: removed.body.id, json: {} });
	expect(restored).toEqual({ status: 200, body: { skillId: 'installed/pdf', name: 'pdf', version: '1.0.0' } });
	expect((await send(trashed.POST, { id: removed.body.id, json: {} })).status).toBe(404);
	const again = await send<TrashedSkill>(skill.DELETE, { id: 'installed/pdf@1.0.0' });
	expect(await send(trashed.DELETE, { id: again.body.id })).toEqual({ status: 204, body: null });
	expect(await folders('trash')).toEqual([]);
});
