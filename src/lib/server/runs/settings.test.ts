import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createVault, type Vault } from '../secrets/vault.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { openSettings, type SettingsParts } from './settings.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const KEY = 'sk_live_0123456789';
const DEFAULTS = {
	isEnabled: true,
	provider: 'skillssh',
	skillsmpApiKey: null,
	autoMaxSkills: 5,
	autoMinScore: 3
} as const satisfies SettingsParts['defaults'];

let folder: string;
let store: Store;
let vault: Vault;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), 'settings-'));
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	vault = createVault({ store: store.secrets, key: Buffer.alloc(32, 7) });
});
afterEach(async () => {
	await store.close();
	await rm(folder, { recursive: true, force: true });
});

const open = (defaults: Partial<SettingsParts['defaults']> = {}) =>
	openSettings({ store, vault, defaults: { ...DEFAULTS, ...defaults } });

test('E11: SKILLS_ENABLED=false cannot be overruled, and nothing of such a request is stored', async () => {
	const settings = await open({ isEnabled: false });
	const change = settings.change({ skillsEnabled: true, skillsProvider: 'github', skillsmpApiKey: KEY }, NOW);
	await expect(change).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('SKILLS_ENABLED') });
	expect(settings.current()).toMatchObject({ skillsEnabled: false, canEnableSkills: false, hasSkillsmpApiKey: false });
	expect(settings.current().skillsProvider).toBe('skillssh');
	expect((await store.settings.list()).size).toBe(0);
	expect((await settings.change({ skillsProvider: 'github' }, NOW)).skillsProvider).toBe('github');
});

test('E11: an operator’s SKILLS_ENABLED=false wins over what was chosen before', async () => {
	await (await open()).change({ skillsEnabled: true }, NOW);
	expect((await open({ isEnabled: false })).current().skillsEnabled).toBe(false);
});

test('E1: a key that cannot be stored changes nothing else', async () => {
	const settings = await open();
	const change = settings.change({ skillsmpApiKey: `${KEY}\0`, autoMaxSkills: 9 }, NOW);
	await expect(change).rejects.toMatchObject({ code: 'invalid_input' });
	expect(settings.current()).toMatchObject({ hasSkillsmpApiKey: false, autoMaxSkills: 5 });
	expect((await store.settings.list()).size).toBe(0);
});

test('E1: stored values that this version does not know count as not set', async () => {
	await store.settings.set({ skillsProvider: 'gone', autoMaxSkills: -1, somethingNew: 1, autoMinScore: 7 }, NOW);
	expect((await open()).current()).toMatchObject({ skillsProvider: 'skillssh', autoMaxSkills: 5, autoMinScore: 7 });
});

test('E1, B8: what is changed counts at once, and after a restart; the rest stays as it is', async () => {
	const settings = await open();
	const before = settings.current();
	const changed = await settings.change({ skillsEnabled: false, skillsProvider: 'skillsmp', autoMinScore: 0 }, NOW);
	expect(changed).toEqual({ ...before, skillsEnabled: false, skillsProvider: 'skillsmp', autoMinScore: 0 });
	expect(settings.current()).toEqual(changed);
	expect((await open()).current()).toEqual(changed);
	expect((await settings.change({ skillsEnabled: true }, NOW)).skillsEnabled).toBe(true);
});

test('E1: of many changes at once the last one holds, in memory as on disk', async () => {
	const settings = await open();
	await Promise.all(Array.from({ length: 20 }, (_, index) => settings.change({ autoMaxSkills: index }, NOW)));
	expect(settings.current().autoMaxSkills).toBe(19);
	expect((await open()).current().autoMaxSkills).toBe(19);
});

test('E1: the key of SkillsMP is stored encrypted, never shown, and can be taken away', async () => {
	const settings = await open();
	const changed = await settings.change({ skillsmpApiKey: KEY }, NOW);
	expect(JSON.stringify(changed)).not.toContain(KEY);
	expect(changed.hasSkillsmpApiKey).toBe(true);
	expect(settings.skillsmpApiKey()).toBe(KEY);
	expect((await open()).skillsmpApiKey()).toBe(KEY);
	// A skill of any name in a folder of any name is given nothing of it.
	expect(await vault.secretsOf({ source: 'settings', name: 'skillsmp' })).toEqual({});
	for (const file of ['app.sqlite', 'app.sqlite-wal']) {
		const bytes = await readFile(join(folder, file)).catch(() => Buffer.alloc(0));
		expect(bytes.includes(KEY)).toBe(false);
	}

	expect((await settings.change({ skillsmpApiKey: null }, NOW)).hasSkillsmpApiKey).toBe(false);
	expect((await open()).skillsmpApiKey()).toBeNull();
});

test('E1: the operator’s key is used until another is stored', async () => {
	const settings = await open({ skillsmpApiKey: 'of-the-operator' });
	expect(settings.current().hasSkillsmpApiKey).toBe(true);
	expect(settings.skillsmpApiKey()).toBe('of-the-operator');
	await settings.change({ skillsmpApiKey: KEY }, NOW);
	expect(settings.skillsmpApiKey()).toBe(KEY);
	await settings.change({ skillsmpApiKey: null }, NOW);
	expect(settings.skillsmpApiKey()).toBe('of-the-operator');
});
