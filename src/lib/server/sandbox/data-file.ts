/** Bytes for a program to read, as an open file without a name (SECURITY: nothing secret in an argument list). */
import { closeSync, constants, fchmodSync, mkdtempSync, openSync, rmdirSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file descriptor for reading, at the start of the bytes; who asks for it closes it. Unlike a pipe it can be opened
 * again (`/dev/stdin`), also by a program that runs as another user.
 */
export function openData(bytes: Buffer | string): number {
	const folder = mkdtempSync(join(tmpdir(), 'data-'));
	const path = join(folder, 'data');
	try {
		const write = openSync(path, 'wx');
		try {
			fchmodSync(write, 0o644);
			const all = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
			for (let done = 0; done < all.length;) done += writeSync(write, all, done);
			return openSync(path, constants.O_RDONLY);
		} finally {
			closeSync(write);
			unlinkSync(path);
		}
	} finally {
		rmdirSync(folder);
	}
}
