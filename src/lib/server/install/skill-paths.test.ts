import { describe, expect, it } from 'vitest';
import { allSkillFoldersIn, skillFoldersIn } from './install-context.ts';

describe('skillFoldersIn', () => {
	it.each([
		['nothing', [], []],
		['files without a skill', ['README.md', 'src/skills.md', 'docs/MYSKILL.md'], []],
		['a skill at the top, with all below it', ['SKILL.md', 'scripts/a.py', 'skills/b/SKILL.md'], ['']],
		['several, wherever they lie', ['b/SKILL.md', 'a/c/skill.md', 'README.md'], ['a/c', 'b']],
		['skills/ before a template beside it', ['template/SKILL.md', 'skills/a/SKILL.md'], ['skills/a']],
		[
			'plugins/*/skills and skills/ together',
			['plugins/x/skills/a/SKILL.md', 'skills/group/b/SKILL.md', 'plugins/x/SKILL.txt'],
			['plugins/x/skills/a', 'skills/group/b']
		],
		['skills/ before the copies of tools', ['.claude/skills/a/SKILL.md', 'skills/a/SKILL.md'], ['skills/a']],
		['folders of tools before the rest', ['.agents/skills/a/SKILL.md', 'old/b/SKILL.md'], ['.agents/skills/a']],
		[
			'one folder around everything',
			['repo-main/README.md', 'repo-main/x/SKILL.md', 'repo-main/skills/a/SKILL.md'],
			['repo-main/skills/a']
		],
		['a folder of a Mac beside it', ['__MACOSX/a/SKILL.md', 'top/skills/a/SKILL.md'], ['top/skills/a']],
		['a skill in skills itself', ['skills/SKILL.md'], ['skills']],
		['all spellings once', ['a/SKILL.md', 'a/skill.md', 'b/Skill.md'], ['a', 'b']],
		['what others wrote left out', ['node_modules/x/SKILL.md', 'a/SKILL.md', '.git/SKILL.md'], ['a']],
		['the outer of two', ['a/SKILL.md', 'a/examples/b/SKILL.md', 'ab/SKILL.md'], ['a', 'ab']]
	])('E20: finds %s', (_, paths, folders) => {
		expect(skillFoldersIn(paths)).toEqual(folders);
	});

	it('E9: every folder of a repository can be looked for, not only those in skills/', () => {
		expect(allSkillFoldersIn(['template/SKILL.md', 'skills/a/SKILL.md'])).toEqual(['skills/a', 'template']);
	});

	it('E20: ten thousand nested folders are passed without delay', () => {
		const paths = Array.from({ length: 10_000 }, (_, index) => `skills/${'x/'.repeat(index % 50)}${index}/SKILL.md`);
		expect(skillFoldersIn(paths)).toHaveLength(10_000);
	});
});
