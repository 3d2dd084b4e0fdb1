import { hash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { readSkillFile, removeSkillFile, writeSkillFile, type SkillEditorParts } from './skill-editor.ts';

let folder: string;
let root: string;
let skills: SkillsProvider;
let parts: SkillEditorParts;
const SKILL = '---\nname: good\ndescription: x\n---\nBody\n';
beforeEach(async () => {
	folder = await realpath(await mkdtemp(join(tmpdir(), 'editor-')));
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
	parts = { skills, modes: { modeOf: () => 'auto', pinOf: () => null }, builtins: { builtins } };
});
afterEach(async () => {
	await skills.close();
	await rm(folder, { recursive: true, force: true });
});

async function put(path: string, text: string | Buffer): Promise<void> {
	await mkdir(join(folder, path, '..'), { recursive: true });
	await writeFile(join(folder, path), text);
}
const read = (path: string) => readFile(join(folder, path), 'utf8');
const modeOf = async (path: string) => (await stat(join(root, path))).mode & 0o777;
const failsAs = (code: string, message = '') => ({ code, message: expect.stringContaining(message) as unknown });
/** Nothing of a write that failed stays behind. */
const leftovers = async () => {
	// With types it follows no link: one of these goes round in a circle.
	const entries = await readdir(root, { recursive: true, withFileTypes: true });
	return entries.map(({ name }) => name).filter((name) => name.endsWith('.tmp'));
};

describe('F1: a file of a skill', () => {
	test('is read as text with its digest', async () => {
		expect(await readSkillFile(parts, 'good', 'scripts/run.sh')).toEqual({
			...{ path: 'scripts/run.sh', text: 'echo hi\n', bytes: 8, digest: hash('sha256', 'echo hi\n') },
			...{ isExecutable: true, isWritable: true, skill: 'good' }
		});
	});

	test('of a broken skill is read and written, which mends it: the answer names it anew', async () => {
		const { digest } = await readSkillFile(parts, 'mine/torn', 'SKILL.md');
		const text = SKILL.replace('good', 'torn');
		expect(await writeSkillFile(parts, 'mine/torn', { path: 'SKILL.md', text, digest })).toMatchObject({
			skill: 'torn'
		});
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

describe('SECURITY: outside of the skill', () => {
	test.each(['../torn/SKILL.md', '/etc/passwd', 'up/secret.txt', 'up/skills/torn/SKILL.md', 'a/../../secret.txt'])(
		'%s is neither read, written nor removed',
		async (path) => {
			const refused = { name: 'AppError', code: expect.stringMatching(/invalid_input|not_found/) as unknown };
			await expect(readSkillFile(parts, 'good', path)).rejects.toMatchObject(refused);
			await expect(writeSkillFile(parts, 'good', { path, text: 'x', digest: null })).rejects.toMatchObject(refused);
			await expect(removeSkillFile(parts, 'good', path)).rejects.toMatchObject(refused);
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
