/** Reading and writing one whole file of a workspace, through no link (FEATURES D27). */
import { randomUUID } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { holdFolder, openInside } from '../safe-path.ts';
import { SkillError, type SkillErrorType } from '../skills/types.ts';
import type { WorkspaceRooms } from '../workspace-rooms.ts';

const TYPES: Partial<Record<ErrorCode, SkillErrorType>> = { not_found: 'FileNotFound', too_large: 'OutputTooLarge' };

/** @throws SkillError FileNotFound | InvalidArgs | OutputTooLarge */
export async function readWhole(workspace: string, path: string, maxBytes: number): Promise<Buffer> {
	const { file, bytes } = await openInside(workspace, path).catch(refuse);
	try {
		if (bytes > maxBytes) throw new SkillError('OutputTooLarge', tooLong(`“${path}” has`, bytes, maxBytes));
		// It may grow meanwhile: no more is read than is allowed.
		const buffer = Buffer.alloc(bytes);
		const { bytesRead } = await file.read(buffer, 0, bytes, 0);
		return buffer.subarray(0, bytesRead);
	} finally {
		await file.close();
	}
}

export interface WriteOptions {
	path: string;
	maxBytes: number;
	append?: boolean;
	overwrite?: boolean;
	signal: AbortSignal;
}

/** Beside it first, then in its place: what is there is whole at any moment. Resolves with the bytes of the file. */
export async function writeWhole(workspace: string, content: Buffer, options: WriteOptions): Promise<number> {
	const { path, maxBytes, append = false, overwrite = true, signal } = options;
	signal.throwIfAborted();
	const folder = await holdFolder(workspace, path, { make: true }).catch(refuse);
	const staging = join(folder.path, stagingName());
	try {
		const entry = await lstat(folder.target).catch(() => null);
		if (entry && !entry.isFile()) throw new SkillError('InvalidArgs', `“${path}” is not a regular file.`);
		if (entry && !append && !overwrite) throw new SkillError('InvalidArgs', `There is a file “${path}” already.`);
		const before = append && entry ? await readWhole(workspace, path, maxBytes) : Buffer.alloc(0);
		const whole = Buffer.concat([before, content]);
		if (whole.length > maxBytes)
			throw new SkillError('InvalidArgs', tooLong(`“${path}” would have`, whole.length, maxBytes));
		signal.throwIfAborted();
		const file = await open(staging, 'wx');
		try {
			await folder.adopt(file);
			await file.writeFile(whole, { signal });
		} finally {
			await file.close();
		}
		signal.throwIfAborted();
		await rename(staging, folder.target);
		return whole.length;
	} finally {
		await rm(staging, { force: true });
		await folder.close();
	}
}

export interface RoomOptions {
	rooms: WorkspaceRooms;
	path: string;
	bytes: number;
	append?: boolean;
}

/** Writes so many bytes, in whatever way, where the workspace has room for them. @throws SkillError OutputTooLarge */
export async function writeInRoom<Result>(
	workspace: string,
	{ rooms, path, bytes, append = false }: RoomOptions,
	write: () => Promise<Result>
): Promise<Result> {
	const entry = await rooms.enter(workspace);
	try {
		const claim = async () => {
			await entry.place(join(workspace, path), append ? 'append' : 'replace');
			entry.take(bytes);
		};
		await claim().catch(refuse);
		const result = await write();
		entry.keep();
		return result;
	} finally {
		entry.leave();
	}
}

/** Hidden, and never the name of what is written. */
export function stagingName(): string {
	return `.write-${randomUUID()}`;
}

function refuse(error: unknown): never {
	if (!(error instanceof AppError)) throw error;
	throw new SkillError(TYPES[error.code] ?? 'InvalidArgs', error.message, error.hint);
}

function tooLong(what: string, bytes: number, maxBytes: number): string {
	return `${what} ${bytes} bytes; ${maxBytes} are the most.`;
}
