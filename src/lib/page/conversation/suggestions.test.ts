import { expect, test } from 'vitest';
import { sampleSummary } from '../../../../tests/support/sample-skills.ts';
import type { SkillSummary } from '../../shared/skills.ts';
import { suggestionsFrom } from './choices.svelte.ts';

function skill(name: string, change: Partial<SkillSummary> = {}): SkillSummary {
	return sampleSummary({ id: name, name, description: `Does ${name}. Use when asked.`, trust: 'trusted', ...change });
}

test('suggestions are made of ready skills, those with something to run first', () => {
	const skills = [skill('reads', { scripts: [] }), skill('broken', { status: 'broken' }), skill('runs')];
	expect(suggestionsFrom(skills, 4)).toEqual([
		{ skill: 'runs', icon: 'skill', summary: 'Does runs.', draft: 'Use the runs skill to ' },
		{ skill: 'reads', icon: 'skill', summary: 'Does reads.', draft: 'Use the reads skill to ' }
	]);
});

test('a skill that is off is not suggested', () => {
	expect(suggestionsFrom([skill('quiet', { mode: 'off' })], 4)).toEqual([]);
});

test.each([
	['data-analysis', 'Looks at files.', 'data'],
	['count-words', 'Counts.', 'text'],
	['helper', 'Fills PDF forms.', 'document'],
	['something', 'Does it.', 'skill']
])('%s has the icon that its name, or else its description, fits', (name, description, icon) => {
	expect(suggestionsFrom([skill(name, { description })], 1)[0]?.icon).toBe(icon);
});

test('a description without an end is cut', () => {
	expect(suggestionsFrom([skill('x', { description: 'a'.repeat(200) })], 1)[0]?.summary).toHaveLength(111);
});
