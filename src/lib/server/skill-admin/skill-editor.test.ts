import { hash } from 'node:crypto';
import { chmod, readdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import {
	changesOfEdit,
	changesOfReturn,
	listEdits,
	readSkillFile,
	removeSkillFile,
	renameSkillFile,
	returnToEdit,
	writeSkillFile,
	type SkillEditorParts
} from './skill-editor.ts';
import { createSkillEdits } from './skill-edits.ts';

const folder = emptyFolder();
let root: string;
let skills: SkillsProvider;
let parts: SkillEditorParts;
let now: number;
const SKILL = '---\nname: good\ndescription: x\n---\nBody\n';
beforeEach(async () => {
	root = join(folder, 'skills');
	await put('skills/good/SKILL.md', SKILL);
	await put('skills/good/scripts/run.sh', 'echo hi\n');
	await chmod(join(root, 'good/scripts/run.sh'), 0o755);
	await put('skills/torn/SKILL.md', 'no front matter\n');
	await put('elsewhere/linked/SKILL.md', '---\nname: linked\ndescription: x\n---\n');
	await symlink(join(folder, 'elsewhere/linked'), join(root, 'linked'));
	await put('secret.txt', 'secret\n');
	await symlink(join(folder, 'secret.txt'), join(root, 'good/way-out.txt'));
	await symlink(folder, join(root, 'good/up'));
	skills = await createSkillsProvider([{ path: root, source: 'mine' }]);
	const builtins = [{ name: 'file_read', description: '', parameters: {}, unavailable: () => null }];
	now = 0;
	const edits = createSkillEdits((dir) => join(folder, 'edits', hash('sha256', dir)), { now: () => now });
	parts = { skills, modes: { modeOf: () => 'auto', pinOf: () => null }, builtins: { builtins }, edits };
});
afterEach(async () => {
	await skills.close();
});

async function put(path: string, text: string | Buffer): Promise<void> {
	await putFile(folder, path, text);
}
const read = (path: string) => readFile(join(folder, path), 'utf8');
const modeOf = async (path: string) => (await stat(join(root, path))).mode & 0o777;
const failsAs = (code: string, message = '') => ({ code, message: expect.stringContaining(message) as unknown });
/** Temporary files that a failed write left behind. */
const leftovers = async () => {
	// With file types, readdir follows no links; one of these is circular.
	const entries = await readdir(root, { recursive: true, withFileTypes: true });
	return entries.map(({ name }) => name).filter((name) => name.endsWith('.tmp'));
};

describe('F1: a file of a skill', () => {
	test('is read as text with its digest', async () => {
		expect(await readSkillFile(parts, 'good', 'scripts/run.sh')).toEqual({
			...{ path: 'scripts/run.sh', text: 'echo hi\n', bytes: 8, digest: hash('sha256', 'echo hi\n') },
			...{ isExecutable: true, isWritable: true, skill: 'good', folder: 'mine/good' }
		});
	});

	test('of a broken skill is read and written, which mends it: the answer names it anew', async () => {
		const { digest } = await readSkillFile(parts, 'mine/torn', 'SKILL.md');
		const text = SKILL.replace('good', 'torn');
		expect(await writeSkillFile(parts, 'mine/torn', { path: 'SKILL.md', text, digest })).toMatchObject({
			...{ skill: 'torn', folder: 'mine/torn' }
		});
		for (const id of ['torn', 'mine/torn', 'mine/torn@1.0.0']) {
			expect(await readSkillFile(parts, id, 'SKILL.md')).toMatchObject({ skill: 'torn', folder: 'mine/torn' });
		}
		expect(skills.registry.snapshot().skills.map(({ name }) => name)).toContain('torn');
	});

	test('is written whole, keeps its mode, and is in the library at once', async () => {
		const before = await readSkillFile(parts, 'good', 'scripts/run.sh');
		await writeSkillFile(parts, 'good', { path: 'scripts/run.sh', text: 'echo ho\n', digest: before.digest });
		expect(await read('skills/good/scripts/run.sh')).toBe('echo ho\n');
		expect(await modeOf('good/scripts/run.sh')).toBe(0o755);
		const { digest } = await readSkillFile(parts, 'good', 'SKILL.md');
		const text = SKILL.replace('description: x', 'description: other');
		await writeSkillFile(parts, 'good', { path: 'SKILL.md', text, digest });
		expect(skills.registry.snapshot().skills.find(({ name }) => name === 'good')?.description).toBe('other');
		expect(await leftovers()).toEqual([]);
	});

	test('that is new makes its folders; one that begins with #! can be run', async () => {
		await writeSkillFile(parts, 'good', { path: 'docs/a/b.md', text: 'x', digest: null });
		const made = await writeSkillFile(parts, 'good', { path: 'scripts/new.sh', text: '#!/bin/sh\n', digest: null });
		expect(made.isExecutable).toBe(true);
		expect(await modeOf('good/docs/a/b.md')).toBe(0o644);
	});

	test('that changed, came or went meanwhile is a conflict that says its digest, and stays as it is', async () => {
		const { digest } = await readSkillFile(parts, 'good', 'SKILL.md');
		await put('skills/good/SKILL.md', `${SKILL}More\n`);
		const wanted = { path: 'SKILL.md', text: 'mine', digest };
		await expect(writeSkillFile(parts, 'good', wanted)).rejects.toMatchObject({
			...failsAs('conflict', 'changed after you opened it'),
			details: { digest: hash('sha256', `${SKILL}More\n`) }
		});
		await expect(writeSkillFile(parts, 'good', { ...wanted, digest: null })).rejects.toMatchObject(
			failsAs('conflict', 'already exists')
		);
		await expect(writeSkillFile(parts, 'good', { ...wanted, path: 'gone.md' })).rejects.toMatchObject(
			failsAs('conflict', 'no longer exists')
		);
		expect(await read('skills/good/SKILL.md')).toBe(`${SKILL}More\n`);
		expect(await leftovers()).toEqual([]);
	});

	test('written by twenty at once is written by one', async () => {
		const { digest } = await readSkillFile(parts, 'good', 'SKILL.md');
		const texts = Array.from({ length: 20 }, (_, index) => `${SKILL}${index}\n`);
		const results = await Promise.allSettled(
			texts.map((text) => writeSkillFile(parts, 'good', { path: 'SKILL.md', text, digest }))
		);
		expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		expect(texts).toContain(await read('skills/good/SKILL.md'));
	});

	test('is removed, but never the SKILL.md', async () => {
		await removeSkillFile(parts, 'good', 'scripts/run.sh');
		await expect(readSkillFile(parts, 'good', 'scripts/run.sh')).rejects.toMatchObject(failsAs('not_found'));
		await expect(removeSkillFile(parts, 'good', 'scripts/run.sh')).rejects.toMatchObject(failsAs('not_found'));
		await expect(removeSkillFile(parts, 'good', 'SKILL.md')).rejects.toMatchObject(failsAs('invalid_input'));
		await expect(removeSkillFile(parts, 'good', 'scripts')).rejects.toMatchObject(failsAs('invalid_input', 'folder'));
	});

	test.each([
		['of a built-in skill', 'builtin/file_read', 'SKILL.md', 'invalid_input'],
		['of no skill', 'ghost', 'SKILL.md', 'not_found'],
		['that is not there', 'good', 'no.md', 'not_found'],
		['that is a folder', 'good', 'scripts', 'invalid_input']
	])('%s is not read', async (_, id, path, code) => {
		await expect(readSkillFile(parts, id, path)).rejects.toMatchObject({ code });
	});

	test('that is no text, or larger than 2 MB, is neither read nor replaced', async () => {
		await put('skills/good/picture.png', Buffer.from([0x89, 0x50, 0, 1]));
		await expect(readSkillFile(parts, 'good', 'picture.png')).rejects.toMatchObject(
			failsAs('invalid_input', 'isn’t text')
		);
		const large = 'ä'.repeat(1024 * 1024 + 1);
		const wanted = { path: 'large.md', text: large, digest: null };
		await expect(writeSkillFile(parts, 'good', wanted)).rejects.toMatchObject(failsAs('too_large'));
		await put('skills/good/large.md', large);
		await expect(readSkillFile(parts, 'good', 'large.md')).rejects.toMatchObject(failsAs('too_large'));
	});
});

describe('F1: a version from before an edit', () => {
	const LATER_MS = 3 * 60_000;
	const text = (path: string) => read(join('skills/good', path));
	/** Overwrites the current content, as the editor does. */
	async function edit(path: string, content: string, skill = 'good'): Promise<string> {
		now += LATER_MS;
		const known = await readSkillFile(parts, skill, path).catch(() => null);
		return (await writeSkillFile(parts, skill, { path, text: content, digest: known?.digest ?? null })).skill;
	}
	const newest = async (skill = 'good') => (await listEdits(parts, skill))[0]?.id ?? '';

	test('is kept for each edit, compared with now as going back to it changes that, gone back to, and forth again', async () => {
		await edit('scripts/run.sh', 'echo 1\n');
		const first = await newest();
		await edit('scripts/run.sh', 'echo 2\n');
		await edit('new.md', 'new\n');
		expect((await listEdits(parts, 'good')).map(({ files }) => files.map(({ path }) => path))).toEqual([
			['new.md'],
			['scripts/run.sh'],
			['scripts/run.sh']
		]);
		expect(await changesOfReturn(parts, 'good', first)).toEqual([
			{ path: 'new.md', kind: 'removed', diff: expect.stringContaining('-new') as unknown },
			{ path: 'scripts/run.sh', kind: 'changed', diff: expect.stringContaining('-echo 2\n+echo hi') as unknown }
		]);
		await returnToEdit(parts, 'good', first);
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
		expect(await modeOf('good/scripts/run.sh')).toBe(0o755);
		await expect(text('new.md')).rejects.toThrow();
		await returnToEdit(parts, 'good', await newest());
		expect(await text('scripts/run.sh')).toBe('echo 2\n');
		expect(await text('new.md')).toBe('new\n');
	});

	test('shows what each edit did, from before it to after it, whatever came later', async () => {
		await edit('scripts/run.sh', 'echo 1\n');
		await edit('scripts/run.sh', 'echo 2\n');
		await removeSkillFile(parts, 'good', 'scripts/run.sh');
		const diffs = async () =>
			Promise.all((await listEdits(parts, 'good')).map(async ({ id }) => (await changesOfEdit(parts, 'good', id))[0]));
		const changed = (diff: string | null, kind = 'changed') => ({
			...{ path: 'scripts/run.sh', kind },
			diff: diff === null ? null : (expect.stringContaining(diff) as unknown)
		});
		expect(await diffs()).toEqual([
			changed('-echo 2', 'removed'),
			changed('-echo 1\n+echo 2'),
			changed('-echo hi\n+echo 1')
		]);
		await returnToEdit(parts, 'good', (await listEdits(parts, 'good'))[1]?.id ?? '');
		expect((await diffs())[0]).toEqual(changed('+echo 1', 'added'));
		// What it became is gone.
		await edit('scripts/run.sh', 'echo 3\n');
		await put('skills/good/scripts/run.sh', 'from elsewhere\n');
		expect((await diffs())[0]).toEqual(changed(null));
		await expect(changesOfEdit(parts, 'good', 'none')).rejects.toMatchObject(failsAs('not_found'));
	});

	test('says how many lines the edit added and removed', async () => {
		await put('skills/good/a.md', 'one\ntwo\n');
		await edit('a.md', 'one\n2\n3\n');
		await edit('a.md', '');
		await edit('new.md', '');
		await removeSkillFile(parts, 'good', 'scripts/run.sh');
		await put('skills/good/logo.png', Buffer.from([0, 255, 1, 2]));
		await removeSkillFile(parts, 'good', 'logo.png');
		await put('skills/good/a.md', 'from elsewhere\n');
		expect(
			(await listEdits(parts, 'good')).map(({ files, lines }) => [...files.map(({ path }) => path), lines])
		).toEqual([
			['logo.png', null],
			['scripts/run.sh', { added: 0, removed: 1 }],
			['new.md', { added: 0, removed: 0 }],
			// What it became is gone.
			['a.md', null],
			['a.md', { added: 2, removed: 1 }]
		]);
	});

	test('says the first line the edit changed, and before which earlier one it went back', async () => {
		await edit('scripts/run.sh', `\n  echo ${'1'.repeat(90)}\n`);
		await edit('scripts/run.sh', '\n');
		await edit('scripts/run.sh', `\n  echo ${'1'.repeat(90)}\n`);
		await edit('scripts/run.sh', '\n');
		const [, , , first] = await listEdits(parts, 'good');
		await returnToEdit(parts, 'good', first?.id ?? '');
		const edits = await listEdits(parts, 'good');
		const [, , third, second] = edits.map(({ id }) => id);
		const line = `+ echo ${'1'.repeat(75)}…`;
		expect(edits.map(({ line, backTo, isUndo }) => [line, backTo, isUndo])).toEqual([
			['+ echo hi', first?.id, undefined],
			[line.replace('+', '−'), third, true],
			[line, second, true],
			[line.replace('+', '−'), undefined, undefined],
			[line, undefined, undefined]
		]);
	});

	test('says before which edit it went back, also where a newer one had begun with the same', async () => {
		for (const said of ['one\n', 'two\n', 'echo hi\n', 'three\n']) await edit('scripts/run.sh', said);
		const first = (await listEdits(parts, 'good')).at(-1);
		await returnToEdit(parts, 'good', first?.id ?? '');
		expect((await listEdits(parts, 'good'))[0]?.backTo).toBe(first?.id);
	});

	test('says of new evals their first prompt, and nothing of lines that only open something', async () => {
		const edited = async (path: string, text: string) => {
			await edit(path, text);
			return (await listEdits(parts, 'good'))[0]?.line;
		};
		const evals = JSON.stringify({ evals: [{ prompt: 'Count it' }] }, null, '\t');
		expect(await edited('evals/evals.json', evals)).toBe('+ "prompt": "Count it"');
		expect(await edited('a.json', '{\n}')).toBeUndefined();
	});

	test('says a changed description before any other line', async () => {
		await edit('SKILL.md', '---\nlicense: MIT\nname: good\ndescription: y\n---\nBody\n');
		expect((await listEdits(parts, 'good'))[0]?.line).toBe('+ description: y');
		await edit('SKILL.md', '---\nname: good\ndescription: y\n---\nMore text\n');
		expect((await listEdits(parts, 'good'))[0]?.line).toBe('+ More text');
	});

	test('says whether files were added or deleted, and what was wrong with the SKILL.md before it', async () => {
		await edit('new.md', '1');
		await edit('SKILL.md', 'no front matter');
		await removeSkillFile(parts, 'good', 'new.md');
		await edit('SKILL.md', SKILL);
		const listed = await listEdits(parts, 'good');
		expect(listed.map(({ files: [file], problem }) => [file?.path, file?.kind, typeof problem])).toEqual([
			['SKILL.md', 'changed', 'string'],
			['new.md', 'removed', 'string'],
			['SKILL.md', 'changed', 'undefined'],
			['new.md', 'added', 'undefined']
		]);
	});

	test('says what in the SKILL.md the edit changed, and the name going back brings, where that’s another', async () => {
		const renamed = SKILL.replace('good', 'better');
		await edit('SKILL.md', renamed);
		await edit('SKILL.md', renamed.replace(': x', ': y').replace('Body', 'Text'), 'better');
		await edit('new.md', '1', 'better');
		await edit('SKILL.md', 'no front matter', 'better');
		await edit('SKILL.md', renamed, 'mine/good');
		const listed = await listEdits(parts, 'better');
		expect(listed.map(({ files: [file], name }) => [file?.path, file?.parts, name])).toEqual([
			// What can’t be read isn’t told.
			['SKILL.md', undefined, undefined],
			['SKILL.md', undefined, undefined],
			['new.md', undefined, undefined],
			['SKILL.md', ['description', 'instructions'], undefined],
			['SKILL.md', ['name'], 'good']
		]);
	});

	test('has the file that was deleted, as it was, with its folder and the right to run', async () => {
		await removeSkillFile(parts, 'good', 'scripts/run.sh');
		await rm(join(root, 'good/scripts'), { recursive: true });
		await returnToEdit(parts, 'good', await newest());
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
		expect(await modeOf('good/scripts/run.sh')).toBe(0o755);
	});

	test('is one edit for a file that is renamed, which keeps the right to run, and goes back', async () => {
		await renameSkillFile(parts, 'good', { path: 'scripts/run.sh', to: 'bin/go.sh' });
		expect(await text('bin/go.sh')).toBe('echo hi\n');
		expect(await modeOf('good/bin/go.sh')).toBe(0o755);
		await expect(text('scripts/run.sh')).rejects.toThrow();
		expect((await listEdits(parts, 'good')).map(({ files, lines, line }) => ({ files, lines, line }))).toEqual([
			{
				files: [
					{ path: 'bin/go.sh', kind: 'added', from: 'scripts/run.sh' },
					{ path: 'scripts/run.sh', kind: 'removed' }
				],
				lines: { added: 0, removed: 0 },
				line: undefined
			}
		]);
		await returnToEdit(parts, 'good', await newest());
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
		await expect(text('bin/go.sh')).rejects.toThrow();
		const rename = (path: string, to: string) => renameSkillFile(parts, 'good', { path, to });
		await edit('a.md', 'a');
		await expect(rename('scripts/run.sh', 'a.md')).rejects.toMatchObject(failsAs('conflict', 'already exists'));
		await expect(rename('scripts/none.sh', 'b.md')).rejects.toMatchObject(failsAs('not_found'));
		await expect(rename('SKILL.md', 'b.md')).rejects.toMatchObject(failsAs('invalid_input'));
		expect(await text('a.md')).toBe('a');
	});

	test('is one edit for a renamed file and the texts that name it; what only looks like it stays', async () => {
		const before = `${SKILL}\nRun scripts/run.sh, or {baseDir}/scripts/run.sh.\nNot scripts/run.sh.old, other/scripts/run.sh\n`;
		await edit('SKILL.md', before);
		await edit('b.md', 'nothing');
		const count = (await listEdits(parts, 'good')).length;
		const alsoIn = ['SKILL.md', 'b.md'];
		await renameSkillFile(parts, 'good', { path: 'scripts/run.sh', to: 'scripts/$&.sh', alsoIn });
		expect(await text('SKILL.md')).toBe(
			`${SKILL}\nRun scripts/$&.sh, or {baseDir}/scripts/$&.sh.\nNot scripts/run.sh.old, other/scripts/run.sh\n`
		);
		const edits = await listEdits(parts, 'good');
		expect(edits).toHaveLength(count + 1);
		expect(edits[0]?.files.map(({ path, kind }) => [path, kind])).toEqual([
			['scripts/$&.sh', 'added'],
			['scripts/run.sh', 'removed'],
			['SKILL.md', 'changed']
		]);
		await returnToEdit(parts, 'good', await newest());
		expect(await text('SKILL.md')).toBe(before);
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
		const wanted = { path: 'scripts/run.sh', to: 'scripts/go.sh', alsoIn: ['none.md'] };
		await expect(renameSkillFile(parts, 'good', wanted)).rejects.toMatchObject(failsAs('not_found'));
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
	});

	test('has deleted files that are no text', async () => {
		const bytes = Buffer.from([0, 255, 1, 2]);
		await put('skills/good/logo.png', bytes);
		await removeSkillFile(parts, 'good', 'logo.png');
		await returnToEdit(parts, 'good', await newest());
		expect(await readFile(join(root, 'good/logo.png'))).toEqual(bytes);
	});

	test('is of one file: only saves of the same within seconds are one; writing the same is none', async () => {
		const pathsOf = async () => (await listEdits(parts, 'good')).map(({ files }) => files.map(({ path }) => path));
		await edit('SKILL.md', SKILL);
		expect(await pathsOf()).toEqual([]);
		await edit('a.md', '1');
		for (const content of ['2', '3']) {
			now -= LATER_MS;
			await edit('a.md', content);
		}
		expect(await pathsOf()).toEqual([['a.md']]);
		now -= LATER_MS;
		await edit('b.md', '1');
		expect(await pathsOf()).toEqual([['b.md'], ['a.md']]);
		now += 15_000 - LATER_MS;
		await edit('b.md', '2');
		expect(await pathsOf()).toEqual([['b.md'], ['b.md'], ['a.md']]);
		await edit('scripts/run.sh', 'echo ho\n');
		now -= LATER_MS;
		await edit('scripts/run.sh', 'echo hi\n');
		expect(await pathsOf()).toEqual([['scripts/run.sh'], ['scripts/run.sh'], ['b.md'], ['b.md'], ['a.md']]);
	});

	test('has a file that is taken away within seconds of its first save', async () => {
		await edit('rules.md', 'Be kind.');
		now -= LATER_MS;
		await removeSkillFile(parts, 'good', 'rules.md');
		await returnToEdit(parts, 'good', await newest());
		expect(await text('rules.md')).toBe('Be kind.');
	});

	test('has what another program wrote between two edits, too', async () => {
		await edit('a.md', '1');
		await put('skills/good/a.md', 'from elsewhere');
		now -= LATER_MS;
		await edit('a.md', '2');
		await returnToEdit(parts, 'good', await newest());
		expect(await text('a.md')).toBe('from elsewhere');
	});

	test('brings back a skill that an edit broke or renamed', async () => {
		const renamed = await edit('SKILL.md', SKILL.replace('good', 'other'));
		expect(await returnToEdit(parts, renamed, await newest(renamed))).toBe('good');
		const broken = await edit('SKILL.md', 'no front matter\n');
		expect(skills.registry.snapshot().skills.map(({ name }) => name)).not.toContain('good');
		expect(await returnToEdit(parts, broken, await newest(broken))).toBe('good');
	});

	test('is not kept for ever: the last 100 edits, and no file that none of them names', async () => {
		for (let count = 0; count < 105; count++) await edit('a.md', String(count));
		const kept = await listEdits(parts, 'good');
		expect(kept).toHaveLength(100);
		await returnToEdit(parts, 'good', kept.at(-1)?.id ?? '');
		expect(await text('a.md')).toBe('4');
		expect(await readdir(join(folder, 'edits', hash('sha256', join(root, 'good'))))).toHaveLength(101);
		await expect(returnToEdit(parts, 'good', kept.at(-1)?.id ?? '')).rejects.toMatchObject(failsAs('not_found'));
	});

	test('SECURITY: is not written through a link that took the file’s place', async () => {
		await edit('a.md', '1');
		await edit('a.md', '2');
		const before = await newest();
		await rm(join(root, 'good/a.md'));
		await symlink(join(folder, 'secret.txt'), join(root, 'good/a.md'));
		await expect(returnToEdit(parts, 'good', before)).rejects.toMatchObject(failsAs('conflict', 'is a link'));
		await expect(changesOfReturn(parts, 'good', before)).rejects.toMatchObject(failsAs('conflict', 'is a link'));
		expect(await read('secret.txt')).toBe('secret\n');
	});

	test('that can’t be kept stops the edit', async () => {
		await put('edits', 'no folder');
		await expect(edit('scripts/run.sh', 'echo ho\n')).rejects.toThrow();
		await expect(removeSkillFile(parts, 'good', 'scripts/run.sh')).rejects.toThrow();
		expect(await text('scripts/run.sh')).toBe('echo hi\n');
	});
});

describe('SECURITY: outside of the skill', () => {
	test.each(['../torn/SKILL.md', '/etc/passwd', 'up/secret.txt', 'up/skills/torn/SKILL.md', 'a/../../secret.txt'])(
		'%s is neither read, written, renamed nor removed',
		async (path) => {
			const refused = { name: 'AppError', code: expect.stringMatching(/invalid_input|not_found/) as unknown };
			await expect(readSkillFile(parts, 'good', path)).rejects.toMatchObject(refused);
			await expect(writeSkillFile(parts, 'good', { path, text: 'x', digest: null })).rejects.toMatchObject(refused);
			await expect(removeSkillFile(parts, 'good', path)).rejects.toMatchObject(refused);
			const [from, to] = [
				{ path, to: 'x.md' },
				{ path: 'scripts/run.sh', to: path }
			];
			await expect(renameSkillFile(parts, 'good', from)).rejects.toMatchObject(refused);
			await expect(renameSkillFile(parts, 'good', to)).rejects.toMatchObject(refused);
			expect(await read('secret.txt')).toBe('secret\n');
		}
	);

	test('a link is not followed, and goes without what it leads to', async () => {
		const digest = hash('sha256', 'secret\n');
		await expect(readSkillFile(parts, 'good', 'way-out.txt')).rejects.toMatchObject(failsAs('conflict', 'is a link'));
		const wanted = { path: 'way-out.txt', text: 'x', digest };
		await expect(writeSkillFile(parts, 'good', wanted)).rejects.toMatchObject(failsAs('conflict', 'is a link'));
		await removeSkillFile(parts, 'good', 'way-out.txt');
		expect(await read('secret.txt')).toBe('secret\n');
	});

	test('a skill that npm installed is read, never written: the next version would replace it', async () => {
		await put('node_modules/app/skills/packed/SKILL.md', SKILL.replace('good', 'packed'));
		const packed = await createSkillsProvider([join(folder, 'node_modules/app/skills')]);
		const packedParts = { ...parts, skills: packed };
		const { digest, isWritable } = await readSkillFile(packedParts, 'packed', 'SKILL.md');
		expect(isWritable).toBe(false);
		const wanted = writeSkillFile(packedParts, 'packed', { path: 'SKILL.md', text: 'x', digest });
		await expect(wanted).rejects.toMatchObject(failsAs('conflict', 'the next version replaces it'));
		expect(await read('node_modules/app/skills/packed/SKILL.md')).toContain('name: packed');
		await packed.close();
	});

	test('a skill behind a link is read, never written', async () => {
		const { digest, isWritable } = await readSkillFile(parts, 'linked', 'SKILL.md');
		expect(isWritable).toBe(false);
		const wanted = writeSkillFile(parts, 'linked', { path: 'SKILL.md', text: 'x', digest });
		await expect(wanted).rejects.toMatchObject(failsAs('conflict', 'Edit it there'));
		await expect(removeSkillFile(parts, 'linked', 'x.md')).rejects.toMatchObject(failsAs('conflict'));
		expect(await read('elsewhere/linked/SKILL.md')).toContain('name: linked');
	});
});
