import { describe, expect, test } from 'vitest';
import { findSkill, parseReference, similarNames, unknownIn, versionsOf } from './references.ts';
import { skillOf } from '../skill-of.suite.ts';
import type { Skill } from '../types.ts';

function library(skills: Skill[], shadowed: Skill[] = []) {
	return { skills, shadowed, broken: [], revision: 'r' };
}
const fetch2 = skillOf('fetch', { version: '2.1.0', dir: '/skills/fetch-2' });
const fetch1 = skillOf('fetch', { version: '1.4.0', dir: '/skills/fetch-1' });
const fetch0 = skillOf('fetch', { version: '0.1.0', dir: '/skills/fetch-0' });
const other = skillOf('fetch', { version: '1.5.0', root: '/home/.claude/skills', source: 'claude' });
const versions = library([fetch2, skillOf('data-analysis')], [fetch1, fetch0, other]);

test('a reference is a name, perhaps with a source and a range', () => {
	expect(parseReference('fetch')).toEqual({ source: null, name: 'fetch', range: null });
	expect(parseReference(' claude/fetch@^1.2 ')).toEqual({ source: 'claude', name: 'fetch', range: '^1.2' });
	expect(parseReference('@scope')).toEqual({ source: null, name: '@scope', range: null });
	expect(parseReference('**fetch**')).toEqual({ source: null, name: 'fetch', range: null });
});

test.each([
	['use nosuch-skill to sort apples', ['nosuch-skill']],
	['Please run the nosuch skill.', ['nosuch']],
	['Sort them, using “old-sorter”.', ['old-sorter']],
	['use the skill pdf-forms, and try the best skill', []],
	['use the charts skill and the right skill', []],
	['use kebab-case to name them', []],
	['use comma-separated values and run the skill', []],
	['what is a nosuch skill?', []]
])('F9: the names that no skill has: %s', (message, unknown) => {
	expect(unknownIn(message, ['pdf_forms'], () => ['Draws a chart.', 'Names are in kebab-case.'])).toEqual(unknown);
});

describe('finding', () => {
	test('A37: case, blanks and underscores are of no matter; the folder\u2019s name does as well', () => {
		const skills = library([skillOf('data-analysis'), skillOf('pretty', { dir: '/skills/plain' })]);
		for (const name of ['data-analysis', 'Data Analysis', 'DATA_ANALYSIS', ' data-analysis ', '**data-analysis**']) {
			expect(findSkill(skills, name)?.name, name).toBe('data-analysis');
		}
		expect(findSkill(skills, 'plain')?.name).toBe('pretty');
		expect(findSkill(skills, 'analysis')).toBeUndefined();
	});
	test('A38: a bare name is the newest', () => {
		expect(findSkill(versions, 'fetch')).toBe(fetch2);
	});
	test.each([
		['fetch@1.4.0', fetch1],
		['fetch@==1.4.0', fetch1],
		['fetch@^1', other],
		['fetch@^1.2.0', other],
		['fetch@~1.4.0', fetch1],
		['fetch@>=1 <2', other],
		['fetch@<1', fetch0],
		['fetch@<=1.4.0', fetch1],
		['fetch@>1.5.0', fetch2],
		['fetch@latest', fetch2],
		['fetch@*', fetch2],
		['Fetch@1.x', other],
		['fetch@3', undefined],
		['fetch@^0.2.0', undefined]
	])('A39: %s', (reference, expected) => {
		expect(findSkill(versions, reference)).toBe(expected);
	});
	test('A39: what is no range is said to be none', () => {
		expect(() => findSkill(versions, 'fetch@new')).toThrow('“new” isn’t a version range');
	});
	test('A28: the loser of a clash is found as source/name', () => {
		expect(findSkill(versions, 'claude/fetch')).toBe(other);
		expect(findSkill(versions, 'skills/fetch')).toBe(fetch2);
		expect(findSkill(versions, 'skills/fetch@^1')).toBe(fetch1);
		expect(findSkill(versions, 'nowhere/fetch')).toBeUndefined();
	});
	test('A40: versions come newest first', () => {
		expect(versionsOf(versions, 'fetch')).toEqual(['2.1.0', '1.5.0', '1.4.0', '0.1.0']);
		expect(versionsOf(versions, 'ghost')).toEqual([]);
	});
	test('A37: a name that is not there has neighbours', () => {
		const names = ['data-analysis', 'weather', 'discord', 'deploy'];
		expect(similarNames(names, 'data_analisys')).toEqual(['data-analysis']);
		expect(similarNames(names, 'wether')).toEqual(['weather']);
		expect(similarNames(names, 'xyzzy')).toEqual([]);
	});
});
