import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { createVault, type Vault } from '../trust/vault.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { type Preset, presetFile } from '../../shared/models.ts';
import { settingsPatch } from '../../shared/settings.ts';
import { openSettings, type SettingsParts } from './settings.ts';

const NOW = '2026-01-01T00:00:00.000Z';
const KEY = 'sk_live_0123456789';
const DEFAULTS = {
	isEnabled: true,
	provider: 'skillssh',
	skillsmpApiKey: null,
	catalogRequests: true,
	autoMaxSkills: 5,
	autoMinScore: 3,
	model: { id: 'openrouter/auto', baseUrl: 'https://openrouter.ai/api/v1', apiKey: null, isOffline: true },
	autoTitles: true,
	limits: { maxSteps: 10, maxCostUsd: null, maxDurationMs: 600_000, scriptTimeoutMs: 30_000 }
} as const satisfies SettingsParts['defaults'];

const folder = emptyFolder();
let store: Store;
let vault: Vault;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	vault = createVault({ store: store.secrets, key: Buffer.alloc(32, 7) });
});
afterEach(async () => {
	await store.close();
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

test('E1, B8: null goes back to the operator’s for every setting, now and after a restart', async () => {
	const settings = await open();
	const before = settings.current();
	const chosen = { skillsEnabled: false, skillsProvider: 'github', autoMaxSkills: 1, autoMinScore: 9 } as const;
	expect(await settings.change(chosen, NOW)).toMatchObject(chosen);
	expect(before.defaults).toMatchObject({
		skillsProvider: 'skillssh',
		autoMaxSkills: 5,
		autoMinScore: 3,
		maxSteps: 10
	});
	expect(settings.current().defaults).toEqual(before.defaults);
	const none = { skillsEnabled: null, skillsProvider: null, autoMaxSkills: null, autoMinScore: null };
	expect(await settings.change(none, NOW)).toEqual(before);
	expect((await open()).current()).toEqual(before);
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
	// No skill gets it, whatever its name or folder's name.
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

describe('F9, F11: which model answers, and with which key', () => {
	const MODEL_KEY = 'sk-or-v1-0123456789abcdef';
	const LOCAL = 'http://127.0.0.1:11434/v1';
	const OPENROUTER = 'https://openrouter.ai/api/v1';

	/** As configured on the server. */
	const withModel = (model: Partial<SettingsParts['defaults']['model']>) =>
		open({ model: { ...DEFAULTS.model, isOffline: false, ...model } });

	test('nothing is set: the built-in responder, until there is a key', async () => {
		const settings = await open();
		const expected = {
			id: 'openrouter/auto',
			effort: null,
			routing: {},
			baseUrl: OPENROUTER,
			defaultBaseUrl: OPENROUTER
		};
		expect(settings.current().model).toEqual({ ...expected, isOffline: true, keyFrom: null, canSignIn: true });
		expect(settings.modelKeyFor(OPENROUTER)).toBeNull();
		const { model } = await settings.change({ modelApiKey: MODEL_KEY }, NOW);
		expect(model).toEqual({ ...expected, isOffline: false, keyFrom: 'settings', canSignIn: true });
		expect(settings.modelKeyFor(OPENROUTER)).toBe(MODEL_KEY);
		expect((await settings.change({ modelApiKey: null }, NOW)).model).toMatchObject({ isOffline: true, keyFrom: null });
		expect((await open()).modelKeyFor(OPENROUTER)).toBeNull();
	});

	test('a server on this machine needs no key', async () => {
		const settings = await open();
		expect((await settings.change({ modelBaseUrl: LOCAL }, NOW)).model).toMatchObject({
			...{ baseUrl: LOCAL, defaultBaseUrl: OPENROUTER, isOffline: false, keyFrom: null, canSignIn: false }
		});
		expect((await settings.change({ modelBaseUrl: null }, NOW)).model).toMatchObject({ isOffline: true });
	});

	test('an operator who names OpenRouter and gives no key is not offline', async () => {
		expect((await withModel({})).current().model).toMatchObject({ isOffline: false, keyFrom: null });
	});

	test('model, effort and limits count at once and after a restart, and null goes back to the operator’s', async () => {
		const settings = await open();
		const before = settings.current();
		const limits = { maxSteps: 3, maxCostUsd: 0.5, maxDurationMs: 5000, scriptTimeoutMs: 700 };
		await settings.change({ model: 'acme/large', effort: 'low', ...limits }, NOW);
		for (const { model, limits: kept } of [settings.current(), (await open()).current()]) {
			expect(model).toMatchObject({ id: 'acme/large', effort: 'low' });
			expect(kept).toEqual(limits);
		}
		const none = {
			model: null,
			effort: null,
			maxSteps: null,
			maxCostUsd: null,
			maxDurationMs: null,
			scriptTimeoutMs: null
		};
		expect(await settings.change(none, NOW)).toEqual(before);
		expect((await open()).current()).toEqual(before);
	});

	test('the key is stored encrypted, with no row that shows it', async () => {
		const settings = await open();
		expect(JSON.stringify(await settings.change({ modelApiKey: MODEL_KEY }, NOW))).not.toContain(MODEL_KEY);
		expect((await open()).modelKeyFor(OPENROUTER)).toBe(MODEL_KEY);
		expect([...(await store.settings.list()).keys()]).toEqual([]);
		expect(await vault.secretsOf({ source: 'settings', name: 'model' })).toEqual({});
		for (const file of ['app.sqlite', 'app.sqlite-wal']) {
			const bytes = await readFile(join(folder, file)).catch(() => Buffer.alloc(0));
			expect(bytes.includes(MODEL_KEY)).toBe(false);
		}
	});

	test('SECURITY Outbound requests: another origin removes the key that was entered; the way back does not bring it', async () => {
		const settings = await open();
		await settings.change({ modelApiKey: MODEL_KEY }, NOW);
		await settings.change({ modelBaseUrl: `${OPENROUTER}/beta` }, NOW);
		expect(settings.modelKeyFor(`${OPENROUTER}/beta`)).toBe(MODEL_KEY);
		expect((await settings.change({ modelBaseUrl: LOCAL }, NOW)).model.keyFrom).toBeNull();
		expect(settings.modelKeyFor(LOCAL)).toBeNull();
		expect((await settings.change({ modelBaseUrl: null }, NOW)).model).toMatchObject({
			keyFrom: null,
			isOffline: true
		});
		expect((await open()).modelKeyFor(OPENROUTER)).toBeNull();
	});

	test('a key that comes with a base URL is for that one', async () => {
		const settings = await open();
		await settings.change({ modelApiKey: 'sk-of-openrouter-0123' }, NOW);
		const { model } = await settings.change({ modelBaseUrl: LOCAL, modelApiKey: MODEL_KEY }, NOW);
		expect(model).toMatchObject({ baseUrl: LOCAL, keyFrom: 'settings' });
		expect([settings.modelKeyFor(LOCAL), settings.modelKeyFor(OPENROUTER)]).toEqual([MODEL_KEY, null]);
	});

	test('SECURITY Outbound requests: a stored key is not sent to the host that an operator names later', async () => {
		await (await open()).change({ modelApiKey: MODEL_KEY }, NOW);
		const settings = await withModel({ baseUrl: 'https://models.example/v1' });
		expect(settings.current().model.keyFrom).toBeNull();
		expect(settings.modelKeyFor('https://models.example/v1')).toBeNull();
	});

	test('SECURITY Outbound requests: the operator’s key goes to the operator’s base URL alone', async () => {
		const settings = await withModel({ apiKey: 'of-the-operator' });
		expect(settings.current().model).toMatchObject({ keyFrom: 'environment', isOffline: false });
		expect(settings.modelKeyFor(`${OPENROUTER}/`)).toBe('of-the-operator');
		for (const other of [LOCAL, 'https://openrouter.ai/elsewhere', 'https://openrouter.ai.example/api/v1']) {
			expect(settings.modelKeyFor(other)).toBeNull();
		}
		await settings.change({ modelApiKey: MODEL_KEY }, NOW);
		expect(settings.modelKeyFor(OPENROUTER)).toBe(MODEL_KEY);
		expect((await settings.change({ modelApiKey: null }, NOW)).model.keyFrom).toBe('environment');
	});

	test('a key of a sign-in is kept as long as its server is the one that is set', async () => {
		const settings = await open();
		expect((await settings.setModelKey(MODEL_KEY, OPENROUTER, NOW)).model.keyFrom).toBe('settings');
		const moved = settings.change({ modelBaseUrl: LOCAL }, NOW);
		await expect(settings.setModelKey(MODEL_KEY, OPENROUTER, NOW)).rejects.toMatchObject({ code: 'conflict' });
		expect((await moved).model.keyFrom).toBeNull();
		expect(settings.modelKeyFor(OPENROUTER)).toBeNull();
	});
});

const PRESET: Preset = {
	...{ name: 'Review', icon: '🔍', model: null, effort: null },
	...{ instructions: '', skills: [], web: null, routing: null, approval: null }
};

test('presets are kept one by one: others stay, null removes one, and there can’t be more than 30', async () => {
	const settings = await open();
	await settings.change({ presets: { one: PRESET } }, NOW);
	await settings.change({ presets: { two: { ...PRESET, approval: 'ask' } } }, NOW);
	expect(Object.keys((await open()).current().presets)).toEqual(['one', 'two']);
	await settings.change({ presets: { one: null } }, NOW);
	expect((await open()).current().presets).toEqual({ two: { ...PRESET, approval: 'ask' } });
	const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`p${index}`, PRESET]));
	await expect(settings.change({ presets: many }, NOW)).rejects.toMatchObject({ code: 'invalid_input' });
	expect(Object.keys(settings.current().presets)).toEqual(['two']);
});

test('a preset that an older version has stored has what it lacked then', async () => {
	const { web: _web, routing: _routing, ...older } = PRESET;
	await store.settings.set({ presets: { one: older } }, NOW);
	expect((await open()).current().presets).toEqual({ one: PRESET });
});

test.each([
	['less safety', { approval: 'auto' }],
	['a preset as its model', { model: 'preset:other' }],
	['instructions that are too long', { instructions: 'x'.repeat(8001) }],
	['more than an emoji', { icon: '🔍<b>' }],
	['too many skills', { skills: Array.from({ length: 21 }, (_, index) => `s${index}`) }],
	['a provider that keeps data, where the settings forbid it', { routing: { zdr: false } }],
	['a third fallback', { routing: { fallbacks: ['a', 'b', 'c'] } }],
	['wrong types', { skills: 'demo' }],
	['fields of its own', { scripts: ['rm'] }]
])('a preset with %s is refused', (_what, wrong) => {
	expect(settingsPatch.safeParse({ presets: { one: { ...PRESET, ...wrong } } }).success).toBe(false);
	const file = { format: 'openrouter-skills/preset', version: 1, preset: PRESET };
	expect(presetFile.safeParse(file).success).toBe(true);
	expect(presetFile.safeParse({ ...file, preset: { ...PRESET, ...wrong } }).success).toBe(false);
});

test('an id of a preset has letters, digits and hyphens only', () => {
	for (const id of ['', 'A', 'a b', '../a', 'a'.repeat(41)]) {
		expect(settingsPatch.safeParse(JSON.parse(`{"presets":{"${id}":null}}`)).success, id).toBe(false);
	}
});
