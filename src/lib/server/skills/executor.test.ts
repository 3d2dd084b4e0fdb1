import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../sandbox/process.ts';
import { readScriptArguments } from './run/environment.ts';
import { createExecutor, type ExecutorOptions } from './executor.ts';
import type { ExecutionContext } from './run/execution-host.ts';
import type { Skill, SkillEvent, SkillTool } from './types.ts';

const folder = emptyFolder();
let cwd: string;
let events: SkillEvent[];
beforeEach(() => {
	cwd = join(folder, 'work');
	events = [];
});
afterEach(() => {
	vi.unstubAllEnvs();
});

const demo = (part: Partial<Skill> = {}) => {
	return { name: 'demo', dir: join(folder, 'demo'), metadata: {}, extra: {}, ...part } as Skill;
};
const open = (options: Partial<ExecutorOptions> = {}) => {
	return createExecutor({
		sandbox: createProcessSandbox(),
		timeoutMs: 30_000,
		maxOutputBytes: 20_480,
		env: {},
		...options
	});
};
const context = (part: Partial<ExecutionContext> = {}): ExecutionContext => {
	return { cwd, onEvent: (event) => events.push(event), ...part };
};
async function put(path: string, text: string, mode = 0o644) {
	const target = join(folder, 'demo', path);
	await mkdir(dirname(target), { recursive: true });
	await writeFile(target, text);
	await chmod(target, mode);
}
/** Creates a script and runs it. */
async function run(name: string, text: string, args: string[] = [], options: Partial<ExecutorOptions> = {}) {
	await put(name, text, 0o755);
	return open(options).runScript(demo(), name, readScriptArguments(args), context());
}
/** Creates a handler and calls it as the tool `answer`. */
async function call(
	name: string,
	text: string,
	args: Record<string, unknown> = {},
	options: Partial<ExecutorOptions> = {}
) {
	await put(name, text, 0o755);
	const tool = { name: 'answer', description: 'x', script: name, inputSchema: {} } satisfies SkillTool;
	return open(options).runTool(demo(), tool, args, context());
}
const shown = (stream: 'stdout' | 'stderr') =>
	events.map((event) => (event.type === 'output' && event.stream === stream ? event.text : '')).join('');

describe('scripts', () => {
	test.each([
		['a.py', 'import sys; print(sys.argv[1:])', "['a b', '$HOME']\n"],
		['a.js', 'console.log(process.argv.slice(2))', "[ 'a b', '$HOME' ]\n"],
		['a.mjs', 'import p from "node:process"; console.log(p.argv.slice(2))', "[ 'a b', '$HOME' ]\n"],
		['a.cjs', 'console.log(require("node:process").argv.slice(2))', "[ 'a b', '$HOME' ]\n"],
		['a.ts', 'const args: string[] = process.argv.slice(2); console.log(args)', "[ 'a b', '$HOME' ]\n"],
		['a.sh', 'printf "%s|" "$@"', 'a b|$HOME|'],
		['a.bash', 'printf "%s|" "$@"', 'a b|$HOME|'],
		['tool', '#!/usr/bin/env bash\nprintf "%s|" "$@"', 'a b|$HOME|']
	])('D5, D6: %s runs with its arguments as they are', async (name, text, stdout) => {
		expect(await run(name, text, ['a b', '$HOME'])).toMatchObject({ success: true, exitCode: 0, stdout, stderr: '' });
	});
	test('D7: it runs in the working directory, which is made, and knows where its skill is and its home, which is neither', async () => {
		const { stdout } = await run(
			'scripts/a.sh',
			'pwd; echo "$SKILL_DIR"; echo "$CLAUDE_SKILL_DIR"; echo "$HOME"; echo "$PYTHONPATH"'
		);
		const [, dir = '', , home = ''] = stdout.trim().split('\n');
		expect(stdout.trim().split('\n')).toEqual([cwd, dir, dir, home, dir]);
		expect([cwd, dir].filter((folder) => home.startsWith(folder))).toEqual([]);
		expect(await readFile(join(dir, 'scripts/a.sh'), 'utf8')).toContain('pwd; echo');
		expect(dir.startsWith(folder)).toBe(false);
	});
	test('D7: Python finds modules of the skill\u2019s root, and leaves nothing behind there', async () => {
		await put('helper.py', 'word = "found"');
		expect(await run('scripts/a.py', 'import helper; print(helper.word)')).toMatchObject({ stdout: 'found\n' });
		await expect(stat(join(folder, 'demo/__pycache__'))).rejects.toThrow('ENOENT');
	});
	test('D14: no secret of the server is in the environment, nor what changes how a program starts', async () => {
		const hidden = ['OPENROUTER_API_KEY', 'ADMIN_TOKEN', 'NODE_OPTIONS', 'LD_PRELOAD', 'PYTHONSTARTUP', 'BASH_ENV'];
		for (const name of hidden) vi.stubEnv(name, 'hidden-value');
		const { stdout } = await run('a.sh', 'env');
		expect(stdout).toContain('PATH=');
		expect(stdout).not.toContain('hidden-value');
	});
	test('A18: a declared variable that the operator offers reaches the script', async () => {
		await put('a.sh', 'echo "$TOKEN_A-$TOKEN_B"');
		const skill = demo({ metadata: { env: 'TOKEN_A' } });
		const result = await open({ env: { TOKEN_A: 'yes', TOKEN_B: 'no' } }).runScript(
			skill,
			'a.sh',
			readScriptArguments([]),
			context()
		);
		expect(result.stdout).toBe('yes-\n');
	});
	test('C13: a script that fails keeps both streams, its exit code and what it made', async () => {
		const result = await run(
			'a.sh',
			"echo out; echo err >&2; echo half > made.txt; echo \"<svg width='8' height='4'/>\" > z.svg; exit 3"
		);
		expect(result).toMatchObject({
			success: false,
			error: 'ExecutionFailed',
			message: 'a.sh ended with exit code 3.',
			exitCode: 3,
			stdout: 'out\n',
			stderr: 'err\n',
			truncated: false,
			files: [
				{ path: 'made.txt', bytes: 5 },
				{ path: 'z.svg', bytes: 28, width: 8, height: 4 }
			]
		});
		expect(result.durationMs).toBeGreaterThanOrEqual(0);
	});
	test('D12: a script that a signal ended says which', async () => {
		const result = await run('a.sh', 'kill -SEGV $$');
		expect(result).toMatchObject({ error: 'ExecutionFailed', exitCode: -1, message: 'a.sh was ended by SIGSEGV.' });
	});
	test('D10: a time-out is ExecutionTimeout with what was printed until then', async () => {
		const result = await run('a.sh', 'echo before; sleep 987', [], { timeoutMs: 400 });
		expect(result).toMatchObject({ success: false, error: 'ExecutionTimeout', exitCode: -1, stdout: 'before\n' });
		expect(result.message).toContain('0.4 s');
	});
	test('D10: Stop is Cancelled, with what was printed until then', async () => {
		const stop = new AbortController();
		await put('a.sh', 'echo before; sleep 987');
		const onEvent = (event: SkillEvent) => event.type === 'output' && stop.abort();
		const result = await open().runScript(
			demo(),
			'a.sh',
			readScriptArguments([]),
			context({ signal: stop.signal, onEvent })
		);
		expect(result).toMatchObject({ success: false, error: 'Cancelled', stdout: 'before\n' });
	});
	test('D11: the output is capped at 20,480 bytes a stream, and the script succeeds', async () => {
		const result = await run('a.sh', 'head -c 3000000 /dev/zero | tr "\\0" "a"; seq 1 100000 >&2');
		expect(result).toMatchObject({ success: true, truncated: true });
		for (const text of [result.stdout, result.stderr]) {
			expect(text).toContain('\n[output truncated]\n');
			expect(Buffer.byteLength(text)).toBe(20_480 + '\n[output truncated]\n'.length);
		}
		expect(shown('stdout')).toBe(result.stdout);
	});
	test('F5: the events are started, output, finished, and say what the result says', async () => {
		await run('a.sh', 'echo hi; touch made.txt; exit 2', ['x']);
		expect(events).toEqual([
			{
				type: 'started',
				executionId: expect.any(String) as string,
				skill: 'demo',
				script: 'a.sh',
				args: ['x'],
				sandbox: 'process'
			},
			{ type: 'output', stream: 'stdout', text: 'hi\n' },
			{
				type: 'finished',
				skill: 'demo',
				exitCode: 2,
				durationMs: expect.any(Number) as number,
				truncated: false,
				files: [{ path: 'made.txt', bytes: 0 }],
				error: 'ExecutionFailed',
				message: 'a.sh ended with exit code 2.'
			}
		]);
	});
	test('D13: what cannot be run at all is a typed error, and nothing is started', async () => {
		await put('note.txt', 'x');
		await put('a.sh', 'echo');
		const start = async (name: string, args: string[] = []) =>
			open().runScript(demo(), name, readScriptArguments(args), context());
		await expect(start('note.txt')).rejects.toMatchObject({ type: 'UnsupportedScriptType' });
		await expect(start('none.py')).rejects.toMatchObject({ type: 'ScriptNotFound' });
		await expect(start('../a.sh')).rejects.toMatchObject({ type: 'ScriptNotAllowed' });
		await expect(start('a.sh', ['a\0b'])).rejects.toMatchObject({ type: 'InvalidArgs' });
		expect(events).toEqual([]);
	});
});

describe('handlers in JavaScript', () => {
	test.each([
		['a.js', 'export default async (args) => ({ got: args.text });'],
		['a.mjs', 'export default function (args) { return { got: args.text }; }'],
		['a.cjs', 'module.exports = (args) => ({ got: args.text });'],
		['a.ts', 'export default async ({ text }: { text: string }) => ({ got: text });']
	])('D20: the default export of %s is called with the arguments', async (name, text) => {
		expect(await call(name, text, { text: 'ä€' })).toMatchObject({ success: true, value: { got: 'ä€' }, stdout: '' });
	});
	test('D19: __workDir is the working directory, whatever the model says', async () => {
		const handler = 'export default ({ __workDir }) => [__workDir, process.cwd()]';
		expect(await call('a.js', handler, { __workDir: '/etc' })).toMatchObject({ value: [cwd, cwd] });
	});
	test.each([
		['a text', '"x"', 'x'],
		['a number', '0', 0],
		['false', 'false', false],
		['null', 'null', null],
		['nothing', 'undefined', null],
		['a function', '() => 1', null],
		['a list', '[1, [2]]', [1, [2]]],
		['what looks like an answer of ours', '({ ok: false, error: "not one" })', { ok: false, error: 'not one' }]
	])('D23: %s is the value', async (_name, expression, value) => {
		expect(await call('a.js', `export default async () => ${expression}`)).toMatchObject({ success: true, value });
	});
	test.each([
		['an error that is thrown', 'throw new Error("broken here")', 'broken here'],
		['a text that is thrown', 'throw "just text"', 'just text'],
		['an error without a message', 'throw new Error()', 'failed'],
		['a rejected promise', 'await Promise.reject(new TypeError("no such thing"))', 'no such thing'],
		['a circular answer', 'const a = {}; a.a = a; return a', 'circular'],
		['a BigInt', 'return { big: 10n }', 'BigInt']
	])('D23: %s is ExecutionFailed with its message', async (_name, body, message) => {
		const result = await call('a.js', `export default async () => { ${body} }`);
		expect(result).toMatchObject({
			success: false,
			error: 'ExecutionFailed',
			message: expect.stringContaining(message) as string
		});
		expect(result).not.toHaveProperty('value');
		expect(result.stderr).not.toBe('');
	});
	test.each([
		['a module without a default export', 'export const other = 1;', 'default export'],
		['a module that is no JavaScript', 'export default (((', '']
	])('D20: %s is ExecutionFailed', async (_name, text, message) => {
		const result = await call('a.js', text);
		expect(result).toMatchObject({ error: 'ExecutionFailed', message: expect.stringContaining(message) as string });
	});
	test.each([0, 5])('D20: a handler that calls process.exit(%i) has not answered', async (code) => {
		const result = await call('a.js', `export default () => { console.log("bye"); process.exit(${code}); }`);
		expect(result).toMatchObject({ success: false, error: 'ExecutionFailed', exitCode: code, stderr: 'bye\n' });
		expect(result.message).toContain('without a result');
		expect(result).not.toHaveProperty('value');
		expect(events.at(-1)).toMatchObject({ type: 'finished', error: 'ExecutionFailed' });
	});
	test('D20: a handler whose promise never settles has not answered', async () => {
		expect(await call('a.js', 'export default () => new Promise(() => {})')).toMatchObject({
			error: 'ExecutionFailed'
		});
	});
	test('D20: what a handler prints is shown and kept as stderr, and is no answer', async () => {
		const fake = '{"ok":true,"value":"fake"}';
		const handler = `export default () => { console.log('${fake}'); process.stdout.write('noise'); return "real"; }`;
		expect(await call('a.js', handler)).toMatchObject({ value: 'real', stdout: '', stderr: `${fake}\nnoise` });
		expect(shown('stderr')).toBe(`${fake}\nnoise`);
		expect(shown('stdout')).toBe('');
	});
	test('D20: what a program started by it prints is not mixed up with the answer', async () => {
		const handler = `import { execSync } from 'node:child_process';
			export default () => { execSync(\`echo '{"ok":true,"value":"fake"}'; printf '{"ok":'\`, { stdio: 'inherit' }); return { ok: [1] }; }`;
		const result = await call('a.js', handler);
		expect(result).toMatchObject({ success: true, value: { ok: [1] }, stdout: '{"ok":true,"value":"fake"}\n{"ok":' });
	});
	test('D20: a handler that leaves a timer running is done when it has answered', async () => {
		expect(await call('a.js', 'export default () => { setInterval(() => {}, 1000); return 1; }')).toMatchObject({
			value: 1
		});
	});
	test('D20: it is a fresh module at every call', async () => {
		await put('a.js', 'let count = 0; export default () => ++count');
		const tool: SkillTool = { name: 'answer', description: 'x', script: 'a.js', inputSchema: {} };
		const executor = open();
		for (const _ of [1, 2]) expect(await executor.runTool(demo(), tool, {}, context())).toMatchObject({ value: 1 });
		await put('a.js', 'export default () => "edited"');
		expect(await executor.runTool(demo(), tool, {}, context())).toMatchObject({ value: 'edited' });
	});
	test('D11: an answer of 900 KB is whole, one of 2 MB is OutputTooLarge', async () => {
		expect(await call('a.js', 'export default () => "x".repeat(900_000)')).toMatchObject({
			value: 'x'.repeat(900_000)
		});
		const result = await call('a.js', 'export default () => "🧪".repeat(500_000)');
		expect(result).toMatchObject({ success: false, error: 'OutputTooLarge' });
		expect(result.message).toContain('1 MB');
		expect(Buffer.byteLength(result.stdout)).toBeLessThan(20_510);
		expect(result.stdout).not.toMatch(/\uFFFD|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
	});
	test('D11: what a handler prints is capped at 20,480 bytes, live as well as in the result', async () => {
		const handler = `export default async () => {
			for (let i = 0; i < 30_000; i++) console.error("line", i, "é");
			await new Promise((done) => process.stderr.write("", done));
			return 1;
		}`;
		const result = await call('a.js', handler);
		expect(result).toMatchObject({ success: true, value: 1, truncated: true });
		expect(result.stderr).toMatch(/^line 0 é\n[^]*\n\[output truncated\]\n[^]*line 29999 é\n$/);
		expect(Buffer.byteLength(result.stderr)).toBeLessThan(20_510);
		expect(Buffer.byteLength(shown('stderr'))).toBeLessThan(20_510);
	});
	test('D10: a handler that hangs is ExecutionTimeout, also when it printed more than an answer may have', async () => {
		const handler = `import { writeSync } from 'node:fs';
			export default () => { writeSync(1, 'x'.repeat(2_000_000)); for (;;) {} }`;
		expect(await call('a.js', handler, {}, { timeoutMs: 1500 })).toMatchObject({
			error: 'ExecutionTimeout',
			success: false
		});
	});
	test('F5: the events name the tool', async () => {
		await call('a.js', 'export default () => { console.log("x"); return 1; }');
		expect(events.map(({ type }) => type)).toEqual(['started', 'output', 'finished']);
		expect(events[0]).toMatchObject({ tool: 'answer', script: 'a.js', args: [] });
	});
});

describe('handlers in Python', () => {
	test.each([
		['a handler', 'def handler(args):\n    return {"got": args["text"]}\n'],
		[
			'an async handler',
			'import asyncio\nasync def handler(args):\n    await asyncio.sleep(0)\n    return {"got": args["text"]}\n'
		],
		['a handler that is assigned', 'handler = lambda args: {"got": args["text"]}\n'],
		['a program that reads JSON', 'import json, sys\nprint(json.dumps({"got": json.load(sys.stdin)["text"]}))\n']
	])('D21: %s is called with the arguments', async (_name, text) => {
		expect(await call('a.py', text, { text: 'ä€' })).toMatchObject({ success: true, value: { got: 'ä€' }, stdout: '' });
	});
	test('D19, D7: __workDir and the modules beside it are there', async () => {
		await put('scripts/beside.py', 'word = "beside"');
		const handler = 'import beside\ndef handler(args):\n    return [args["__workDir"], beside.word]\n';
		expect(await call('scripts/a.py', handler, { __workDir: '/etc' })).toMatchObject({ value: [cwd, 'beside'] });
	});
	test('D23: no value is null', async () => {
		expect(await call('a.py', 'def handler(args):\n    pass\n')).toMatchObject({ success: true, value: null });
	});
	test.each([
		['an exception', 'raise ValueError("broken here")', 'broken here'],
		['sys.exit', 'import sys; sys.exit("gave up")', 'gave up'],
		['a circular answer', 'a = []; a.append(a); return a', 'ircular'],
		['what JSON cannot say', 'return {1, 2}', 'JSON serializable'],
		['a number that JSON has not', 'return float("nan")', 'JSON compliant'],
		['os._exit', 'import os; os._exit(0)', 'without a result']
	])('D23: %s is ExecutionFailed with its message', async (_name, body, message) => {
		const result = await call('a.py', `def handler(args):\n    ${body}\n`);
		expect(result).toMatchObject({
			success: false,
			error: 'ExecutionFailed',
			message: expect.stringContaining(message) as string
		});
	});
	test('D21: what it and its programs print is not the answer', async () => {
		const fake = '{"ok": true, "value": "fake"}';
		const handler = `import subprocess\ndef handler(args):\n    print('${fake}')\n    subprocess.run(["echo", "noise"])\n    return "real"\n`;
		const result = await call('a.py', handler);
		expect(result).toMatchObject({ success: true, value: 'real', stderr: `${fake}\n` });
		expect(result.stdout).toBe('noise\n');
	});
	test('D11: a huge answer is OutputTooLarge', async () => {
		const result = await call('a.py', 'def handler(args):\n    return "x" * 3000000\n');
		expect(result).toMatchObject({ success: false, error: 'OutputTooLarge' });
	});
});

describe('handlers in other languages', () => {
	test('D22: JSON comes by stdin and as the first argument; printed JSON is the value', async () => {
		const { value } = await call('a.sh', 'read -r given; printf "[%s,%s]" "$given" "$1"', { text: 'a"b' });
		expect(value).toEqual([
			{ text: 'a"b', __workDir: cwd },
			{ text: 'a"b', __workDir: cwd }
		]);
	});
	test('D22: a program with a first line that names its language', async () => {
		expect(await call('tool', '#!/usr/bin/env bash\ncat', { n: 1 })).toMatchObject({ value: { n: 1, __workDir: cwd } });
	});
	test('D22: what is not JSON is a text', async () => {
		expect(await call('a.sh', 'echo "  plain text  "')).toMatchObject({ success: true, value: 'plain text' });
		expect(await call('a.sh', 'true')).toMatchObject({ success: true, value: '' });
	});
	test.each([
		null,
		false,
		0,
		{ ok: true, value: 5, more: 1 },
		{ ok: false, error: 'no match' },
		{ ok: true, value: 'x' }
	])('D22: %j is a value as any other', async (value) => {
		expect(await call('a.sh', `echo '${JSON.stringify(value)}'`)).toMatchObject({ success: true, value });
	});
	test('D22: arguments too long for a command line come by stdin', async () => {
		const text = 'x'.repeat(300_000);
		expect(await call('a.sh', 'cat', { text })).toMatchObject({ success: true, value: { text } });
	});
	test('C13: one that fails keeps both streams', async () => {
		const result = await call('a.sh', 'echo out; echo err >&2; exit 4');
		expect(result).toMatchObject({
			success: false,
			error: 'ExecutionFailed',
			exitCode: 4,
			stdout: 'out\n',
			stderr: 'err\n'
		});
	});
	test('D11: the value is whole, the stream beside it is capped', async () => {
		const result = await call('a.sh', 'seq 1 10000');
		expect(String(result.value).split('\n')).toHaveLength(10_000);
		expect(result.truncated).toBe(true);
		expect(Buffer.byteLength(result.stdout)).toBeLessThan(20_510);
		expect(shown('stdout')).toBe(result.stdout);
	});
});
