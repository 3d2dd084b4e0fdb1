import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILSAFE_SCHEMA, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { run, runHandler, runSkill, temporaryFolder } from './run-skill.ts';

const SCRIPT = 'skill-creator/scripts/create_skill.mjs';

async function create(...args: string[]) {
	const cwd = await temporaryFolder();
	return { ...(await runSkill(SCRIPT, args, { cwd })), cwd };
}

async function frontMatter(cwd: string, name: string): Promise<unknown> {
	const text = await readFile(join(cwd, name, 'SKILL.md'), 'utf8');
	const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? [];
	return load(front, { schema: FAILSAFE_SCHEMA });
}

describe('skill-creator', () => {
	it('makes a folder with a SKILL.md and says what to do next', async () => {
		const { stdout, stderr, exitCode, cwd } = await create('invoice-reader', '--description', 'Reads invoices.');
		expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
		expect(stdout).toContain('then install it');
		expect(await readdir(cwd)).toEqual(['invoice-reader']);
		expect(await readdir(join(cwd, 'invoice-reader'))).toEqual(['SKILL.md']);
		expect(await frontMatter(cwd, 'invoice-reader')).toEqual({
			name: 'invoice-reader',
			description: 'Reads invoices.'
		});
	});

	it.each([
		'Says: "hello" # and \'more\'',
		'- [x] {a: b} & *c !d %e @f `g` | > ? back\\slash',
		'null',
		'---',
		'Grüße 技能 🎉',
		'é'.repeat(1024)
	])('A4: the description %j survives YAML as it is', async (description) => {
		const { cwd } = await create('x', `--description=${description}`);
		expect(await frontMatter(cwd, 'x')).toEqual({ name: 'x', description });
	});

	it('makes one line of a description with line breaks and control characters', async () => {
		const { cwd } = await create('x', '--description', 'one\ntwo\u0007\u2028three\n---\nname: y');
		expect(await frontMatter(cwd, 'x')).toEqual({ name: 'x', description: 'one two three --- name: y' });
	});

	it.each(['123', 'null', 'on'])('A6: the name %s stays text', async (name) => {
		const { cwd } = await create(name, '--description', 'x');
		expect(await frontMatter(cwd, name)).toEqual({ name, description: 'x' });
		expect(
			load(await readFile(join(cwd, name, 'SKILL.md'), 'utf8').then((text) => text.split('---')[1] ?? ''))
		).toMatchObject({
			name
		});
	});

	it.each([
		['python', 'run.py'],
		['node', 'run.mjs'],
		['JavaScript', 'run.mjs'],
		['bash', 'run.sh']
	])('a %s script runs as it was made, documented in SKILL.md', async (language, file) => {
		const { cwd } = await create('my-skill', '--description', 'x', '--script', language);
		const skillDir = join(cwd, 'my-skill');
		const script = join(skillDir, 'scripts', file);
		expect(await run(script, ['hello there'], { skillDir })).toEqual({
			stdout: 'Received 11 characters: hello there\n',
			stderr: '',
			exitCode: 0
		});
		expect(await run(script, ['--help'], { skillDir })).toMatchObject({ exitCode: 0, stderr: '' });
		expect(await run(script, [], { skillDir })).toMatchObject({ exitCode: 2, stdout: '' });
		expect(await readFile(join(skillDir, 'SKILL.md'), 'utf8')).toContain(`\`\`\`\nscripts/${file} "TEXT"\n\`\`\``);
	});

	it('D15, D20: a tool gets a manifest and a handler that answers', async () => {
		const { cwd } = await create('my-skill', '--description', 'Reads "things".', '--tool', 'read_it');
		const manifest: unknown = JSON.parse(await readFile(join(cwd, 'my-skill/tools.json'), 'utf8'));
		expect(manifest).toEqual([
			{
				name: 'read_it',
				description: 'Reads "things".',
				script: 'scripts/read_it.js',
				parameters: { text: { type: 'string', description: 'The text to work on' } }
			}
		]);
		const { stdout } = await runHandler(join(cwd, 'my-skill/scripts/read_it.js'), { text: 'hé' });
		expect(JSON.parse(stdout)).toEqual({ characters: 2, text: 'hé' });
	});

	it('D21: a tool in Python takes its arguments as JSON and prints JSON', async () => {
		const { cwd } = await create('my-skill', '--description', 'x', '--tool', 'read_it', '--script', 'python');
		const skillDir = join(cwd, 'my-skill');
		const { stdout } = await run(join(skillDir, 'scripts/read_it.py'), ['{"text":"hé"}'], { skillDir });
		expect(JSON.parse(stdout)).toEqual({ characters: 2, text: 'hé' });
	});

	it('never overwrites, not even a file of that name', async () => {
		const cwd = await temporaryFolder();
		await writeFile(join(cwd, 'taken'), 'mine');
		const again = await runSkill(SCRIPT, ['taken', '--description', 'x'], { cwd });
		expect(again).toMatchObject({ exitCode: 1, stdout: '' });
		expect(again.stderr).toBe('taken already exists. Nothing was changed; choose another name.\n');
		expect(await readFile(join(cwd, 'taken'), 'utf8')).toBe('mine');
		expect(await readdir(cwd)).toEqual(['taken']);
	});

	it('makes the skill in another folder, which must exist', async () => {
		const other = await temporaryFolder();
		await create('x', '--description', 'x', '--into', other);
		expect(await readdir(other)).toEqual(['x']);
		expect(await create('x', '--description', 'x', '--into', 'nope')).toMatchObject({
			exitCode: 1,
			stderr: "The folder nope doesn't exist.\n"
		});
	});

	it.each([
		['My Skill!', 'Try "my-skill".'],
		['a--b', 'Try "a-b".'],
		['-a', ''],
		['../evil', 'Try "evil".'],
		['Ärger', 'Try "arger".'],
		['a'.repeat(65), 'at most 64 characters'],
		['', "can't be a skill name"]
	])('A6: refuses the name "%s" with code 2', async (name, message) => {
		const { exitCode, stderr, cwd } = await create('--description', 'x', '--', name);
		expect(exitCode).toBe(2);
		expect(stderr).toContain(message);
		expect(await readdir(cwd)).toEqual([]);
	});

	it.each([
		[['x', '--description', ' \n '], 'The description is empty.'],
		[['x', '--description', 'é'.repeat(1025)], 'The description has 1025 characters; the maximum is 1024.'],
		[['x', '--description', 'x', '--script', 'cobol'], '--script must be python, node or bash, not "cobol".'],
		[['x', '--description', 'x', '--tool', 'Read-It'], '"Read-It" can\'t be a tool name'],
		[['x', '--description', 'x', '--tool', 'read', '--script', 'bash'], 'A tool needs node or python']
	])('A9, D15: refuses what is not valid with code 2: %#', async (args, message) => {
		const { exitCode, stderr, cwd } = await create(...args);
		expect(exitCode).toBe(2);
		expect(stderr).toContain(message);
		expect(await readdir(cwd)).toEqual([]);
	});
});
