import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, win32 } from 'node:path';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../../tests/support/folder.ts';
import {
	isExecutable,
	isInside,
	leavesFolder,
	listFiles,
	listTree,
	readHead,
	resolveScript,
	scriptsOf
} from './files.ts';
import { SkillError } from '../types.ts';

const folder = emptyFolder();
let skill: string;
beforeEach(() => {
	skill = join(folder, 'demo');
	mkdirSync(skill);
});

const at = (path: string) => join(skill, path);

function put(...paths: string[]): void {
	for (const path of paths) {
		mkdirSync(dirname(at(path)), { recursive: true });
		writeFileSync(at(path), `# ${path}`);
	}
}

async function failure(requested: string): Promise<SkillError> {
	const error: unknown = await resolveScript(skill, requested).catch((error: unknown) => error);
	if (!(error instanceof SkillError)) throw new Error(`${requested} gave ${String(error)}`);
	return error;
}

describe('resolveScript', () => {
	test.each([
		['run.py', 'run.py'],
		['./run.py', 'run.py'],
		['././scripts/go.sh', 'scripts/go.sh'],
		['scripts/go.sh', 'scripts/go.sh'],
		['go.sh', 'scripts/go.sh'],
		['scripts//go.sh', 'scripts//go.sh'],
		['deep.ts', 'tools/a/deep.ts'],
		['...py', '...py'],
		['a b.py', 'a b.py'],
		['技能.py', '技能.py']
	])('D1: %s is %s', async (requested, name) => {
		put('run.py', 'scripts/go.sh', 'tools/a/deep.ts', '...py', 'a b.py', '技能.py');
		expect(await resolveScript(skill, requested)).toEqual({ path: at(name), name });
	});
	test('D1: the root comes before scripts/, and scripts/ before any other folder', async () => {
		put('scripts/x.py', 'lib/x.py');
		expect((await resolveScript(skill, 'x.py')).name).toBe('scripts/x.py');
		put('x.py');
		expect((await resolveScript(skill, 'x.py')).name).toBe('x.py');
	});
	test('D1: a bare name that two folders have is not guessed; the hint names both', async () => {
		put('a/x.py', 'b/x.py');
		expect(await failure('x.py')).toMatchObject({ type: 'ScriptNotFound', hint: 'Its scripts: a/x.py, b/x.py' });
	});
	test('D13: a missing script names those there are, or that there are none', async () => {
		expect((await failure('x.py')).hint).toBe('This skill has no scripts. Follow its instructions.');
		put('scripts/go.sh', 'note.txt', 'run.py');
		for (const requested of ['x.py', 'scripts/x.py', 'run.py/x', 'scripts\\go.sh', 'RUN.PYX']) {
			expect(await failure(requested)).toMatchObject({
				type: 'ScriptNotFound',
				message: `“${requested}” isn’t a script of this skill.`,
				hint: 'Its scripts: run.py, scripts/go.sh'
			});
		}
	});
	test.each([
		'',
		'./',
		'.',
		'..',
		'../other.sh',
		'scripts/../../other.sh',
		'scripts/../run.py',
		'..\\other.sh',
		'scripts\\..\\..\\other.sh',
		'/etc/passwd',
		'//etc/passwd',
		'.//etc/passwd',
		'C:\\x.py',
		'c:x.py',
		'run.py\0.txt',
		'\0',
		'scripts'
	])('D8: %j is not allowed', async (requested) => {
		put('run.py', 'scripts/go.sh');
		writeFileSync(join(folder, 'other.sh'), '');
		const error = await failure(requested);
		expect(error.type).toBe('ScriptNotAllowed');
		expect(error.message).not.toContain('\0');
	});
	test('D8: a link out of the folder is not allowed, by any of its names', async () => {
		writeFileSync(join(folder, 'other.sh'), '');
		mkdirSync(join(folder, 'demo-2'));
		writeFileSync(join(folder, 'demo-2/x.sh'), '');
		put('scripts/go.sh');
		symlinkSync('../other.sh', at('out.sh'));
		symlinkSync('/bin/sh', at('scripts/sh'));
		symlinkSync('..', at('up'));
		symlinkSync('../demo-2', at('beside'));
		for (const requested of ['out.sh', 'scripts/sh', 'sh', 'up/other.sh', 'up', 'beside/x.sh']) {
			expect(await failure(requested)).toMatchObject({
				type: 'ScriptNotAllowed',
				message: expect.stringContaining('a link to a file outside the skill') as string
			});
		}
	});
	test('D8: a link that stays inside is the file that it leads to', async () => {
		put('src/run.py');
		symlinkSync('src/run.py', at('run.py'));
		symlinkSync('src', at('scripts'));
		expect(await resolveScript(skill, 'run.py')).toEqual({ path: at('src/run.py'), name: 'run.py' });
		expect(await resolveScript(skill, 'scripts/run.py')).toEqual({ path: at('src/run.py'), name: 'scripts/run.py' });
	});
	test('D8: the skill’s folder may itself be a link', async () => {
		put('run.py');
		symlinkSync('demo', join(folder, 'linked'));
		expect((await resolveScript(join(folder, 'linked'), 'run.py')).path).toBe(at('run.py'));
	});
	test('D8: a FIFO, a link to a folder and one to itself are not allowed, and nothing waits', async () => {
		execFileSync('mkfifo', [at('pipe.sh')]);
		put('lib/a.py');
		symlinkSync('lib', at('folder.sh'));
		symlinkSync('self.sh', at('self.sh'));
		expect((await failure('pipe.sh')).message).toContain('it isn’t a regular file');
		expect((await failure('folder.sh')).message).toContain('it isn’t a regular file');
		expect((await failure('self.sh')).type).toBe('ScriptNotAllowed');
		expect((await failure('x'.repeat(5000))).type).toBe('ScriptNotAllowed');
	});
	test('D13: when the folder is gone, the model reads so', async () => {
		rmSync(skill, { recursive: true });
		expect(await failure('run.py')).toMatchObject({
			type: 'ScriptNotFound',
			message: expect.stringContaining('gone') as string
		});
	});
	test('D8: whatever is asked for, what is found lies in the folder', async () => {
		put('run.py', 'scripts/go.sh', 'a/b/c.js');
		writeFileSync(join(folder, 'other.sh'), '');
		symlinkSync('..', at('up'));
		symlinkSync('/', at('top'));
		const step = fc.constantFrom(
			'..',
			'.',
			'',
			'up',
			'top',
			'demo',
			'scripts',
			'a',
			'b',
			'run.py',
			'go.sh',
			'other.sh',
			'etc',
			'\\..'
		);
		await fc.assert(
			fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
				const found = await resolveScript(skill, steps.join('/')).catch((error: unknown) => error);
				if (found instanceof SkillError) return;
				expect(isInside(skill, (found as { path: string }).path)).toBe(true);
			})
		);
	});
});

describe('listFiles', () => {
	test('C8: paths are relative, sorted, without hidden files, modules and links', async () => {
		put('b.py', 'a/x.md', 'B.py', '.env', '.git/config', 'node_modules/m/i.js', 'a/__pycache__/x.pyc', 'a/.DS_Store');
		symlinkSync('/etc', at('etc'));
		symlinkSync('b.py', at('c.py'));
		expect(await listFiles(skill)).toEqual(['B.py', 'a/x.md', 'b.py']);
	});
	test('C8: a hundred files at most, those nearest to the root first', async () => {
		for (let index = 0; index < 120; index += 1) put(`a/f${index}.txt`);
		put('z.txt');
		const files = await listFiles(skill);
		expect(files).toHaveLength(100);
		expect(files).toContain('z.txt');
	});
	test('C8: a deep folder ends after six levels, and a wide one without files ends too', async () => {
		put('1/2/3/4/5/6/in.txt', '1/2/3/4/5/6/7/out.txt');
		expect(await listFiles(skill)).toEqual(['1/2/3/4/5/6/in.txt']);
		for (let index = 0; index < 300; index += 1) mkdirSync(at(`wide/${index}`), { recursive: true });
		let count = 0;
		await listFiles(skill, async () => {
			count += 1;
			return [
				Object.assign(Object.create({ isDirectory: () => true, isFile: () => false }) as never, { name: `d${count}` })
			];
		});
		expect(count).toBeLessThanOrEqual(200);
	});
	test('C8: the tree says whether it is all: a hundred files are, one more or one too deep is not', async () => {
		for (let index = 0; index < 100; index += 1) put(`a/f${index}.txt`);
		expect(await listTree(skill)).toMatchObject({ truncated: false });
		put('b.txt');
		const { files, truncated } = await listTree(skill);
		expect([files.length, files.includes('b.txt'), truncated]).toEqual([100, true, true]);
		rmSync(at('a'), { recursive: true });
		put('1/2/3/4/5/6/7/out.txt');
		expect(await listTree(skill)).toEqual({ files: ['b.txt'], truncated: true });
	});
	test('C8: a folder that is gone has no files', async () => {
		expect(await listFiles(join(folder, 'gone'))).toEqual([]);
	});
});

test('D5: scripts are known by their extension', () => {
	expect(
		scriptsOf(['a.py', 'b.js', 'c.mjs', 'd.cjs', 'e.ts', 'f.sh', 'g.bash', 'py', 'h.PY', 'i.py.txt', 'j.rb'])
	).toEqual(['a.py', 'b.js', 'c.mjs', 'd.cjs', 'e.ts', 'f.sh', 'g.bash']);
});
test.each([
	['/a', '/a', true],
	['/a', '/a/b', true],
	['/a', '/a/..b', true],
	['/a', '/ab', false],
	['/a', '/', false],
	['/a', '/a/../b', false],
	['/', '/a', true]
])('D8: in %s, %s is inside: %s', (root, path, isIn) => {
	expect(isInside(root, path)).toBe(isIn);
});
test('D5: the head of a file is its first bytes; a FIFO fails instead of waiting', async () => {
	put('run.py');
	execFileSync('mkfifo', [at('pipe')]);
	expect(await readHead(at('run.py'), 5)).toBe('# run');
	expect(await readHead(at('run.py'), 500)).toBe('# run.py');
	await expect(readHead(at('pipe'), 5)).rejects.toThrow();
});
test('D5: a file is executable when its mode says so', async () => {
	put('run.py');
	expect(await isExecutable(at('run.py'))).toBe(false);
	chmodSync(at('run.py'), 0o755);
	expect(await isExecutable(at('run.py'))).toBe(true);
	expect(await isExecutable(at('none'))).toBe(false);
});

describe('on Windows', () => {
	test.each([
		['C:\\skills\\demo', 'C:\\skills\\demo\\scripts\\run.py', true],
		['C:\\skills\\demo', 'c:\\SKILLS\\Demo\\run.py', true],
		['C:\\skills\\demo', 'C:\\skills\\demo\\..run.py', true],
		['C:\\skills\\demo', 'C:\\skills\\demo-2\\run.py', false],
		['C:\\skills\\demo', 'C:\\skills', false],
		['C:\\skills\\demo', 'D:\\skills\\demo\\run.py', false],
		['C:\\skills\\demo', '\\\\server\\share\\skills\\demo\\run.py', false]
	])('%s holds %s: %s', (root, path, expected) => expect(isInside(root, path, win32)).toBe(expected));

	test.each([
		'C:\\Windows\\x.js',
		'c:run.js',
		'\\Windows\\x.js',
		'\\\\server\\share\\x.js',
		'\\\\?\\C:\\x.js',
		'scripts\\..\\..\\x.js',
		'scripts/.. /x.js'
	])('D1: %s is no path inside a skill, on any system', (path) => {
		for (const platform of ['win32', 'linux'] as const) expect(leavesFolder(path, platform)).toBe(true);
	});
	test.each(['NUL', 'scripts/con.py', 'aux', 'COM1:', 'lpt1 .js'])(
		'D1: %s is a device there, and a file elsewhere',
		(path) => {
			expect(leavesFolder(path, 'win32')).toBe(true);
			expect(leavesFolder(path, 'linux')).toBe(false);
		}
	);
	test.each(['scripts/run.py', 'scripts\\run.py', 'console.js', '..run.py', 'a..b/c.py'])('D1: %s is one', (path) => {
		expect(leavesFolder(path, 'win32')).toBe(false);
	});
});
