import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyFolder } from '../../../../tests/support/folder.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { openSkillModes } from './skill-modes.ts';

const folder = emptyFolder();
let store: Store;
beforeEach(async () => {
	store = await openSqliteStore(join(folder, 'app.sqlite'));
});
afterEach(async () => {
	await store.close();
});

const open = () => openSkillModes(store, { isInstalled: (source) => source === 'installed' });
const version = (number: string, source = 'installed') => ({ source, name: 'fetch', version: number });

test('B6: of an installed skill each version has its mode; switching it on again brings back the one before', async () => {
	const modes = await open();
	await modes.setMode(version('1.0.0'), 'on');
	await modes.setEnabled(version('1.0.0'), false);
	expect(['1.0.0', '2.0.0'].map((number) => modes.modeOf(version(number)))).toEqual(['off', 'auto']);
	const later = await open();
	expect(later.modeOf(version('1.0.0'))).toBe('off');
	await later.setEnabled(version('1.0.0'), true);
	expect(later.modeOf(version('1.0.0'))).toBe('on');
});

test('B6: what is switched off by name is off in every folder and version that nobody has set otherwise', async () => {
	const modes = await open();
	await modes.setEnabled(version('1.0.0', 'local'), false);
	expect(modes.modeOf(version('5.0.0', 'local'))).toBe('off');
	expect(modes.modeOf(version('2.0.0'))).toBe('off');
	await modes.setEnabled(version('2.0.0'), true);
	expect([modes.modeOf(version('2.0.0')), modes.modeOf(version('3.0.0'))]).toEqual(['auto', 'off']);
});

test('A38: a chosen version is kept over restarts, and forgotten with the version', async () => {
	const modes = await open();
	await modes.setPin('installed/fetch', '1.0.0');
	await modes.setMode(version('1.0.0'), 'on');
	await modes.setMode(version('2.0.0'), 'on');
	const later = await open();
	expect(later.pinOf('installed/fetch')).toBe('1.0.0');
	await later.forget('installed/fetch', '2.0.0');
	expect([later.pinOf('installed/fetch'), later.modeOf(version('2.0.0'))]).toEqual(['1.0.0', 'auto']);
	await later.forget('installed/fetch');
	const last = await open();
	expect([last.pinOf('installed/fetch'), last.modeOf(version('1.0.0'))]).toEqual([null, 'auto']);
});
