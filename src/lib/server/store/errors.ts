/** Turns what a database says into errors that people can act on: SQLite's result codes, Postgres' SQLSTATEs, Node's own. */
import { AppError } from '../../shared/errors.ts';

const SQLITE_BUSY = 5;
/** SQLite's primary result codes: BUSY, LOCKED, READONLY, IOERR. */
const SQLITE_UNAVAILABLE = new Set([SQLITE_BUSY, 6, 8, 10]);
const SQLITE_FULL = 13;

/** Connection and resource failures, deadlock and serialization, lock not available, shutdown. */
const POSTGRES_UNAVAILABLE = /^(08...|53...|40001|40P01|55P03|57P0.)$/;
const POSTGRES_DISK_FULL = '53100';

const SOCKET_UNAVAILABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/**
 * The error as `storage_full` or `unavailable` where the database's code says so; anything else, a bug
 * included, comes back as it was.
 */
export function toStorageError(error: unknown): unknown {
	if (error instanceof AppError || !(error instanceof Error)) return error;
	if (isFull(error)) {
		return new AppError(
			'storage_full',
			'The database can’t be written because its disk is full. Free some space and try again.',
			{
				cause: error
			}
		);
	}
	if (isUnavailable(error)) {
		return new AppError('unavailable', `The database is unavailable (${error.message}). Try again.`, {
			cause: error
		});
	}
	return error;
}

/** The same methods, whose failures went through `toStorageError`. */
export function withStorageErrors<Aggregate extends object>(aggregate: Aggregate): Aggregate {
	const methods = Object.entries(aggregate) as [string, (...values: unknown[]) => Promise<unknown>][];
	const translated = methods.map(([name, method]) => [
		name,
		(...values: unknown[]) =>
			method(...values).catch((error: unknown) => {
				throw toStorageError(error);
			})
	]);
	return Object.fromEntries(translated) as Aggregate;
}

function isFull(error: Error): boolean {
	return (
		(sqliteCode(error) ?? -1) === SQLITE_FULL || codeOf(error) === POSTGRES_DISK_FULL || codeOf(error) === 'ENOSPC'
	);
}

function isUnavailable(error: Error): boolean {
	const code = codeOf(error);
	return (
		SQLITE_UNAVAILABLE.has(sqliteCode(error) ?? -1) || POSTGRES_UNAVAILABLE.test(code) || SOCKET_UNAVAILABLE.test(code)
	);
}

function codeOf(error: Error): string {
	return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Another process holds the SQLite database. */
export function isBusy(error: unknown): boolean {
	return error instanceof Error && sqliteCode(error) === SQLITE_BUSY;
}

/** The low byte of an extended result code is the primary one. */
function sqliteCode(error: Error): number | undefined {
	return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

// Text that every database keeps: Postgres refuses NUL, and neither can store half of a surrogate pair.

/** Without NUL; a lone surrogate becomes U+FFFD. JSON text needs none of it: there both are escaped. */
export function cleanText(text: string): string {
	return text.replaceAll('\0', '').toWellFormed();
}
