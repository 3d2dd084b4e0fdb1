import { expect, test } from 'vitest';
import { sampleSummary } from '../../../../tests/support/sample-skills.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { kindOf, partsOf } from '../skills/skill-words.ts';
import { examplesFrom } from './choices.svelte.ts';

function skill(name: string, change: Partial<SkillSummary> = {}): SkillSummary {
	const example = { title: `${name} in short`, prompt: `Show me ${name}`, files: [] };
	return sampleSummary({ id: name, name, description: `Does ${name}.`, trust: 'trusted', example, ...change });
}

const namesFrom = (...skills: SkillSummary[]) => examplesFrom(skills, 4).map(({ name }) => name);

test('examples are those that skills bring; what shows a result at once comes first', () => {
	expect(namesFrom(skill('reads'), skill('count-words'), skill('csv-charts'))).toEqual([
		...['csv-charts', 'count-words', 'reads']
	]);
	expect(namesFrom(skill('plain', { example: null }))).toEqual([]);
	expect(examplesFrom([skill('a'), skill('b'), skill('c')], 2)).toHaveLength(2);
	expect(namesFrom(skill('csv-charts'), skill('xlsx-tables'), skill('count-words'))).toEqual([
		...['csv-charts', 'count-words', 'xlsx-tables']
	]);
});

test.each<[string, Partial<SkillSummary>]>([
	['is off', { mode: 'off' }],
	['is broken', { status: 'broken' }],
	['nobody trusts', { trust: 'untrusted' }],
	['has changed since it was trusted', { trust: 'changed' }]
])('a skill that %s stands nowhere: one click would run it', (_, change) => {
	expect(namesFrom(skill('quiet', change))).toEqual([]);
});

test.each([
	['Counts words. Use when asked.', 'Counts words.', 'Use when asked.'],
	[
		'Reads a PDF. Lists fields. Use this skill when a PDF is named. Not for scans.',
		'Reads a PDF. Lists fields.',
		'Use this skill when a PDF is named. Not for scans.'
	],
	['Use when asked.', 'Use when asked.', ''],
	['Does it with use for all.', 'Does it with use for all.', ''],
	['', '', '']
])('UI 10: of a description, what a skill does comes before when it is used: %s', (description, does, when) => {
	expect(partsOf(description)).toEqual({ does, when });
});

test.each([
	['data-analysis', 'Looks at files.', 'data'],
	['count-words', 'Counts.', 'text'],
	['code-review', 'Reviews.', 'review'],
	['helper', 'Fills PDF forms. It also reads CSV.', 'document'],
	['something', 'Does it.', 'skill']
])('the icon of %s is by its name, or else by the first sentence of its description', (name, description, kind) => {
	expect(kindOf(name, description)).toBe(kind);
});
