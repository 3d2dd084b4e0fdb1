import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import type { SkillQuery } from '../../shared/skills.ts';
import { createLog } from '../log.ts';
import type { ExecutionEnd, ExecutionStart } from '../skills/run/execution-host.ts';
import { ownerOf } from '../skills/registry/visibility.ts';
import { createSkillsProvider, type SkillsProvider } from '../skills/provider.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { InstallRecord } from '../store/skills/installs.ts';
import type { Store } from '../store/store.ts';
import { createTrust } from '../trust/trust.ts';
import { createExecutionRecorder } from './executions.ts';
import {
	BUNDLED_SKILLS,
	type InstallIndex,
	openInstallIndex,
	openSkillUsage,
	type SkillUsageCounts
} from './skill-counts.ts';
import { createSkillLister, type SkillLister } from './skill-list.ts';
import { openSkillModes, type StoredSkillModes } from '../trust/skill-modes.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const TEAM_A = ownerOf('team-a') ?? '';
const BUILTINS = [{ name: 'file_read', description: 'Reads a file.', parameters: {}, unavailable: () => null }];

const folder = emptyFolder();
let store: Store;
let skills: SkillsProvider;
let modes: StoredSkillModes;
let installs: InstallIndex;
let usage: SkillUsageCounts;
let lister: SkillLister;
beforeEach(async () => {
	await put('local/alpha', 'name: alpha\ndescription: Makes tables.\ntags: [Office, excel]');
	await put('local/beta', 'name: beta\ndescription: Reads TABLES of numbers.');
	await put('installed/gamma@1.0.0', 'name: gamma\ndescription: First.\nversion: 1.0.0');
	await put('installed/gamma@2.0.0', 'name: gamma\ndescription: Second.\nversion: 2.0.0');
	await put(`${TEAM_A}/delta@1.0.0`, 'name: delta\ndescription: Of one key.\nversion: 1.0.0');
	await writeFile(join(await made('local/torn'), 'SKILL.md'), 'no front matter');
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	await store.skillInstalls.add(record('installed/gamma', '1.0.0', 'system', 'github'), NOW);
	await store.skillInstalls.add(record('installed/gamma', '2.0.0', 'system', 'zip'), NOW);
	await store.skillInstalls.add(record(`${TEAM_A}/delta`, '1.0.0', 'team-a', 'inline'), NOW);
	const roots = ['local', 'installed', TEAM_A].map((source) => ({ path: join(folder, source), source }));
	skills = await createSkillsProvider(roots);
	modes = await openSkillModes(store);
	installs = await openInstallIndex(store);
	usage = await openSkillUsage(store);
	const trust = createTrust({ store, roots: [], installedRoot: join(folder, 'installed'), trustsLocal: true });
	lister = createSkillLister({ skills, builtins: { builtins: BUILTINS }, trust, modes, installs, usage });
});
afterEach(async () => {
	await skills.close();
	await store.close();
});

async function made(path: string): Promise<string> {
	await mkdir(join(folder, path), { recursive: true });
	return join(folder, path);
}

async function put(path: string, frontMatter: string): Promise<void> {
	await writeFile(join(await made(path), 'SKILL.md'), `---\n${frontMatter}\n---\nText.`);
}

function record(
	skillId: string,
	version: string,
	owner: string,
	provider: InstallRecord['origin']['provider']
): InstallRecord {
	const name = skillId.slice(skillId.indexOf('/') + 1);
	return {
		...{ id: `${skillId}@${version}`, skillId, name, version, owner, state: 'active', digest: '', files: [] },
		...{ dir: join(folder, dirname(skillId)), computedHash: '', installedAt: NOW },
		origin: { provider, source: null, url: null, commit: null, path: '', revision: null }
	};
}

const ids = async (query: SkillQuery, page = 1, limit = 50) =>
	(await lister.list(query, { page, limit }, null)).data.map(({ id }) => id);
const ALL = ['alpha', 'beta', 'delta', 'gamma', 'installed/gamma@1.0.0', 'local/torn', 'builtin/file_read'];

test.each<[string, SkillQuery, string[]]>([
	['nothing that is there', { q: 'zzz' }, []],
	['blanks alone, which ask for nothing', { q: ' \t ' }, ALL],
	['words that are not all in one skill', { q: 'numbers office' }, []],
	['characters that mean something in patterns and databases', { q: "%_.*\\'--" }, []],
	['every word, in name, description or tags, in any case', { q: 'OFFICE tables' }, ['alpha']],
	['a part of a word', { q: 'table' }, ['alpha', 'beta']],
	['a status', { status: 'broken' }, ['local/torn']],
	['a provider', { source: 'github' }, ['installed/gamma@1.0.0']],
	['the provider of what nobody installed', { source: 'local' }, ['alpha', 'beta', 'local/torn']],
	['the label of a folder', { source: 'installed' }, ['gamma', 'installed/gamma@1.0.0']],
	['what is part of the server', { source: 'builtin' }, ['builtin/file_read']],
	['a source that is none', { source: '__proto__' }, []],
	['a key that has nothing', { apiKeyId: 'team-b' }, ALL.filter((id) => id !== 'delta')],
	['a key that has something', { apiKeyId: 'team-a' }, ALL],
	['the system', { apiKeyId: 'system' }, ALL.filter((id) => id !== 'delta')],
	['several things at once', { q: 'tables', source: 'local', status: 'ready', apiKeyId: 'x' }, ['alpha', 'beta']]
])('E2, A41: asked for %s', async (_name, query, expected) => {
	expect(await ids(query)).toEqual(expected);
});

test('E2, B6: a mode is asked for as it is now, of every kind of skill', async () => {
	expect(await ids({ mode: 'off' })).toEqual([]);
	const [alpha] = skills.registry.snapshot().skills;
	if (alpha) await modes.setMode(alpha, 'off');
	await modes.setMode('builtin/file_read', 'off');
	expect(await ids({ mode: 'off' })).toEqual(['alpha', 'builtin/file_read']);
	expect(await ids({ mode: 'auto' })).not.toContain('alpha');
});

test('E2: pages do not overlap, end, and say how many there are in all', async () => {
	const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => lister.list({}, { page, limit: 2 }, null)));
	expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 2, 1, 0]);
	expect(pages.map(({ total }) => total)).toEqual(Array(5).fill(ALL.length));
	expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(ALL);
	expect(await ids({ q: 'tables' }, 2, 1)).toEqual(['beta']);
});

test('E2, A41: each skill says where it came from, its version, whose it is and its tags', async () => {
	const { data } = await lister.list({}, { page: 1, limit: 50 }, null);
	const shown = data.map(({ id, source, provider, owner, version }) => [id, source, provider, owner, version]);
	expect(shown).toEqual([
		['alpha', 'local', 'local', 'system', '1.0.0'],
		['beta', 'local', 'local', 'system', '1.0.0'],
		['delta', TEAM_A, 'inline', 'team-a', '1.0.0'],
		['gamma', 'installed', 'zip', 'system', '2.0.0'],
		['installed/gamma@1.0.0', 'installed', 'github', 'system', '1.0.0'],
		['local/torn', 'local', 'local', 'system', null],
		['builtin/file_read', 'builtin', 'builtin', 'system', '1.0.0']
	]);
	expect(data.flatMap(({ id, tags }) => (tags ? [[id, ...tags]] : []))).toEqual([['alpha', 'Office', 'excel']]);
});

test('A38: the version that a name means has the name as its id', async () => {
	await modes.setPin('installed/gamma', '1.0.0');
	expect((await ids({ source: 'installed' })).sort()).toEqual(['gamma', 'installed/gamma@2.0.0']);
	await modes.setPin('installed/gamma', null);
	expect(await ids({ source: 'installed' })).toEqual(['gamma', 'installed/gamma@1.0.0']);
});

test('A41: the folder of a key that is not known any more is not everybody’s', async () => {
	const stranger = `key.${'f'.repeat(24)}`;
	expect(installs.ownerOf(stranger)).toBe(stranger);
	expect(installs.ownerOf('local')).toBe('system');
});

test('E2: what is installed, replaced and removed shows at once, and is stored', async () => {
	const { records } = installs;
	await records.move('installed/gamma@2.0.0', { state: 'kept', dir: folder }, NOW);
	await records.add(record('local/beta', '1.0.0', 'system', 'well-known'), NOW);
	expect(installs.providerOf('local/beta', '1.0.0')).toBe('well-known');
	expect(installs.providerOf('installed/gamma', '1.0.0')).toBe('github');
	expect(installs.providerOf('installed/gamma', '2.0.0')).toBe('github');
	expect(await ids({ source: 'well-known' })).toEqual(['beta']);
	expect((await openInstallIndex(store)).providerOf('local/beta', '1.0.0')).toBe('well-known');
	await records.remove('local/beta@1.0.0');
	await records.remove('no such installation');
	expect(installs.providerOf('local/beta', '1.0.0')).toBe('local');
});

test('E2: what comes with the app is told from what people made in the same folder, and from what they installed', async () => {
	expect((await readdir(join(import.meta.dirname, '../../../../skills'))).sort()).toEqual(BUNDLED_SKILLS);
	const { providerOf } = await openInstallIndex(store, 'skills');
	expect(['skills/pdf', 'skills/mine', 'local/pdf'].map((id) => providerOf(id, '1.0.0'))).toEqual([
		...['bundled', 'local', 'local']
	]);
});

test('E2: a skill that is added is listed, and found by what it says now', async () => {
	await put('local/beta', 'name: beta\ndescription: Draws pictures.');
	await put('local/omega', 'name: omega\ndescription: The last.');
	await skills.registry.reload();
	expect(await ids({ q: 'numbers' })).toEqual([]);
	expect(await ids({ q: 'pictures' })).toEqual(['beta']);
	expect(await ids({})).toContain('omega');
});

test('E2, B8: executions are counted as they end, in memory as in the database', async () => {
	const recorder = createExecutionRecorder(
		store,
		createLog(() => undefined),
		{ usage }
	);
	const run = async (id: string, status: ExecutionEnd['status']) => {
		const start: ExecutionStart = {
			...{ id, skillId: 'local/alpha', skill: 'alpha', version: '1.0.0', argv: [], digest: '', sandbox: 'x' },
			...{ limits: { timeoutMs: 1 }, caller: {} }
		};
		const end: ExecutionEnd = {
			...{ status, exitCode: 0, durationMs: 1, stdoutBytes: 0, stderrBytes: 0, output: '', files: [], refused: [] }
		};
		await recorder.started(start);
		await recorder.finished(id, end);
	};
	await run('1', 'success');
	await run('2', 'timeout');
	await run('3', 'error');
	const counted = usage.of('local/alpha');
	expect(counted).toMatchObject({ executions: 3, failures: 2, lastUsedAt: expect.stringMatching(/^20\d\d-/) });
	expect((await openSkillUsage(store)).of('local/alpha')).toEqual(counted);
	const { data } = await lister.list({ q: 'alpha' }, { page: 1, limit: 1 }, null);
	expect(data[0]?.usage).toEqual(counted);
	expect(usage.of('local/beta')).toEqual({ executions: 0, failures: 0, lastUsedAt: null });
});
