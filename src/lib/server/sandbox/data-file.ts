/** Bytes for a program to read, as an open file without a name (SECURITY: nothing secret in an argument list). */
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file descriptor for reading, at the start of the bytes; who asks for it closes it. Unlike a pipe it can be opened
 * again (`/dev/stdin`), also by a program that runs as another user.
 */
export function openData(bytes: Buffer | string): number {
	const folder = mkdtempSync(join(tmpdir(), 'data-'));
	try {
		const path = join(folder, 'data');
		const write = openSync(path, 'wx', 0o644);
		try {
			writeFileSync(write, bytes);
		} finally {
			closeSync(write);
		}
		return openSync(path, constants.O_RDONLY);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
