/** Makes a skill from a template in the first folder of skills that can be written (FEATURES F8). */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import type { NewSkill } from '../../shared/skill-files.ts';
import { openSkillFolder } from '../safe-path.ts';
import type { SkillRegistry } from '../skills/registry/registry.ts';
import { templateFiles } from '../skills/make/templates.ts';

export interface NewSkillParts {
	skills: { registry: Pick<SkillRegistry, 'snapshot' | 'reload'> };
	/** The configured folders of skills, the first one first. */
	config: { skillsDirs: readonly string[] };
}

/**
 * The whole folder appears at once, and is in the library when this resolves.
 * @throws AppError `conflict` for a name that is taken, `unavailable` where no folder can be written, `storage_full`
 */
export async function createSkill(parts: NewSkillParts, wanted: NewSkill): Promise<void> {
	const { skillsDirs } = parts.config;
	const { skills, shadowed, broken } = parts.skills.registry.snapshot();
	const isTaken =
		[...skills, ...shadowed].some(({ name }) => name === wanted.name) ||
		broken.some(({ dir }) => basename(dir) === wanted.name);
	if (isTaken) throw taken(wanted.name);
	const files = templateFiles(wanted);
	const refusals: unknown[] = [];
	for (const root of skillsDirs) {
		try {
			await place(root, wanted.name, files);
			await parts.skills.registry.reload();
			return;
		} catch (error) {
			if (!isReadOnly(error)) throw explained(error, wanted.name);
			refusals.push(error);
		}
	}
	throw new AppError('unavailable', `None of the folders of skills can be written: ${skillsDirs.join(', ')}.`, {
		cause: refusals[0],
		hint: 'Allow writing in one of them, or name another in SKILLS_DIRS.'
	});
}

/** Its name begins with a dot until all is there: such folders are no skills. */
async function place(root: string, name: string, files: Record<string, string>): Promise<void> {
	const folder = join(root, name);
	const staging = join(root, `.new-${randomUUID()}`);
	await mkdir(root, { recursive: true });
	if (await exists(folder)) throw taken(name);
	await mkdir(staging);
	try {
		for (const [path, text] of Object.entries(files)) {
			const file = join(staging, path);
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, text, { flag: 'wx' });
			if (text.startsWith('#!')) await chmod(file, 0o700);
		}
		await openSkillFolder(staging, root);
		await rename(staging, folder);
	} catch (error) {
		await rm(staging, { recursive: true, force: true });
		throw error;
	}
}

async function exists(path: string): Promise<boolean> {
	try {
		await lstat(path);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
		throw error;
	}
}

function taken(name: string): AppError {
	return new AppError('conflict', `There is a skill “${name}” already.`, { hint: 'Choose another name.' });
}

function isReadOnly(error: unknown): boolean {
	return ['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function explained(error: unknown, name: string): unknown {
	const { code } = error as NodeJS.ErrnoException;
	// Somebody was quicker.
	if (code === 'ENOTEMPTY' || code === 'EEXIST') return taken(name);
	if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
	return new AppError('storage_full', 'There is no room left for a new skill.', { cause: error });
}
