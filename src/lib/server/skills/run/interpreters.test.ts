import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../../sandbox/process.ts';
import { candidatesOnPath, createInterpreters, readShebang } from './interpreters.ts';

const folder = emptyFolder();
let bin: string;
const hostPath = process.env.PATH ?? '';
beforeEach(async () => {
	bin = join(folder, 'bin');
	await mkdir(bin);
});

const none = { files: false, network: false, processes: false, limits: false };
const open = (path = `${bin}${delimiter}${hostPath}`) =>
	createInterpreters({ host: createProcessSandbox(), sandbox: { isolation: none }, path });
async function put(name: string, text: string, mode = 0o644): Promise<string> {
	const path = join(folder, name);
	await writeFile(path, text);
	await chmod(path, mode);
	return path;
}
const realPython = () =>
	execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();

test.each(['a.js', 'a.mjs', 'a.cjs', 'a.ts'])('D5: %s runs in this Node', async (name) => {
	const path = await put(name, '');
	expect(await open().resolve(path)).toMatchObject({ file: process.execPath, runtime: [process.execPath] });
});
test.each(['a.sh', 'a.bash'])('D5: %s runs in bash, executable or not', async (name) => {
	const path = await put(name, '');
	const { file, args } = await open().resolve(path);
	expect(file).toMatch(/^\/.*\/bash$/);
	expect(args).toEqual([]);
});
test('D6: a python3 that is a shim is asked once where the real one is, and not run again', async () => {
	const counted = join(folder, 'calls');
	await put('bin/python3', `#!/bin/sh\necho call >> '${counted}'\nexec '${realPython()}' "$@"\n`, 0o755);
	const interpreters = open();
	const path = await put('a.py', '');
	const found = await Promise.all([interpreters.resolve(path), interpreters.resolve(path), interpreters.python()]);
	for (const program of [...found, await interpreters.resolve(path)])
		expect(program).toMatchObject({ file: realPython(), args: [] });
	expect(await readFile(counted, 'utf8')).toBe('call\n');
});
test('D6: the Python of a virtual environment is used as such, with its packages', async () => {
	execFileSync('python3', ['-m', 'venv', '--without-pip', join(folder, 'venv')]);
	const { file, runtime } = await open(`${join(folder, 'venv/bin')}${delimiter}${hostPath}`).python();
	const prefix = execFileSync(file, ['-c', 'import sys; print(sys.prefix)'], { encoding: 'utf8' }).trim();
	expect(prefix).toBe(join(folder, 'venv'));
	// A sandbox has to include the venv and the Python it was created from.
	expect(runtime).toEqual(expect.arrayContaining([file, prefix]));
	expect(runtime.length).toBeGreaterThan(2);
});
test('D6: a python3 that cannot start, as an empty shim, makes way for the next on PATH', async () => {
	await put('bin/python3', '#!/bin/sh\necho "no version is set" >&2\nexit 127\n', 0o755);
	expect((await open().python()).file).toBe(realPython());
	await expect(open(bin).python()).rejects.toMatchObject({ type: 'MissingCommand' });
});
test('D13: a missing interpreter is MissingCommand, until it is installed', async () => {
	const interpreters = open(bin);
	for (const name of ['a.sh', 'a.py']) {
		await expect(interpreters.resolve(await put(name, ''))).rejects.toMatchObject({
			type: 'MissingCommand',
			message: expect.stringContaining('isn’t installed') as string,
			hint: expect.stringContaining('can install it') as string,
			missing: { kind: 'command', name: name === 'a.sh' ? 'bash' : 'python3' }
		});
	}
	await symlink(execFileSync('which', ['bash'], { encoding: 'utf8' }).trim(), join(bin, 'bash'));
	expect(await interpreters.resolve(join(folder, 'a.sh'))).toMatchObject({ file: join(bin, 'bash') });
});
test('D6: a script that names its packages (PEP 723) runs with uv where there is one', async () => {
	const path = await put('a.py', '# /// script\n# dependencies = ["rich"]\n# ///\n');
	const interpreters = open(`${bin}${delimiter}/usr/bin`);
	await put('bin/uv', '#!/bin/sh\n', 0o755);
	expect(await interpreters.resolve(path)).toMatchObject({ file: join(bin, 'uv'), args: ['run', '--script'] });
	const host = createProcessSandbox();
	const apart = createInterpreters({
		host,
		sandbox: { isolation: { ...none, network: true } },
		path: `${bin}${delimiter}${hostPath}`
	});
	// Without a network, it couldn't download anything.
	expect((await apart.resolve(path)).file).toBe(realPython());
});
test('D6: a folder of PATH that is relative is not looked in: it would be one of the workspace', async () => {
	await put('bin/bash', '#!/bin/sh\n', 0o755);
	const path = await put('a.sh', '');
	await expect(open(relative(process.cwd(), bin)).resolve(path)).rejects.toMatchObject({ type: 'MissingCommand' });
});

test.each([
	['#!/bin/sh', '/bin/sh', []],
	['#! /bin/sh -e -u', '/bin/sh', ['-e', '-u']],
	['#!/bin/sh\r', '/bin/sh', []],
	['#!/usr/bin/env bash', /\/bash$/, []],
	['#!/usr/bin/env -S bash -e', /\/bash$/, ['-e']]
] as const)('D5: an executable that begins with %j is run by it', async (line, file, leading) => {
	const path = await put('tool', `${line}\necho hi\n`, 0o755);
	const program = await open().resolve(path);
	expect(program.file).toEqual(typeof file === 'string' ? file : expect.stringMatching(file));
	expect(program.args).toEqual([...leading]);
});
test.each([
	['text without the right to run', '#!/bin/sh\n', 0o644],
	['an executable without a first line', 'echo hi\n', 0o755],
	['an executable whose first line is empty', '#!\n/bin/sh\n', 0o755],
	['a binary', '\x7fELF\0\0', 0o755],
	['an empty file', '', 0o755]
])('D5: %s is UnsupportedScriptType', async (_name, text, mode) => {
	await expect(open().resolve(await put('tool.xyz', text, mode))).rejects.toMatchObject({
		type: 'UnsupportedScriptType',
		hint: expect.stringContaining('.py') as string
	});
});
test.each(['#!/no/such/program', '#!/usr/bin/env no-such-program'])('D13: %s is MissingCommand', async (line) => {
	const path = await put('tool', `${line}\n`, 0o755);
	await expect(open().resolve(path)).rejects.toMatchObject({
		type: 'MissingCommand',
		message: expect.stringMatching(/no.such.program/) as string,
		missing: { kind: 'command', name: line.endsWith('no-such-program') ? 'no-such-program' : 'program' }
	});
});

test('D30: with a container the programs are the image\u2019s, by name', async () => {
	const programs = { node: 'node', python: 'python3', shell: 'sh' };
	const inImage = createInterpreters({
		host: createProcessSandbox(),
		sandbox: { isolation: none, programs },
		path: hostPath
	});
	const fileOf = async (name: string, text = '') => (await inImage.resolve(await put(name, text, 0o755))).file;
	expect(await fileOf('a.py')).toBe('python3');
	expect(await fileOf('a.ts')).toBe('node');
	expect(await fileOf('a.sh')).toBe('sh');
	expect(await fileOf('tool', '#!/usr/bin/env ruby\n')).toBe('ruby');
	expect(await fileOf('other', '#!/opt/thing\n')).toBe('/opt/thing');
});

test.each(['run.cmd', 'run.bat', 'run.ps1', 'run.exe', 'run.COM'])('D5: %s is run on no system', async (name) => {
	const path = await put(name, '@echo off\r\necho hi\r\n', 0o755);
	await expect(open().resolve(path)).rejects.toMatchObject({ type: 'UnsupportedScriptType' });
});
test('D5: a .ts script says which Node it needs where this one runs no TypeScript', async () => {
	const path = await put('a.ts', 'console.log(1 as number)');
	const old = createInterpreters({
		host: createProcessSandbox(),
		sandbox: { isolation: none },
		path: hostPath,
		runsTypeScript: false
	});
	await expect(old.resolve(path)).rejects.toMatchObject({
		type: 'MissingDependency',
		message: `Node ${process.versions.node} can’t run this TypeScript script.`,
		hint: expect.stringContaining('22.18') as string
	});
	expect(await old.resolve(await put('a.js', ''))).toMatchObject({ file: process.execPath });
});
test('D6: the Python of Windows ends its lines with CR LF', async () => {
	const python = realPython();
	await put('bin/python3', `#!/bin/sh\nprintf '%s\\r\\n' '${python}' /usr /usr\n`, 0o755);
	expect(await open().python()).toEqual({ file: python, args: [], runtime: [python, '/usr'] });
});

test('on Windows programs are looked for on its PATH: absolute folders, and no .cmd or .bat', () => {
	const path = 'C:\\Tools;"D:\\My Programs";.;bin;E:relative;\\\\server\\share;;C:\\Git\\bin\\';
	expect(candidatesOnPath('uv', path, 'win32')).toEqual([
		'C:\\Tools\\uv.exe',
		'D:\\My Programs\\uv.exe',
		'\\\\server\\share\\uv.exe',
		'C:\\Git\\bin\\uv.exe'
	]);
	expect(candidatesOnPath('uv', '/usr/bin:bin:.:/opt/my tools', 'linux')).toEqual(['/usr/bin/uv', '/opt/my tools/uv']);
});
test.each([
	['#!/bin/sh -e', { program: 'sh', args: ['-e'] }],
	['#!/usr/local/bin/python3\r', { program: 'python3', args: [] }],
	['#!/usr/bin/env -S deno run\r', { program: 'deno', args: ['run'] }],
	['#!C:\\Python\\python.exe -u', { program: 'C:\\Python\\python.exe', args: ['-u'] }],
	['#!C:\\npm\\tsx.cmd', null],
	['#!C:\\npm\\tsx.BAT', null],
	['@echo off', null]
])('on Windows a script that begins with %j is run by a program of its PATH, never by cmd.exe', (line, expected) => {
	expect(readShebang(`${line}\n`, 'win32')).toEqual(expected);
});
