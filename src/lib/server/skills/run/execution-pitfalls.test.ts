import { randomInt } from 'node:crypto';
/** Known execution bugs, one by one: each test fails if the code has the bug its row describes. */
import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { processesWith } from '../../../../../tests/support/processes.ts';
import { createSkillsProvider, type SkillsProvider, type SkillsProviderOptions } from '../provider.ts';
import { isInside, resolveScript } from '../read/files.ts';
import { readScriptArguments } from './environment.ts';
import type { SkillEvent, SkillExecutionResult } from '../types.ts';
import type { ExecutionEnd } from './execution-host.ts';
import { eventually } from '../../../../../tests/support/eventually.ts';

const folder = emptyFolder();
let skills: SkillsProvider | null;
beforeEach(() => {
	skills = null;
});
afterEach(async () => {
	vi.unstubAllEnvs();
	await skills?.close();
});

async function put(files: Record<string, string>) {
	const all = { 'SKILL.md': '---\nname: demo\ndescription: Demo.\n---\n', ...files };
	for (const [path, text] of Object.entries(all)) {
		const target = join(folder, 'skills/demo', path);
		await mkdir(dirname(target), { recursive: true });
		await writeFile(target, text);
	}
}
const tool = (name: string, script: string, parameters: unknown = {}) =>
	JSON.stringify([{ name, description: 'A tool.', script, parameters }]);
async function open(files: Record<string, string>, options: SkillsProviderOptions = {}) {
	await put(files);
	skills = await createSkillsProvider(join(folder, 'skills'), { cwd: join(folder, 'work'), ...options });
	await skills.handleToolCall('load_skill', { skill: 'demo' });
}
const call = async (name: string, args: Record<string, unknown> = {}) =>
	(await skills?.handleToolCall(name, args)) as SkillExecutionResult;
const use = (script: string, more: Record<string, unknown> = {}) =>
	call('use_skill', { skill: 'demo', script, ...more });

describe('arguments', () => {
	test('D3, D4: what an object holds arrives as JSON writes it: true, lists, objects; also as variables', async () => {
		const args = { 'is-on': true, off: false, list: [1, 'b'], deep: { a: null }, none: null, größe: 1.5 };
		await open({
			'show.mjs':
				"const env = Object.entries(process.env).filter(([key]) => key.startsWith('SKILL_ARG_')); console.log(JSON.stringify({ argv: process.argv.slice(2), env: Object.fromEntries(env) }));"
		});
		const shown = async (style?: string) => {
			const { stdout } = await use('show.mjs', { args, ...(style ? { arg_style: style } : {}) });
			return JSON.parse(stdout) as { argv: string[]; env: Record<string, string> };
		};
		const env = {
			SKILL_ARG_IS_ON: 'true',
			SKILL_ARG_OFF: 'false',
			SKILL_ARG_LIST: '[1,"b"]',
			SKILL_ARG_DEEP: '{"a":null}',
			SKILL_ARG_GR_SSE: '1.5'
		};
		expect(await shown()).toEqual({ argv: ['true', 'false', '[1,"b"]', '{"a":null}', '1.5'], env });
		expect(await shown('env')).toEqual({ argv: [], env });
		expect((await shown('json')).env).toEqual(env);
	});
	test('D6: `parseArgs()` finds the same arguments in a Node that was started before, as in a new one', async () => {
		await open({
			'parse.mjs':
				"import { parseArgs } from 'node:util'; console.log(parseArgs({ allowPositionals: true }).positionals);"
		});
		for (let round = 0; round < 3; round += 1)
			expect(await use('parse.mjs', { args: ['a', 'b c'] })).toMatchObject({ stdout: "[ 'a', 'b c' ]\n", stderr: '' });
	});
	test.each(['Positional', 'shell', '', 0, {}])('D3: the style %j is InvalidArgs, and nothing runs', async (style) => {
		await open({ 'touch.sh': 'touch made' });
		expect(await use('touch.sh', { args: { a: 1 }, arg_style: style })).toMatchObject({ error: 'InvalidArgs' });
		expect(existsSync(join(folder, 'work/made'))).toBe(false);
	});
	test('D4: no key of an argument can set a variable but SKILL_ARG_…', () => {
		fc.assert(
			fc.property(fc.dictionary(fc.string({ maxLength: 12 }), fc.string({ maxLength: 5 })), (args) => {
				let input;
				try {
					input = readScriptArguments(args, 'env');
				} catch (error) {
					expect(error).toMatchObject({ type: 'InvalidArgs' });
					return;
				}
				for (const name of Object.keys(input.env)) expect(name).toMatch(/^SKILL_ARG_[A-Z0-9_]*$/);
			})
		);
	});
	test('D1: in every style no argument reaches a shell', async () => {
		await open({ 'show.mjs': 'console.log(JSON.stringify(process.argv.slice(2)))' });
		const hostile = fc.constantFrom(
			'$(touch made)',
			'`touch made`',
			'; touch made',
			'| tee made',
			'&& touch made',
			'> made'
		);
		const value = fc.oneof(hostile, fc.array(hostile, { maxLength: 2 }));
		await fc.assert(
			fc.asyncProperty(
				fc.dictionary(fc.constantFrom('a', 'b'), value),
				fc.constantFrom('positional', 'named'),
				async (args, style) => {
					const { stdout } = await use('show.mjs', { args, arg_style: style });
					expect(JSON.parse(stdout)).toEqual(readScriptArguments(args, style).argv);
					expect(existsSync(join(folder, 'work/made'))).toBe(false);
				}
			),
			{ numRuns: 20 }
		);
	});
});

describe('what runs', () => {
	test('D6: a .js file may be written as an ES module or the old way, whatever lies above it', async () => {
		await open({
			'package.json': '{}',
			'new.js': 'import { basename } from "node:path"; console.log(basename("/a/esm"), await 1);',
			'old.js': 'const { basename } = require("node:path"); console.log(basename("/a/cjs"));'
		});
		expect(await use('new.js')).toMatchObject({ success: true, stdout: 'esm 1\n' });
		expect(await use('old.js')).toMatchObject({ success: true, stdout: 'cjs\n' });
	});
	test('D10, D44: standard input is closed: a script that asks is told so at once', async () => {
		await open({ 'ask.py': 'input("Name? ")' });
		expect(await use('ask.py')).toMatchObject({
			error: 'ExecutionFailed',
			stdout: 'Name? ',
			stderr: expect.stringContaining('EOFError') as string
		});
	});
	test('D10: what a script of a script started is ended as well, and the partial output is kept', async () => {
		const seconds = `987.${randomInt(1e6, 1e7)}`;
		await open({
			'outer.sh': 'echo begun; bash "$SKILL_DIR/inner.sh"; echo never',
			'inner.sh': `sleep ${seconds} & echo waiting; wait`
		});
		const result = await use('outer.sh', { timeout_ms: 500 });
		expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout' });
		expect(result.stdout).toBe('begun\nwaiting\n');
		await eventually(() => expect(processesWith(seconds)).toEqual([]));
	});
	test('D11: output of far more than twice the cap, on both streams at once, is no failure', async () => {
		await open({ 'loud.sh': 'seq 1 200000; seq 1 200000 >&2' }, { maxOutput: 1000 });
		const result = await use('loud.sh');
		expect(result).toMatchObject({ success: true, exitCode: 0, truncated: true });
		expect(result.error).toBeUndefined();
		expect(Buffer.byteLength(result.stdout)).toBeLessThan(1030);
		expect(result.stdout).toMatch(/^1\n2\n[^]*200000\n$/);
	});
	test('D12, F3: the record of a run has the lines of both streams in the order in which they came, as a chat shows them', async () => {
		const ends: ExecutionEnd[] = [];
		const seen: string[] = [];
		const recorder = {
			started: async () => undefined,
			running: async () => undefined,
			finished: async (_id: string, end: ExecutionEnd) => void ends.push(end)
		};
		const wait = (count: number) => `until [ -e seen-${count} ]; do sleep 0.01; done`;
		const lines = ['echo "out 1"', wait(1), 'echo "err 1" >&2', wait(2), 'printf "out "', wait(3), 'echo 2', wait(4)];
		await open({ 'mix.sh': [...lines, 'echo "err 2" >&2', 'exit 3\n'].join('\n') }, { host: { recorder } });
		const cwd = join(folder, 'work');
		const onEvent = (event: SkillEvent): void => {
			if (event.type !== 'output') return;
			seen.push(event.text);
			writeFileSync(join(cwd, `seen-${seen.length}`), '');
		};
		const session = skills?.createSession({ snapshot: skills.registry.snapshot(), dialect: 'full' });
		await session?.call('use_skill', { skill: 'demo', script: 'mix.sh' }, { onEvent, cwd });
		expect(seen).toEqual(['out 1\n', 'err 1\n', 'out ', '2\n', 'err 2\n']);
		expect(ends.map(({ output }) => output)).toEqual(['out 1\nerr 1\nout 2\nerr 2\n']);
	});
	test('D7: a script in a folder of its skill runs in the workspace, and what it makes there is listed', async () => {
		await open({ 'sub/make.sh': 'pwd; touch made.txt; mkdir -p ~/.config/app; echo x > ~/left.txt' });
		expect(await use('sub/make.sh')).toMatchObject({
			stdout: `${join(folder, 'work')}\n`,
			files: [{ path: 'made.txt', bytes: 0 }]
		});
	});
	test('D5: a shell script with Windows line ends runs, with its arguments and its own path', async () => {
		const lines = [
			'#!/usr/bin/env bash',
			'set -e',
			'here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"',
			'if [ "$1" = "a b" ]; then',
			'	cat <<END',
			'$(basename "$here") $(basename "$0") $#',
			'END',
			'fi',
			'exit 3'
		];
		await open({ 'sub/windows.sh': lines.join('\r\n') });
		expect(await use('sub/windows.sh', { args: ['a b', 'c'] })).toMatchObject({
			stdout: 'sub windows.sh 2\n',
			exitCode: 3
		});
	});
	test('D7: home and temporary files are one empty folder of each run, and are gone after it', async () => {
		await open({ 'home.sh': 'echo "$HOME"; ls -A ~; echo x > ~/x; mkdir -m 0 ~/closed; cd "$TMPDIR"; mktemp; echo *' });
		const homes = [await use('home.sh'), await use('home.sh')].map(({ stdout }) => stdout.split('\n'));
		for (const [home = '', made = '', names = ''] of homes) {
			expect([made.startsWith(`${home}/`), names]).toEqual([true, expect.stringMatching(/^closed tmp\.\w+ x$/)]);
			expect(existsSync(home)).toBe(false);
		}
		expect(homes[0]?.[0]).not.toBe(homes[1]?.[0]);
	});
});

describe('the environment', () => {
	const secrets = { AWS_SECRET_ACCESS_KEY: 'host-1', MY_TOKEN: 'host-2', GITHUB_TOKEN: 'host-3', EDITOR: 'host-4' };
	const own = {
		OPENROUTER_API_KEY: 'host-5',
		SECRETS_KEY: 'host-6',
		NODE_OPTIONS: '--no-warnings',
		LD_DEBUG_OUTPUT: 'host-7'
	};
	const files = {
		'env.sh': 'env -0',
		'env.mjs': 'export default () => ({ ...process.env });',
		'env.py': 'import os\ndef handler(args): return dict(os.environ)',
		'tools.json': JSON.stringify(
			['env_mjs', 'env_py'].map((name) => ({ name, description: 'x', script: name.replace('_', '.') }))
		)
	};
	async function seen(): Promise<Record<string, string>[]> {
		const { stdout } = await use('env.sh');
		const pairs = stdout.split('\0').filter(Boolean);
		const script = Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s) as [string, string]));
		const handlers = [await call('env_mjs'), await call('env_mjs'), await call('env_py')];
		return [script, ...handlers.map(({ value }) => value as Record<string, string>)];
	}
	beforeEach(() => {
		for (const [name, value] of Object.entries({ ...secrets, ...own })) vi.stubEnv(name, value);
	});

	test('D14: by default nothing of the host is seen but a short list, by scripts and by handlers, cold or warm', async () => {
		await open(files);
		const allowed = [
			...['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'HOME'],
			...['SKILL_DIR', 'CLAUDE_SKILL_DIR', 'PYTHONPATH', 'PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE'],
			// bash sets these itself.
			...[
				'PYTHONIOENCODING',
				'npm_config_fetch_retry_mintimeout',
				'npm_config_fetch_retry_maxtimeout',
				'PWD',
				'OLDPWD',
				'SHLVL',
				'_'
			]
		];
		for (const env of await seen()) {
			expect(Object.keys(env).filter((name) => !allowed.includes(name))).toEqual([]);
			expect(JSON.stringify(env)).not.toContain('host-');
		}
	});
	test('D14: with inheritEnv the host’s variables are seen, other secrets included; the server’s own and what changes a start are not', async () => {
		await open(files, { inheritEnv: true });
		for (const env of await seen()) {
			expect(env).toMatchObject(secrets);
			for (const name of Object.keys(own)) expect(env).not.toHaveProperty(name);
			expect(env.HOME).toBe(env.TMPDIR);
		}
	});
});

describe('tools', () => {
	test('D17, D15: of two tools of one name the first answers; one that cannot be does not take the others along', async () => {
		const entry = (name: string, script: string) => ({ name, description: 'x', script });
		const tools = [entry('one', 'a.mjs'), entry('one', 'b.mjs'), entry('Bad Name', 'a.mjs'), entry('two', 'b.mjs')];
		await open({
			'a.mjs': 'export default () => "a"',
			'b.mjs': 'export default () => "b"',
			'tools.json': JSON.stringify(tools)
		});
		expect([(await call('one')).value, (await call('two')).value]).toEqual(['a', 'b']);
		const issues = skills?.registry.snapshot().skills[0]?.issues ?? [];
		expect(issues).toHaveLength(2);
	});
	test('D16: wrong arguments are InvalidArgs, and the handler does not begin', async () => {
		const parameters = {
			n: { type: 'integer', description: 'x' },
			kind: { type: 'string', description: 'x', enum: ['a'], optional: true }
		};
		await open({
			'run.mjs': "import { writeFileSync } from 'node:fs'; writeFileSync('began', ''); export default () => 1;",
			'tools.json': tool('run', 'run.mjs', parameters)
		});
		for (const args of [{}, { n: '1' }, { n: 1.5 }, { n: 1, kind: 'b' }, { n: null }]) {
			expect(await call('run', args)).toMatchObject({ error: 'InvalidArgs' });
		}
		expect(existsSync(join(folder, 'work/began'))).toBe(false);
		expect(await call('run', { n: 1 })).toMatchObject({ value: 1 });
	});
	test('D18: a tool without a script answers with the whole instructions, and saves a call', async () => {
		await open({
			'SKILL.md': '---\nname: demo\ndescription: Demo.\n---\nStep one, step two.',
			'tools.json': JSON.stringify([{ name: 'stub', description: 'x' }])
		});
		expect(await call('stub')).toContain('Step one, step two.');
	});
	test.each([
		['show.mjs', 'export default ({ __workDir }) => __workDir;'],
		['show.py', 'def handler(args): return args["__workDir"]'],
		['show.sh', 'cat']
	])('D19: %s is given our __workDir, not the model’s', async (script, text) => {
		await open({ [script]: text, 'tools.json': tool('show', script) });
		const { value } = await call('show', { __workDir: '/etc' });
		expect(JSON.stringify(value)).toContain(join(folder, 'work'));
		expect(JSON.stringify(value)).not.toContain('/etc');
	});
	test('D20: a handler’s globals, its changes of prototypes and its exit are its own process’s', async () => {
		await open({
			'evil.mjs':
				'globalThis.tampered = true; export default () => { Object.prototype.tampered = 1; process.exit(3); }',
			'tools.json': tool('evil', 'evil.mjs')
		});
		for (const _ of [1, 2]) expect(await call('evil')).toMatchObject({ success: false, exitCode: 3 });
		expect(globalThis).not.toHaveProperty('tampered');
		expect({}).not.toHaveProperty('tampered');
	});
	test.each([
		['a handler', 'def handler(args):\n\treturn {"got": args["text"]}'],
		[
			'a program that reads standard input',
			'import json, sys\nprint(json.dumps({"got": json.load(sys.stdin)["text"]}))'
		],
		[
			'a handler with a program beside it',
			'import json, sys\ndef handler(args):\n\treturn {"got": args["text"]}\nif __name__ == "__main__":\n\tprint(json.dumps(handler(json.loads(sys.argv[1]))))'
		]
	])('D21: %s in Python is run', async (_name, text) => {
		await open({ 'run.py': text, 'tools.json': tool('run', 'run.py', { text: { type: 'string', description: 'x' } }) });
		expect(await call('run', { text: 'ä' })).toMatchObject({ success: true, value: { got: 'ä' } });
	});
	test.each([
		['export default () => ({ at: new Date(0), set: undefined })', { at: '1970-01-01T00:00:00.000Z' }],
		['export default () => NaN', null]
	])('D23: %s is what JSON makes of it', async (text, value) => {
		await open({ 'run.mjs': text, 'tools.json': tool('run', 'run.mjs') });
		expect((await call('run')).value).toEqual(value);
	});
});

describe('where scripts are looked for', () => {
	test('D8: whatever the encoding or the case of a way out, what runs lies in the folder', async () => {
		await put({ 'scripts/in.sh': 'echo in' });
		await writeFile(join(folder, 'out.sh'), 'echo out');
		await writeFile(join(folder, 'skills/out.sh'), 'echo out');
		await symlink('../..', join(folder, 'skills/demo/up'));
		await symlink('up', join(folder, 'skills/demo/up2'));
		await symlink('scripts', join(folder, 'skills/demo/also'));
		const dir = join(folder, 'skills/demo');
		const step = fc.constantFrom(
			...[
				'..',
				'.',
				'',
				'%2e%2e',
				'%2E%2E%2F',
				'..%2f',
				'%252e%252e',
				'．．',
				'‥',
				'..\\',
				'\\..',
				'..;',
				'.. ',
				'..\0'
			],
			...[
				'up',
				'up2',
				'also',
				'UP',
				'scripts',
				'SCRIPTS',
				'in.sh',
				'out.sh',
				'file:',
				'~',
				'/etc/passwd',
				'C:\\x',
				folder
			]
		);
		const joined = fc
			.tuple(fc.array(step, { minLength: 1, maxLength: 6 }), fc.constantFrom('/', '\\', '//', '%2f', '∕'))
			.map(([steps, between]) => steps.join(between));
		await fc.assert(
			fc.asyncProperty(joined, async (path) => {
				const found = await resolveScript(dir, path).catch((error: { type?: string }) => {
					expect(['ScriptNotFound', 'ScriptNotAllowed']).toContain(error.type);
					return null;
				});
				if (!found) return;
				expect(isInside(dir, found.path)).toBe(true);
				expect(await readFile(found.path, 'utf8')).not.toContain('out');
			}),
			{ numRuns: 500, examples: [['up/out.sh'], ['also/in.sh'], ['scripts/in.sh'], ['%2e%2e/out.sh'], ['up2/out.sh']] }
		);
	});
	test.each([
		['a file', 'scripts/a.sh', 'scripts/a.sh', '../../../elsewhere/a.sh'],
		['its folder', 'scripts', 'scripts/a.sh', '../../elsewhere']
	])(
		'D8: %s that is swapped for a link out while scripts run is never what runs',
		async (_name, swapped, script, out) => {
			await open({ 'scripts/a.sh': 'echo in', 'kept/a.sh': 'echo in' });
			const dir = join(folder, 'skills/demo');
			await mkdir(join(folder, 'elsewhere'));
			await writeFile(join(folder, 'elsewhere/a.sh'), 'echo out');
			const inside = swapped === 'scripts' ? 'kept' : '../kept/a.sh';
			let isDone = false;
			let turns = 0;
			const swapping = (async () => {
				for (; !isDone; turns += 1) {
					await symlink(turns % 2 === 0 ? out : inside, join(dir, 'next'));
					await rm(join(dir, swapped), { recursive: true, force: true });
					await rename(join(dir, 'next'), join(dir, swapped));
				}
			})();
			const said: string[] = [];
			try {
				// Until many runs were hit by the swapping and some still found the real script.
				for (let run = 0; run < 40 || (run < 400 && !said.includes('in\n')); run += 1) {
					said.push((await use(script)).stdout);
				}
			} finally {
				isDone = true;
				await swapping;
			}
			expect(turns).toBeGreaterThan(10);
			expect([...new Set(said)].filter((text) => text !== '')).toEqual(['in\n']);
		}
	);
	test('D8: a folder that is swapped for a link while it is looked at never gives what lies outside', async () => {
		await put({ 'real/a.sh': 'echo in' });
		const dir = join(folder, 'skills/demo');
		await mkdir(join(folder, 'elsewhere'));
		await writeFile(join(folder, 'elsewhere/a.sh'), 'echo out');
		let isDone = false;
		const swapping = (async () => {
			for (let turn = 0; !isDone; turn += 1) {
				await rm(join(dir, 'link'), { force: true });
				await symlink(turn % 2 === 0 ? '../../elsewhere' : 'real', join(dir, 'link'));
			}
		})();
		try {
			for (let turn = 0; turn < 300; turn += 1) {
				const found = await resolveScript(dir, 'link/a.sh').catch((error: { type?: string }) => {
					expect(['ScriptNotFound', 'ScriptNotAllowed']).toContain(error.type);
					return null;
				});
				if (found) expect(await readFile(found.path, 'utf8')).toBe('echo in');
			}
		} finally {
			isDone = true;
			await swapping;
		}
	});
});
