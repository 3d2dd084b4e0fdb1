/** `create`: a new skill folder that passes `validate` as it is. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { skillFiles } from '../scaffold.ts';
import { SkillError } from '../types.ts';
import { UsageError } from './usage-error.ts';

/** Says what was made. Nothing is ever overwritten. @throws UsageError */
export async function createSkill(dir: string, name: string, description: string | undefined): Promise<string> {
	if (description === undefined)
		throw new UsageError('“create” needs --description "what it does and when to use it".');
	const folder = join(dir, name);
	try {
		const files = skillFiles({ name, description });
		await mkdir(dir, { recursive: true });
		await mkdir(folder);
		for (const [path, text] of Object.entries(files)) {
			await mkdir(dirname(join(folder, path)), { recursive: true });
			await writeFile(join(folder, path), text, { flag: 'wx' });
		}
		return [`Created ${folder}:`, ...Object.keys(files).map((path) => `  ${join(folder, path)}`)].join('\n');
	} catch (error) {
		if (error instanceof SkillError) throw new UsageError([error.message, error.hint].filter(Boolean).join(' '));
		if ((error as NodeJS.ErrnoException).code === 'EEXIST')
			throw new Error(`“${folder}” exists already; nothing was changed.`, { cause: error });
		throw error;
	}
}
