/** The bytes of one file of a skill; never of one that lies elsewhere (FEATURES C6, C9). */
import { isUtf8 } from 'node:buffer';
import { openInside } from '../../safe-path.ts';
import { isLeftOut } from '../../skills/read/files.ts';

/** More would be no message that a client takes: a larger file is read in pieces, with `read_skill_file`. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

export function isText(bytes: Buffer): boolean {
	return !bytes.includes(0) && isUtf8(bytes);
}

/**
 * Through no link, and nothing that a listing leaves out.
 * @returns null for a file that is too large @throws AppError not_found | invalid_input
 */
export async function readSkillBytes(dir: string, path: string): Promise<Buffer | null> {
	if (path.split('/').some(isLeftOut)) throw new Error('hidden files are no part of a skill');
	const { file, bytes } = await openInside(dir, path);
	try {
		if (bytes > MAX_FILE_BYTES) return null;
		const buffer = Buffer.alloc(bytes);
		const { bytesRead } = await file.read(buffer, 0, bytes, 0);
		return buffer.subarray(0, bytesRead);
	} finally {
		await file.close();
	}
}
