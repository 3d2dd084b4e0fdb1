import { expect, test } from 'vitest';
import { skillOf } from '../skill-of.suite.ts';
import type { Skill } from '../types.ts';
import { createSkillModes, unusableIn, viewOf } from './visibility.ts';

const library = (skills: Skill[], shadowed: Skill[] = []) => ({ skills, shadowed, broken: [], revision: 'r' });
const names = (skills: readonly Skill[]) => skills.map(({ name, owner }) => (owner ? `${owner}:${name}` : name));

test('A41: a caller sees its own skills and the system\u2019s; of one name its own, others the system\u2019s', () => {
	const all = library(
		[skillOf('fetch', { owner: 'ada' }), skillOf('secret', { owner: 'bob' }), skillOf('common', { owner: 'system' })],
		[skillOf('fetch', { dir: '/system/fetch' })]
	);
	expect(names(viewOf(all, { owner: 'ada' }).library.skills)).toEqual(['system:common', 'ada:fetch']);
	expect(names(viewOf(all, { owner: 'bob' }).library.skills)).toEqual(['system:common', 'fetch', 'bob:secret']);
	expect(names(viewOf(all, {}).library.skills)).toEqual(['system:common', 'fetch']);
	expect(names(viewOf(all, { owner: 'ada' }).library.shadowed)).toEqual(['fetch']);
});

test('A38: a name means the newest version that is not off, or the one that somebody chose', () => {
	const version = (number: string, more: Partial<Skill> = {}) => skillOf('fetch', { version: number, ...more });
	const all = library(
		[version('3.0.0')],
		[version('2.0.0'), version('1.0.0'), version('9.0.0', { source: 'far', dir: '/far/fetch' })]
	);
	const off = new Set(['3.0.0']);
	const pins = new Map<string, string>();
	const see = () => {
		const seen = viewOf(all, {
			modeOf: ({ version: each }) => (off.has(each) ? 'off' : 'auto'),
			pinOf: (skillId) => pins.get(skillId) ?? null
		});
		return [seen.library.skills, seen.library.shadowed, seen.off].map((list) => list.map((each) => each.version));
	};
	expect(see()).toEqual([['2.0.0'], ['1.0.0', '9.0.0'], ['3.0.0']]);
	pins.set('skills/fetch', '1.0.0');
	expect(see()).toEqual([['1.0.0'], ['2.0.0', '9.0.0'], ['3.0.0']]);
	off.add('1.0.0');
	expect(see()).toEqual([['2.0.0'], ['9.0.0'], ['1.0.0', '3.0.0']]);
	pins.set('skills/fetch', '7.7.7');
	off.clear();
	expect(see()).toEqual([['3.0.0'], ['2.0.0', '1.0.0', '9.0.0'], []]);
	pins.set('far/fetch', '9.0.0');
	expect(see()[0]).toEqual(['3.0.0']);
});

test('B14, B15: with a list, no other skill is seen at all', () => {
	const all = library([skillOf('a'), skillOf('b'), skillOf('c')]);
	expect(names(viewOf(all, { allowed: ['c', 'a', 'ghost'] }).library.skills)).toEqual(['a', 'c']);
	expect(viewOf(all, {}).library).toBe(all);
});

test('F9: what can’t be used is off, broken or in the Trash, each name once, and none that another skill has', () => {
	const all = { ...library([skillOf('on'), skillOf('off')]), broken: [] };
	const view = viewOf(all, createSkillModes({ off: 'off' }));
	const trash = ['skills/old', 'skills/old', 'skills/on', 'skills/off', `key.${'0'.repeat(24)}/theirs`];
	const trashed = trash.map((skillId) => ({ skillId, name: skillId.split('/')[1]! }));
	const told = (allowed?: string[]) => unusableIn(view, trashed, { allowed }).map(({ name, why }) => `${name} ${why}`);
	expect(told()).toEqual(['off off', 'old in the Trash']);
	expect(told(['off'])).toEqual(['off off']);
});

test('B6: what is off is kept apart; switching on again brings back the mode that it had', () => {
	const modes = createSkillModes({ a: 'on', b: 'off' });
	const all = library([skillOf('a'), skillOf('b'), skillOf('c')]);
	const see = () => {
		const { library: seen, off } = viewOf(all, { modeOf: modes.modeOf });
		return { seen: names(seen.skills), off: names(off) };
	};
	expect(see()).toEqual({ seen: ['a', 'c'], off: ['b'] });
	modes.setEnabled('a', false);
	expect(see()).toEqual({ seen: ['c'], off: ['a', 'b'] });
	modes.setEnabled('a', true);
	modes.setEnabled('b', true);
	modes.setEnabled('c', true);
	expect(['a', 'b', 'c'].map(modes.modeOf)).toEqual(['on', 'auto', 'auto']);
	modes.setEnabled('a', false);
	modes.setMode('a', 'auto');
	modes.setEnabled('a', false);
	modes.setEnabled('a', true);
	expect(modes.modeOf('a')).toBe('auto');
});
