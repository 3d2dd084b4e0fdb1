import { expect, test } from 'vitest';
import type { OfferedSkill } from '../../shared/events.ts';
import { filterRows, formatShare, whyRows } from './usage.ts';

const offered = (name: string, told: OfferedSkill['told']): OfferedSkill => ({
	...{ name, description: '', told, tokens: 1, points: 0, signals: [] }
});
const offer = { skills: [offered('a', 'full'), offered('b', 'name'), offered('c', 'omitted')], total: 3, tokens: 9 };
const run = (skill: string) => ({ skill, script: 'x.sh', status: 'success' as const });

test('F2: each skill of the offer is a row, and so is what was loaded or run beyond it, once', () => {
	const rows = whyRows({
		isBuiltIn: false,
		offer,
		loaded: ['b', 'far'],
		ran: [run('far'), run('b'), run('b'), run('web')]
	});
	expect(rows.map(({ name, isLoaded, ran }) => [name, isLoaded, ran.length])).toEqual([
		['a', false, 0],
		['b', true, 2],
		['c', false, 0],
		['far', true, 1],
		['web', false, 1]
	]);
	const named = (filter: Parameters<typeof filterRows>[1]) => filterRows(rows, filter).map(({ name }) => name);
	expect(named('offered')).toEqual(['a', 'b']);
	expect(named('loaded')).toEqual(['b', 'far', 'web']);
	expect(named('untold')).toEqual(['c']);
});

test('F2: without an offer there is what was loaded and run', () => {
	expect(whyRows({ isBuiltIn: false, offer: null, loaded: [], ran: [] })).toEqual([]);
	expect(whyRows({ isBuiltIn: false, offer: null, loaded: ['a'], ran: [] })).toHaveLength(1);
});

test('F2: points are a share of the best skill’s, and what is not nothing does not look like nothing', () => {
	expect([0, 7.13, 3, 0.0023].map((points) => formatShare(points, 7.13))).toEqual(['0%', '100%', '42%', 'under 1%']);
	expect(formatShare(0, 0)).toBe('0%');
});
