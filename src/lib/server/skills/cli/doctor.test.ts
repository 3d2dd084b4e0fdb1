import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from './run-cli.ts';

let dir: string;
beforeEach(async () => {
	dir = await mkdtemp(join(tmpdir(), 'cli-doctor-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const BAD = '\uFEFF---\nname: bad\ndescription: Use when: it rains\n---\nBody\n';
async function put(name: string, text: string): Promise<string> {
	const path = join(dir, name, 'SKILL.md');
	await mkdir(join(dir, name), { recursive: true });
	await writeFile(path, text);
	return relative(process.cwd(), path);
}

test('F1, E21: doctor shows each problem with file and line, and what a fix would do, and writes nothing', async () => {
	const path = await put('bad', BAD);
	const empty = await put('empty', '---\nname: empty\n---\n');
	const { exitCode, stdout } = await runCli(['doctor', dir]);
	expect(exitCode).toBe(1);
	const lines = stdout.trimEnd().split('\n');
	expect(lines[0]).toMatch(
		new RegExp(`^${path}:1: warning _: starts with a byte order mark.* \\[fix available: start\\]$`)
	);
	expect(lines[1]).toMatch(/:3: error _: isn’t valid YAML.* \[fix available: yaml\]$/);
	expect(lines.slice(2, 6)).toEqual([
		'    -<BOM>---',
		'    +---',
		'    -description: Use when: it rains',
		'    +description: "Use when: it rains"'
	]);
	expect(stdout).toContain(`${empty}:1: error description: is missing`);
	expect(lines.slice(-2)).toEqual([
		'2 skills, 2 errors, 1 warning',
		'Run again with --fix to fix 1 file. The old text is kept.'
	]);
	expect(await readFile(join(dir, 'bad/SKILL.md'), 'utf8')).toBe(BAD);
});

test('F1: doctor --fix mends one skill by name, or all, keeps the old file, and ends as validate does', async () => {
	await put('bad', BAD);
	await put('other', '# Makes tea\n');
	const one = await runCli(['doctor', dir, 'bad', '--fix']);
	expect(one).toMatchObject({ exitCode: 0, stderr: '' });
	const [kept = ''] = (await readdir(join(dir, 'bad'))).filter((name) => name.endsWith('.old'));
	expect(one.stdout).toMatch(
		/bad\/SKILL\.md: fixed, old text kept in \.SKILL\.md\..*\.old\n1 skill, 0 errors, 0 warnings\n$/
	);
	expect(await readFile(join(dir, 'bad', kept), 'utf8')).toBe(BAD);
	expect((await runCli(['validate', dir])).exitCode).toBe(1);
	expect((await runCli(['doctor', dir, '--fix'])).exitCode).toBe(0);
	expect((await runCli(['validate', dir])).stdout).toBe('2 skills, 0 errors, 0 warnings\n');
	expect((await runCli(['doctor', join(dir, 'bad')])).stdout).toBe('1 skill, 0 errors, 0 warnings\n');
});

test('F1: what cannot be written is said beside the others, and exits with 1', async () => {
	await put('good', '# Makes tea\n');
	await mkdir(join(dir, 'linked'));
	await writeFile(join(dir, 'linked/real.md'), '# Makes coffee\n');
	await symlink('real.md', join(dir, 'linked/SKILL.md'));
	const { exitCode, stdout } = await runCli(['doctor', dir, '--fix']);
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/good\/SKILL\.md: fixed/);
	expect(stdout).toMatch(/linked\/SKILL\.md: not fixed: .* is a link/);
	const json = JSON.parse((await runCli(['doctor', dir, '--json'])).stdout) as unknown[];
	expect(json).toMatchObject([
		{ name: 'good', issues: [] },
		{ name: 'linked', issues: [{ field: '_', line: 1, fixId: 'opening' }], fixed: { before: '# Makes coffee\n' } }
	]);
	expect(JSON.stringify(json)).not.toContain('"after":null');
});

test('a folder without skills, and a name that none has, are explained', async () => {
	expect(await runCli(['doctor', dir])).toMatchObject({ exitCode: 1, stdout: `No SKILL.md found in ${dir}.\n` });
	expect(await runCli(['doctor', dir, 'ghost'])).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('ghost') as unknown
	});
	expect(await runCli(['doctor'])).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('needs a folder') as unknown
	});
});
