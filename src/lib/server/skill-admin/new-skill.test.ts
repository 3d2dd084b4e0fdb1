import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { SCRIPT_INPUTS, SKILL_TEMPLATES, type ScriptInput } from '../../shared/names.ts';
import { diagnose } from '../skills/doctor/doctor.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { createSkill, type NewSkillParts } from './skill-editor.ts';

const folder = emptyFolder();
let first: string;
let second: string;
let skills: SkillsProvider;
let parts: NewSkillParts;
beforeEach(async () => {
	[first, second] = [join(folder, 'first'), join(folder, 'second')];
	skills = await createSkillsProvider([first, second]);
	parts = { skills, config: { skillsDirs: [first, second] } };
});
afterEach(async () => {
	await skills.close();
});

const wanted = {
	name: 'invoice-reader',
	description: 'Reads “invoices”: use when: asked.',
	template: 'script' as const
};
const names = () => skills.registry.snapshot().skills.map(({ name }) => name);

describe('F8: a new skill', () => {
	test.each(SKILL_TEMPLATES)('of the template “%s” is ready, and nothing is wrong with it', async (template) => {
		await createSkill(parts, { ...wanted, template });
		expect(names()).toEqual(['invoice-reader']);
		expect(await diagnose(join(first, 'invoice-reader'))).toMatchObject({ status: 'ready', issues: [] });
		expect(await readdir(first)).toEqual(['invoice-reader']);
		const [skill] = skills.registry.snapshot().skills;
		expect(skill?.tools.map(({ name }) => name)).toEqual(template === 'tools' ? ['invoice_reader'] : []);
		expect(skill?.issues).toEqual([]);
	});

	test('of a script runs as it is', async () => {
		await createSkill(parts, wanted);
		expect((await stat(join(first, 'invoice-reader/scripts/run.mjs'))).mode & 0o777).toBe(0o755);
		const call = { skill: 'invoice-reader', script: 'scripts/run.mjs', args: ['a', 'b'] };
		const result = await skills.handleToolCall('use_skill', call);
		expect(result).toMatchObject({ success: true, stdout: expect.stringContaining(': a b\n') });
	});

	const GIVEN: Record<ScriptInput, { args: string[]; usage: string; example: string }> = {
		text: { args: ['a b'], usage: 'run.mjs TEXT', example: 'Use invoice-reader with “hello world”' },
		number: { args: ['1987'], usage: 'run.mjs NUMBER', example: 'Use invoice-reader with 42' },
		file: { args: ['SAMPLE'], usage: 'run.mjs FILE', example: 'Use invoice-reader with sample.txt' },
		nothing: { args: [], usage: 'run.mjs\n', example: 'Use invoice-reader' }
	};
	test.each(SCRIPT_INPUTS)('whose script takes “%s” says so, and it runs as it is; a tool, too', async (takes) => {
		await createSkill(parts, { ...wanted, takes });
		const { args, usage, example } = GIVEN[takes];
		expect(await diagnose(join(first, 'invoice-reader'))).toMatchObject({ status: 'ready', issues: [] });
		const text = await readFile(join(first, 'invoice-reader/SKILL.md'), 'utf8');
		expect(text).toContain(`node scripts/${usage}`);
		const sample = join(first, 'invoice-reader/examples/sample.txt');
		const real = args.map((arg) => (arg === 'SAMPLE' ? sample : arg));
		const call = { skill: 'invoice-reader', script: 'scripts/run.mjs', args: real };
		const stdout = expect.stringContaining(takes === 'file' ? 'hello world' : (args[0] ?? 'hello'));
		expect(await skills.handleToolCall('use_skill', call)).toMatchObject({ success: true, stdout });
		expect(skills.registry.snapshot().skills[0]?.example).toBe(example);

		await createSkill(parts, { ...wanted, name: 'tool', template: 'tools', takes });
		await skills.handleToolCall('load_skill', { skill: 'tool' });
		const [value] = takes === 'number' ? [1987] : real;
		const input = takes === 'nothing' ? {} : { [takes]: value };
		expect(await skills.handleToolCall('tool', input)).toMatchObject({ success: true });
	});

	test('has the question that was given as its example', async () => {
		for (const template of SKILL_TEMPLATES) {
			const question = { ...wanted, name: template, template, example: 'What is “1987”: in Roman numerals?' };
			await createSkill(parts, question);
		}
		const { skills: made } = skills.registry.snapshot();
		expect(new Set(made.map(({ example }) => example))).toEqual(new Set(['What is “1987”: in Roman numerals?']));
	});

	test('of a tool answers as it is', async () => {
		await createSkill(parts, { ...wanted, name: '1-tool', template: 'tools' });
		const [skill] = skills.registry.snapshot().skills;
		expect(skill?.tools.map(({ name }) => name)).toEqual(['run_1_tool']);
		await skills.handleToolCall('load_skill', { skill: '1-tool' });
		const value = { text: 'abc', characters: 3 };
		expect(await skills.handleToolCall('run_1_tool', { text: 'abc' })).toMatchObject({ success: true, value });
	});

	test('with a name that is taken, by a skill or by a folder, is a conflict and changes nothing', async () => {
		await createSkill(parts, wanted);
		await expect(createSkill(parts, wanted)).rejects.toMatchObject({ code: 'conflict' });
		await mkdir(join(first, 'other'));
		await writeFile(join(first, 'other/x.txt'), 'x');
		await expect(createSkill(parts, { ...wanted, name: 'other' })).rejects.toMatchObject({ code: 'conflict' });
		expect(await readdir(join(first, 'other'))).toEqual(['x.txt']);
	});

	test('of twenty at once is made once', async () => {
		const made = await Promise.allSettled(Array.from({ length: 20 }, () => createSkill(parts, wanted)));
		expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
		expect(await readdir(first)).toEqual(['invoice-reader']);
		expect(await readFile(join(first, 'invoice-reader/SKILL.md'), 'utf8')).toContain('name: invoice-reader');
	});

	test('goes where one may write', async () => {
		await writeFile(join(folder, 'file'), '');
		const skillsDirs = [join(folder, 'file', 'skills'), second];
		await createSkill({ ...parts, config: { skillsDirs } }, wanted);
		expect(await readdir(second)).toEqual(['invoice-reader']);
	});

	test('where no folder can be made is unavailable', async () => {
		await writeFile(join(folder, 'file'), '');
		const none = { ...parts, config: { skillsDirs: [join(folder, 'file', 'skills')] } };
		await expect(createSkill(none, wanted)).rejects.toMatchObject({ code: 'unavailable' });
	});
});
