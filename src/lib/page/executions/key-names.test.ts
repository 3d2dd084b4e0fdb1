import { expect, test } from 'vitest';
import type { ApiKey } from '../../shared/settings.ts';
import { createKeyNames } from './key-names.ts';

const key = (id: string, name: string): ApiKey => ({
	...{ id, name, prefix: `ors_${id}`, scopes: ['read'], createdAt: '2026-01-01T00:00:00.000Z' },
	...{ lastUsedAt: null, revokedAt: null }
});

test('E13: a key is meant by its name in any case, by what the filter offers, or by its ID; an unknown ID stays', () => {
	const names = createKeyNames([key('k1', 'Codex'), key('k2', '‮evil')]);
	expect(names.choices).toEqual(['Codex', '⟨U+202E⟩evil']);
	for (const text of ['Codex', ' codex ', 'k1']) expect(names.idOf(text)).toBe('k1');
	expect(names.idOf('tenant-7')).toBe('tenant-7');
	expect(names.idOf('')).toBe('');
	expect(names.nameOf('k1')).toBe('Codex');
	expect(names.nameOf('tenant-7')).toBe(undefined);
});

test('E13: keys that share a name are told apart by how they begin; the name alone means the newest', () => {
	const names = createKeyNames([key('new', 'Codex'), key('old', 'Codex')]);
	expect(names.choices).toEqual(['Codex (ors_new…)', 'Codex (ors_old…)']);
	expect(names.idOf('Codex (ors_old…)')).toBe('old');
	expect(names.idOf('Codex')).toBe('new');
	expect(names.nameOf('old')).toBe('Codex (ors_old…)');
});
