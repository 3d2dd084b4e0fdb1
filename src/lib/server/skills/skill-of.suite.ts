/** A skill for tests that need none on disk. */
import type { Skill } from './types.ts';

export function skillOf(name: string, changes: Partial<Skill> = {}): Skill {
	const root = changes.root ?? '/skills';
	const dir = changes.dir ?? `${root}/${name}`;
	return {
		status: 'ready',
		name,
		description: `What ${name} does.`,
		body: `How to use ${name}.`,
		metadata: {},
		extra: {},
		path: `${dir}/SKILL.md`,
		dir,
		root,
		source: 'skills',
		version: '1.0.0',
		tags: [],
		triggers: [],
		digest: '0123456789abcdef',
		tools: [],
		files: ['SKILL.md'],
		scripts: [],
		issues: [],
		...changes
	};
}
