import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, it, test } from 'vitest';
import { eventually } from '../../../../tests/support/eventually.ts';
import {
	type NpmPackage,
	openPackageIndex,
	type PackageIndex,
	tarOf,
	type Wheel,
	wheel,
	wheelFolder
} from '../../../../tests/support/package-index.ts';
import { processesWith } from '../../../../tests/support/processes.ts';
import { lacks } from '../../../../tests/support/sandbox-packages.ts';
import { runOnDisk } from '../../../../tests/support/small-disk.ts';
import { removeFolder } from '../foreign-folders.ts';
import { type Ecosystem, packageNamed } from '../skills/needs/packages.ts';
import { createEnvironments, type Environments, type EnvironmentsOptions } from './environments.ts';
import { sizesOf } from './pip.ts';

const run = promisify(execFile);
let dir: string;
let folder: string;
const indexes: PackageIndex[] = [];
/** Not a shim of it, which may want to write. */
let python: string;
beforeAll(async () => {
	python = (await run('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim();
});
beforeEach(async () => {
	dir = await realpath(await mkdtemp(join(tmpdir(), 'environments-')));
	folder = join(dir, 'environments');
});
afterEach(async () => {
	await Promise.all(indexes.splice(0).map((index) => index.close()));
	await removeFolder(dir);
});

/** A clean environment, so that the machine's own settings of pip and npm mean nothing here. */
const environment = () => ({ PATH: process.env.PATH, HOME: dir, npm_config_cache: join(dir, 'cache') });
function open(options: Partial<EnvironmentsOptions> = {}): Environments {
	return createEnvironments({
		folder,
		maxBytes: 64 * 1024 * 1024,
		pipIndexUrl: null,
		npmRegistry: null,
		hosts: [],
		findPython: async () => ({ file: python, args: [] }),
		target: async () => null,
		environment: environment(),
		...options
	});
}
async function serve(wheels: readonly Wheel[], packages: readonly NpmPackage[] = []): Promise<PackageIndex> {
	const index = await openPackageIndex(wheels, packages);
	indexes.push(index);
	return index;
}
const wanted = (ecosystem: Ecosystem, ...names: string[]) =>
	names.map((name) => packageNamed(ecosystem, name)).filter((each) => each !== null);
const problemOf = (work: Promise<unknown>) =>
	work.then(
		() => 'done',
		(error: { type?: string; message: string }) => error.type ?? error.message
	);
/** What is there: environments and what is left of work. */
const there = () => readdir(folder).catch(() => []);
const importing = async (path: string, code: string): Promise<string> => {
	const { stdout } = await run('python3', ['-c', code], { env: { PATH: process.env.PATH, PYTHONPATH: path } });
	return stdout.trim();
};
const requiring = async (register: string, file: string, code: string): Promise<string> => {
	const script = join(dir, file);
	await writeFile(script, code);
	const { stdout } = await run(process.execPath, ['--require', register, script]);
	return stdout.trim();
};

const TWO: Wheel[] = [
	{ name: 'tiny-lib', version: '1.2.0', requires: ['helper>=1'], programs: { tiny: 'tiny_lib:main' } },
	{ name: 'tiny-lib', version: '2.0.0', requires: ['helper>=1'] },
	{ name: 'helper', code: 'NAME = "helper"\n' }
];

test('D46: a folder of wheels is an index: versions, hashes, sizes and source are known before anything is installed', async () => {
	await wheelFolder(join(dir, 'wheels'), TWO);
	const environments = open({ pipIndexUrl: pathToFileURL(join(dir, 'wheels')).href });
	const lock = await environments.lookUp(wanted('python', 'tiny-lib<2'));
	expect(lock.packages).toMatchObject([
		{ ecosystem: 'python', name: 'helper', version: '1.0.0', from: 'file:' },
		{ ecosystem: 'python', name: 'tiny-lib', version: '1.2.0', from: 'file:' }
	]);
	const { bytes } = wheel(TWO[0] as Wheel);
	expect(lock.packages[1]).toMatchObject({
		hash: expect.stringMatching(/^sha256-[0-9a-f]{64}$/) as unknown,
		bytes: bytes.length
	});
	expect(lock.requested).toEqual([{ ecosystem: 'python', requirement: 'tiny-lib<2' }]);
	expect(await there()).toEqual([]);
	expect(await environments.open(lock)).toBeNull();

	await environments.install(lock);
	expect(await there()).toEqual([lock.digest]);
	const packages = await environments.open(lock);
	expect(await importing(packages?.python ?? '', 'import tiny_lib, helper; print(tiny_lib.VERSION, helper.NAME)')).toBe(
		'1.2.0 helper'
	);
	// Programs run with any Python, as a sandbox may have another.
	const tiny = join(packages?.bin[0] ?? '', 'tiny');
	expect((await run('head', ['-1', tiny])).stdout).toBe('#!/usr/bin/env python3\n');
	for (const path of [packages?.folder ?? '', packages?.python ?? '', join(packages?.python ?? '', 'helper.py'), tiny])
		expect((await stat(path)).mode & 0o222).toBe(0);
});

test('D46: the same lock is the same environment on another machine with another mirror', async () => {
	await wheelFolder(join(dir, 'wheels'), TWO);
	const index = await serve(TWO);
	const one = await open({ pipIndexUrl: pathToFileURL(join(dir, 'wheels')).href }).lookUp(wanted('python', 'tiny-lib'));
	const other = open({ pipIndexUrl: index.pipIndexUrl });
	const two = await other.lookUp(wanted('python', 'tiny-lib'));
	expect(two.digest).toBe(one.digest);
	expect(two.packages.every(({ from }) => from === index.host)).toBe(true);
	await other.install(one);
	expect(await there()).toEqual([one.digest]);
});

test('D46: packages made for another Python or system are not used', async () => {
	await wheelFolder(join(dir, 'wheels'), TWO);
	const options = { pipIndexUrl: pathToFileURL(join(dir, 'wheels')).href };
	const lock = await open(options).lookUp(wanted('python', 'helper'));
	await open(options).install(lock);
	const elsewhere = open({ ...options, target: async () => ({ version: '3.5', libc: 'musl', machine: 'aarch64' }) });
	expect(await elsewhere.stateOf(lock)).toBe('other-python');
	expect(await elsewhere.open(lock)).toBeNull();
	const other = await elsewhere.lookUp(wanted('python', 'helper'));
	expect(other.digest).not.toBe(lock.digest);
	await elsewhere.install(other);
	expect(await elsewhere.stateOf(other)).toBe('ready');
	expect(await open(options).stateOf(lock)).toBe('ready');
});

const NPM: NpmPackage[] = [
	{
		name: 'left',
		version: '1.0.0',
		dependencies: { right: '^1.0.0' },
		files: { 'index.js': "exports.sum = 'left' + require('right').version;" }
	},
	{ name: 'right', version: '1.1.0' },
	{ name: 'modern', files: { 'index.mjs': "export const name = 'modern';" }, more: { exports: './index.mjs' } },
	{
		name: 'pushy',
		more: { hasInstallScript: true, scripts: { postinstall: 'touch ../../pushed', install: 'touch ../../pushed' } }
	}
];

test('D46: JavaScript packages made for another system are not used', async () => {
	const options = await serve([], NPM);
	const lock = await open(options).lookUp(wanted('javascript', 'right'));
	await open(options).install(lock);
	const elsewhere = open({ ...options, target: async () => ({ version: '3.5', libc: 'musl', machine: 'aarch64' }) });
	expect(await elsewhere.stateOf(lock)).toBe('other-python');
	expect((await elsewhere.lookUp(wanted('javascript', 'right'))).digest).not.toBe(lock.digest);
	expect(await open(options).stateOf(lock)).toBe('ready');
});

test('D46: npm packages are found by import and by require, and their install scripts do not run', async () => {
	const { npmRegistry, host } = await serve([], NPM);
	const environments = open({ npmRegistry });
	const lock = await environments.lookUp(wanted('javascript', 'left@^1.0.0', 'modern', 'pushy'));
	expect(lock.packages.map(({ name, version, from }) => [name, version, from])).toEqual([
		['left', '1.0.0', host],
		['modern', '1.0.0', host],
		['pushy', '1.0.0', host],
		['right', '1.1.0', host]
	]);
	expect(lock.packages.every(({ bytes, hash }) => (bytes ?? 0) > 0 && hash.startsWith('sha512-'))).toBe(true);
	await environments.install(lock);
	const { register, folder: at } = (await environments.open(lock)) ?? {};
	expect(await requiring(register ?? '', 'a.cjs', "console.log(require('left').sum)")).toBe('left1.1.0');
	expect(await requiring(register ?? '', 'a.mjs', "import { name } from 'modern'; console.log(name)")).toBe('modern');
	expect(await readdir(at ?? '')).not.toContain('pushed');
	expect(JSON.stringify(lock.javascript)).not.toContain(host);
});

test('D46: a package that would have to be built is not installed, since that would run its code, unless that is allowed', async () => {
	const backend = `
import zipfile
def build_wheel(folder, *more):
    open(${JSON.stringify(join(dir, 'built'))}, 'w').close()
    name = 'built-1.0.0-py3-none-any.whl'
    with zipfile.ZipFile(folder + '/' + name, 'w') as wheel:
        wheel.writestr('built.py', 'NAME = "built"')
        wheel.writestr('built-1.0.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: built\\nVersion: 1.0.0\\n')
        wheel.writestr('built-1.0.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr('built-1.0.0.dist-info/RECORD', '')
    return name
`;
	const project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';
	await mkdir(join(dir, 'sources'));
	await writeFile(
		join(dir, 'sources/built-1.0.0.tar.gz'),
		tarOf('built-1.0.0', {
			'backend.py': backend,
			'pyproject.toml': project,
			'PKG-INFO': 'Metadata-Version: 2.1\nName: built\nVersion: 1.0.0\n'
		})
	);
	const pipIndexUrl = pathToFileURL(join(dir, 'sources')).href;
	const failure = await open({ pipIndexUrl })
		.lookUp(wanted('python', 'built'))
		.catch((error: unknown) => error);
	expect(failure).toMatchObject({ type: 'NotFound', missing: 'built' });
	expect((failure as Error).message).toContain('has no ready-made package built');
	expect(await readdir(dir)).not.toContain('built');
	expect(await there()).toEqual([]);

	const environments = open({ pipIndexUrl, mayBuild: true });
	const lock = await environments.lookUp(wanted('python', 'built'));
	await environments.install(lock);
	const packages = await environments.open(lock);
	expect(await importing(packages?.python ?? '', 'import built; print(built.NAME)')).toBe('built');
});

test('D46: a package whose metadata leads to source, a folder or a repository runs no code of it, and no program', async () => {
	const ran = join(dir, 'ran');
	const source = {
		'backend.py': `open(${JSON.stringify(ran)}, 'w').close()\n`,
		'pyproject.toml': '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
		'PKG-INFO': 'Metadata-Version: 2.1\nName: evil\nVersion: 1.0.0\n'
	};
	const programs = join(dir, 'programs');
	for (const folder of [programs, join(dir, 'evil')]) await mkdir(folder);
	for (const [name, text] of Object.entries(source)) await writeFile(join(dir, 'evil', name), text);
	for (const name of ['git', 'hg', 'svn'])
		await writeFile(join(programs, name), `#!/bin/sh\ntouch ${ran}\nexit 1\n`, { mode: 0o755 });
	const elsewhere = await serve([]);
	elsewhere.intercept = (_request, response) => {
		response.end(tarOf('evil-1.0.0', source));
		return true;
	};
	const places = [
		`http://${elsewhere.host}/evil-1.0.0.tar.gz`,
		pathToFileURL(join(dir, 'evil')).href,
		'git+ssh://git@127.0.0.1:9/evil',
		'hg+http://127.0.0.1:9/evil',
		'svn+ssh://127.0.0.1:9/evil'
	];
	const index = await serve(places.map((place, at) => ({ name: `good${at}`, requires: [`evil @ ${place}`] })));
	const { PATH } = process.env;
	const environments = open({
		...index,
		hosts: [elsewhere.host],
		environment: { ...environment(), PATH: `${programs}:${PATH}` }
	});
	for (const at of places.keys()) {
		const failure = await environments.lookUp(wanted('python', `good${at}`)).catch((error: unknown) => error);
		expect((failure as Error).message).toBe(`${index.host} has a package that would run code to be installed.`);
	}
	expect(await readdir(dir)).not.toContain('ran');
	expect(await there()).toEqual([]);
});

test('D46: metadata that doesn’t fit in memory ends the look-up with a reason', async () => {
	const about = 'x'.repeat(100 * 1024 ** 2);
	const environments = open({ ...(await serve([{ name: 'vast', about }])), maxMemoryBytes: 200 * 1024 ** 2 });
	expect(await problemOf(environments.lookUp(wanted('python', 'vast')))).toBe('TooLarge');
	expect(await there()).toEqual([]);
});

test('D46: a JavaScript package that comes under the name of another is shown by its own', async () => {
	const { npmRegistry } = await serve(
		[],
		[{ name: 'left', dependencies: { lodash: 'npm:unknown@1.0.0' } }, { name: 'unknown' }, { name: 'lodash' }]
	);
	const environments = open({ npmRegistry });
	const lock = await environments.lookUp(wanted('javascript', 'left'));
	expect(lock.packages.map(({ name }) => name)).toEqual(['left', 'unknown']);
	await environments.install(lock);
	const { folder: path } = (await environments.open(lock)) ?? {};
	expect((await readdir(join(path ?? '', 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual([
		'left',
		'lodash'
	]);
	// npm's own cache of compiled code doesn't stay.
	expect(await readdir(path ?? '')).toEqual(['node_modules', 'register.cjs']);
});

test('D46: where everything goes through a proxy, sizes are asked from no host directly', async () => {
	const index = await serve(TWO);
	expect(await sizesOf([`http://${index.host}/files/helper-1.0.0-py3-none-any.whl`], null)).toEqual([null]);
	expect(index.asked).toEqual([]);
});

test('D46: a name that no registry has is told by its name', async () => {
	const { npmRegistry } = await serve([], NPM);
	const failure = await open({ npmRegistry })
		.lookUp(wanted('javascript', 'nowhere-at-all'))
		.catch((error: unknown) => error);
	expect(failure).toMatchObject({ type: 'NotFound', missing: 'nowhere-at-all' });
});

test('D46: packages that don’t go together are named, as npm names them', async () => {
	const peer = { name: 'old-plugin', more: { peerDependencies: { right: '^2.0.0' } } };
	const { npmRegistry } = await serve([], [...NPM, { name: 'right', version: '2.0.0' }, peer]);
	const failure = await open({ npmRegistry })
		.lookUp(wanted('javascript', 'right@^1.0.0', 'old-plugin'))
		.catch((error: unknown) => error);
	expect(failure).toMatchObject({
		type: 'Failed',
		message: 'old-plugin@1.0.0 needs right@^2.0.0, but the skill asks for right@1.1.0.'
	});
});

test('D46: a file that is not the one that was looked up is refused, and nothing is installed', async () => {
	const index = await serve(TWO, NPM);
	const environments = open(index);
	const python = await environments.lookUp(wanted('python', 'helper'));
	const javascript = await environments.lookUp(wanted('javascript', 'right'));
	index.replaced.set('helper-1.0.0-py3-none-any.whl', wheel({ name: 'helper', code: 'print("evil")' }).bytes);
	index.intercept = (request, response) => {
		if (!request.url?.startsWith('/tarballs')) return false;
		response.end(Buffer.from('evil'));
		return true;
	};
	await rm(join(dir, 'cache'), { recursive: true, force: true });
	await rm(join(dir, '.cache'), { recursive: true, force: true });
	expect(await problemOf(environments.install(python))).toBe('WrongHash');
	expect(await problemOf(environments.install(javascript))).toBe('WrongHash');
	expect(await there()).toEqual([]);
});

test('D46: an index that hangs is given up', async () => {
	const index = await serve(TWO, NPM);
	index.intercept = () => true;
	const environments = open({ ...index, quietMs: 2000 });
	expect(await problemOf(environments.lookUp(wanted('python', 'helper')))).toBe('IndexUnreachable');
	expect(await problemOf(environments.lookUp(wanted('javascript', 'right')))).toBe('IndexUnreachable');
	expect(await there()).toEqual([]);
});

test('D46: an index that is broken or refuses every connection is no index without packages', async () => {
	const index = await serve([]);
	const environments = open(index);
	index.intercept = (_request, response) => {
		response.writeHead(500).end();
		return true;
	};
	expect(await problemOf(environments.lookUp(wanted('python', 'helper')))).toBe('IndexUnreachable');
	expect(await problemOf(environments.lookUp(wanted('javascript', 'right')))).toBe('IndexUnreachable');
	await index.close();
	const hints = [wanted('python', 'helper'), wanted('javascript', 'right')].map((each) =>
		environments.lookUp(each).catch((error: unknown) => (error as { hint: string }).hint)
	);
	expect(await Promise.all(hints)).toEqual([
		expect.stringMatching(/SKILLS_PIP_INDEX_URL, then restart the server\.$/),
		expect.stringMatching(/SKILLS_NPM_REGISTRY, then restart the server\.$/)
	]);
});

test('D46: installing reaches only the index: a package that leads to another host is refused, and that host hears nothing', async () => {
	const other = await serve([{ name: 'far' }], [{ name: 'far' }]);
	const index = await serve(
		[{ name: 'lure', requires: [`far @ http://${other.host}/files/far-1.0.0-py3-none-any.whl`] }],
		[
			{ name: 'lure', dependencies: { far: `http://${other.host}/tarballs/far-1.0.0.tgz` } },
			{ name: 'git-lure', dependencies: { far: `git+http://${other.host}/far.git` } }
		]
	);
	const environments = open(index);
	for (const names of [wanted('python', 'lure'), wanted('javascript', 'lure')]) {
		const failure = await environments.lookUp(names).catch((error: unknown) => error);
		expect(failure).toMatchObject({ type: 'HostNotAllowed' });
		expect((failure as Error).message).toContain(other.host);
	}
	expect(await problemOf(environments.lookUp(wanted('javascript', 'git-lure')))).not.toBe('done');
	expect(other.asked).toEqual([]);
	// The operator can allow it.
	const lock = await open({ ...index, hosts: [other.host] }).lookUp(wanted('python', 'lure'));
	expect(lock.packages.map(({ name, from }) => [name, from])).toEqual([
		['far', other.host],
		['lure', index.host]
	]);
});

test('D46: two that install the same lock share the work, and one that stops does not stop the other', async () => {
	const index = await serve(TWO);
	const environments = open({ pipIndexUrl: index.pipIndexUrl });
	const lock = await environments.lookUp(wanted('python', 'tiny-lib'));
	await rm(join(dir, '.cache'), { recursive: true, force: true });
	index.asked.length = 0;
	const stop = new AbortController();
	const texts: string[] = [];
	const first = environments.install(lock, { signal: stop.signal, onProgress: () => stop.abort() });
	const second = environments.install(lock, { onProgress: ({ text }) => texts.push(text) });
	expect(await problemOf(first)).toBe('Cancelled');
	await second;
	expect(texts).toContain('Downloading helper');
	expect(await there()).toEqual([lock.digest]);
	expect(index.asked.filter((path) => path.startsWith('/files/helper'))).toHaveLength(1);
	// A third finds it.
	await environments.install(lock);
});

test('D46: stopped half-way, nothing is left and no program goes on', async () => {
	const index = await serve(TWO);
	const environments = open({ pipIndexUrl: index.pipIndexUrl });
	const lock = await environments.lookUp(wanted('python', 'tiny-lib'));
	await rm(join(dir, '.cache'), { recursive: true, force: true });
	const stop = new AbortController();
	index.intercept = (request) => {
		if (!request.url?.startsWith('/files')) return false;
		stop.abort();
		return true;
	};
	expect(await problemOf(environments.install(lock, { signal: stop.signal }))).toBe('Cancelled');
	expect(await there()).toEqual([]);
	await eventually(() => expect(processesWith(dir)).toEqual([]));
	index.intercept = null;
	await environments.install(lock);
	expect(await there()).toEqual([lock.digest]);
});

test('D46: packages that take more room than there may be are refused; what others take counts', async () => {
	const padding = Buffer.from(Array.from({ length: 600_000 }, (_, at) => (at * 7919) % 251));
	const index = await serve([
		{ name: 'large', padding },
		{ name: 'second', padding }
	]);
	const environments = open({ ...index, maxBytes: 1_000_000 });
	const large = await environments.lookUp(wanted('python', 'large'));
	const second = await environments.lookUp(wanted('python', 'second'));
	await environments.install(large);
	expect(await problemOf(environments.install(second))).toBe('TooLarge');
	expect(await there()).toEqual([large.digest]);
	expect(await environments.removeUnused(new Set())).toBe(1);
	await environments.install(second);
	expect(await there()).toEqual([second.digest]);
});

test('D46: empty files take room, too, so their number has a limit', async () => {
	const index = await serve([{ name: 'many', empty: 300 }]);
	const environments = open({ ...index, maxBytes: 1_000_000 });
	expect(await problemOf(environments.install(await environments.lookUp(wanted('python', 'many'))))).toBe('TooLarge');
	expect(await there()).toEqual([]);
});

test('D46: what a killed server left is removed, even if this one has its number, and what another one is making stays', async () => {
	const partOf = (pid: number) => `${'0'.repeat(64)}.${pid}.11111111-1111-4111-8111-111111111111.part`;
	for (const pid of [2147480000, process.ppid]) await mkdir(join(folder, partOf(pid), 'python'), { recursive: true });
	// In a container, each server is process 1.
	await mkdir(join(folder, partOf(process.pid)));
	await open().removeUnused(new Set());
	expect(await there()).toEqual([partOf(process.ppid)]);
});

test('D46: what this server is making stays when it cleans up', async () => {
	const index = await serve(TWO);
	const first = open(index);
	const lock = await first.lookUp(wanted('python', 'tiny-lib'));
	const work = Promise.withResolvers<void>();
	const installed = first.install(lock, { onProgress: () => work.resolve() });
	await work.promise;
	await first.removeUnused(new Set());
	await installed;
	expect(await there()).toEqual([lock.digest]);
});

test('D46: without Python or pip, the sentence says what to install', async () => {
	const failure = await open({ findPython: async () => null })
		.lookUp(wanted('python', 'helper'))
		.catch((error: unknown) => error);
	expect(failure).toMatchObject({ type: 'NoInstaller', hint: 'Whoever runs the server can install it: python3.' });
	await expect(access(join(dir, 'none'))).rejects.toThrow();
});

it.skipIf(lacks('bubblewrap'))('D46: on a full disk nothing is installed, and with room again it works', async () => {
	const padding = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7919) % 251));
	await wheelFolder(join(dir, 'wheels'), [{ name: 'large', padding }]);
	const disk = join(dir, 'disk');
	await mkdir(disk);
	const program = `
		import { readdirSync, rmSync, writeFileSync } from 'node:fs';
		import { createEnvironments } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'environments.ts')))};
		const environments = createEnvironments(${JSON.stringify({
			folder: join(disk, 'environments'),
			maxBytes: 64 * 1024 * 1024,
			pipIndexUrl: pathToFileURL(join(dir, 'wheels')).href,
			npmRegistry: null,
			hosts: [],
			environment: { PATH: process.env.PATH, HOME: disk, PIP_NO_CACHE_DIR: '1' }
		}).replace(
			/\}$/,
			''
		)}, findPython: async () => ({ file: ${JSON.stringify(python)}, args: [] }), target: async () => null });
		const lock = await environments.lookUp([{ ecosystem: 'python', name: 'large', requirement: 'large' }]);
		const told = [];
		const attempt = () => environments.install(lock).then(() => told.push('done'), ({ type }) => told.push(type));
		writeFileSync(${JSON.stringify(join(disk, 'filler'))}, Buffer.alloc(8_000_000));
		await attempt();
		told.push(readdirSync(${JSON.stringify(join(disk, 'environments'))}));
		rmSync(${JSON.stringify(join(disk, 'filler'))});
		await attempt();
		told.push(readdirSync(${JSON.stringify(join(disk, 'environments'))}).length);
		console.log(JSON.stringify(told));
	`;
	const told = JSON.parse(await runOnDisk({ dir: disk, bytes: 10_000_000 }, program)) as unknown;
	expect(told).toEqual(['DiskFull', [], 'done', 1]);
});
