import { execFile } from 'node:child_process';
import fc from 'fast-check';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { plainProcesses } from '../../../../../tests/support/plain-processes.ts';
import { isRunning, orphans } from '../../../../../tests/support/processes.ts';
import { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from '../provider.ts';
import type { SkillExecutionResult } from '../types.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const folder = emptyFolder();
let skills: SkillsProvider;
beforeEach(async () => {
	await mkdir(join(folder, 'skills/demo/sub'), { recursive: true });
	const tools = ['facts', 'hang', 'count'].map((name) => ({ name, description: name, script: `sub/${name}.mjs` }));
	await put('SKILL.md', '---\nname: demo\ndescription: Demo.\nmetadata:\n  env: DECLARED\n---\n');
	await put('tools.json', JSON.stringify(tools));
	await put('sub/facts.mjs', 'export default () => ({ pid: process.pid, cwd: process.cwd(), env: process.env });');
	await put(
		'sub/hang.mjs',
		'console.log(process.pid); export default () => new Promise((end) => setTimeout(end, 600_000));'
	);
	await put('sub/count.mjs', 'globalThis.count = (globalThis.count ?? 0) + 1; export default () => globalThis.count;');
	await put('argv.sh', 'for each in "$@"; do printf "%s\\0" "$each"; done');
	await put('pwd.sh', 'pwd');
	await open();
});
afterEach(async () => {
	vi.unstubAllEnvs();
	await skills.close();
});

async function put(path: string, text: string): Promise<void> {
	await writeFile(join(folder, 'skills/demo', path), text);
}
async function open(options: SkillsProviderOptions = {}): Promise<void> {
	skills = await createSkillsProvider(join(folder, 'skills'), {
		cwd: join(folder, 'work'),
		sandbox: plainProcesses(),
		...options
	});
	await skills.handleToolCall('load_skill', { skill: 'demo' });
}
const call = async (name: string, args: Record<string, unknown> = {}) =>
	(await skills.handleToolCall(name, args)) as SkillExecutionResult;
const use = (script: string, more: Record<string, unknown> = {}) =>
	call('use_skill', { skill: 'demo', script, ...more });
interface Facts {
	pid: number;
	cwd: string;
	env: Record<string, string>;
}
const facts = async () => (await call('facts')).value as Facts;

describe('the spare Node', () => {
	test('D20: every call has a process of its own, with its own directory and environment', async () => {
		vi.stubEnv('OPENROUTER_API_KEY', 'secret');
		vi.stubEnv('DECLARED', 'of the host');
		await skills.close();
		await open({ env: { DECLARED: 'yes', OTHER: 'no' } });
		const seen = [await facts(), await facts(), await facts()];
		expect(new Set(seen.map(({ pid }) => pid)).size).toBe(3);
		expect(new Set(seen.map(({ env }) => env.HOME)).size).toBe(3);
		for (const { cwd, env } of seen) {
			expect(cwd).toBe(join(folder, 'work'));
			expect(env).toMatchObject({ DECLARED: 'yes', HOME: env.TMPDIR, CLAUDE_SKILL_DIR: env.SKILL_DIR });
			expect(JSON.stringify(env)).not.toMatch(/secret|OTHER/);
		}
	});
	test('D20: nothing of one call is left in the next: no global, no cached module', async () => {
		expect([(await call('count')).value, (await call('count')).value]).toEqual([1, 1]);
		await put('sub/count.mjs', 'export default () => "changed";');
		expect((await call('count')).value).toBe('changed');
	});
	test('D20, D10: a waiting process that was taken is ended at the time limit, and the next call works', async () => {
		await skills.close();
		await open({ timeout: 700 });
		await facts();
		const result = await call('hang');
		expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout' });
		const pid = Number(/\d+/.exec(result.stderr)?.[0]);
		expect(pid).toBeGreaterThan(0);
		expect(isRunning(pid)).toBe(false);
		expect((await facts()).cwd).toBe(join(folder, 'work'));
	});
	test('D20: many at once are all answered', async () => {
		await facts();
		const pids = await Promise.all(Array.from({ length: 6 }, async () => (await facts()).pid));
		expect(new Set(pids).size).toBe(6);
	});
	test('D20: it does not keep a program alive, and ends with it', async () => {
		const provider = join(import.meta.dirname, '../provider.ts');
		const program = `
			const { createSkillsProvider } = await import(${JSON.stringify(provider)});
			const skills = await createSkillsProvider(${JSON.stringify(join(folder, 'skills'))}, { cwd: ${JSON.stringify(folder)} });
			await skills.handleToolCall('load_skill', { skill: 'demo' });
			await skills.handleToolCall('facts', {});
			console.log('done');`;
		const child = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
		const { stdout } = await child;
		expect(stdout).toBe('done\n');
		const waiting = () => orphans().filter((line) => line.includes('of process.stdin'));
		await eventually(() => expect(waiting()).toEqual([]));
	});
});

test('D10: a call may have a limit of its own', async () => {
	await put('sleep.sh', 'sleep 30');
	const result = await use('sleep.sh', { timeout_ms: 200 });
	expect(result).toMatchObject({ error: 'ExecutionTimeout', message: 'sleep.sh ran for 0.2 s and was stopped.' });
});

test('D7: scripts run in the workspace, or where their skill wishes', async () => {
	expect((await use('pwd.sh')).stdout).toBe(`${join(folder, 'work')}\n`);
	await put('dir.sh', 'pwd; echo "$SKILL_DIR"');
	for (const wish of ['skill', 'script', 'elsewhere']) {
		await put('SKILL.md', `---\nname: demo\ndescription: Demo.\ncwd: ${wish}\n---\n`);
		await skills.reload();
		const [place, skillDir] = (await use('dir.sh')).stdout.split('\n');
		expect(place).toBe(wish === 'elsewhere' ? join(folder, 'work') : skillDir);
	}
});

test('D1: no argument ever reaches a shell: a script is given exactly what was said', async () => {
	const piece = fc.oneof(
		fc.constantFrom(
			'$(touch x)',
			'`id`',
			';',
			'&&',
			'|',
			'>',
			'<',
			'*',
			'~',
			'$HOME',
			'"',
			"'",
			'\\',
			'\n',
			'\r',
			' ',
			'-',
			'--',
			'#',
			'!',
			'{a,b}',
			'%',
			'\u202e',
			'💥'
		),
		fc.string({ maxLength: 5, unit: 'grapheme' })
	);
	const argument = fc.array(piece, { maxLength: 5 }).map((parts) => parts.join('').replaceAll('\0', ''));
	await fc.assert(
		fc.asyncProperty(fc.array(argument, { maxLength: 6 }), async (args) => {
			const { stdout } = await use('argv.sh', { args });
			const given = args.map((text) => text.toWellFormed());
			expect(stdout).toBe(given.map((text) => `${text}\0`).join(''));
		}),
		{ numRuns: 60 }
	);
}, 30_000);
