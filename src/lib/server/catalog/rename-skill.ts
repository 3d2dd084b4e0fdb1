/** Gives a staged skill another name: the one case in which something installed differs from its source (FEATURES E20). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../shared/errors.ts';
import { inspectSkill, type Inspection } from './inspection.ts';

const MAX_NAME = 64;

/** `pdf` → `pdf-2`, or the first after it that is free. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
	for (let count = 2; ; count += 1) {
		const suffix = `-${count}`;
		const candidate = `${name.slice(0, MAX_NAME - suffix.length).replace(/-+$/, '')}${suffix}`;
		if (!isTaken(candidate)) return candidate;
	}
}

/**
 * Writes the name into the front matter, and looks at the skill again. `undo` brings back the file as it was.
 * @throws AppError `invalid_input` for a name that stands on more than one line
 */
export async function renameSkill(
	dir: string,
	name: string
): Promise<{ inspection: Inspection; undo: () => Promise<void> }> {
	const path = join(dir, 'SKILL.md');
	const before = await readFile(path).catch((error: NodeJS.ErrnoException) => {
		if (error.code === 'ENOENT') throw refusal(name);
		throw error;
	});
	const text = before.toString('latin1');
	// Bytes that are no text stay as they are.
	const renamed = text.replace(
		/^((?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---).*\r?\n)*?(?:name|skill)[ \t]*:[ \t]*)[^\r\n]*/,
		`$1${name}`
	);
	if (renamed === text) throw refusal(name);
	const undo = () => writeFile(path, before);
	await writeFile(path, Buffer.from(renamed, 'latin1'));
	const inspection = await inspectSkill(dir).catch(async (error: unknown) => {
		await undo();
		throw error;
	});
	if (inspection.shown.name === name && inspection.shown.status === 'ready') return { inspection, undo };
	await undo();
	throw refusal(name);
}

function refusal(name: string): AppError {
	return new AppError('invalid_input', `The name in its SKILL.md cannot be replaced by “${name}”.`, {
		hint: 'Rename the skill at its source, or choose “overwrite”.'
	});
}
