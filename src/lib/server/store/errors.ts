/** Converts database errors (SQLite result codes, Postgres SQLSTATEs, Node's codes) to errors people can act on. */
import { AppError } from '../../shared/errors.ts';

const SQLITE_BUSY = 5;
/** Primary result codes BUSY, LOCKED, READONLY, IOERR. */
const SQLITE_UNAVAILABLE = new Set([SQLITE_BUSY, 6, 8, 10]);
const SQLITE_FULL = 13;

/** Connection and resource errors, deadlock and serialization, lock not available, shutdown. */
const POSTGRES_UNAVAILABLE = /^(08...|53...|40001|40P01|55P03|57P0.)$/;
const POSTGRES_DISK_FULL = '53100';

const SOCKET_UNAVAILABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** Converts to `storage_full` or `unavailable` by the database's code; returns other errors unchanged. */
export function toStorageError(error: unknown): unknown {
	if (error instanceof AppError || !(error instanceof Error)) return error;
	const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
	const sqlite = sqliteCode(error) ?? -1;
	if (sqlite === SQLITE_FULL || code === POSTGRES_DISK_FULL || code === 'ENOSPC') {
		const message = 'The database can’t be written because its disk is full. Free some space and try again.';
		return new AppError('storage_full', message, { cause: error });
	}
	if (SQLITE_UNAVAILABLE.has(sqlite) || POSTGRES_UNAVAILABLE.test(code) || SOCKET_UNAVAILABLE.test(code)) {
		return new AppError('unavailable', `The database is unavailable (${error.message}). Try again.`, { cause: error });
	}
	return error;
}

/** Wraps all methods so that their errors go through `toStorageError`. */
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

/** Whether another process has locked the SQLite database. */
export function isBusy(error: unknown): boolean {
	return error instanceof Error && sqliteCode(error) === SQLITE_BUSY;
}

/** The primary result code: the low byte of the extended one. */
function sqliteCode(error: Error): number | undefined {
	return 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}

/**
 * Makes text storable: removes NUL, which Postgres rejects, and replaces lone surrogates, which no database stores.
 * JSON doesn't need this, because it escapes both.
 */
export function cleanText(text: string): string {
	return text.replaceAll('\0', '').toWellFormed();
}
