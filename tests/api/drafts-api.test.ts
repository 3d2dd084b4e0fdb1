/** Drafts of skills over REST: made of a chat, written by a model or by rules, changed, checked and saved (F8). */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { putFile } from '../support/folder.ts';
import { type App, createApp } from '../../src/lib/server/app.ts';
import { loadConfig } from '../../src/lib/server/config.ts';
import { readSkillFile, returnToEdit, writeSkillFile } from '../../src/lib/server/skill-admin/skill-editor.ts';
import * as draft from '../../src/routes/api/skills/drafts/[draft]/+server.ts';
import * as review from '../../src/routes/api/skills/drafts/[draft]/review/+server.ts';
import * as improve from '../../src/routes/api/skills/drafts/[draft]/improve/+server.ts';
import * as save from '../../src/routes/api/skills/drafts/[draft]/save/+server.ts';
import * as stop from '../../src/routes/api/skills/drafts/[draft]/stop/+server.ts';
import * as trial from '../../src/routes/api/skills/drafts/[draft]/trial/+server.ts';
import * as drafts from '../../src/routes/api/skills/drafts/+server.ts';
import type { DraftList, DraftReview, SkillDraft } from '../../src/lib/shared/drafts.ts';
import type { EvalRun } from '../../src/lib/shared/try-out.ts';
import type { ErrorBody } from '../../src/lib/shared/errors.ts';
import { emptyAnswer, type Message } from '../../src/lib/shared/message.ts';
import {
	call,
	gate,
	type ModelServer,
	type Reply,
	startModelServer,
	text,
	truncated
} from '../support/model-server.ts';
import { type RouteServer, serveRoutes } from '../support/route-server.ts';

let root: string;
let app: App;
let server: RouteServer;
let model: ModelServer | null = null;

afterEach(async () => {
	await close();
	await model?.close();
	model = null;
	await rm(root, { recursive: true, force: true });
});

async function open(replies: Reply[] | null = null, more: Record<string, string> = {}): Promise<void> {
	root = await mkdtemp(join(tmpdir(), 'drafts-'));
	await mkdir(join(root, 'skills'));
	model = replies && (await startModelServer(replies));
	await start(more);
	await chat();
}

async function start(more: Record<string, string> = {}): Promise<void> {
	const upstream = model ? { OPENROUTER_API_KEY: 'k-0123456789', OPENROUTER_BASE_URL: model.url } : {};
	const env = { DATA_DIR: join(root, 'data'), SKILLS_DIRS: join(root, 'skills'), ...upstream, ...more };
	app = await createApp(loadConfig({ ...env, OPENROUTER_MODEL: 'test/model' }));
	const at = '/api/skills/drafts';
	const routes = { [at]: drafts, [`${at}/[draft]`]: draft, [`${at}/[draft]/review`]: review };
	server = await serveRoutes(app, {
		...routes,
		[`${at}/[draft]/improve`]: improve,
		[`${at}/[draft]/save`]: save,
		[`${at}/[draft]/stop`]: stop,
		[`${at}/[draft]/trial`]: trial
	});
}

async function close(): Promise<void> {
	await server.close();
	await app.close();
}

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
async function chat(): Promise<void> {
	const at = '2026-11-01T00:00:00.000Z';
	const asked: Message = {
		...emptyAnswer('q', '', at),
		...{ role: 'user', status: 'complete', runId: null, files: ['sales.csv'] },
		parts: [{ type: 'text', id: 't', text: `Count the lines of sales.csv with ${TOKEN}` }]
	};
	const command = { type: 'tool', id: 'c', name: 'execute_command', status: 'done', result: '2 sales.csv' } as const;
	const answered: Message = {
		...emptyAnswer('a', 'r', at, 'q'),
		...{ status: 'complete', runId: null },
		parts: [
			{ ...command, arguments: JSON.stringify({ command: `wc -l sales.csv # ${TOKEN}` }) },
			{ type: 'text', id: 't', text: 'It has 2 lines.' }
		]
	};
	await app.store.conversations.create({ id: 'c1', title: 'Lines of a file', createdAt: at });
	await app.store.messages.fill('c1', [asked, answered], 'a');
	await app.workspaces.write('c1', 'sales.csv', new Blob(['a,b\n1,2\n']).stream());
}

async function ask<Answer = SkillDraft>(method: string, path = '', body?: unknown) {
	const response = await fetch(`${server.url}/api/skills/drafts${path}`, {
		method,
		...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
	});
	const answer = response.status === 204 ? null : ((await response.json()) as unknown);
	return { status: response.status, answer: answer as Answer, error: (answer as ErrorBody | null)?.error };
}
const begin = async (wanted: object = { conversationId: 'c1' }) => (await ask('POST', '', wanted)).answer;
const waited = async ({ id }: SkillDraft) => {
	await app.drafts.settled(id);
	return (await ask('GET', `/${id}`)).answer;
};
const textOf = ({ files }: SkillDraft, path: string) => files.find((file) => file.path === path)?.text ?? '';

const WRITTEN = {
	name: 'line-counter',
	description: 'Counts the lines of a file. Use when somebody asks how long a file is.',
	instructions: '1. Run `scripts/count.sh FILE`.\n2. Answer with the number.',
	files: [{ path: 'scripts/count.sh', text: `#!/bin/sh\nwc -l "$1" # ${TOKEN}\n` }],
	evals: [{ prompt: 'How long is a.txt?', expected_output: 'A number', expectations: ['regex: \\d'] }]
};
const written = (changed: object = {}) => text(JSON.stringify({ ...WRITTEN, ...changed }));

describe('F8: without a model', () => {
	test('rules make a draft at once; nothing is in the library until it’s saved, and then it’s there as a skill', async () => {
		await open();
		const made = await begin();
		expect(made).toMatchObject({ state: 'ready', revision: 1, model: null, name: 'lines-file', base: null });
		expect(JSON.stringify(made)).not.toContain(TOKEN);
		expect(made.replaced).toContainEqual({ name: 'API_TOKEN', what: 'a token' });
		expect(textOf(made, 'examples/sales.csv')).toBe('a,b\n1,2\n');
		expect(await readdir(join(root, 'skills'))).toEqual([]);

		const { answer: checked } = await ask<DraftReview>('GET', `/${made.id}/review`);
		expect(checked).toMatchObject({ status: 'ready', revision: 1, scripts: ['scripts/step-1.sh'], changes: null });
		// As the skill's page counts them once it's saved: without the front matter.
		const [, , body = ''] = textOf(made, 'SKILL.md').split(/^---$/m);
		expect(checked.tokens).toBe(Math.ceil(body.trim().length / 4));
		const saved = await ask('POST', `/${made.id}/save`, { revision: 1 });
		expect(saved.answer).toMatchObject({ state: 'saved', savedAs: 'skills/lines-file' });
		expect(app.skills.registry.snapshot().skills.map(({ name }) => name)).toContain('lines-file');
		expect(await readFile(join(root, 'skills/lines-file/scripts/step-1.sh'), 'utf8')).toContain('${1:-sales.csv}');
	});

	test('a saved one says so only while its skill is there as it was saved', async () => {
		await open();
		const { id } = await begin();
		await ask('POST', `/${id}/save`, { revision: 1 });
		const listed = async () =>
			(await ask<DraftList>('GET')).answer.data.map(({ state, base, hasChanges }) => ({ state, base, hasChanges }));
		const base = 'skills/lines-file';
		expect(await listed()).toEqual([{ state: 'saved', base, hasChanges: false }]);
		await writeFile(join(root, base, 'later.md'), 'Added later.');
		expect(await listed()).toEqual([{ state: 'saved', base, hasChanges: true }]);
		await rm(join(root, base), { recursive: true });
		await app.skills.registry.reload();
		expect(await listed()).toEqual([{ state: 'ready', base: null, hasChanges: true }]);
		const { revision, savedAs } = (await ask('GET', `/${id}`)).answer;
		expect(savedAs).toBeNull();
		expect((await ask('POST', `/${id}/save`, { revision })).answer).toMatchObject({ state: 'saved', savedAs: base });
	});

	test('changes are kept, undone one by one, and a second tab overwrites nothing', async () => {
		await open();
		const { id, files } = await begin();
		const put = (revision: number, more: object) => ask('PUT', `/${id}`, { revision, ...more });
		const first = await put(1, { files: [{ path: 'notes.md', text: 'one' }] });
		expect(first.answer).toMatchObject({ revision: 2, canUndo: true });
		expect((await put(1, { files: [{ path: 'notes.md', text: 'two' }] })).status).toBe(409);
		await put(2, { files: [{ path: 'notes.md', text: null }] });
		expect(textOf((await put(3, { undo: true })).answer, 'notes.md')).toBe('one');
		const all = (await put(4, { undo: true })).answer;
		expect(all.files).toEqual(files);
		expect(all.canUndo).toBe(false);
		expect((await put(5, { undo: true })).error?.message).toBe('There is nothing to undo.');
		expect((await ask('POST', `/${id}/save`, { revision: 1 })).status).toBe(409);
	});

	test.each([
		['../../evil.sh', 400],
		['scripts/../../evil.sh', 400],
		['/etc/passwd', 400],
		['skill.md', 400],
		['scripts/\u0000', 400]
	])('a file can’t be put at %s', async (path, status) => {
		await open();
		const { id } = await begin();
		expect((await ask('PUT', `/${id}`, { revision: 1, files: [{ path, text: 'x' }] })).status).toBe(status);
		expect((await ask('GET', `/${id}`)).answer.revision).toBe(1);
	});

	test('a broken one can’t be saved, and says why; a taken name neither', async () => {
		await open();
		const { id } = await begin();
		const change = (revision: number, content: string) =>
			ask('PUT', `/${id}`, { revision, files: [{ path: 'SKILL.md', text: content }] });
		await change(1, '---\nname: ../x\n---\nHi');
		const { answer } = await ask<DraftReview>('GET', `/${id}/review`);
		expect(answer.status).toBe('broken');
		expect((await ask('POST', `/${id}/save`, { revision: 2 })).error?.message).toMatch(/^The skill can’t be saved: /);
		await mkdir(join(root, 'skills/taken'));
		await writeFile(join(root, 'skills/taken/SKILL.md'), '---\nname: taken\ndescription: Is here.\n---\nHi');
		await app.skills.registry.reload();
		await change(2, '---\nname: taken\ndescription: Is new.\n---\nHo');
		const taken = await ask('POST', `/${id}/save`, { revision: 3 });
		expect(taken).toMatchObject({ status: 409, error: { message: 'A skill named “taken” already exists.' } });
		expect(await readFile(join(root, 'skills/taken/SKILL.md'), 'utf8')).toContain('Is here');
	});

	test.each([
		['a sound one', '---\nname: ok-one\ndescription: Does it.\n---\n\nGo.\n'],
		['with warnings only', '---\nname: ok-one\ndescription: Does it.\nmetadata: none\n---\n\nGo.\n'],
		['no name', '---\ndescription: Does it.\n---\n\nGo.\n'],
		['a name that leads elsewhere', '---\nname: ../up\ndescription: Does it.\n---\n\nGo.\n'],
		['no description', '---\nname: ok-one\n---\n'],
		['a long version', `---\nname: ok-one\ndescription: D.\nversion: "${'1'.repeat(99)}"\n---\n\nGo.\n`],
		['YAML that breaks off', '---\nname: [ok\n---\n\nGo.\n'],
		['no front matter', 'Go.\n'],
		['nothing', '']
	])('the list says of each what its review says: %s', async (_what, skillMd) => {
		await open();
		const made = await begin();
		await ask('PUT', `/${made.id}`, { revision: 1, files: [{ path: 'SKILL.md', text: skillMd }] });
		const { answer: checked } = await ask<DraftReview>('GET', `/${made.id}/review`);
		const { answer: list } = await ask<DraftList>('GET');
		expect(list.data.map(({ faults }) => faults)).toEqual([
			checked.diagnostics.filter(({ severity }) => severity === 'error')
		]);
		expect(list.data[0]?.faults.length === 0).toBe(checked.status === 'ready');
	});

	test('a draft of a skill shows what it changes, and saving it edits the skill, which can be undone', async () => {
		await open();
		await mkdir(join(root, 'skills/demo'));
		await writeFile(join(root, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Is old.\n---\nHi');
		await writeFile(join(root, 'skills/demo/old.md'), 'old');
		await app.skills.registry.reload();
		const { id, base } = await begin({ skill: 'demo' });
		expect(base).toBe('skills/demo');
		const files = [
			{ path: 'SKILL.md', text: '---\nname: demo\ndescription: Is new.\n---\nHi' },
			{ path: 'old.md', text: null },
			{ path: 'new.md', text: 'new' }
		];
		const hasChanges = async () => (await ask<DraftList>('GET')).answer.data.map((draft) => draft.hasChanges);
		// Looking at a skill leaves nothing in the list, and the next one has the same.
		expect(await hasChanges()).toEqual([]);
		expect((await begin({ skill: 'demo' })).id).toBe(id);
		await ask('PUT', `/${id}`, { revision: 1, files });
		expect(await hasChanges()).toEqual([true]);
		expect((await ask<DraftList>('GET')).answer.data[0]?.changes).toEqual({
			files: [
				{ path: 'SKILL.md', kind: 'changed' },
				{ path: 'new.md', kind: 'added' },
				{ path: 'old.md', kind: 'removed' }
			],
			lines: { added: 2, removed: 2 }
		});
		// It’s gone on with, unless somebody wants another.
		expect(await begin({ skill: 'demo' })).toMatchObject({ id, revision: 2 });
		const other = await begin({ skill: 'demo', another: true });
		expect(other.id).not.toBe(id);
		expect(await begin({ skill: 'demo' })).toMatchObject({ id });
		expect(await begin({ skill: 'demo', another: true })).toMatchObject({ id: other.id });
		await ask('PUT', `/${other.id}`, { revision: 1, files: [{ path: 'a.md', text: 'a' }] });
		expect(await hasChanges()).toEqual([true, true]);
		await ask('PUT', `/${other.id}`, { revision: 2, undo: true });
		expect(await hasChanges()).toEqual([true]);
		const { answer } = await ask<DraftReview>('GET', `/${id}/review`);
		expect(answer.changes?.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
			'SKILL.md changed',
			'new.md added',
			'old.md removed'
		]);
		await ask('POST', `/${id}/save`, { revision: 2 });
		expect(await hasChanges()).toEqual([false]);
		expect((await readdir(join(root, 'skills/demo'))).sort()).toEqual(['SKILL.md', 'new.md']);
		const edits = await app.edits.list(join(root, 'skills/demo'));
		expect(edits.map(({ files }) => files.map(({ path }) => path).toSorted())).toEqual([
			['SKILL.md', 'new.md', 'old.md']
		]);
		await returnToEdit(app, 'demo', edits[0]?.id ?? '');
		expect((await readdir(join(root, 'skills/demo'))).sort()).toEqual(['SKILL.md', 'old.md']);
	});

	test('an installed skill gets another version, which says that it was saved from a draft', async () => {
		await open();
		const choice = { conflict: 'fail' as const, apiKeyId: 'system', enabled: true };
		const text = '---\nname: demo\ndescription: Is old.\n---\nHi';
		await app.installer.install({ type: 'inline', text }, choice, new AbortController().signal);
		const { id } = await begin({ skill: 'demo' });
		await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'SKILL.md', text: text.replace('old', 'new') }] });
		await ask('POST', `/${id}/save`, { revision: 2 });
		const [demo] = app.skills.registry.snapshot().skills.filter(({ name }) => name === 'demo');
		const { versions } = await app.installer.versions(demo!);
		expect(versions.map(({ installation }) => installation?.origin.provider)).toEqual(['draft', 'inline']);
		expect(versions[0]?.installation?.origin.base).toBe(versions[1]?.installation?.id);
	});

	describe('SECURITY: what an installed skill was given', () => {
		const AT = '2026-11-01T00:00:00.000Z';
		const md = (hosts: string, more = '') =>
			`---\nname: demo\ndescription: Is old.\nmetadata:\n  network: ${hosts}\n---\nHi${more}`;
		const install = (text: string, conflict: 'fail' | 'overwrite' = 'overwrite') =>
			app.installer.install(
				{ type: 'inline', text },
				{ conflict, apiKeyId: 'system', enabled: true },
				new AbortController().signal
			);
		const demo = () => app.skills.registry.snapshot().skills.find(({ name }) => name === 'demo')!;
		const given = async () => ({
			secrets: (await app.vault.list('installed/demo')).map(({ name }) => name),
			hosts: await app.network.granted('installed/demo')
		});
		const saveDraft = async (text: string) => {
			const { id } = await begin({ skill: 'demo' });
			await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'SKILL.md', text }] });
			return ask('POST', `/${id}/save`, { revision: 2 });
		};
		const begun = async () => {
			await open();
			await install(md('a.example b.example'), 'fail');
			await app.vault.set('installed/demo', 'TOKEN_OF_DEMO', 'hush-hush-hush', AT);
			await app.network.grant('installed/demo', ['a.example', 'b.example'], AT);
		};

		test('stays with its own draft, for the hosts that it still names, and with what the draft was made from', async () => {
			await begun();
			await saveDraft(md('a.example', ' again'));
			expect(await given()).toEqual({ secrets: ['TOKEN_OF_DEMO'], hosts: ['a.example'] });
			await app.installer.rollback(demo());
			expect(demo().body).toBe('Hi');
			expect(await given()).toEqual({ secrets: ['TOKEN_OF_DEMO'], hosts: ['a.example'] });
		});

		test('is lost to a skill of the same name from elsewhere, also over its own draft, or back from before', async () => {
			await begun();
			await install(md('a.example', ' of somebody else'));
			expect(await given()).toEqual({ secrets: [], hosts: [] });
			await app.vault.set('installed/demo', 'TOKEN_OF_DEMO', 'hush-hush-hush', AT);
			await saveDraft(md('a.example', ' mine'));
			expect(await given()).toMatchObject({ secrets: ['TOKEN_OF_DEMO'] });
			// The first one is neither the draft nor what it was made from.
			const { versions } = await app.installer.versions(demo());
			await app.installer.use(demo(), { installationId: versions.at(-1)!.installation!.id });
			expect(await given()).toEqual({ secrets: [], hosts: [] });
			await saveDraft(md('a.example', ' mine again'));
			await app.vault.set('installed/demo', 'TOKEN_OF_DEMO', 'hush-hush-hush', AT);
			await install(md('a.example', ' of a third'));
			expect(await given()).toEqual({ secrets: [], hosts: [] });
		});
	});

	test('F1: a saved draft is an edit of its own, so that going back loses nothing that was changed just before or after', async () => {
		await open();
		const dir = join(root, 'skills/demo');
		const skill = (words: string) => `---\nname: demo\ndescription: Is old.\n---\n${words}`;
		await putFile(dir, 'SKILL.md', skill('One'));
		await putFile(dir, 'evals/evals.json', '[]');
		await app.skills.registry.reload();
		const edit = async (path: string, words: string) => {
			const { digest } = await readSkillFile(app, 'demo', path);
			await writeSkillFile(app, 'demo', { path, text: words, digest });
		};
		await edit('evals/evals.json', '[{"prompt":"mine"}]');
		const { id } = await begin({ skill: 'demo' });
		await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'SKILL.md', text: skill('Two') }] });
		await ask('POST', `/${id}/save`, { revision: 2 });
		await edit('SKILL.md', skill('Three'));
		const kept = await app.edits.list(dir);
		expect(kept.map(({ isDraft, files }) => [isDraft, ...files.map(({ path }) => path)])).toEqual([
			[false, 'SKILL.md'],
			[true, 'SKILL.md'],
			[false, 'evals/evals.json']
		]);
		await returnToEdit(app, 'demo', kept[0]?.id ?? '');
		expect(await readFile(join(dir, 'SKILL.md'), 'utf8')).toContain('Two');
		await returnToEdit(app, 'demo', kept[1]?.id ?? '');
		expect(await readFile(join(dir, 'SKILL.md'), 'utf8')).toContain('One');
		expect(await readFile(join(dir, 'evals/evals.json'), 'utf8')).toContain('mine');
	});

	test('a skill that is saved over keeps its permissions, and a killed server leaves the old one or the new one', async () => {
		await open();
		const dir = join(root, 'skills/demo');
		const skillText = (what: string) => `---\nname: demo\ndescription: Is ${what}.\n---\nHi`;
		await putFile(dir, 'SKILL.md', skillText('old'));
		await putFile(dir, 'scripts/a.sh', '#!/bin/sh\necho old');
		await chmod(dir, 0o755);
		await chmod(join(dir, 'scripts/a.sh'), 0o750);
		await chmod(join(dir, 'SKILL.md'), 0o444);
		await app.skills.registry.reload();
		const { id } = await begin({ skill: 'demo' });
		const files = [
			{ path: 'SKILL.md', text: skillText('new') },
			{ path: 'scripts/a.sh', text: '#!/bin/sh\necho new' },
			{ path: 'more/b.sh', text: '#!/bin/sh\necho more' }
		];
		await ask('PUT', `/${id}`, { revision: 1, files });
		expect((await ask('POST', `/${id}/save`, { revision: 2 })).status).toBe(200);
		const modes = ['', 'SKILL.md', 'scripts/a.sh', 'more', 'more/b.sh'].map(async (path) => {
			return ((await stat(join(dir, path))).mode & 0o777).toString(8);
		});
		expect(await Promise.all(modes)).toEqual(['755', '444', '750', '755', '755']);
		expect(await readdir(join(root, 'skills'))).toEqual(['demo']);

		// As a kill between the two renames leaves it.
		await close();
		const left = join(root, 'skills/.swap-left');
		await putFile(left, 'new/SKILL.md', skillText('never placed'));
		await putFile(left, 'of', 'demo');
		await rename(dir, join(left, 'old'));
		await start();
		expect(await readdir(join(root, 'skills'))).toEqual(['demo']);
		const [demo] = app.skills.registry.snapshot().skills.filter(({ name }) => name === 'demo');
		expect(demo?.description).toBe('Is new.');
	});

	test('saving a draft of a skill leaves what no draft holds: its .git folder and links; the name of another one it can’t take', async () => {
		await open();
		const text = (name: string) => `---\nname: ${name}\ndescription: Is a skill.\n---\nHi`;
		for (const name of ['demo', 'other']) {
			await putFile(root, `skills/${name}/SKILL.md`, text(name));
		}
		await mkdir(join(root, 'skills/demo/.git'));
		await writeFile(join(root, 'skills/demo/.git/HEAD'), 'ref');
		await symlink('SKILL.md', join(root, 'skills/demo/link.md'));
		await app.skills.registry.reload();
		const { id } = await begin({ skill: 'demo' });
		await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'SKILL.md', text: `${text('demo')} there` }] });
		const { answer } = await ask<DraftReview>('GET', `/${id}/review`);
		expect(answer.changes?.map(({ path }) => path)).toEqual(['SKILL.md']);
		expect((await ask('POST', `/${id}/save`, { revision: 2 })).status).toBe(200);
		expect((await readdir(join(root, 'skills/demo'))).sort()).toEqual(['.git', 'SKILL.md', 'link.md']);
		expect(await readdir(join(root, 'skills/demo/.git'))).toEqual(['HEAD']);
		await ask('PUT', `/${id}`, { revision: 3, files: [{ path: 'SKILL.md', text: text('other') }] });
		expect((await ask('POST', `/${id}/save`, { revision: 4 })).error?.message).toBe('Another skill is named “other”.');
	});

	test('what can be undone has a bound, as it’s written with each change; the last one always can', async () => {
		await open();
		const { id } = await begin();
		const put = (revision: number, path: string, letter: string) =>
			ask('PUT', `/${id}`, { revision, files: [{ path, text: letter.repeat(2_000_000) }] });
		for (const [at, letter] of [...'abcdef'].entries()) await put(at + 1, 'large.md', letter);
		const stored = JSON.stringify(await app.store.skillDrafts.get(id));
		expect(stored.length).toBeLessThan(8_000_000);
		const { answer } = await ask('PUT', `/${id}`, { revision: 7, undo: true });
		expect(textOf(answer, 'large.md')).toMatch(/^e+$/);
	});

	test('what somebody changes in the skill meanwhile isn’t overwritten', async () => {
		await open();
		await mkdir(join(root, 'skills/demo'));
		await writeFile(join(root, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Is old.\n---\nHi');
		await app.skills.registry.reload();
		const { id } = await begin({ skill: 'demo' });
		await writeFile(join(root, 'skills/demo/new.md'), 'theirs');
		await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'mine.md', text: 'mine' }] });
		const saved = await ask('POST', `/${id}/save`, { revision: 2 });
		expect(saved).toMatchObject({ status: 409, error: { message: expect.stringContaining('new.md') as string } });
		expect((await readdir(join(root, 'skills/demo'))).sort()).toEqual(['SKILL.md', 'new.md']);
		// It’s said before, and another one can be begun.
		const listed = async () => (await ask<DraftList>('GET')).answer.data.map((each) => [each.id, each.isStale]);
		expect(await listed()).toEqual([[id, true]]);
		expect((await ask<DraftReview>('GET', `/${id}/review`)).answer.isStale).toBe(true);
		const next = await begin({ skill: 'demo', another: true });
		expect((await ask<DraftReview>('GET', `/${next.id}/review`)).answer.isStale).toBe(false);
		await ask('PUT', `/${next.id}`, { revision: 1, files: [{ path: 'mine.md', text: 'mine' }] });
		expect(await listed()).toEqual([
			[next.id, false],
			[id, true]
		]);
	});

	test('what is undone to the skill as it is by now can be changed and saved', async () => {
		await open();
		await mkdir(join(root, 'skills/demo'));
		const old = '---\nname: demo\ndescription: Is old.\n---\nHi';
		await writeFile(join(root, 'skills/demo/SKILL.md'), old);
		await app.skills.registry.reload();
		const { id } = await begin({ skill: 'demo' });
		await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'SKILL.md', text: `${old} there` }] });
		await ask('POST', `/${id}/save`, { revision: 2 });
		await writeFile(join(root, 'skills/demo/SKILL.md'), old);
		await app.skills.registry.reload();
		await ask('PUT', `/${id}`, { revision: 3, undo: true });
		await ask('PUT', `/${id}`, { revision: 4, files: [{ path: 'SKILL.md', text: `${old} again` }] });
		expect((await ask('POST', `/${id}/save`, { revision: 5 })).status).toBe(200);
	});

	test.each([
		'',
		'~',
		'@',
		'a@',
		'/',
		'..',
		'builtin/eval_code',
		'skills/nobody',
		'demo@9.9.9',
		'broken',
		'skills/broken'
	])('of “%s”, which is no skill that can be changed, it says so', async (skill) => {
		await open();
		await mkdir(join(root, 'skills/broken'));
		await writeFile(join(root, 'skills/broken/SKILL.md'), 'no front matter');
		await app.skills.registry.reload();
		const { status, error } = await ask('POST', '', { skill });
		expect([400, 404, 409]).toContain(status);
		expect(error?.message).toMatch(/./);
	});

	test('a chat without an answer, and one that isn’t there, say so', async () => {
		await open();
		await app.store.conversations.create({ id: 'new', title: 'x', createdAt: '2026-11-01T00:00:00.000Z' });
		expect(await ask('POST', '', { conversationId: 'new' })).toMatchObject({ status: 409 });
		expect(await ask('POST', '', { conversationId: 'gone' })).toMatchObject({ status: 404 });
		expect(await ask('POST', '', { conversationId: 'c1', messageId: 'gone' })).toMatchObject({ status: 404 });
		expect(await ask('POST', '', {})).toMatchObject({ status: 400 });
		const { id } = await begin();
		const improved = await ask('POST', `/${id}/improve`, { revision: 1 });
		expect(improved).toMatchObject({ status: 409, error: { hint: 'Connect a model in the settings.' } });
	});
});

describe('F16: a draft is tried', () => {
	const SKILL =
		'---\nname: shout\ndescription: Shouts a text. Use when somebody wants to shout.\n---\nRun `node scripts/shout.mjs TEXT`.';
	const ended = async (id: string) => {
		for (;;) {
			const { answer } = await ask<EvalRun>('GET', `/${id}/trial`);
			if (answer.state !== 'running') return answer;
			await new Promise((resolve) => setImmediate(resolve));
		}
	};
	async function draftOf(script: string): Promise<string> {
		await open();
		const { id } = await begin();
		const files = [
			{ path: 'SKILL.md', text: SKILL },
			{ path: 'scripts/shout.mjs', text: script },
			{ path: 'evals/evals.json', text: JSON.stringify([{ prompt: 'shout "hey"', expectations: ['contains: HEY'] }]) }
		];
		await ask('PUT', `/${id}`, { revision: 1, files });
		return id;
	}

	test('with one message, or by its evals with and without it; it stays as it is, and nothing is in the library', async () => {
		const id = await draftOf('console.log(process.argv[2].toUpperCase());');
		expect((await ask<EvalRun | null>('GET', `/${id}/trial`)).answer).toBeNull();
		expect((await ask('POST', `/${id}/trial`, { revision: 1 })).status).toBe(409);
		expect((await ask('POST', `/${id}/trial`, { revision: 2, prompt: 'shout "ho"' })).status).toBe(202);
		const one = await ended(id);
		expect(one).toMatchObject({ state: 'done', results: [{ answers: [{ status: 'success', loaded: ['shout'] }] }] });
		expect(one.results[0]?.answers[0]?.text).toContain('HO');
		await ask('POST', `/${id}/trial`, { revision: 2 });
		const all = await ended(id);
		expect(all.sides.map(({ kind }) => kind)).toEqual(['with', 'without']);
		expect(all.sides[0]?.figures.passRate?.value).toBe(1);
		expect(await readdir(join(root, 'skills'))).toEqual([]);
		expect(await readdir(join(root, 'data/evals'))).toEqual([]);
	});

	const HANDLERS = `import { appendFileSync } from 'node:fs';
		const noted = (name) => () => { appendFileSync(new URL('called', import.meta.url), name + ' '); return 'ok'; };
		export const known = noted('known'), other = noted('other');`;
	test.each([
		['none, if the skill isn’t trusted', { isTrusted: false, handler: 'known' }, ''],
		['the one that a trusted skill calls already', { isTrusted: true, handler: 'known' }, 'known '],
		['no other one of a trusted skill', { isTrusted: true, handler: 'other' }, '']
	])('F4: of handlers inside the server, a trial reaches %s', async (_what, { isTrusted, handler }, called) => {
		const folder = await mkdtemp(join(tmpdir(), 'handlers-'));
		try {
			await writeFile(join(folder, 'handlers.mjs'), HANDLERS);
			await writeFile(join(folder, 'called'), '');
			await open([call('use_skill', { skill: 'demo', tool: 'reach', args: {} }), text('Done.')], {
				SKILLS_HANDLERS: join(folder, 'handlers.mjs')
			});
			await mkdir(join(root, 'skills/demo'));
			const toolsWith = (name: string) =>
				JSON.stringify([{ name: 'reach', description: 'Reaches the server.', handler: name, parameters: {} }]);
			await writeFile(join(root, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Is a skill.\n---\nHi');
			await writeFile(join(root, 'skills/demo/tools.json'), toolsWith('known'));
			const { skills } = await app.skills.registry.reload();
			const [demo] = skills;
			if (!isTrusted && demo) await app.trust.revoke(demo);
			const { id } = await begin({ skill: 'demo' });
			await ask('PUT', `/${id}`, { revision: 1, files: [{ path: 'tools.json', text: toolsWith(handler) }] });
			await ask('POST', `/${id}/trial`, { revision: 2, prompt: 'reach it' });
			const [answer] = (await ended(id)).results[0]?.answers ?? [];
			expect(await readFile(join(folder, 'called'), 'utf8')).toBe(called);
			expect(answer?.status).toBe(called === '' ? 'failed' : 'success');
			if (called === '') expect(answer?.error).toMatch(/^“demo” wants to run reach\./);
		} finally {
			await rm(folder, { recursive: true });
		}
	});

	test('F3: a trial has nothing to do with skills of a folder that is named “draft”: no secrets, and no count of its runs', async () => {
		const script = 'console.log(`[${process.env.TOKEN_OF_DEMO ?? "none"}] ${process.argv[2]}`.toUpperCase());';
		await open();
		await close();
		await putFile(root, 'draft/shout/SKILL.md', SKILL);
		await start({ SKILLS_DIRS: join(root, 'draft') });
		await app.vault.set('draft/shout', 'TOKEN_OF_DEMO', 'hush-hush-hush', '2026-11-01T00:00:00.000Z');
		const { id } = await begin({ skill: 'draft/shout' });
		const text = SKILL.replace('description:', 'metadata:\n  env: TOKEN_OF_DEMO\ndescription:');
		const files = [
			{ path: 'SKILL.md', text },
			{ path: 'scripts/shout.mjs', text: script }
		];
		await ask('PUT', `/${id}`, { revision: 1, files });
		await ask('POST', `/${id}/trial`, { revision: 2, prompt: 'shout "ho"' });
		const [answer] = (await ended(id)).results[0]?.answers ?? [];
		expect(answer?.text).toContain('[NONE] HO');
		const { data } = await app.store.skillExecutions.list({}, { page: 1, limit: 10 });
		expect(new Set(data.map(({ skillId }) => skillId))).toEqual(new Set([`draft.${id}/shout`]));
		// Trying it is no use of the skill.
		expect(await app.store.skillExecutions.usage()).toEqual(new Map());
	});

	test('can be stopped while its script runs, and only one trial goes on', async () => {
		const id = await draftOf('setTimeout(() => {}, 1e9);');
		await ask('POST', `/${id}/trial`, { revision: 2 });
		expect((await ask('POST', `/${id}/trial`, { revision: 2 })).status).toBe(409);
		expect((await ask<EvalRun>('DELETE', `/${id}/trial`)).answer.state).toBe('cancelled');
		expect((await ask('DELETE', `/${id}`)).status).toBe(204);
	});
});

describe('F8: with a model', () => {
	test('what it wrote replaces the rules’ draft, without secrets, and can be undone', async () => {
		await open([written()]);
		const first = await begin();
		expect(first).toMatchObject({ state: 'writing', name: 'lines-file' });
		const made = await waited(first);
		expect(made).toMatchObject({ state: 'ready', name: 'line-counter', model: 'test/model', problem: null });
		expect(textOf(made, 'SKILL.md')).toContain('Run `scripts/count.sh FILE`');
		expect(textOf(made, 'scripts/count.sh')).toContain('${API_TOKEN}');
		expect(made.files.map(({ path }) => path)).not.toContain('scripts/step-1.sh');
		expect(textOf(made, 'evals/evals.json')).toContain('How long is a.txt?');
		const sent = JSON.stringify(model?.requests[0]?.body);
		expect(sent).not.toContain(TOKEN);
		expect(sent).toContain('json_schema');
		const back = await ask('PUT', `/${made.id}`, { revision: made.revision, undo: true });
		expect(back.answer.name).toBe('lines-file');
	});

	test('of a chat where nothing worked, it says so, also after the model wrote, and until somebody lets it be improved', async () => {
		await open([written(), text('I would love to!'), written()]);
		const at = '2026-11-01T00:00:00.000Z';
		const asked: Message = {
			...emptyAnswer('fq', '', at),
			...{ role: 'user', status: 'complete', runId: null },
			parts: [{ type: 'text', id: 't', text: 'Count the lines' }]
		};
		const failed = {
			type: 'tool',
			id: 'c',
			name: 'execute_command',
			status: 'failed',
			result: 'no such file'
		} as const;
		const answered: Message = {
			...emptyAnswer('fa', 'r', at, 'fq'),
			...{ status: 'complete', runId: null },
			parts: [{ ...failed, arguments: '{"command":"wc -l x"}' }]
		};
		await app.store.conversations.create({ id: 'c2', title: 'Lines', createdAt: at });
		await app.store.messages.fill('c2', [asked, answered], 'fa');
		const first = await begin({ conversationId: 'c2' });
		expect(first.problem).toMatch(/^No step of this chat succeeded/);
		const made = await waited(first);
		expect(made).toMatchObject({ name: 'line-counter', problem: first.problem });
		const second = await waited(await begin({ conversationId: 'c2' }));
		expect(second.problem).toMatch(/^No step of this chat succeeded.* The model’s reply isn’t a skill/);
		const improved = await ask('POST', `/${made.id}/improve`, { revision: made.revision });
		expect((await waited(improved.answer)).problem).toBeNull();
	});

	test.each([
		['isn’t JSON', text('I would love to!'), /^The model’s reply isn’t a skill: it has no JSON\. .*made by rules\.$/],
		[
			'breaks off',
			truncated('{"name"'),
			/^The model’s reply broke off\. Try again\. What you see was made by rules\.$/
		],
		['puts a file outside', written({ files: [{ path: '../../x.sh', text: 'x' }] }), /where no file of a skill may be/],
		['has a shell in its name', written({ name: '$(rm -rf ~)' }), /isn’t a valid skill name/],
		['has no description', written({ description: '' }), /description must have/]
	])('a reply that %s leaves the rules’ draft, and says why', async (_case, reply, problem) => {
		await open([reply]);
		const made = await waited(await begin());
		expect(made).toMatchObject({ state: 'ready', name: 'lines-file', model: null });
		expect(made.problem).toMatch(problem);
		expect(await readdir(join(root, 'skills'))).toEqual([]);
	});

	test('it writes no more than three at a time, whoever asks', async () => {
		const hold = gate();
		await open([text('{', hold), text('{', hold), text('{', hold)]);
		const made = [await begin(), await begin(), await begin()];
		const refused = await ask('POST', '', { conversationId: 'c1' });
		expect(refused).toMatchObject({ status: 409, error: { message: 'The model is writing 3 drafts already.' } });
		for (const { id } of made) await ask('POST', `/${id}/stop`);
		hold.open();
	});

	test('a reply of nothing but brackets is given up in time', async () => {
		await open([text('{'.repeat(390_000))]);
		expect((await waited(await begin())).problem).toMatch(/^The model’s reply isn’t a skill/);
	});

	test('a server that knows no structured output is asked without it', async () => {
		await open([
			(exchange) => {
				exchange.begin(400, { 'content-type': 'application/json' });
				exchange.end('{"error":{"code":400,"message":"unknown field text"}}');
			},
			written()
		]);
		expect(await waited(await begin())).toMatchObject({ name: 'line-counter', problem: null });
	});

	test('it can be stopped; what somebody changes meanwhile counts', async () => {
		const hold = gate();
		await open([text('{', hold), text('{', hold)]);
		const one = await begin();
		await model?.received(1);
		const stopped = await ask('POST', `/${one.id}/stop`);
		expect(stopped.answer).toMatchObject({ state: 'ready', name: 'lines-file', problem: null });
		const two = await begin();
		await model?.received(2);
		const files = [{ path: 'mine.md', text: 'mine' }];
		await ask('PUT', `/${two.id}`, { revision: two.revision, files });
		expect(textOf(await waited(two), 'mine.md')).toBe('mine');
		hold.open();
	});

	test.each([
		['was stopped', null, null],
		['failed', text('I would love to!'), /made by rules/]
	])(
		'one that %s can write after all, from the chat, and isn’t bound to the rules’ name',
		async (_case, reply, problem) => {
			const hold = gate();
			await open([reply ?? text('{', hold), written(), written({ name: 'third-name' })]);
			const first = await begin();
			await model?.received(1);
			if (!reply) await ask('POST', `/${first.id}/stop`);
			hold.open();
			const left = await waited(first);
			expect(left).toMatchObject({ state: 'ready', name: 'lines-file', model: null });
			expect(left.problem ?? '').toMatch(problem ?? /^$/);
			const typed = { revision: left.revision, files: [{ path: 'mine.md', text: `Mine, ${TOKEN}` }] };
			const { revision } = (await ask('PUT', `/${left.id}`, typed)).answer;
			const wish = 'Name the file';
			const { answer } = await ask('POST', `/${left.id}/improve`, { revision, wish });
			const made = await waited(answer);
			expect(made).toMatchObject({ name: 'line-counter', model: 'test/model', problem: null });
			expect(textOf(made, 'evals/evals.json')).toContain('How long is a.txt?');
			expect(textOf(made, 'mine.md')).toContain('Mine');
			const sent = JSON.stringify(model?.requests[1]?.body);
			expect(sent).toContain('It has 2 lines.');
			expect(sent).toContain('Name the file');
			expect(sent).not.toContain(TOKEN);
			// From now on, it's improved: its name stays.
			const again = await ask('POST', `/${left.id}/improve`, { revision: made.revision });
			expect((await waited(again.answer)).name).toBe('line-counter');
		}
	);

	test('one whose chat is gone is improved from what there is', async () => {
		await open([text('No.'), written({ instructions: 'Better.' })]);
		const left = await waited(await begin());
		await app.store.conversations.remove('c1');
		const { answer } = await ask('POST', `/${left.id}/improve`, { revision: left.revision });
		expect(textOf(await waited(answer), 'SKILL.md')).toContain('Better.');
	});

	test('after a server that was killed meanwhile, the rules’ draft is there and says so', async () => {
		const hold = gate();
		await open([text('{', hold)]);
		const { id } = await begin();
		await model?.received(1);
		// As a kill leaves it.
		const left = await app.store.skillDrafts.get(id);
		await close();
		hold.open();
		expect(left?.state).toBe('writing');
		await start();
		const { answer } = await ask('GET', `/${id}`);
		expect(answer).toMatchObject({ state: 'ready', name: 'lines-file' });
		expect(answer.problem).toBe('The server stopped while the model was writing. What you see was made by rules.');
	});

	test('after a server that was killed while a skill was improved, its draft is as it was and says so', async () => {
		const hold = gate();
		await open([text('{', hold)]);
		await mkdir(join(root, 'skills/demo'));
		await writeFile(join(root, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Is old.\n---\nHi');
		await app.skills.registry.reload();
		const { id, files } = await begin({ skill: 'demo' });
		await ask('POST', `/${id}/improve`, { revision: 1 });
		await model?.received(1);
		await close();
		hold.open();
		await start();
		const { answer } = await ask('GET', `/${id}`);
		expect(answer.problem).toBe('The server stopped while the model was writing. Nothing was changed.');
		expect(answer.files).toEqual(files);
	});

	test('improves a skill by a wish and its failed runs, and leaves its name, front matter and evals', async () => {
		await open([written({ name: 'other-name', description: 'Counts better.', evals: [WRITTEN.evals[0]] })]);
		const front = 'name: demo\ndescription: >\n  Is old.\n  Very.\nlicense: MIT\nmetadata:\n  version: "2"';
		await putFile(root, 'skills/demo/SKILL.md', `---\n${front}\n---\n# Demo\n\nHi`);
		await putFile(root, 'skills/demo/evals/evals.json', '[{"prompt":"old"}]');
		await app.skills.registry.reload();
		const caller = { conversationId: 'c1', runId: 'r', toolCallId: 't' };
		const ran = {
			id: 'e1',
			skillId: 'skills/demo',
			skill: 'demo',
			version: '2',
			script: 'x.sh',
			argv: ['a'],
			digest: ''
		};
		await app.store.skillExecutions.start(
			{ ...ran, sandbox: '', limits: {}, caller } as never,
			'2026-11-01T00:00:00.000Z'
		);
		const ended = { status: 'error', errorType: 'ExecutionFailed', message: 'It broke', exitCode: 1, durationMs: 1 };
		const output = { stdoutBytes: 1, stderrBytes: 1, output: 'no such column', files: [], refused: [] };
		await app.store.skillExecutions.finish('e1', { ...ended, ...output } as never, '2026-11-01T00:00:01.000Z');

		const liked = await app.store.messages.get('c1', 'a');
		const used = { type: 'tool', id: 'l', name: 'load_skill', arguments: '{}', status: 'done' } as const;
		const loaded = { skill: 'demo', description: '', path: '', tokens: 1 };
		const words = { type: 'text', id: 'w', text: 'A bad answer' } as const;
		await app.store.messages.update('c1', { ...liked!, parts: [{ ...used, loaded }, words], isDisliked: true });
		const { id } = await begin({ skill: 'demo' });
		const { answer } = await ask('POST', `/${id}/improve`, { revision: 1, wish: `Be exact with ${TOKEN}` });
		expect(answer.state).toBe('writing');
		const made = await waited(answer);
		expect(textOf(made, 'SKILL.md')).toBe(
			'---\nname: demo\ndescription: Counts better.\nlicense: MIT\nmetadata:\n  version: "2"\n---\n\n1. Run `scripts/count.sh FILE`.\n2. Answer with the number.\n'
		);
		expect(textOf(made, 'evals/evals.json')).toBe('[{"prompt":"old"}]');
		const sent = JSON.stringify(model?.requests[0]?.body);
		expect(sent).toContain('no such column');
		expect(sent).toContain('Be exact');
		expect(sent).toContain('A bad answer');
		expect(sent).not.toContain(TOKEN);
		const { answer: checked } = await ask<DraftReview>('GET', `/${id}/review`);
		expect(checked.changes?.map(({ path }) => path)).toEqual(['SKILL.md', 'scripts/count.sh']);
		expect(await readFile(join(root, 'skills/demo/SKILL.md'), 'utf8')).toContain('Is old');
	});

	test('a model that fails leaves the skill’s draft as it was', async () => {
		await open([text('No.')]);
		await mkdir(join(root, 'skills/demo'));
		await writeFile(join(root, 'skills/demo/SKILL.md'), '---\nname: demo\ndescription: Is old.\n---\nHi');
		await app.skills.registry.reload();
		const first = await begin({ skill: 'demo' });
		const { answer } = await ask('POST', `/${first.id}/improve`, { revision: 1 });
		const made = await waited(answer);
		expect(made.problem).toMatch(/Nothing was changed\.$/);
		expect(made.files).toEqual(first.files);
	});
});
