/** Is the folder of a skill one that may be written? */
import { realpath } from 'node:fs/promises';
import { AppError } from '../../shared/errors.ts';
import { isInside } from '../skills/read/files.ts';
import type { BrokenSkill, Skill } from '../skills/types.ts';

/**
 * A folder that is a link may lead anywhere; what lies elsewhere is not ours to write. `verb` is what was meant: “Fix”.
 * @throws AppError `conflict`
 */
export async function requireInRoot({ name, dir, root }: Skill | BrokenSkill, verb: string): Promise<void> {
	try {
		const [real, realRoot] = await Promise.all([realpath(dir), realpath(root)]);
		if (real !== realRoot && isInside(realRoot, real)) return;
	} catch (error) {
		throw folderGone(name, dir, error);
	}
	throw new AppError('conflict', `“${name}” lies outside ${root}, behind a link. ${verb} it where it is.`);
}

export function folderGone(name: string, dir: string, cause: unknown): AppError {
	return new AppError('conflict', `The folder of “${name}”, ${dir}, cannot be found any more. Reload the skills.`, {
		cause
	});
}
