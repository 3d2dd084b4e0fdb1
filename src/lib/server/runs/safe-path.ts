/** The one door to files of a workspace: a relative path that stays inside, through no link (SECURITY `safePath`). */
import { constants } from 'node:fs';
import { lstat, open, realpath, type FileHandle } from 'node:fs/promises';
import { join, relative, isAbsolute, sep } from 'node:path';
import { AppError } from '../../shared/errors.ts';

/** Segments of a relative path, or an AppError `invalid_input` that says what is wrong with it. */
export function safeSegments(path: string): string[] {
	const segments = path.split('/');
	const isBad = (segment: string) =>
		segment === '' || segment === '.' || segment === '..' || segment.length > 255 || /[\p{Cc}\p{Cs}\\]/u.test(segment);
	if (path.length > 1024 || segments.length > 8 || isAbsolute(path) || segments.some(isBad)) {
		throw new AppError('invalid_input', `“${path.slice(0, 100)}” is not a file name that can be used here.`);
	}
	return segments;
}

/** Absolute path for `path` under `root`; every folder on the way that exists must be a folder, not a link. */
export async function safePath(root: string, path: string): Promise<string> {
	let current = root;
	for (const segment of safeSegments(path).slice(0, -1)) {
		current = join(current, segment);
		const entry = await lstat(current).catch(() => null);
		if (entry && !entry.isDirectory()) throw new AppError('invalid_input', 'A part of the path is not a folder.');
	}
	return join(root, ...safeSegments(path));
}

/** Opens a regular file below `root` for reading; checked on the descriptor, so that a link planted meanwhile is refused. */
export async function openInside(root: string, path: string): Promise<{ file: FileHandle; bytes: number }> {
	const missing = (cause?: unknown) =>
		new AppError('not_found', `There is no file “${path}” in this conversation.`, { cause });
	const target = await safePath(root, path);
	const file = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
		(error: unknown) => {
			throw missing(error);
		}
	);
	const entry = await file.stat();
	const between = relative(await realpath(root), await realpath(target));
	if (!entry.isFile() || between.startsWith(`..${sep}`) || isAbsolute(between)) {
		await file.close();
		throw missing();
	}
	return { file, bytes: entry.size };
}
