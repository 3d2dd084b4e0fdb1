import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyFolder, putFile } from '../../../../tests/support/folder.ts';
import { findSkillFolders } from './inspection.ts';

const dir = emptyFolder();

async function write(...paths: string[]): Promise<void> {
	for (const path of paths) {
		await putFile(dir, path, 'x');
	}
}

test('E20: files without a SKILL.md are refused', async () => {
	await write('README.md', 'skills/a/readme.md');
	await expect(findSkillFolders(dir)).rejects.toMatchObject({
		code: 'invalid_input',
		message: expect.stringContaining('there’s no SKILL.md') as string
	});
});

test('E20: an empty folder is refused', async () => {
	await expect(findSkillFolders(dir)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('SECURITY Archives: links are not followed', async () => {
	const other = await mkdtemp(join(tmpdir(), 'skill-folders-other-'));
	await writeFile(join(other, 'SKILL.md'), 'x');
	await symlink(other, join(dir, 'linked'));
	await symlink(join(other, 'SKILL.md'), join(dir, 'SKILL.md'));
	await expect(findSkillFolders(dir)).rejects.toMatchObject({ code: 'invalid_input' });
	await rm(other, { recursive: true });
});

test.each<[string, string[], string[]]>([
	['a SKILL.md at the top is the skill', ['SKILL.md', 'examples/b/SKILL.md'], ['']],
	['one folder around everything', ['repo-main/SKILL.md', 'repo-main/scripts/x.py'], ['repo-main']],
	[
		'skills/ inside one folder around everything',
		['repo-main/skills/b/SKILL.md', 'repo-main/skills/a/SKILL.md', 'repo-main/template/SKILL.md'],
		['repo-main/skills/a', 'repo-main/skills/b']
	],
	['plugins', ['plugins/p/skills/a/SKILL.md', 'docs/b/SKILL.md'], ['plugins/p/skills/a']],
	[
		'those of a tool',
		['.claude/skills/a/SKILL.md', '.agents/skills/b/SKILL.md'],
		['.agents/skills/b', '.claude/skills/a']
	],
	['any folder', ['one/SKILL.md', 'deep/er/two/SKILL.md'], ['deep/er/two', 'one']],
	['no skill inside another', ['skills/a/SKILL.md', 'skills/a/examples/b/SKILL.md'], ['skills/a']]
])('E20: %s', async (_, paths, folders) => {
	await write(...paths);
	expect(await findSkillFolders(dir)).toEqual(folders);
});
