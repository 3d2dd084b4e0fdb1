import { expect, test } from 'vitest';
import { skillOf } from './skill-of.suite.ts';
import type { Skill } from './types.ts';
import { createSkillModes, viewOf } from './visibility.ts';

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

test('B14, B15: with a list, no other skill is seen at all', () => {
	const all = library([skillOf('a'), skillOf('b'), skillOf('c')]);
	expect(names(viewOf(all, { allowed: ['c', 'a', 'ghost'] }).library.skills)).toEqual(['a', 'c']);
	expect(viewOf(all, {}).library).toBe(all);
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
