import { expect, test } from 'vitest';
import type { SkillSnapshot } from '../../skills/registry/registry.ts';
import type { Skill } from '../../skills/types.ts';
import { filesIn } from './resources.ts';

const skill = (name: string, files: string[], owner?: string) =>
	({ name, dir: `/skills/${name}`, files, owner }) as unknown as Skill;
const snapshotOf = (...skills: Skill[]) => ({ skills }) as unknown as SkillSnapshot;

test('A41, E15: everybody who listens is told of files that are there or were, but of none that only a key sees', () => {
	const before = snapshotOf(skill('open', ['SKILL.md', 'old.md']), skill('same', ['SKILL.md']));
	const now = snapshotOf(skill('open', ['SKILL.md', 'new one.md']), skill('own', ['SKILL.md'], 'key.1'));
	expect(filesIn(new Set(['/skills/open', '/skills/own']), before, now).sort()).toEqual([
		'skill://open/SKILL.md',
		'skill://open/new%20one.md',
		'skill://open/old.md'
	]);
});
