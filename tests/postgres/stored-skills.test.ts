/** F5, E4, E28: skills on several servers that have a bucket in common and a data folder each. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../support/folder.ts';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { CHOICE, skillOf, uploadOf } from '../../src/lib/server/install/install-rig.suite.ts';
import {
	listEdits,
	readSkillFile,
	removeSkillFile,
	returnToEdit,
	writeSkillFile
} from '../../src/lib/server/skill-admin/skill-editor.ts';
import { readFolder } from '../../src/lib/server/trust/folder.ts';
import { type BucketServer, startBucketServer } from '../support/bucket-server.ts';
import { eventually } from '../support/eventually.ts';
import { lacksPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';

describe.skipIf(lacksPostgres())('F5: skills on two servers with one bucket', () => {
	let postgres: TestPostgres;
	beforeAll(async () => {
		postgres = await startPostgres();
	});
	afterAll(() => postgres.stop());

	const root = emptyFolder();
	let url: string;
	let bucket: BucketServer;
	const apps = new Map<string, App>();
	let count = 0;
	beforeEach(async () => {
		url = await postgres.createDatabase(`stored_${(count += 1)}`);
		bucket = await startBucketServer();
	});
	afterEach(async () => {
		bucket.fail('none');
		for (const name of [...apps.keys()]) await close(name);
		await bucket.close();
	});

	async function open(name: string): Promise<App> {
		const app = await createApp(
			loadConfig({
				...{ DATA_DIR: join(root, name), SKILLS_DIRS: join(root, 'skills'), SKILLS_HOME: 'false' },
				...{ SKILLS_SANDBOX: 'process', SECRETS_KEY: 'a key of all servers', DATABASE_URL: url },
				...{ CHAT_TITLES: 'false', S3_URL: bucket.url, SKILLS_DEFINE_TOOLS: 'ask' }
			})
		);
		apps.set(name, app);
		return app;
	}
	async function close(name: string): Promise<void> {
		await apps.get(name)?.close();
		apps.delete(name);
	}
	const { signal } = new AbortController();
	const install = (app: App, files: Record<string, string>, choice: Partial<typeof CHOICE> = {}) =>
		app.installer.install(uploadOf(files), { ...CHOICE, ...choice }, signal);
	const skillAt = (app: App, name: string) => {
		const { skills, shadowed } = app.skills.registry.snapshot();
		return [...skills, ...shadowed].find((skill) => skill.name === name);
	};
	const skillOn = (app: App, name: string) =>
		eventually(async () => {
			const skill = skillAt(app, name);
			if (!skill) throw new Error(`${name} isn't there yet`);
			return skill;
		});
	const textOn = (app: App, path: string) => readFile(join(app.config.dataDir, path), 'utf8').catch(() => '');
	const same = (app: App, path: string, says: string) =>
		eventually(async () => expect(await textOn(app, path)).toContain(says));
	const edit = async (app: App, id: string, text: string) => {
		const { digest } = await readSkillFile(app, id, 'SKILL.md');
		return writeSkillFile(app, id, { path: 'SKILL.md', text, digest });
	};
	const textOf = (says: string, name = 'pdf') => skillOf(name, { folder: '', body: says })['SKILL.md'] ?? '';

	test('E28: what is installed on one is on the other with the same digest, and an update and a rollback, too', async () => {
		const [a, b] = [await open('a'), await open('b')];
		await install(
			a,
			skillOf('pdf', { body: 'First.', more: { 'scripts/run.sh': '#!/bin/sh\necho hi', 'deep/er/x.txt': 'x' } })
		);
		const there = await skillOn(b, 'pdf');
		expect(there.dir).toBe(join(root, 'b/skills/pdf@1.0.0'));
		expect((await readFolder(there.dir)).digest).toBe((await readFolder(skillAt(a, 'pdf')?.dir ?? '')).digest);
		await install(b, skillOf('pdf', { body: 'Second.' }), { conflict: 'overwrite' });
		await eventually(() => expect(skillAt(a, 'pdf')?.body).toBe('Second.'));
		expect(await readdir(join(root, 'a/skills/pdf@1.0.0'))).toEqual(['SKILL.md']);
		expect((await a.installer.versions(there)).versions.map(({ installation }) => installation?.state)).toEqual([
			'active',
			'kept'
		]);
		await a.installer.rollback(there);
		expect(skillAt(a, 'pdf')?.body).toBe('First.');
		await eventually(() => expect(skillAt(b, 'pdf')?.body).toBe('First.'));
		const own = await install(a, skillOf('own'), { apiKeyId: 'team-a' });
		expect((await skillOn(b, 'own')).owner).toBe(own.installed[0]?.skillId.split('/')[0]);
		// A server that comes later has all of it.
		const c = await open('c');
		expect(skillAt(c, 'pdf')?.body).toBe('First.');
		expect(JSON.parse(await textOn(c, 'skills-lock.json'))).toMatchObject({ skills: { pdf: {} } });
	});

	test('F1: an edit is on the other server with what it replaced, and goes back from there', async () => {
		const [a, b] = [await open('a'), await open('b')];
		await install(a, skillOf('pdf', { body: 'First.', more: { 'note.md': 'A note.' } }));
		await skillOn(b, 'pdf');
		await edit(a, 'installed/pdf', textOf('Second.'));
		await removeSkillFile(a, 'installed/pdf', 'note.md');
		await eventually(() => expect(skillAt(b, 'pdf')?.body).toBe('Second.'));
		const edits = await eventually(async () => {
			const found = await listEdits(b, 'installed/pdf');
			expect(found.map(({ files }) => files.map(({ path }) => path))).toEqual([['note.md'], ['SKILL.md']]);
			return found;
		});
		await returnToEdit(b, 'installed/pdf', edits.at(-1)?.id ?? '');
		await eventually(() => expect(skillAt(a, 'pdf')?.body).toBe('First.'));
		await same(a, 'skills/pdf@1.0.0/note.md', 'A note.');
		// Whoever has read an older text doesn't replace a newer one, on whichever server.
		const { digest } = await readSkillFile(a, 'installed/pdf', 'note.md');
		await writeSkillFile(a, 'installed/pdf', { path: 'note.md', text: 'Theirs.', digest });
		const late = writeSkillFile(b, 'installed/pdf', { path: 'note.md', text: 'Ours.', digest });
		await expect(late).rejects.toMatchObject({ code: 'conflict' });
		expect(await textOn(b, 'skills/pdf@1.0.0/note.md')).toBe('Theirs.');
	});

	test('E4: what is removed on one is restored on the other with its edits, and deleted for good on both', async () => {
		const [a, b] = [await open('a'), await open('b')];
		await install(a, skillOf('pdf', { body: 'First.' }));
		await edit(a, 'installed/pdf', textOf('Second.'));
		const { id } = await a.installer.remove(await skillOn(a, 'pdf'));
		await eventually(() => expect(skillAt(b, 'pdf')).toBeUndefined());
		expect((await b.installer.trash()).map((trashed) => trashed.path)).toEqual([join(root, 'b/skills/pdf@1.0.0')]);
		await b.installer.restore(id);
		expect(skillAt(b, 'pdf')?.body).toBe('Second.');
		expect(await listEdits(b, 'installed/pdf')).toHaveLength(1);
		await eventually(() => expect(skillAt(a, 'pdf')?.body).toBe('Second.'));
		await eventually(async () => expect(await listEdits(a, 'installed/pdf')).toHaveLength(1));
		const again = await b.installer.remove(await skillOn(b, 'pdf'));
		await same(a, `trash/${again.id}/SKILL.md`, 'Second.');
		await a.installer.purge(again.id);
		await eventually(async () => expect(await readdir(join(root, 'b/trash'))).toEqual([]));
		await eventually(async () => expect(await readdir(join(root, 'b/skill-edits'))).toEqual([]));
	});

	test('in an outage changes are made and kept; the other server has the whole old version, then the whole new one', async () => {
		const [a, b] = [await open('a'), await open('b')];
		await install(a, skillOf('pdf', { body: 'First.', more: { 'scripts/run.sh': 'echo first' } }));
		await skillOn(b, 'pdf');
		bucket.fail('error');
		const text = 'Second.';
		await install(a, skillOf('pdf', { body: text, more: { 'scripts/run.sh': 'echo second' } }), {
			conflict: 'overwrite'
		});
		await install(a, skillOf('new', { body: 'New.' }));
		expect(skillAt(a, 'pdf')?.body).toBe(text);
		expect([await textOn(b, 'skills/pdf@1.0.0/scripts/run.sh'), skillAt(b, 'pdf')?.body]).toEqual([
			'echo first',
			'First.'
		]);
		// A start without what others have installed forgets nothing of it.
		await close('b');
		const again = await open('b');
		expect((await again.store.skillInstalls.list()).map(({ name }) => name).sort()).toEqual(['new', 'pdf', 'pdf']);
		bucket.fail('none');
		// A stop stores what waits.
		await close('a');
		await again.installer.readAgain();
		const c = await open('c');
		expect(skillAt(c, 'new')?.body).toBe('New.');
		expect(await textOn(c, 'skills/pdf@1.0.0/scripts/run.sh')).toBe('echo second');
	});

	test('a transfer that breaks in the middle leaves the whole old version', async () => {
		const [a, b] = [await open('a'), await open('b')];
		const more = (says: string) =>
			Object.fromEntries(['1', '2', '3', '4'].map((name) => [`${name}.txt`, `${says} ${name}`]));
		await install(a, skillOf('pdf', { body: 'First.', more: more('first') }));
		await skillOn(b, 'pdf');
		bucket.fail('error', { method: 'GET', after: 2 });
		await install(a, skillOf('pdf', { body: 'Second.', more: more('second') }), { conflict: 'overwrite' });
		const gets = () => bucket.requests.filter((line) => line.startsWith('GET')).length;
		await eventually(() => expect(gets()).toBeGreaterThan(4));
		const saysOn = async () =>
			Promise.all(['1', '2', '3', '4'].map((name) => textOn(b, `skills/pdf@1.0.0/${name}.txt`)));
		expect(await saysOn()).toEqual(['first 1', 'first 2', 'first 3', 'first 4']);
		await expect(edit(b, 'installed/pdf', textOf('Mine.'))).rejects.toMatchObject({ code: 'unavailable' });
		bucket.fail('none');
		await edit(b, 'installed/pdf', textOf('Mine.')).catch(() => undefined);
		expect(await saysOn()).toEqual(['second 1', 'second 2', 'second 3', 'second 4']);
		expect((await readdir(join(root, 'b/skills'))).sort()).toEqual(['pdf@1.0.0']);
	});

	test('E20: a row with a hostile path is refused: nothing is written outside of the folders of skills', async () => {
		const a = await open('a');
		await install(a, skillOf('pdf'));
		await close('a');
		const client = new Client({ connectionString: url });
		await client.connect();
		const { rows } = await client.query<{ sha256: string }>('select sha256 from blobs limit 1');
		const folders = [
			'skills/../escape',
			'skills/.hidden',
			'owned/../../escape',
			'skills/a/b',
			'trash/..',
			'skills/bad'
		];
		for (const folder of folders) {
			await client.query('insert into stored_folders (folder, version) values ($1, 1)', [folder]);
			for (const path of ['SKILL.md', '../../../escape.txt', '/tmp/escape.txt', 'a/../../b', '.', 'link/x']) {
				await client.query(
					`insert into stored_files (folder, path, sha256, mode, modified_at, version)
					values ($1, $2, $3, 511, '2026-01-01T00:00:00.000Z', 1)`,
					[folder, path, rows[0]?.sha256]
				);
			}
		}
		await client.end();
		await mkdir(join(root, 'b/skills/bad'), { recursive: true });
		await mkdir(join(root, 'outside'));
		await symlink(join(root, 'outside'), join(root, 'b/skills/bad/link'));
		const b = await open('b');
		expect((await readdir(root)).sort()).toEqual(['a', 'b', 'outside']);
		expect(await readdir(join(root, 'outside'))).toEqual([]);
		expect((await readdir(join(root, 'b/skills'))).sort()).toEqual(['bad', 'pdf@1.0.0']);
		expect((await readdir(join(root, 'b/skills/bad'))).sort()).toEqual(['SKILL.md', 'link']);
		expect(skillAt(b, 'pdf')).toBeDefined();
	});

	test('the operator’s own folders of skills aren’t stored, and neither are edits of their skills', async () => {
		await putFile(root, 'skills/mail/SKILL.md', textOf('First.', 'mail'));
		const a = await open('a');
		await edit(a, 'mail', textOf('Second.', 'mail'));
		expect(await listEdits(a, 'mail')).toHaveLength(1);
		await close('a');
		expect(bucket.objects.size).toBe(0);
	});

	test('a skill that is written into the data folder by hand is on the other server; edited there while it is removed here, it stays', async () => {
		const [a, b] = [await open('a'), await open('b')];
		const put = async (name: string, says: string) => {
			const path = join(root, name, 'skills/mail/SKILL.md');
			await mkdir(dirname(path), { recursive: true });
			await writeFile(path, textOf(says, 'mail'));
		};
		await put('a', 'First.');
		await a.skills.reload();
		await same(b, 'skills/mail/SKILL.md', 'First.');
		await close('b');
		await put('b', 'Changed while it was stopped.');
		await a.installer.remove(await skillOn(a, 'mail'));
		const again = await open('b');
		await same(a, 'skills/mail/SKILL.md', 'Changed while it was stopped.');
		expect(await textOn(again, 'skills/mail/SKILL.md')).toContain('Changed while it was stopped.');
	});

	test('D25: a tool that was defined in a chat is there on the other server, and gone with the chat', async () => {
		const [a, b] = [await open('a'), await open('b')];
		const args = {
			...{ name: 'double_it', description: 'Doubles a number.', code: 'return args.n * 2;' },
			parameters: '{"n":{"type":"number"}}'
		};
		const offer = { conversationId: 'c1' };
		await a.store.conversations.create({ id: 'c1', title: 'Tools', createdAt: new Date().toISOString() });
		const question = await (await a.defined.tools(offer)).approval('define_tool', args, null);
		const turn = await a.defined.tools(offer);
		await turn.approval('define_tool', args, { ...question, decision: { choice: 'once' } } as never);
		expect(await turn.call('define_tool', args)).toMatchObject({ ok: true });
		expect((await b.defined.list('c1')).map(({ name }) => name)).toEqual(['double_it']);
		expect(await b.defined.codeOf('c1', 'double_it')).toBe(await a.defined.codeOf('c1', 'double_it'));
		await b.defined.removeAll('c1');
		expect(await a.defined.list('c1')).toEqual([]);
	});
});
