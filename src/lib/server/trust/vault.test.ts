import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { AppError } from '../../shared/errors.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { createVault, type Vault } from './vault.ts';

const NOW = '2026-01-01T12:00:00.000Z';
const SECRET = 'correct horse battery staple';
const key = randomBytes(32);

const folder = emptyFolder();
let store: Store;
let vault: Vault;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
	vault = createVault({ store: store.secrets, key });
});
afterEach(async () => {
	await store.close();
});

describe('F3: is refused', () => {
	test.each([
		...['PATH', 'Path', 'HOME', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS', 'NODE_PATH', 'PYTHONSTARTUP'],
		...['PYTHONPATH', 'BASH_ENV', 'BASH_FUNC_ls', 'ENV', 'IFS', 'PS4', 'PERL5OPT', 'RUBYOPT', 'GIT_SSH_COMMAND'],
		...['https_proxy', 'NO_PROXY', 'SKILL_DIR', '__proto__', 'JAVA_TOOL_OPTIONS', 'npm_config_registry']
	])('%s: it decides how a program starts', async (name) => {
		await expect(vault.set('local/demo', name, 'value', NOW)).rejects.toThrow(
			/controls how programs start, so skills can’t have it/
		);
		expect(await vault.list('local/demo')).toEqual([]);
	});

	test.each(['', '1KEY', 'A-B', 'A B', 'A=B', 'A\nB', 'ÄPFEL', 'A'.repeat(129)])('the name “%s”', async (name) => {
		await expect(vault.set('local/demo', name, 'value', NOW)).rejects.toThrow(/letters, digits and underscores/);
	});

	test.each([
		['no value', ''],
		['a NUL character', `${SECRET}\0`],
		['more than 64 KB', SECRET.repeat(3000)],
		['isn’t valid text', `${SECRET}\ud800`]
	])('a value that has %s; the message does not hold it', async (_name, value) => {
		const error: unknown = await vault.set('local/demo', 'API_KEY', value, NOW).catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(AppError);
		expect((error as AppError).code).toBe('invalid_input');
		expect(JSON.stringify((error as AppError).toBody()) + (error as AppError).stack).not.toContain('horse');
	});
});

test('F3: a value comes back as it was, for its own skill alone', async () => {
	const values = { API_KEY: SECRET, NODE_AUTH_TOKEN: 'ü\n\ttwo lines', DATABASE_URL: 'postgres://u:p@h/d' };
	for (const [name, value] of Object.entries(values)) await vault.set('local/demo', name, value, NOW);
	expect(await vault.valuesOf('local/demo')).toEqual(values);
	expect(await vault.secretsOf({ source: 'local', name: 'demo' })).toEqual(values);
	expect(await vault.valuesOf('local/demo2')).toEqual({});
	expect(await vault.secretsOf({ source: 'other', name: 'demo' })).toEqual({});
	expect(await vault.list('local/demo')).toEqual(
		['API_KEY', 'DATABASE_URL', 'NODE_AUTH_TOKEN'].map((name) => ({ name, problem: null }))
	);
});

test('F3: a new value takes the place of the old one, a removed one is gone', async () => {
	await vault.set('local/demo', 'API_KEY', 'old value', NOW);
	await vault.set('local/demo', 'API_KEY', 'new value', NOW);
	expect(await vault.valuesOf('local/demo')).toEqual({ API_KEY: 'new value' });
	expect(await vault.remove('local/demo', 'API_KEY')).toBe(true);
	expect(await vault.remove('local/demo', 'API_KEY')).toBe(false);
	expect(await vault.valuesOf('local/demo')).toEqual({});
});

test('F3: the same value twice is not the same in the database', async () => {
	await vault.set('local/demo', 'A_KEY', SECRET, NOW);
	await vault.set('local/demo', 'B_KEY', SECRET, NOW);
	const [a, b] = await store.secrets.list('local/demo');
	expect(a?.iv).not.toBe(b?.iv);
	expect(a?.ciphertext).not.toBe(b?.ciphertext);
	expect(Buffer.from(a?.iv ?? '', 'base64')).toHaveLength(12);
	expect(Buffer.from(a?.tag ?? '', 'base64')).toHaveLength(16);
});

describe('F3: counts as not set, with a sentence, and stops nothing:', () => {
	const isNotSet = async (reader: Vault, skillId: string) => {
		expect(await reader.valuesOf(skillId)).toEqual({});
		const [stored] = await reader.list(skillId);
		expect(stored?.problem).toMatch(/API_KEY was saved with another key .* Enter it again/);
	};
	beforeEach(() => vault.set('local/demo', 'API_KEY', SECRET, NOW));

	test('what another key has encrypted', async () => {
		await isNotSet(createVault({ store: store.secrets, key: randomBytes(32) }), 'local/demo');
	});
	test('a row that was moved to another skill', async () => {
		const [row] = await store.secrets.list('local/demo');
		if (row) await store.secrets.put('local/thief', row, NOW);
		await isNotSet(vault, 'local/thief');
		expect(await vault.valuesOf('local/demo')).toEqual({ API_KEY: SECRET });
	});
	test('a row that was given another name', async () => {
		await vault.set('local/demo2', 'OTHER_KEY', SECRET, NOW);
		const [row] = await store.secrets.list('local/demo2');
		if (row) await store.secrets.put('local/demo', { ...row, name: 'API_KEY' }, NOW);
		await isNotSet(vault, 'local/demo');
	});
	test.each(['iv', 'tag', 'ciphertext'] as const)('a row with another %s', async (part) => {
		const [row] = await store.secrets.list('local/demo');
		for (const value of ['', 'AAAA', '?', Buffer.alloc(16).toString('base64')]) {
			if (row) await store.secrets.put('local/demo', { ...row, [part]: value }, NOW);
			await isNotSet(vault, 'local/demo');
		}
	});
});

test('F3: no byte of the value is in the database’s files', async () => {
	await vault.set('local/demo', 'API_KEY', SECRET, NOW);
	const files = await readdir(folder);
	expect(files).toContain('app.sqlite');
	for (const file of files) {
		const bytes = await readFile(join(folder, file));
		expect(bytes.includes('horse')).toBe(false);
		expect(bytes.includes(Buffer.from(SECRET).toString('base64').slice(0, 20))).toBe(false);
	}
});
