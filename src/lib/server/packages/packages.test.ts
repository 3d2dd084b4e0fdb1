import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wheelFolder } from '../../../../tests/support/package-index.ts';
import { lacksPackages } from '../../shared/packages.ts';
import { removeFolder } from '../foreign-folders.ts';
import { packageNamed } from '../skills/needs/packages.ts';
import type { Skill } from '../skills/types.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createEnvironments } from './environments.ts';
import { createPackages, type Packages } from './packages.ts';

const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
let dir: string;
let store: Store;
let packages: Packages;
let needed: Record<string, { name: string; isDeclared?: boolean; isFound?: boolean }[]>;
let ids: string[];
let changes: number;
beforeEach(async () => {
	dir = await realpath(await mkdtemp(join(tmpdir(), 'skill-packages-')));
	await mkdir(join(dir, 'data'));
	await wheelFolder(join(dir, 'wheels'), [
		{ name: 'first' },
		{ name: 'second' },
		{ name: 'second', version: '2.0.0' },
		{ name: 'third', requires: ['first'] }
	]);
	store = await openSqliteStore(join(dir, 'data', 'app.sqlite'));
	needed = {};
	ids = ['local/demo', 'local/other'];
	changes = 0;
	packages = open();
});
afterEach(async () => {
	await packages.close();
	await store.close();
	await removeFolder(dir);
});

const needsOf = async ({ name }: Pick<Skill, 'name'>) => ({
	packages: (needed[name] ?? []).map(({ name: wanted, isDeclared = true, isFound = false }) => {
		const found = packageNamed('python', wanted);
		if (!found) throw new Error(`not a package: ${wanted}`);
		return { ...found, isDeclared, isFound, from: ['requirements.txt'] };
	})
});
const environments = () => join(dir, 'environments');
function open(): Packages {
	return createPackages({
		store: store.skillPackages,
		environments: createEnvironments({
			folder: environments(),
			maxBytes: 64 * 1024 * 1024,
			pipIndexUrl: pathToFileURL(join(dir, 'wheels')).href,
			npmRegistry: null,
			hosts: [],
			findPython: async () => ({ file: python, args: [] }),
			target: async () => null,
			environment: { PATH: process.env.PATH, HOME: process.env.HOME }
		}),
		needsOf,
		skillIds: () => ids,
		onChange: () => void changes++
	});
}
const skill = (name: string) => ({ name, source: 'local' }) as Skill;
const demo = skill('demo');
/** Looks up, allows what was shown, and waits. */
async function install(of: Skill, also: { ecosystem: 'python'; name: string }[] = []): Promise<string[]> {
	await packages.lookUp(of, also);
	await packages.settled(of);
	const { proposed, problem } = await packages.stateOf(of);
	if (!proposed) throw new Error(problem?.message);
	await packages.install(of, proposed.digest);
	await packages.settled(of);
	const { installed } = await packages.stateOf(of);
	return (installed?.packages ?? []).map(({ name, version }) => `${name} ${version}`);
}
const refused = (work: Promise<unknown>) =>
	work.then(
		() => 'done',
		(error: { code: string }) => error.code
	);

test('D46: what a skill needs is looked up and shown, and only what was shown is installed', async () => {
	needed.demo = [{ name: 'second<2' }, { name: 'third' }];
	expect(await packages.stateOf(demo)).toEqual({ installed: null, proposed: null, work: null, problem: null });
	expect(await refused(packages.install(demo, 'a'.repeat(64)))).toBe('conflict');
	await packages.lookUp(demo, []);
	expect((await packages.stateOf(demo)).work).toMatchObject({ kind: 'looking-up' });
	expect(await refused(packages.lookUp(demo, []))).toBe('conflict');
	await packages.settled(demo);
	const { proposed } = await packages.stateOf(demo);
	expect(proposed?.packages.map(({ name, version }) => `${name} ${version}`)).toEqual([
		'first 1.0.0',
		'second 1.0.0',
		'third 1.0.0'
	]);
	expect(await packages.packagesOf(demo)).toBeNull();
	await packages.install(demo, proposed?.digest ?? '');
	await packages.settled(demo);
	const { installed, proposed: after } = await packages.stateOf(demo);
	expect(after).toBeNull();
	expect(installed).toMatchObject({ digest: proposed?.digest, state: 'ready' });
	expect(changes).toBe(1);
	const isInstalled = await packages.installed(demo);
	expect([isInstalled('python', 'third'), isInstalled('javascript', 'third')]).toEqual([true, false]);
	// Another skill has none of it.
	expect(await packages.packagesOf(skill('other'))).toBeNull();
	// After a restart it is there, as it was.
	await packages.close();
	packages = open();
	expect((await packages.packagesOf(demo))?.python).toBe(join(environments(), installed?.digest ?? '', 'python'));
});

test('D46: skills with the same lock share one environment, which goes with the last of them', async () => {
	needed = { demo: [{ name: 'first' }], other: [{ name: 'first' }] };
	await install(demo);
	await install(skill('other'));
	expect(await readdir(environments())).toHaveLength(1);
	await packages.remove(demo);
	expect(await readdir(environments())).toHaveLength(1);
	expect(await packages.packagesOf(demo)).toBeNull();
	expect(await packages.packagesOf(skill('other'))).not.toBeNull();
	await packages.remove(skill('other'));
	expect(await readdir(environments())).toEqual([]);
});

test('D46: packages of a skill that is gone are removed; when it comes back, one call installs the same', async () => {
	needed.demo = [{ name: 'second<2' }];
	await install(demo);
	ids = [];
	expect(await packages.cleanUp()).toBe(1);
	ids = ['local/demo'];
	const { installed } = await packages.stateOf(demo);
	expect(installed?.state).toBe('gone');
	expect(await packages.packagesOf(demo)).toBeNull();
	// A newer version changes nothing.
	await packages.install(demo, installed?.digest ?? '');
	await packages.settled(demo);
	expect((await packages.stateOf(demo)).installed).toMatchObject({ state: 'ready', digest: installed?.digest });
});

test('D46: whoever is asked sees what all skills’ packages take and may take; otherwise nothing is counted', async () => {
	needed = { demo: [{ name: 'first' }], other: [{ name: 'second' }] };
	const maxBytes = 64 * 1024 * 1024;
	await packages.lookUp(demo, []);
	expect((await packages.stateOf(demo)).space).toBeUndefined();
	await packages.settled(demo);
	expect((await packages.stateOf(demo)).space).toEqual({ bytes: 0, maxBytes });
	await install(demo);
	expect((await packages.stateOf(demo)).space).toBeUndefined();
	await packages.lookUp(skill('other'), []);
	await packages.settled(skill('other'));
	const { space } = await packages.stateOf(skill('other'));
	expect(space).toEqual({ bytes: expect.any(Number) as number, maxBytes });
	expect(space?.bytes).toBeGreaterThan(0);
	// What is gone can be allowed again.
	ids = [];
	await packages.cleanUp();
	ids = ['local/demo'];
	expect((await packages.stateOf(demo)).space).toEqual({ bytes: 0, maxBytes });
});

test('D46: a package that a script asked for when it failed stays when more are installed', async () => {
	needed.demo = [{ name: 'first' }];
	expect(await install(demo, [{ ecosystem: 'python', name: 'second' }])).toEqual(['first 1.0.0', 'second 2.0.0']);
	needed.demo = [{ name: 'first', isFound: true }, { name: 'third' }];
	expect(await install(demo)).toEqual(['first 1.0.0', 'second 2.0.0', 'third 1.0.0']);
	// The skill's own words win.
	needed.demo = [{ name: 'second==1.0.0' }];
	expect(await install(demo)).toContain('second 1.0.0');
});

test('D46: an import that is no package is left out and told; a declared one is a problem', async () => {
	needed.demo = [{ name: 'first' }, { name: 'mystery-module', isDeclared: false }];
	await packages.lookUp(demo, []);
	await packages.settled(demo);
	expect((await packages.stateOf(demo)).proposed).toMatchObject({
		notFound: ['mystery-module'],
		packages: [{ name: 'first' }]
	});
	await install(demo);
	const { installed } = await packages.stateOf(demo);
	expect(installed).toMatchObject({ notFound: ['mystery-module'], packages: [{ name: 'first' }] });
	needed.demo = [
		{ name: 'first', isFound: true },
		{ name: 'mystery-module', isDeclared: false }
	];
	expect(lacksPackages((await needsOf(demo)).packages, installed)).toBe(false);
	needed.demo = [{ name: 'first' }, { name: 'mystery-module' }];
	expect(lacksPackages((await needsOf(demo)).packages, installed)).toBe(true);
	await packages.lookUp(demo, []);
	await packages.settled(demo);
	const { problem } = await packages.stateOf(demo);
	expect(problem).toMatchObject({ type: 'NotFound', from: ['requirements.txt'] });
	expect(problem?.message).toContain('mystery-module');
});

test('D46: what is looked up and is installed as it is asks for nothing', async () => {
	needed.demo = [{ name: 'first' }];
	await install(demo);
	await packages.lookUp(demo, [{ ecosystem: 'python', name: 'first' }]);
	await packages.settled(demo);
	expect(await packages.stateOf(demo)).toMatchObject({
		...{ installed: { state: 'ready' }, proposed: null, work: null, problem: null }
	});
	// Unless its files are gone.
	ids = [];
	await packages.cleanUp();
	ids = ['local/demo'];
	await packages.lookUp(demo, []);
	await packages.settled(demo);
	expect((await packages.stateOf(demo)).proposed).not.toBeNull();
});

test('D46: what is no name of a package, and a skill that needs none, are refused at once', async () => {
	for (const name of ['--index-url=http://evil.example', 'x @ http://evil.example/x.whl', '../x', '-e .']) {
		expect(await refused(packages.lookUp(demo, [{ ecosystem: 'python', name }]))).toBe('invalid_input');
		expect(await refused(packages.lookUp(demo, [{ ecosystem: 'javascript', name }]))).toBe('invalid_input');
	}
	expect(await refused(packages.lookUp(demo, []))).toBe('invalid_input');
});

test('D46: a tab that is behind can stop nothing but what is going on, and remove nothing but what is installed', async () => {
	needed.demo = [{ name: 'first' }];
	await packages.lookUp(demo, []);
	await packages.settled(demo);
	const { proposed } = await packages.stateOf(demo);
	await packages.install(demo, proposed?.digest ?? '');
	await expect(packages.remove(demo, 'installed')).rejects.toMatchObject({ code: 'conflict' });
	await packages.settled(demo);
	// “Not now” or “Stop”, where the end of it isn't seen yet.
	await packages.remove(demo, 'pending');
	expect((await packages.stateOf(demo)).installed).toMatchObject({ state: 'ready' });
	await packages.lookUp(demo, [{ ecosystem: 'python', name: 'second' }]);
	await packages.settled(demo);
	expect((await packages.stateOf(demo)).proposed).not.toBeNull();
	await packages.remove(demo, 'pending');
	expect(await packages.stateOf(demo)).toMatchObject({ installed: { state: 'ready' }, proposed: null });
	await packages.remove(demo, 'installed');
	expect(await packages.stateOf(demo)).toMatchObject({ installed: null, proposed: null });
});

test('D46: what is stopped is no failure, and can be begun again', async () => {
	needed.demo = [{ name: 'third' }];
	await packages.lookUp(demo, []);
	await packages.remove(demo);
	expect(await packages.stateOf(demo)).toEqual({ installed: null, proposed: null, work: null, problem: null });
	expect(await install(demo)).toEqual(['first 1.0.0', 'third 1.0.0']);
});
