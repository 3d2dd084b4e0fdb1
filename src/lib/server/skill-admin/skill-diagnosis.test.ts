import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { createSkillEdits } from './skill-edits.ts';
import { listEdits, returnToEdit } from './skill-editor.ts';
import { checkSkillText, diagnoseSkill, fixSkill, type DiagnosisParts } from './skill-diagnosis.ts';

const folder = emptyFolder();
let root: string;
let skills: SkillsProvider;
let parts: DiagnosisParts;
beforeEach(async () => {
	root = join(folder, 'skills');
	await put('torn', '---\nname: torn\ndescription: x\nlicense: MIT\nlicense: ISC\n---\nBody\n');
	await put('odd', '---\nname: Odd\ndescription: Use when: it rains\n---\nBody\n');
	await put('good', '---\nname: good\ndescription: x\n---\n');
	await writeFile(join(folder, 'away.md'), '# Away\n');
	await putFile(folder, 'elsewhere/linked/SKILL.md', '---\nname: Linked\ndescription: x\n---\n');
	await symlink(join(folder, 'elsewhere/linked'), join(root, 'linked'));
	skills = await createSkillsProvider([{ path: root, source: 'mine' }]);
	const edits = createSkillEdits((dir) => join(folder, 'edits', hash('sha256', dir)));
	parts = { skills, modes: { modeOf: () => 'auto', pinOf: () => null }, edits };
});
afterEach(async () => {
	await skills.close();
});

async function put(name: string, text: string): Promise<void> {
	await putFile(root, `${name}/SKILL.md`, text);
}
const read = (path: string) => readFile(join(folder, path), 'utf8');

test('F1: a script that the instructions name and nobody has is a problem, with its line', async () => {
	await mkdir(join(root, 'good/scripts'));
	await writeFile(join(root, 'good/scripts/here.sh'), '');
	const text =
		'---\nname: good\ndescription: x\n---\nRun scripts/here.sh, then `scripts/gone.py`. Not old/scripts/a.sh.\n';
	const { issues } = await checkSkillText({ ...parts, builtins: { builtins: [] } }, 'good', text);
	expect(issues).toEqual([
		expect.objectContaining({ severity: 'warning', line: 5, message: expect.stringContaining('scripts/gone.py') })
	]);
});

test('F1: a missing description is the last one the skill had, if an edit kept it, and no guess', async () => {
	const had = '---\nname: good\ndescription: Tells the tide. Use for tides.\n---\nRun it.\n';
	const without = had.replace(/description.*\n/, '');
	await put('good', without);
	await skills.registry.reload();
	const fixOf = async () => {
		const { issues } = await diagnoseSkill(parts, 'mine/good');
		return issues.find(({ fixId }) => fixId === 'description');
	};
	expect(await fixOf()).toMatchObject({ isGuess: true });
	const [bytes, after] = [Buffer.from(had), hash('sha256', without)];
	await parts.edits.keep(join(root, 'good'), [
		{ path: 'SKILL.md', before: { id: hash('sha256', bytes), bytes, mode: 0o644 }, after }
	]);
	const [edit] = await parts.edits.list(join(root, 'good'));
	const fix = await fixOf();
	expect(fix).toMatchObject({ earlier: edit?.editedAt });
	expect(fix).not.toHaveProperty('isGuess');
	const checked = await checkSkillText({ ...parts, builtins: { builtins: [] } }, 'mine/good', without);
	expect(checked.fixes.description).toBe(had);
	await fixSkill(parts, 'mine/good', { digest: after });
	expect(await read('skills/good/SKILL.md')).toBe(had);
});

describe('F1: the diagnosis of a skill of the library', () => {
	test.each([
		'ghost',
		'mine/ghost',
		'..',
		'../away.md',
		'other/torn',
		'good@9.9.9',
		'builtin/file_read',
		'',
		'a'.repeat(1000)
	])('%j does not exist', async (id) => {
		await expect(diagnoseSkill(parts, id)).rejects.toMatchObject({ code: 'not_found' });
		const patch = { digest: hash('sha256', '') };
		await expect(fixSkill(parts, id, patch)).rejects.toMatchObject({ code: 'not_found' });
	});

	test('of a name that differs from its folder is the warning of the list; who writes it is told the same more loudly', async () => {
		const text = '---\nname: other\ndescription: x\n---\nBody\n';
		await putFile(root, 'here/SKILL.md', text);
		await skills.registry.reload();
		const listed = skills.registry.snapshot().skills.find(({ name }) => name === 'other')?.issues;
		const { issues } = await diagnoseSkill(parts, 'other');
		const written = (await checkSkillText({ ...parts, builtins: { builtins: [] } }, 'other', text)).issues;
		const message = '“other” doesn’t match the folder “here”';
		expect(listed).toMatchObject([{ severity: 'warning', message }]);
		expect(issues).toMatchObject([{ severity: 'warning', message }]);
		expect(written).toMatchObject([{ severity: 'error', message }]);
	});

	test('of one that is broken names line, fix and difference', async () => {
		const before = await read('skills/torn/SKILL.md');
		expect(await diagnoseSkill(parts, 'mine/torn')).toEqual({
			...{ id: 'mine/torn', name: 'torn', status: 'broken', path: join(root, 'torn/SKILL.md') },
			issues: [
				expect.objectContaining({
					field: '_',
					severity: 'error',
					line: 5,
					fixId: 'yaml',
					diff: expect.stringContaining('\n-license: ISC\n+# license: ISC\n') as unknown
				})
			],
			fixed: {
				before,
				after: before.replace('license: ISC', '# license: ISC'),
				diff: expect.stringMatching(/^--- SKILL\.md/) as unknown
			},
			digest: hash('sha256', before)
		});
	});

	test('of one that is right has nothing to fix', async () => {
		expect(await diagnoseSkill(parts, 'good')).toMatchObject({ id: 'good', issues: [], fixed: null });
	});

	test('of one whose folder went away meanwhile says so', async () => {
		await rm(join(root, 'good'), { recursive: true });
		expect(await diagnoseSkill(parts, 'good')).toMatchObject({
			issues: [{ severity: 'error', fixId: null, message: expect.stringContaining('ENOENT') as unknown }],
			fixed: null
		});
	});
});

describe('F1: fixing', () => {
	test('a broken skill makes it ready, under its own id, in the library at once', async () => {
		const { digest } = await diagnoseSkill(parts, 'mine/torn');
		const after = await fixSkill(parts, 'mine/torn', { digest });
		expect(after).toMatchObject({
			id: 'torn',
			status: 'ready',
			issues: [],
			fixed: null
		});
		expect(skills.registry.snapshot().skills.map(({ name }) => name)).toContain('torn');
		// The old text is an edit to go back to, as of any save, and no file of the skill.
		expect(await readdir(join(root, 'torn'))).toEqual(['SKILL.md']);
		const editor = { ...parts, builtins: { builtins: [] } };
		const edits = await listEdits(editor, 'torn');
		expect(edits).toMatchObject([{ files: [{ path: 'SKILL.md', kind: 'changed' }], lines: { added: 1, removed: 1 } }]);
		await returnToEdit(editor, 'torn', edits[0]?.id ?? '');
		expect(await read('skills/torn/SKILL.md')).toContain('\nlicense: ISC\n');
	});

	test('a file of another name renames it, and keeps what it said', async () => {
		await rename(join(root, 'odd/SKILL.md'), join(root, 'odd/skill.md'));
		await skills.registry.reload();
		const { digest } = await diagnoseSkill(parts, 'Odd');
		await fixSkill(parts, 'Odd', { digest });
		expect(await readdir(join(root, 'odd'))).toEqual(['SKILL.md']);
		const editor = { ...parts, builtins: { builtins: [] } };
		await returnToEdit(editor, 'odd', (await listEdits(editor, 'odd'))[0]?.id ?? '');
		expect(await read('skills/odd/SKILL.md')).toContain('name: Odd');
		expect(await readdir(join(root, 'odd'))).toEqual(['SKILL.md']);
	});

	test('a ready skill by one fix after the other; its id is the new name', async () => {
		const { digest } = await diagnoseSkill(parts, 'Odd');
		const first = await fixSkill(parts, 'Odd', { digest, fixes: ['yaml'] });
		expect(first).toMatchObject({ id: 'Odd', issues: [{ fixId: 'name' }, { fixId: 'name' }] });
		const second = await fixSkill(parts, first.id, { digest: first.digest, fixes: ['name'] });
		expect(second).toMatchObject({ id: 'odd', issues: [] });
		await expect(diagnoseSkill(parts, 'Odd')).rejects.toMatchObject({ code: 'not_found' });
	});

	test('what is no fix, or none for this file, is invalid', async () => {
		const { digest } = await diagnoseSkill(parts, 'Odd');
		const wanted = fixSkill(parts, 'Odd', { digest, fixes: ['license'] });
		await expect(wanted).rejects.toMatchObject({
			code: 'invalid_input',
			message: expect.stringContaining('yaml') as unknown
		});
		await expect(fixSkill(parts, 'Odd', { digest, fixes: ['../x'] })).rejects.toMatchObject({ code: 'invalid_input' });
	});

	test('a file that has changed since is a conflict, and stays as it is', async () => {
		const { digest } = await diagnoseSkill(parts, 'Odd');
		await put('odd', '---\nname: Odd\ndescription: Other: text\n---\n');
		await expect(fixSkill(parts, 'Odd', { digest })).rejects.toMatchObject({ code: 'conflict' });
		expect(await read('skills/odd/SKILL.md')).toContain('Other: text');
	});

	test('twenty at once: one is done, the others are conflicts, the old text is kept once', async () => {
		const { digest } = await diagnoseSkill(parts, 'Odd');
		const results = await Promise.allSettled(Array.from({ length: 20 }, () => fixSkill(parts, 'Odd', { digest })));
		expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
		for (const error of codes)
			expect(error).toMatchObject({ name: 'AppError', code: expect.stringMatching(/conflict|not_found/) as unknown });
		expect(await readdir(join(root, 'odd'))).toEqual(['SKILL.md']);
		expect(await listEdits({ ...parts, builtins: { builtins: [] } }, 'odd')).toHaveLength(1);
	});

	test('SECURITY: never writes behind a link, be it the folder or the file', async () => {
		const before = await read('elsewhere/linked/SKILL.md');
		const { digest, id } = await diagnoseSkill(parts, 'Linked');
		await expect(fixSkill(parts, id, { digest })).rejects.toMatchObject({
			code: 'conflict',
			message: expect.stringContaining('Fix it there') as unknown
		});
		expect(await read('elsewhere/linked/SKILL.md')).toBe(before);
		await rm(join(root, 'odd/SKILL.md'));
		await writeFile(join(root, 'odd/real.md'), '# Odd\n');
		await symlink('real.md', join(root, 'odd/SKILL.md'));
		await skills.registry.reload();
		const link = await diagnoseSkill(parts, 'mine/odd');
		await expect(fixSkill(parts, 'mine/odd', { digest: link.digest })).rejects.toMatchObject({
			code: 'conflict',
			message: expect.stringContaining('is a link') as unknown
		});
		expect(await read('skills/odd/real.md')).toBe('# Odd\n');
	});
});
