/** F14: servers with the same Postgres and the same data folder, in one process. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/lib/server/app.ts';
import { DataFolderInUse } from '../../src/lib/server/data-folder.ts';
import { fetchOf } from '../../src/lib/server/drafts/draft-files.ts';
import { mcpServerPut } from '../../src/lib/shared/mcp-servers.ts';
import { eventually } from '../support/eventually.ts';
import { lacksPostgres } from '../support/postgres.ts';
import { createSharedApps } from '../support/shared-apps.ts';

const NOW = '2026-11-27T12:00:00.000Z';

describe.skipIf(lacksPostgres())('F14: several servers with one data folder', () => {
	const shared = createSharedApps();
	const { open, close } = shared;
	beforeEach(() => shared.put('greeter/SKILL.md', '---\nname: greeter\ndescription: Says hello.\n---\nHi.'));

	const skillOf = (app: App, name: string) => {
		const found = app.skills.registry.snapshot().skills.find((skill) => skill.name === name);
		if (!found) throw new Error(`there is no ${name}`);
		return found;
	};
	const fetchSkill = (name: string) => {
		const content = `---\nname: ${name}\ndescription: Made here.\nmetadata:\n  version: 1.0.0\n---\nText.`;
		return fetchOf([{ path: 'SKILL.md', content, encoding: 'utf8' }]);
	};
	const install = (app: App, name: string, apiKeyId = 'system') =>
		app.installer.install(
			fetchSkill(name),
			{ conflict: 'fail', apiKeyId, enabled: true },
			new AbortController().signal
		);

	test('start on it together, but not beside a server with SQLite, and the other way round', async () => {
		const a = await open();
		const b = await open();
		await expect(open({})).rejects.toThrow(DataFolderInUse);
		await expect(open({})).rejects.toThrow('Servers with DATABASE_URL are using the data folder');
		await close(a);
		await expect(open({})).rejects.toThrow(DataFolderInUse);
		await close(b);
		const other = { DATA_DIR: join(shared.root, 'other') };
		const alone = await open(other);
		await expect(open({ ...other, DATABASE_URL: shared.url })).rejects.toThrow(`process ${process.pid} (`);
		await close(alone);
	});

	test('have a folder of their own each, which goes with them; one for programs of this user has the sockets', async () => {
		const a = await open();
		const b = await open();
		const folders = () => readdir(join(shared.root, 'data/servers'));
		expect(await folders()).toHaveLength(2);
		expect([a.localSocket, b.localSocket].map((socket) => socket !== null)).toEqual([true, false]);
		await writeFile(join(shared.root, 'data/servers', 'leftover'), 'of a server that was killed');
		await close(a);
		const c = await open();
		expect(await folders()).toHaveLength(2);
		expect(c.localSocket).not.toBeNull();
	});

	test('a server that starts takes nothing from one that is just installing', async () => {
		const a = await open();
		const { id } = await a.installer.stage(fetchSkill('staged'), { signal: new AbortController().signal });
		const b = await open();
		await a.installer.confirm(id, { conflict: 'fail', apiKeyId: 'system', enabled: true });
		await eventually(() => expect(skillOf(b, 'staged').source).toBe('installed'));
	});

	test('E20: what one has fetched is reviewed and confirmed at any, once', async () => {
		const [a, b] = [await open(), await open()];
		const choice = { conflict: 'fail' as const, apiKeyId: 'system', enabled: true };
		const stage = async () =>
			(await a.installer.stage(fetchSkill('fetched'), { signal: new AbortController().signal })).id;
		const id = await stage();
		expect(await b.installer.staged(id)).toEqual(await a.installer.staged(id));
		const both = await Promise.allSettled([a, b].map((app) => app.installer.confirm(id, choice)));
		expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
		for (const app of [a, b]) await eventually(() => expect(skillOf(app, 'fetched').source).toBe('installed'));
		// One that can’t be installed like that stays for another choice.
		const again = await stage();
		await expect(b.installer.confirm(again, { ...choice, paths: ['../x'] })).rejects.toThrow('no staged skill');
		expect((await b.installer.staged(again)).id).toBe(again);
		await b.installer.discard(again);
		await expect(a.installer.staged(again)).rejects.toThrow('expired or doesn’t exist');
		await expect(b.installer.staged('../../../etc/passwd')).rejects.toThrow('expired or doesn’t exist');
	});

	test('what one installs, changes by hand and removes is in the library of the other', async () => {
		const [a, b] = [await open(), await open()];
		await install(a, 'shared');
		await eventually(() => {
			expect(skillOf(b, 'shared').source).toBe('installed');
			expect(b.installs.providerOf('installed/shared', '1.0.0')).toBe('draft');
		});
		// Owned by a key: in a folder that the other hasn't seen before.
		await install(b, 'own', `key_${randomUUID()}`);
		await eventually(() => expect(skillOf(a, 'own').owner).toMatch(/^key\./));
		await a.installer.remove(skillOf(a, 'shared'));
		await eventually(() => expect(() => skillOf(b, 'shared')).toThrow());
	});

	test('both install at once: each skill once, all of them in both libraries and in the lock file', async () => {
		const [a, b] = [await open(), await open()];
		const names = Array.from({ length: 6 }, (_, index) => `both-${index}`);
		const outcomes = await Promise.all(names.flatMap((name) => [a, b].map((app) => install(app, name))));
		expect(outcomes.flatMap(({ installed }) => installed.map(({ name }) => name)).sort()).toEqual(names);
		for (const app of [a, b]) {
			await eventually(() => expect(names.map((name) => skillOf(app, name).version)).toHaveLength(6));
		}
		expect((await readdir(join(shared.root, 'data/skills'))).sort()).toEqual(names.map((name) => `${name}@1.0.0`));
		const { skills } = JSON.parse(await readFile(join(shared.root, 'data/skills-lock.json'), 'utf8')) as {
			skills: object;
		};
		expect(Object.keys(skills)).toEqual(names);
	});

	test('old chats are deleted for good by both at once, each by one, with their files', async () => {
		const [a, b] = [await open(), await open()];
		const purged: string[] = [];
		for (const { workspaces } of [a, b]) {
			const { removeAll } = workspaces;
			workspaces.removeAll = async (id) => (purged.push(id), removeAll.call(workspaces, id));
		}
		const ids = Array.from({ length: 25 }, (_, index) => `old-${index}`);
		for (const id of ids) {
			await a.store.conversations.create({ id, title: id, createdAt: NOW });
			await a.workspaces.write(id, 'deep/file.txt', new Blob(['text']).stream());
			await a.store.conversations.markDeleted(id, '2020-01-01T00:00:00.000Z');
		}
		await Promise.all([a, b].map((app) => app.conversationTrash.purge()));
		expect(await b.store.conversations.listDeleted({ page: 1, limit: 10 })).toMatchObject({ total: 0 });
		expect(await readdir(join(shared.root, 'data/workspaces'))).toEqual([]);
		expect(purged.sort()).toEqual(ids.sort());
	});

	test('versions of a file that both keep at once are all kept', async () => {
		const [a, b] = [await open(), await open()];
		const put = (app: App, path: string) => app.workspaces.write('c', path, new Blob([`${path} as it was`]).stream());
		for (const path of ['a.txt', 'b.txt']) await put(a, path);
		await Promise.all([a.workspaces.remove('c', 'a.txt'), b.workspaces.remove('c', 'b.txt')]);
		await Promise.all([a.workspaces.restore('c', 'b.txt'), b.workspaces.restore('c', 'a.txt')]);
		expect((await a.workspaces.list('c')).map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
	});

	test('settings, modes, pins and how often skills ran are the same on both within a second', async () => {
		const [a, b] = [await open(), await open()];
		const revision = b.revisions.current();
		await a.settings.change({ autoMaxSkills: 7, skillsmpApiKey: 'sk-other' }, NOW);
		await a.modes.setMode(skillOf(a, 'greeter'), 'off');
		await a.modes.setPin('installed/greeter', '2.0.0');
		await eventually(() => {
			expect(b.settings.current()).toMatchObject({ autoMaxSkills: 7, hasSkillsmpApiKey: true });
			expect(b.modes.modeOf(skillOf(b, 'greeter'))).toBe('off');
			expect(b.modes.pinOf('installed/greeter')).toBe('2.0.0');
			expect(b.revisions.current()).not.toBe(revision);
		});
		expect(b.settings.skillsmpApiKey()).toBe('sk-other');
		await a.modes.setEnabled(skillOf(a, 'greeter'), true);
		await eventually(() => expect(b.modes.modeOf(skillOf(b, 'greeter'))).toBe('auto'));
	});

	test('what both change at once ends up the same on both', async () => {
		const [a, b] = [await open(), await open()];
		await Promise.all(
			Array.from({ length: 20 }, (_, index) => [a, b][index % 2]?.settings.change({ autoMaxSkills: index + 1 }, NOW))
		);
		await eventually(async () => {
			const stored = (await a.store.settings.list()).get('autoMaxSkills');
			expect([a, b].map((app) => app.settings.current().autoMaxSkills)).toEqual([stored, stored]);
		});
	});

	test('an MCP server that is added, changed or removed on one is so on the other', async () => {
		const [a, b] = [await open(), await open()];
		const put = (app: App, args: string[]) =>
			app.mcpServers.put(
				'tools',
				mcpServerPut.parse({ transport: { type: 'stdio', command: 'nothing', args }, isEnabled: false })
			);
		await put(a, ['one']);
		await eventually(() => expect(b.mcpServers.get('tools').transport).toMatchObject({ args: ['one'] }));
		await put(b, ['two']);
		await eventually(() => expect(a.mcpServers.get('tools').transport).toMatchObject({ args: ['two'] }));
		await a.mcpServers.remove('tools');
		await eventually(() => expect(b.mcpServers.list()).toEqual([]));
	});

	test('a sign-in that began on one server ends on the other, once', async () => {
		const [a, b] = [await open(), await open()];
		const { url: opened } = await a.models.startSignIn('http://127.0.0.1:3000/settings', 'http://127.0.0.1:3000');
		const state = new URL(new URL(opened).searchParams.get('callback_url') ?? '').searchParams.get('state') ?? '';
		expect(JSON.stringify(await a.store.secrets.list('settings:sign-ins'))).not.toContain(state);
		const known = await b.models
			.completeSignIn({ code: 'c', state }, AbortSignal.abort())
			.catch((error: unknown) => error);
		expect(known).not.toMatchObject({ message: expect.stringContaining('expired') });
		await expect(a.models.completeSignIn({ code: 'c', state })).rejects.toThrow('expired or was already used');
	});
});
