import { expect, test } from 'vitest';
import { sampleSummary } from '../../../tests/support/sample-skills.ts';
import type { SkillSummary } from '../shared/skills.ts';
import { suggestionsFrom } from './suggestions.ts';

function skill(name: string, change: Partial<SkillSummary> = {}): SkillSummary {
	return sampleSummary({ id: name, name, description: `Does ${name}. Use when asked.`, trust: 'trusted', ...change });
}

test('suggestions are made of ready skills, those with something to run first', () => {
	const skills = [skill('reads', { scripts: [] }), skill('broken', { status: 'broken' }), skill('runs')];
	expect(suggestionsFrom(skills, 4)).toEqual([
		{ skill: 'runs', summary: 'Does runs.', draft: 'Use the runs skill to ' },
		{ skill: 'reads', summary: 'Does reads.', draft: 'Use the reads skill to ' }
	]);
});

test('a description without an end is cut', () => {
	expect(suggestionsFrom([skill('x', { description: 'a'.repeat(200) })], 1)[0]?.summary).toHaveLength(111);
});
