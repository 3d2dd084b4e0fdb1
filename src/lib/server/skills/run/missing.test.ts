import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../../sandbox/process.ts';
import { createExecutor } from '../executor.ts';
import { skillOf } from '../skill-of.suite.ts';
import type { SkillEvent, SkillExecutionResult } from '../types.ts';
import { readScriptArguments } from './environment.ts';
import type { ExecutionEnd } from './execution-host.ts';
import { type FailedRun, findMissing } from './missing.ts';

const folder = emptyFolder();
let events: SkillEvent[];
let ends: ExecutionEnd[];
beforeEach(() => {
	[events, ends] = [[], []];
});

/** Runs the last file, as a tool if it's a handler. */
async function run(files: Record<string, string>, isTool = false, env: Record<string, string> = {}) {
	for (const [path, text] of Object.entries(files)) await putFile(folder, `demo/${path}`, text, 0o755);
	const paths = Object.keys(files);
	const script = paths.at(-1) ?? '';
	const skill = skillOf('demo', { dir: join(folder, 'demo'), files: paths, scripts: paths });
	const executor = createExecutor({
		...{ sandbox: createProcessSandbox(), timeoutMs: 30_000, maxOutputBytes: 20_480, env: {} },
		host: {
			secretsOf: async () => env,
			recorder: {
				started: async () => undefined,
				running: async () => undefined,
				finished: async (_id, end) => void ends.push(end)
			}
		}
	});
	const context = { cwd: join(folder, 'work'), onEvent: (event: SkillEvent) => events.push(event) };
	const tool = { name: 'answer', description: 'x', script, inputSchema: {} };
	return isTool
		? executor.runTool(skill, tool, {}, context)
		: executor.runScript(skill, script, readScriptArguments([]), context);
}

const SHELL_OF_PYTHON = 'import subprocess\nsubprocess.run("no-such-tool x", shell=True, check=True)';

const facts = ({ error, missing }: SkillExecutionResult) => [error, missing && Object.values(missing).join(' ')];

describe('D13: a script that fails for what it lacks says what that is', () => {
	test.each<[string, string, string, (string | undefined)[]]>([
		['Python', 'a.py', 'import docx_no_such', ['MissingPackage', 'package python docx-no-such docx_no_such']],
		['python -m', 'a.sh', 'python3 -m no_such_tool', ['MissingPackage', 'package python no-such-tool no_such_tool']],
		['import', 'a.mjs', 'import "@no/such/part"', ['MissingPackage', 'package javascript @no/such @no/such']],
		['require', 'a.cjs', 'require("no-such")', ['MissingPackage', 'package javascript no-such no-such']],
		['bash', 'a.sh', 'set -e\nno-such-tool --x', ['MissingCommand', 'command no-such-tool']],
		['sh', 'tool', '#!/bin/sh\nno-such-tool', ['MissingCommand', 'command no-such-tool']],
		['env', 'a.sh', 'exec env no-such-tool', ['MissingCommand', 'command no-such-tool']],
		[
			'spawn',
			'a.mjs',
			'import c from "node:child_process"; c.spawn("no-such-tool")',
			['MissingCommand', 'command no-such-tool']
		],
		[
			'subprocess',
			'a.py',
			'import subprocess\nsubprocess.run(["no-such-tool"])',
			['MissingCommand', 'command no-such-tool']
		],
		['environ', 'a.py', 'import os\nos.environ["NO_SUCH_TOKEN"]', ['MissingVariable', 'variable NO_SUCH_TOKEN']],
		['${X:?}', 'a.sh', 'echo "${NO_SUCH_TOKEN:?set it}"', ['MissingVariable', 'variable NO_SUCH_TOKEN']],
		[
			'its own words',
			'a.mjs',
			'if (!process.env.NO_SUCH_TOKEN) { console.error("NO_SUCH_TOKEN is not set"); process.exit(1) }',
			['MissingVariable', 'variable NO_SUCH_TOKEN']
		],
		[
			'its own words',
			'a.sh',
			'command -v no-such-tool || { echo "no-such-tool is not installed" >&2; exit 1; }',
			['MissingCommand', 'command no-such-tool']
		],
		[
			'a caught import, printed as a result',
			'a.py',
			'import sys\ntry:\n    import no_such\nexcept ImportError:\n    print("Error: no_such not installed. Run: pip install no-such")\n    sys.exit(1)',
			['MissingPackage', 'package python no-such no_such']
		],
		[
			'a caught import, by its error',
			'a.py',
			'import sys\ntry:\n    import docx_no_such\nexcept ImportError as e:\n    sys.exit(f"Missing dependency: {e}")',
			['MissingPackage', 'package python docx-no-such docx_no_such']
		],
		[
			'a caught import',
			'a.mjs',
			'try { await import("@no/such/part") } catch { console.error("Please run: npm install @no/such"); process.exit(1) }',
			['MissingPackage', 'package javascript @no/such @no/such']
		],
		[
			'pandas',
			'a.py',
			'raise ImportError("Missing optional dependency \'no_such\'.  Use pip or conda to install no_such.")',
			['MissingPackage', 'package python no-such no_such']
		],
		['a shell of Python', 'a.py', SHELL_OF_PYTHON, ['MissingCommand', 'command no-such-tool']],
		[
			'a shell of Node',
			'a.mjs',
			'import c from "node:child_process"; c.execSync("no-such-tool --x")',
			['MissingCommand', 'command no-such-tool']
		],
		['bash, with an end of its own', 'a.sh', 'no-such-tool || exit 1', ['MissingCommand', 'command no-such-tool']],
		[
			'a caught subprocess',
			'a.py',
			'import subprocess, sys\ntry:\n    subprocess.run(["exiftool"])\nexcept FileNotFoundError as e:\n    sys.exit(f"Error: {e}")',
			['MissingCommand', 'command exiftool']
		],
		[
			'which, printed as a result',
			'a.py',
			'import shutil, sys\nif not shutil.which("no-such-tool"):\n    print("no-such-tool is required")\n    sys.exit(1)',
			['MissingCommand', 'command no-such-tool']
		],
		[
			'its own words, printed as a result',
			'a.sh',
			'if [ -z "${NO_SUCH_TOKEN:-}" ]; then echo "Error: NO_SUCH_TOKEN environment variable not set"; exit 1; fi',
			['MissingVariable', 'variable NO_SUCH_TOKEN']
		],
		['a first line', 'tool', '#!/usr/bin/env no-such-program\n', ['MissingCommand', 'command no-such-program']],
		['a first line', 'tool', '#!/no/such/program\n', ['MissingCommand', 'command program']]
	])('%s, %s', async (_what, path, text, expected) => {
		const result = await run({ [path]: text });
		expect(facts(result)).toEqual(expected);
		expect(result.message).toMatch(/^The script needs the .*n’t (installed|set)\.$/);
		expect(events.at(-1)).toMatchObject({ type: 'finished', error: expected[0], missing: result.missing });
		expect(ends).toMatchObject([{ errorType: expected[0], message: result.message }]);
	});

	test('a handler that fails inside its harness', async () => {
		expect(facts(await run({ 'a.py': 'import no_such\ndef handler(args):\n    return 1\n' }, true))).toEqual([
			...['MissingPackage', 'package python no-such no_such']
		]);
		expect(facts(await run({ 'a.mjs': 'import "no-such"; export default () => 1' }, true))).toEqual([
			...['MissingPackage', 'package javascript no-such no-such']
		]);
	});

	test('a program that one of its packages brings is told by the package, which can be installed', async () => {
		const files = { 'requirements.txt': 'no-such-server>=2', 'a.sh': 'no-such-server main:app' };
		expect(facts(await run(files))).toEqual(['MissingPackage', 'package python no-such-server no_such_server']);
	});

	test('a tool whose program isn’t there is a failed run, too', async () => {
		const result = await run({ tool: '#!/usr/bin/env no-such-program\n' }, true);
		expect(facts(result)).toEqual(['MissingCommand', 'command no-such-program']);
		expect(events.map(({ type }) => type)).toEqual(['started', 'finished']);
		expect(ends).toMatchObject([{ status: 'error', errorType: 'MissingCommand', missing: result.missing }]);
	});

	test('a module is told by the package to install', async () => {
		const text = 'raise ModuleNotFoundError("No module named \'docx\'")';
		const result = await run({ 'a.py': text });
		expect(result.missing).toEqual({ kind: 'package', ecosystem: 'python', name: 'python-docx', module: 'docx' });
		expect(result).toMatchObject({
			message: 'The script needs the Python package python-docx, which isn’t installed.',
			hint: expect.stringContaining('the page of the skill “demo”') as string
		});
	});
});

describe('D13: what is no lack of the machine stays the script’s failure', () => {
	test.each([
		['a module of the skill itself', { 'lib/helper.py': '', 'a.py': 'import helper' }],
		['a part of a package that is there', { 'a.py': 'import json.no_such' }],
		['a module of Python', { 'a.py': 'raise ImportError("No module named \'tkinter\'")' }],
		['a file', { 'a.py': 'open("no-such-file")' }],
		['a file of Node', { 'a.mjs': 'import "./no-such.mjs"' }],
		['a path as a program', { 'a.sh': './no-such' }],
		['a KeyError of its own', { 'a.py': '{}["NO_SUCH_TOKEN"]' }],
		['a program that fails', { 'a.sh': 'echo "x: not found" >&2; exit 3' }],
		['a program that is there', { 'a.sh': 'git --version; echo "error: git repository not found"; exit 1' }],
		[
			'a package that is only named',
			{ 'a.py': 'def f():\n    import rich\nimport sys; sys.exit("rich text is required")' }
		],
		['a result about something else', { 'a.py': 'import sys; print("No module named \'no_such\'"); sys.exit(1)' }],
		['what was printed long before', { 'a.sh': 'echo "jq: command not found" >&2; seq 1 9000 >&2; exit 127' }]
	])('%s', async (_what, files) => {
		expect(facts(await run(files as unknown as Record<string, string>))).toEqual(['ExecutionFailed', undefined]);
	});

	test('a variable that is set, and a script that ended well', async () => {
		const said = { 'a.mjs': 'process.env.A_TOKEN; console.error("A_TOKEN is not set"); process.exit(1)' };
		expect(facts(await run(said, false, { A_TOKEN: 'abc' }))).toEqual(['ExecutionFailed', undefined]);
		const well = { 'a.sh': 'echo "bash: jq: command not found" >&2; exit 0' };
		expect(facts(await run(well))).toEqual([undefined, undefined]);
	});

	test.each([
		['a name that is none', "No module named '$(rm -rf /)'"],
		['markup', "No module named '<img src=x>'"],
		['an address', "Cannot find package 'https://evil.example/x'"],
		['a name that is too long', `No module named '${'a'.repeat(5000)}'`],
		['a path', "Cannot find package '../../evil'"],
		['an option', 'spawn --evil ENOENT']
	])('SECURITY: %s in hostile output gives no hint', async (_what, line) => {
		const text = `import sys; sys.stderr.write(${JSON.stringify(`ModuleNotFoundError: ${line}\nError: ${line}\n`)}); sys.exit(1)`;
		expect(facts(await run({ 'a.py': text }))).toEqual(['ExecutionFailed', undefined]);
	});
});

describe('D13: a host', () => {
	const find = (part: Partial<FailedRun>, stderr: string, files: Record<string, string> = {}) =>
		write(files).then((skill) =>
			findMissing(
				{ skill, env: {}, isCutOff: true, isBounded: true, refused: [], ...part },
				{
					exitCode: 1,
					stdout: '',
					stderr
				}
			)
		);
	async function write(files: Record<string, string>) {
		await mkdir(join(folder, 'demo'), { recursive: true });
		for (const [path, text] of Object.entries(files)) await writeFile(join(folder, 'demo', path), text);
		return skillOf('demo', { dir: join(folder, 'demo'), files: Object.keys(files), scripts: Object.keys(files) });
	}

	test('that the proxy refused is named as it can be granted; an address can’t be', async () => {
		expect(await find({ refused: ['api.open-meteo.com:443'] }, 'HTTP Error 403')).toMatchObject({
			error: 'HostNotAllowed',
			message: 'The script isn’t allowed to reach api.open-meteo.com.',
			missing: { kind: 'host', name: 'api.open-meteo.com' }
		});
		expect(await find({ refused: ['127.0.0.1:80', 'a.io:8443'] }, '')).toMatchObject({
			missing: { name: 'a.io:8443' }
		});
		expect(await find({ refused: ['127.0.0.1:80', 'localhost:80', '*.example.org:443'] }, '')).toBeNull();
	});

	test.each([
		['Node', 'TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN api.a.io'],
		['curl', 'curl: (6) Could not resolve host: api.a.io'],
		['requests', "HTTPSConnectionPool(host='api.a.io', port=443): Max retries exceeded (Name or service not known)"],
		['wget', 'wget: unable to resolve host address ‘api.a.io’'],
		['a script’s own words', 'api.a.io can’t be reached (ENOTFOUND). Allow this host on the skill’s page.']
	])('that %s can’t find is told where a script has no network, and only there', async (_what, stderr) => {
		expect(await find({}, stderr)).toMatchObject({ missing: { kind: 'host', name: 'api.a.io' } });
		expect(await find({ isCutOff: false }, stderr)).toBeNull();
	});

	test.each([
		['the proxy’s words', 'urllib.error.URLError: <urlopen error Tunnel connection failed: 502 Bad Gateway>'],
		['its own, which name the host', 'Would have sent: GET https://api.a.io/v1\nNo connection to api.a.io.']
	])('that is allowed but can’t be reached is told apart, where the output has %s', async (_what, stderr) => {
		const part = { isCutOff: false, unreached: ['api.a.io:443'] };
		expect(await find(part, stderr)).toMatchObject({
			error: 'ExecutionFailed',
			message: 'api.a.io is allowed, but this server couldn’t reach it.'
		});
		expect(await find(part, 'ValueError: something else')).toBeNull();
		expect(await find({ isCutOff: false }, stderr)).toBeNull();
	});

	test('that the error doesn’t name is the only one in the skill’s files', async () => {
		const stderr = 'urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>';
		const one = { 'a.py': 'urlopen("https://api.a.io/")' };
		expect(await find({}, stderr, one)).toMatchObject({ missing: { kind: 'host', name: 'api.a.io' } });
		const example = { 'a.py': 'URL = "https://api.example.com/v1"\nurlopen(URL)' };
		expect(await find({}, stderr, example)).toMatchObject({ missing: { kind: 'host', name: 'api.example.com' } });
		const two = { ...one, 'b.py': 'urlopen("https://api.b.io/")' };
		expect(await find({}, stderr, two)).toEqual({
			error: 'HostNotAllowed',
			message: 'This skill has no network.',
			hint: expect.stringContaining('on the page of the skill “demo”') as string
		});
		expect(await find({ isCutOff: false }, stderr, two)).toBeNull();
		expect(await find({}, `GET https://api.b.io/x?y=api.c.io\n${stderr}`, two)).toMatchObject({
			missing: { kind: 'host', name: 'api.b.io' }
		});
	});
});

describe('D13: a browser that can’t reserve memory', () => {
	const TRAPS = [
		'/skill/a.sh: line 1:  1559 Trace/breakpoint trap   chromium --headless=new --dump-dom about:blank',
		"subprocess.CalledProcessError: Command '['chromium', '--headless=new']' died with <Signals.SIGTRAP: 5>.",
		'/usr/bin/chromium --headless\n  - [pid=1588] <process did exit: exitCode=null, signal=SIGTRAP>'
	];
	const find = (stderr: string, metadata: Record<string, string> = {}, isBounded = true) =>
		findMissing(
			{ skill: skillOf('demo', { metadata }), env: {}, isCutOff: true, isBounded, refused: [] },
			{
				exitCode: 1,
				stdout: '',
				stderr
			}
		);

	test.each(TRAPS)('is told to ask for addresses: %s', async (stderr) => {
		expect(await find(stderr)).toEqual({ hint: expect.stringContaining('virtual-memory: 1tb') as string });
	});

	test('not if the skill asks for them, there’s no limit, or something else ended it', async () => {
		const [trap = ''] = TRAPS;
		expect(await find(trap, { 'virtual-memory': '1tb' })).toBeNull();
		expect(await find(trap, {}, false)).toBeNull();
		expect(await find(`FATAL: No usable sandbox!\n${trap}`)).toBeNull();
		expect(await find('a.sh: line 1: 9 Trace/breakpoint trap ./own-program')).toBeNull();
	});
});
