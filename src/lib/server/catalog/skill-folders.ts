/** Finds the skills in a folder of files that were fetched or uploaded (FEATURES E20). */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { onDisk } from './disk-errors.ts';
import { skillFoldersIn } from './skill-paths.ts';

/**
 * Folders of skills relative to `dir`, with `/`, sorted; empty for the top. No links are followed.
 * @throws AppError `invalid_input` where there is none, `unavailable`
 */
export async function findSkillFolders(dir: string): Promise<string[]> {
	const entries = await onDisk(readdir(dir, { recursive: true, withFileTypes: true }));
	const files = entries.filter((entry) => entry.isFile());
	const paths = files.map(({ parentPath, name }) => relative(dir, join(parentPath, name)).split(sep).join('/'));
	const folders = skillFoldersIn(paths);
	if (folders.length === 0) {
		throw new AppError('invalid_input', 'What was fetched has no SKILL.md, so there is no skill in it.', {
			hint: 'A skill is a folder with a file SKILL.md in it.'
		});
	}
	return folders;
}
