import { randomInt } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { processesWith } from '../../../../tests/support/processes.ts';
import { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from './provider.ts';
import type { SkillExecutionResult } from './types.ts';
import { eventually } from '../../../../tests/support/eventually.ts';

const folder = emptyFolder();
let skills: SkillsProvider | undefined;
afterEach(async () => {
	await skills?.close();
	skills = undefined;
});

const FRONT = '---\nname: demo\ndescription: A demonstration.\n---\n';
async function put(files: Record<string, string>) {
	for (const [path, text] of Object.entries(files)) {
		const target = join(folder, 'skills', path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, text);
	}
}
async function open(options: SkillsProviderOptions = {}) {
	skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work'), ...options });
	return skills;
}
async function use(script: string, args: string[] = [], options: SkillsProviderOptions = {}) {
	const provider = skills ?? (await open(options));
	return (await provider.handleToolCall('use_skill', { skill: 'demo', script, args })) as SkillExecutionResult;
}

describe('the provider', () => {
	test('S0: prompt, tools, names and load_skill', async () => {
		await put({ 'demo/SKILL.md': `${FRONT}Say hello.` });
		const provider = await open();
		expect(provider.skillNames).toEqual(['demo']);
		expect(provider.systemPrompt).toContain('### demo\nA demonstration.');
		expect(provider.tools.map((tool) => tool.name)).toEqual(['load_skill', 'use_skill']);
		expect(await provider.handleToolCall('load_skill', { skill: 'demo' })).toContain('Say hello.');
		expect(await provider.handleToolCall('load_skill', { skill: 'nope' })).toMatchObject({
			error: 'SkillNotFound',
			hint: 'Available skills: demo'
		});
		expect(await provider.handleToolCall('nope', {})).toMatchObject({ error: 'UnknownTool' });
	});
	test('C18: without skills there is no prompt and no tool', async () => {
		const provider = await open();
		expect(provider.systemPrompt).toBe('');
		expect(provider.tools).toEqual([]);
	});
	test('D1: a script runs by path, by bare name and by a unique deep name, with its arguments verbatim', async () => {
		await put({ 'demo/SKILL.md': FRONT, 'demo/scripts/deep/say.sh': 'printf "%s|" "$@"; exit 3\n' });
		for (const name of ['scripts/deep/say.sh', 'say.sh', './scripts/deep/say.sh']) {
			const result = await use(name, ['$HOME', 'a b', '*']);
			expect(result).toMatchObject({ success: false, exitCode: 3, stdout: '$HOME|a b|*|', error: 'ExecutionFailed' });
		}
	});
	test.each(['../x.sh', '/bin/ls', 'a\0b', 'scripts/../../x.sh', 'out.sh'])(
		'D8: %j is ScriptNotAllowed',
		async (script) => {
			await put({ 'demo/SKILL.md': FRONT, 'other.sh': 'echo no\n' });
			await symlink(join(folder, 'skills/other.sh'), join(folder, 'skills/demo/out.sh'));
			expect(await use(script)).toMatchObject({ success: false, error: 'ScriptNotAllowed' });
		}
	);
	test('D13: a missing script names those there are, another kind of file is refused', async () => {
		await put({ 'demo/SKILL.md': FRONT, 'demo/a.py': '', 'demo/note.txt': 'x' });
		expect(await use('b.py')).toMatchObject({ error: 'ScriptNotFound', hint: 'Its scripts: a.py' });
		expect(await use('note.txt')).toMatchObject({ error: 'UnsupportedScriptType' });
	});
	test('D14: no secret of the host is in the environment; a declared and offered variable is', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'sk-secret');
		const front = FRONT.replace('---\n', '---\nmetadata:\n  env: "TOKEN_A"\n');
		await put({ 'demo/SKILL.md': front, 'demo/env.py': 'import os, json; print(json.dumps(dict(os.environ)))\n' });
		const { stdout } = await use('env.py', [], { env: { TOKEN_A: 'yes', TOKEN_B: 'no' } });
		vi.unstubAllEnvs();
		const seen = JSON.parse(stdout) as Record<string, string>;
		expect(stdout).not.toContain('sk-secret');
		expect(seen).toMatchObject({ TOKEN_A: 'yes', CLAUDE_SKILL_DIR: seen.SKILL_DIR, PYTHONPATH: seen.SKILL_DIR });
		expect(seen).not.toHaveProperty('TOKEN_B');
	});
	test('D11: 200 MB of output is a success with the marker, cut at characters', async () => {
		await put({ 'demo/SKILL.md': FRONT, 'demo/big.sh': 'yes "äöü€" | head -c 200000000\n' });
		const result = await use('big.sh');
		expect(result).toMatchObject({ success: true, truncated: true });
		expect(result.stdout).toContain('[output truncated]');
		expect(Buffer.byteLength(result.stdout)).toBeLessThan(20_480 + 40);
		expect(result.stdout).not.toContain('\uFFFD');
	});
	test('D10: a time-out ends the whole group, also what ignores SIGTERM', async () => {
		const seconds = `987.${randomInt(1e6, 1e7)}`;
		await put({
			'demo/SKILL.md': FRONT,
			'demo/hang.sh': `trap '' TERM\n(trap '' TERM; sleep ${seconds}) &\necho started\nsleep ${seconds}\n`
		});
		const result = await use('hang.sh', [], { timeout: 300 });
		expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout', exitCode: -1 });
		expect(result.stdout).toBe('started\n');
		await eventually(() => expect(processesWith(seconds)).toEqual([]));
	});
	test('D15–D23: handlers in JavaScript, Python and shell, with their arguments checked', async () => {
		const tool = (name: string, script: string) => ({
			name,
			description: name,
			script,
			parameters: { text: { type: 'string' } }
		});
		await put({
			'demo/SKILL.md': FRONT,
			'demo/tools.json': JSON.stringify([
				tool('js_up', 'up.js'),
				tool('py_up', 'up.py'),
				tool('sh_up', 'up.sh'),
				{ name: 'Bad' }
			]),
			'demo/up.js':
				'export default async ({ text, __workDir }) => { console.log("noise"); return { up: text.toUpperCase(), dir: typeof __workDir }; }',
			'demo/up.py': 'def handler(args):\n    print("noise")\n    return {"up": args["text"].upper()}\n',
			'demo/up.sh': 'echo "$1" > said.json; cat said.json\n'
		});
		const provider = await open();
		await provider.handleToolCall('load_skill', { skill: 'demo' });
		expect(provider.tools.map(({ name }) => name).slice(2)).toEqual(['js_up', 'py_up', 'sh_up']);
		expect(await provider.handleToolCall('js_up', { text: 'ä' })).toMatchObject({ value: { up: 'Ä', dir: 'string' } });
		expect(await provider.handleToolCall('py_up', { text: 'ä', __workDir: '/' })).toMatchObject({ value: { up: 'Ä' } });
		expect(await provider.handleToolCall('sh_up', { text: 'x' })).toMatchObject({
			value: { text: 'x' },
			files: [{ path: 'said.json' }]
		});
		expect(await provider.handleToolCall('js_up', { text: 5 })).toMatchObject({ error: 'InvalidArgs' });
		expect(provider.registry.snapshot().skills[0]?.issues[0]?.field).toContain('tools.json[3');
	});
	test('A24: what cannot be read is listed as broken, and the others load', async () => {
		await put({
			'demo/SKILL.md': FRONT,
			'empty/SKILL.md': '',
			'binary/SKILL.md': '---\n\0\u0001',
			'half/SKILL.md': '---\nname: half',
			'large/SKILL.md': 'x'.repeat(5_000_000),
			'fifo/note.md': '',
			'link/note.md': '',
			'evil/SKILL.md': '---js\n{}\n---\n'
		});
		execFileSync('mkfifo', [join(folder, 'skills/fifo/SKILL.md')]);
		await symlink('/etc/passwd', join(folder, 'skills/link/SKILL.md'));
		await symlink('.', join(folder, 'skills/round'));
		const { registry } = await open();
		const { broken, skills: ready } = registry.snapshot();
		expect(ready.map(({ name }) => name)).toEqual(['demo']);
		expect(broken.map(({ name }) => name).sort()).toEqual(['binary', 'empty', 'evil', 'fifo', 'half', 'large', 'link']);
		expect(broken.every(({ issues }) => issues[0]?.severity === 'error')).toBe(true);
	});
	test('A28, A33: the first root wins, and a folder copied in is seen', async () => {
		await put({ 'demo/SKILL.md': FRONT });
		await cp(join(folder, 'skills/demo'), join(folder, 'second/demo'), { recursive: true });
		await writeFile(join(folder, 'second/demo/SKILL.md'), `${FRONT}Other body`);
		skills = await createSkillsProvider([join(folder, 'skills'), join(folder, 'second')], { watch: true });
		const { registry } = skills;
		expect(registry.snapshot().shadowed[0]?.issues.at(-1)?.message).toContain('already defined');
		await put({ 'new-one/SKILL.md': FRONT.replace('demo', 'new-one') });
		await eventually(() => expect(skills?.skillNames).toEqual(['demo', 'new-one']));
	});
});
