import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { runCli } from './run-cli.ts';

const dir = emptyFolder();

/** Returns its path as the commands say it. */
async function put(name: string, text: string): Promise<string> {
	await putFile(dir, `${name}/SKILL.md`, text);
	return relative(process.cwd(), join(dir, name, 'SKILL.md'));
}
const good = (name: string, description = `Does ${name}.`) =>
	`---\nname: ${name}\ndescription: ${description}\n---\nBody of ${name}.\n`;

test('E21: validate says each problem with file and line, and exits with 1 when one is an error', async () => {
	await put('good', good('good'));
	await put('bad', '---\nname: Bad_Name\ndescription: x\n---\n');
	await put('gone', '---\nname: gone\n');
	const { exitCode, stdout } = await runCli(['validate', dir]);
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/bad\/SKILL\.md:2: error name: .*\(write: name: bad-name\)/);
	expect(stdout).toMatch(/gone\/SKILL\.md:1: error _: .*no closing ---/);
	expect(stdout).not.toContain('good/SKILL.md');
	expect(stdout).toMatch(/3 skills, \d errors, 0 warnings\n$/);
	const json = JSON.parse((await runCli(['validate', dir, '--json'])).stdout) as { name: string; issues: unknown[] }[];
	expect(json.map(({ name, issues }) => [name, issues.length > 0])).toEqual([
		['Bad_Name', true],
		['gone', true],
		['good', false]
	]);
});

test('E21: a folder without an error is valid, be it of skills or one skill\u2019s own', async () => {
	await put('good', good('good'));
	expect(await runCli(['validate', dir])).toEqual({
		exitCode: 0,
		stdout: '1 skill, 0 errors, 0 warnings\n',
		stderr: ''
	});
	expect((await runCli(['validate', join(dir, 'good')])).stdout).toBe('1 skill, 0 errors, 0 warnings\n');
	await mkdir(join(dir, 'empty'));
	expect(await runCli(['validate', join(dir, 'empty')])).toMatchObject({
		exitCode: 1,
		stdout: expect.stringContaining('No SKILL.md')
	});
});

const DEEP = 'a/b/c/d/e/f/g/h/deep';

test('E21: validate finds all skills of a collection, hidden folders and plugins too, and says which it read', async () => {
	for (const name of [
		'skills/.curated/pdf',
		'skills/.system/make',
		'plugins/mail/skills/send',
		'.claude/skills/own',
		DEEP
	]) {
		await put(name, good(name.split('/').at(-1) ?? ''));
	}
	await mkdir(join(dir, '.agents'));
	await symlink('../.claude/skills', join(dir, '.agents/skills'));
	for (const name of ['.git/x', 'node_modules/p/x', 'skills/_draft/x']) await put(name, 'broken');
	await mkdir(join(dir, '.claude-plugin'));
	const list = (plugins: unknown) =>
		writeFile(join(dir, '.claude-plugin/marketplace.json'), JSON.stringify({ plugins }));
	const there = { name: 'mail', source: './plugins/mail', skills: ['./skills/send'] };
	await list([there, { name: 'all', source: './', skills: './skills/' }]);
	expect(await runCli(['validate', dir])).toMatchObject({
		exitCode: 0,
		stdout: [
			'Read 1 skill in .agents/skills: own',
			'Read 1 skill in a/b/c/d/e/f/g/h: deep',
			'Read 1 skill in plugins/mail/skills: send',
			'Read 1 skill in skills/.curated: pdf',
			'Read 1 skill in skills/.system: make',
			'5 skills, 0 errors, 0 warnings\n'
		].join('\n')
	});
	await list([
		{ ...there, skills: ['./skills/receive'] },
		{ name: 'gone', source: './plugins/gone' },
		{ name: 'far', source: { source: 'github', repo: 'a/b' } }
	]);
	const { exitCode, stdout } = await runCli(['validate', dir]);
	expect(exitCode).toBe(1);
	expect(stdout).toContain('marketplace.json:1: error mail: names plugins/mail/skills/receive, which has no skill\n');
	expect(stdout).toContain('marketplace.json:1: error gone: has no folder ./plugins/gone\n');
	expect(stdout).toContain('marketplace.json:1: warning far: is in another place');
	for (const wrong of ['{', '{"plugins":{}}', '[]']) {
		await writeFile(join(dir, '.claude-plugin/marketplace.json'), wrong);
		expect((await runCli(['validate', dir])).stdout).toMatch(/marketplace\.json:1: error \w+: isn’t what a list/);
	}
});

test('A16, E21: validate warns of each field that is not in the standard, also beside an error and of those that are read', async () => {
	const fields = 'version: 1.0.0\ntags: [a]\ncolour: blue';
	await put('fine', `---\nname: fine\ndescription: x\n${fields}\n---\n`);
	await put('wrong', `---\nname: Wrong\ndescription: x\n${fields}\n---\n`);
	const { exitCode, stdout } = await runCli(['validate', dir]);
	expect(exitCode).toBe(1);
	for (const [line, field] of ['version', 'tags', 'colour'].entries())
		for (const name of ['fine', 'wrong'])
			expect(stdout).toContain(`${name}/SKILL.md:${line + 4}: warning ${field}: isn’t a standard field`);
	expect(stdout).toMatch(/2 skills, 2 errors, 6 warnings\n$/);
});

test('E21: what the app loads with a warning and the standard forbids is an error of validate: no UTF-8, blank lines first', async () => {
	await putFile(dir, 'latin/SKILL.md', Buffer.from(good('latin', 'Makes tea.') + 'Déjà vu\n', 'latin1'));
	await put('late', `\n\n${good('late')}`);
	const { exitCode, stdout } = await runCli(['validate', dir]);
	expect(exitCode).toBe(1);
	expect(stdout).toMatch(/late\/SKILL\.md:1: error _: has blank lines before the front matter\n/);
	expect(stdout).toMatch(/latin\/SKILL\.md:6: error _: isn’t UTF-8 text.*\n2 skills, 2 errors, 0 warnings\n$/);
	// Neither skill is broken: both load.
	expect((await runCli(['list', dir])).stdout).toContain('2 ready');
});

test('E21, D15: validate tells the faults of a tools.json by its own lines, and ends with 1', async () => {
	await put('broken', good('broken'));
	await writeFile(join(dir, 'broken/tools.json'), '[\n\t{ "name": "x", }\n]');
	await put('lost', good('lost'));
	const tools = [
		{ name: 'gone', description: 'x', script: 'scripts/gone.mjs' },
		{ name: 'out', description: 'x', script: '../broken/SKILL.md' },
		{ name: 'there', description: 'x', script: 'run.mjs' }
	];
	await writeFile(join(dir, 'lost/tools.json'), JSON.stringify(tools, null, '\t'));
	await writeFile(join(dir, 'lost/run.mjs'), '');
	const { exitCode, stdout } = await runCli(['validate', dir]);
	expect(exitCode).toBe(1);
	const lines = stdout.trimEnd().split('\n');
	expect(lines[0]).toMatch(/broken\/tools\.json:2: error tools\.json: isn’t valid JSON/);
	expect(lines[1]).toMatch(
		/lost\/tools\.json:5: error tools\.json\[0\.script\]: doesn’t exist: there is no file “scripts\/gone\.mjs” in the skill$/
	);
	expect(lines[2]).toMatch(
		/lost\/tools\.json:10: error tools\.json\[1\.script\]: .*must be a path inside the skill’s folder/
	);
	expect(lines[3]).toBe('2 skills, 3 errors, 0 warnings');
	expect((await runCli(['doctor', dir])).stdout).toContain('lost/tools.json:5: error tools.json[0.script]');
	expect((await runCli(['list', dir])).stdout).toContain('2 ready');
});

test('E21: list, show and search', async () => {
	await put('invoices', good('invoices', 'Reads invoices.'));
	await put('weather', good('weather', 'Tells the weather.'));
	await put('half', '---\n');
	const list = await runCli(['list', dir]);
	expect(list.stdout).toMatch(
		/^half {2}BROKEN: .*\ninvoices {2}Reads invoices\.\nweather {2}Tells the weather\.\n2 ready, 1 broken\n$/
	);
	const show = await runCli(['show', dir, 'weather']);
	expect(show.stdout).toContain('Description: Tells the weather.');
	expect(show.stdout).toContain('Body of weather.');
	expect((await runCli(['search', dir, 'the', 'weather', 'today'])).stdout).toMatch(/^ {1,2}\d+ {2}weather/);
	expect((await runCli(['search', dir, 'xyzzy'])).stdout).toContain('No skills match “');
	expect(JSON.parse((await runCli(['search', dir, 'invoice', '--json'])).stdout)).toMatchObject([{ name: 'invoices' }]);
});

test('E21: create makes a folder that validates, and never writes over one', async () => {
	const { exitCode, stdout } = await runCli([
		'create',
		dir,
		'greet-people',
		'--description',
		'Greets: "people" # kindly'
	]);
	expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('SKILL.md') });
	expect((await runCli(['validate', dir])).exitCode).toBe(0);
	const before = await readFile(join(dir, 'greet-people/SKILL.md'), 'utf8');
	const again = await runCli(['create', dir, 'greet-people', '--description', 'Other']);
	expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('already exists') });
	expect(await readFile(join(dir, 'greet-people/SKILL.md'), 'utf8')).toBe(before);
});

test.each([
	[[], 'Usage:'],
	[['fly', '.'], 'Unknown command “fly”'],
	[['validate'], 'needs a folder'],
	[['validate', '/no/such/folder'], 'Folder not found'],
	[['search', '.'], 'needs words'],
	[['create', '.', '../up', '--description', 'x'], 'isn’t a valid skill name'],
	[['create', '.', 'fine'], 'needs --description'],
	[['show', 'skills', 'ghost'], 'No skill named “ghost”'],
	[['list', '.', '--colour'], 'Unknown option']
])('a wrong call %j is explained, with exit code 2', async (argv, text) => {
	const { exitCode, stdout, stderr } = await runCli(argv);
	expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
	expect(stderr).toContain(text);
	expect(stderr).toContain('Usage: openrouter-skills');
});

test('--help is an answer, not an error', async () => {
	expect(await runCli(['--help'])).toMatchObject({
		exitCode: 0,
		stdout: expect.stringContaining('Usage:'),
		stderr: ''
	});
});

const BAD = '\uFEFF---\nname: bad\ndescription: Use when: it rains\n---\nBody\n';

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
