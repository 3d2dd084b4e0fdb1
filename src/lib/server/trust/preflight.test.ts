import { randomBytes } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { createProcessSandbox } from '../sandbox/process.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { createRegistry } from '../skills/registry/registry.ts';
import type { Skill } from '../skills/types.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { changeSecrets, createVault, type Vault } from './vault.ts';
import { createLookup, createPreflight, type Lookup } from './preflight.ts';

const NOW = '2026-01-01T12:00:00.000Z';
const folder = emptyFolder();
let store: Store;
let vault: Vault;
let sandbox: Sandbox;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'data', 'app.sqlite'));
	vault = createVault({ store: store.secrets, key: randomBytes(32) });
	sandbox = createProcessSandbox();
});
afterEach(async () => {
	await sandbox.close();
	await store.close();
});

async function skillWith(frontMatter: string, files: Record<string, string | Buffer> = {}): Promise<Skill> {
	const dir = join(folder, 'skills', 'demo');
	await mkdir(join(dir, 'scripts'), { recursive: true });
	const all = { 'SKILL.md': `---\nname: demo\ndescription: A demo.\n${frontMatter}---\nBody.\n`, ...files };
	for (const [path, content] of Object.entries(all)) await writeFile(join(dir, path), content);
	const registry = await createRegistry([{ path: join(folder, 'skills'), source: 'local' }], { watch: false });
	const [skill] = registry.snapshot().skills;
	await registry.close();
	if (!skill) throw new Error('The skill was not read.');
	return skill;
}

async function program(name: string, mode = 0o755): Promise<string> {
	const bin = join(folder, 'bin');
	await putFile(bin, name, '#!/bin/sh\n');
	await chmod(join(bin, name), mode);
	return bin;
}

const pathWith = (bin: string): string => [bin, process.env.PATH ?? ''].join(delimiter);
const grantedHosts = async () => ['granted.example', '*.wide.io'];
const none: Lookup = {
	binaries: async () => new Set(),
	pythonModules: async () => new Set(),
	foreignPython: async () => null
};

test('F3: programs are looked for on the PATH: a folder, a file that cannot be run or a path is none', async () => {
	const bin = await program('my-tool');
	await program('no-tool', 0o644);
	await mkdir(join(bin, 'dir-tool'));
	const lookup = createLookup({ sandbox, host: sandbox, path: pathWith(bin) });
	const asked = ['my-tool', 'no-tool', 'dir-tool', 'missing-tool', '../bin/my-tool', join(bin, 'my-tool'), 'node'];
	expect(await lookup.binaries(asked)).toEqual(new Set(['my-tool', 'node']));
	const inRelative = createLookup({ sandbox, host: sandbox, path: 'bin' });
	expect(await inRelative.binaries(['my-tool', 'python3'])).toEqual(new Set());
});

test('F3: Python is asked for modules, without running any of them and without a skill’s own folder', async () => {
	const lookup = createLookup({ sandbox, host: sandbox, path: process.env.PATH ?? '' });
	const found = await lookup.pythonModules([
		'json',
		'no_such_module_1',
		'a.b.c',
		'../x',
		"'; import os",
		'-c',
		'antigravity'
	]);
	expect(found).toEqual(new Set(['json', 'antigravity']));
	const without = createLookup({ sandbox, host: sandbox, path: join(folder, 'nowhere') });
	expect(await without.pythonModules(['json'])).toEqual(new Set());
});

test('F3: in a container’s image its own shell and Python are asked', async () => {
	const inImage = { ...sandbox, programs: { node: 'node', python: '/usr/bin/python3', shell: '/bin/sh' } };
	const lookup = createLookup({ sandbox: inImage, host: sandbox, path: '' });
	expect(await lookup.binaries(['sh', 'no-such-tool', '-v', '$(id)'])).toEqual(new Set(['sh']));
	expect(await lookup.pythonModules(['json', 'no_such_module_1'])).toEqual(new Set(['json']));
});

test('F3: needs are declared or found, there or not; no value is in them', async () => {
	const skill = await skillWith(
		'metadata:\n  env: A_KEY B_KEY C_KEY F_KEY? PATH\nrequires:\n  bins: [my-tool, missing-tool]\n',
		{
			'scripts/run.py':
				'import json, yaml, no_such_module_1\nimport os\nget("https://www.wide.io/", "https://other.io")\nos.environ["D_KEY"], os.environ["C_KEY"]',
			'scripts/a.mjs': 'import "bundled"; import "not-bundled"',
			'scripts/data.sh': Buffer.from([0, 255, 0])
		}
	);
	await mkdir(join(skill.dir, 'node_modules', 'bundled'), { recursive: true });
	await changeSecrets(vault, 'local/demo', { A_KEY: 'value-of-a', EXTRA_KEY: 'value-of-extra' }, NOW);
	await createVault({ store: store.secrets, key: randomBytes(32) }).set('local/demo', 'D_KEY', 'value-of-d', NOW);
	const lookup = createLookup({ sandbox, host: sandbox, path: pathWith(await program('my-tool')) });
	const preflight = createPreflight({
		vault,
		offered: { B_KEY: 'value-of-b', D_KEY: 'x', PATH: '/' },
		lookup,
		grantedHosts,
		siblingsOf: () => [{ name: 'pdf-tools', isDeclared: true, from: ['metadata.requires'], state: 'missing' }]
	});
	const needs = await preflight.needsOf(skill);
	expect(needs).toEqual({
		skills: [{ name: 'pdf-tools', isDeclared: true, from: ['metadata.requires'], state: 'missing' }],
		binaries: [
			{ name: 'my-tool', isDeclared: true, from: ['metadata.requires'], isFound: true },
			{ name: 'missing-tool', isDeclared: true, from: ['metadata.requires'], isFound: false },
			{ name: 'node', isDeclared: false, from: ['scripts/a.mjs'], isFound: true },
			{ name: 'python3', isDeclared: false, from: ['scripts/run.py'], isFound: true }
		],
		packages: [
			{ ecosystem: 'javascript', name: 'bundled', from: ['scripts/a.mjs'], isFound: true },
			{ ecosystem: 'python', name: 'no-such-module-1', from: ['scripts/run.py'], isFound: false },
			{ ecosystem: 'javascript', name: 'not-bundled', from: ['scripts/a.mjs'], isFound: false },
			{ ecosystem: 'python', name: 'pyyaml', from: ['scripts/run.py'], isFound: true }
		].map((need) => ({ ...need, requirement: need.name, isDeclared: false })),
		hosts: [
			{ name: 'other.io', isDeclared: false, from: ['scripts/run.py'], isGranted: false },
			{ name: 'www.wide.io', isDeclared: false, from: ['scripts/run.py'], isGranted: true },
			{ name: 'granted.example', isDeclared: false, from: [], isGranted: true },
			{ name: '*.wide.io', isDeclared: false, from: [], isGranted: true }
		],
		variables: [
			{ name: 'A_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: true, setBy: 'secret' },
			{ name: 'B_KEY', isDeclared: true, isOptional: false, from: ['metadata.env'], isSet: true, setBy: 'operator' },
			{
				name: 'C_KEY',
				isDeclared: true,
				isOptional: false,
				from: ['metadata.env', 'scripts/run.py'],
				isSet: false,
				setBy: null
			},
			{ name: 'F_KEY', isDeclared: true, isOptional: true, from: ['metadata.env'], isSet: false, setBy: null },
			{
				...{ name: 'D_KEY', isDeclared: false, isOptional: false, from: ['scripts/run.py'], isSet: false, setBy: null },
				problem: expect.stringMatching(/^D_KEY was saved with another key/) as string
			},
			{ name: 'EXTRA_KEY', isDeclared: false, isOptional: false, from: [], isSet: true, setBy: 'secret' }
		]
	});
	expect(JSON.stringify(needs)).not.toContain('value-of');
	expect(await preflight.missingVariables(skill)).toEqual(['C_KEY']);
});

test('F3: what was found is not asked for again at once, and is after a while', async () => {
	const skill = await skillWith('requires:\n  bins: [my-tool]\n');
	let time = 0;
	const asked: string[] = [];
	const lookup = {
		...none,
		binaries: async (names: readonly string[]) => {
			asked.push(...names);
			return new Set(asked.length > 1 ? names : []);
		}
	};
	const siblingsOf = () => [];
	const preflight = createPreflight({ vault, offered: {}, lookup, grantedHosts, siblingsOf, now: () => time });
	const isFound = async () => (await preflight.needsOf(skill)).binaries[0]?.isFound;
	expect([await isFound(), await isFound()]).toEqual([false, false]);
	expect(asked).toHaveLength(1);
	time = 60_000;
	expect([await isFound(), await isFound()]).toEqual([true, true]);
	expect(asked).toHaveLength(2);
});

test('F3: of several changes all are made, or none', async () => {
	await changeSecrets(vault, 'local/demo', { OLD_KEY: 'old' }, NOW);
	await expect(changeSecrets(vault, 'local/demo', { OLD_KEY: null, A_KEY: 'a', PATH: '/evil' }, NOW)).rejects.toThrow(
		/PATH/
	);
	expect(await vault.valuesOf('local/demo')).toEqual({ OLD_KEY: 'old' });
	await changeSecrets(vault, 'local/demo', { OLD_KEY: null, NO_KEY: null, PATH: null, A_KEY: 'a' }, NOW);
	expect(await vault.valuesOf('local/demo')).toEqual({ A_KEY: 'a' });
});
