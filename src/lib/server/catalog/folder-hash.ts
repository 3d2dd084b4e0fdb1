/** The files of a skill as they are recorded: SHA-256 of each, and of all as skills-lock.json has it (FEATURES E28). */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstalledSkill } from '../../shared/install.ts';

export interface FolderHash {
	files: InstalledSkill['files'];
	/** Over paths and contents, sorted as the `skills` command line sorts them; `.git` and `node_modules` left out. */
	computedHash: string;
}

/** Of a folder that a StagingFolder has written: regular files and folders only. @throws the system's error */
export async function hashFolder(dir: string): Promise<FolderHash> {
	const whole = createHash('sha256');
	const files: FolderHash['files'] = [];
	for (const path of (await pathsIn(dir)).sort((a, b) => a.localeCompare(b))) {
		const content = await readFile(join(dir, path));
		files.push({ path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
		if (/(^|\/)(\.git|node_modules)\//.test(path)) continue;
		whole.update(path).update(content);
	}
	return { files, computedHash: whole.digest('hex') };
}

async function pathsIn(dir: string): Promise<string[]> {
	const entries = await readdir(dir, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) =>
			join(entry.parentPath, entry.name)
				.slice(dir.length + 1)
				.replaceAll('\\', '/')
		);
}
