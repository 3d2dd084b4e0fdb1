/** What a file system says, as errors that a caller can act on. */
import { AppError } from '../../shared/errors.ts';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
const READ_ONLY = new Set(['EROFS', 'EACCES', 'EPERM']);

/**
 * An error of a file operation as `storage_full` or `unavailable`; what is no such error (an AppError, a bug) comes back
 * as it is.
 */
export function diskError(error: unknown): unknown {
	if (error instanceof AppError) return error;
	const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
	if (typeof code !== 'string' || typeof syscall !== 'string') return error;
	const fail = (kind: 'storage_full' | 'unavailable', message: string) => new AppError(kind, message, { cause: error });
	if (FULL.has(code)) return fail('storage_full', 'The disk is full; make room and try again.');
	if (READ_ONLY.has(code)) {
		return fail('unavailable', `The data folder cannot be written (${code}); check its permissions and try again.`);
	}
	return fail('unavailable', `The data folder does not work as it should (${code}); check the disk and try again.`);
}

/** The result of a file operation, its errors as `diskError` has them. */
export async function onDisk<T>(operation: Promise<T>): Promise<T> {
	try {
		return await operation;
	} catch (error) {
		throw diskError(error);
	}
}
