/** Converts database errors (SQLite result codes, Postgres SQLSTATEs, Node's codes) to errors people can act on. */
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../shared/errors.ts';

const SQLITE_BUSY = 5;
/** Primary result codes BUSY, LOCKED, READONLY, IOERR. */
const SQLITE_UNAVAILABLE = new Set([SQLITE_BUSY, 6, 8, 10]);
const SQLITE_FULL = 13;
/** What a row refers to isn't there: SQLite's extended result code, and the SQLSTATE. */
const REFERS_TO_NOTHING = [787, '23503'];

/** Connection and resource errors, deadlock and serialization, took too long, shutdown. */
const POSTGRES_UNAVAILABLE = /^(08...|53...|40001|40P01|57014|57P0.)$/;
/** Postgres ended one of two writers that waited for each other. */
const POSTGRES_CONFLICT = new Set(['40001', '40P01']);
const POSTGRES_DISK_FULL = '53100';
/** It waited as long as it may for what somebody else has locked. */
const POSTGRES_LOCKED = '55P03';

const SOCKET_UNAVAILABLE = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/** Converts to `storage_full`, `unavailable` or `not_found` by the database's code; returns other errors unchanged. */
export function toStorageError(error: unknown): unknown {
	if (error instanceof AppError || !(error instanceof Error)) return error;
	const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
	const sqlite = sqliteCode(error) ?? -1;
	if (sqlite === SQLITE_FULL || code === POSTGRES_DISK_FULL || code === 'ENOSPC') {
		const message = 'The database can’t be written because its disk is full. Free some space and try again.';
		return new AppError('storage_full', message, { cause: error });
	}
	if (SQLITE_UNAVAILABLE.has(sqlite)) {
		return new AppError('unavailable', `The database is unavailable (${error.message}). Try again.`, { cause: error });
	}
	if (code === POSTGRES_LOCKED) {
		const message = 'The database is busy: something else has locked what this needs. Try again in a moment.';
		return new AppError('unavailable', message, { cause: error });
	}
	if (POSTGRES_UNAVAILABLE.test(code) || SOCKET_UNAVAILABLE.test(code)) {
		// Where it is concerns nobody but the operator.
		return new AppError('unavailable', 'The database is unavailable. Try again in a moment.', { cause: error });
	}
	if (REFERS_TO_NOTHING.includes('errcode' in error ? Number(error.errcode) : code)) {
		return new AppError('not_found', 'This was deleted in the meantime.', { cause: error });
	}
	return error;
}

/** Whether it's what `toStorageError` says of a database that is away, or too slow. */
export function isDatabaseAway(error: unknown): boolean {
	if (!(error instanceof AppError) || error.code !== 'unavailable') return false;
	const again = toStorageError(error.cause);
	return again instanceof AppError && again.code === 'unavailable';
}

/** The connection to the database broke, or there was none. */
export class ConnectionLost extends Error {
	/** SQLSTATE `connection_failure`. */
	readonly code = '08006';
	/** Nothing of it was written, or will be: it can be done again. */
	readonly isUnwritten: boolean;

	constructor(cause: unknown, { isUnwritten }: { isUnwritten: boolean }) {
		const error: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
		super(error instanceof Error ? error.message : String(error), { cause });
		this.isUnwritten = isUnwritten;
	}
}

/** How often a method is done again, and the wait before, which doubles and varies: two that met would meet again. */
const AGAIN = { times: 5, firstMs: 5 };

/**
 * Wraps all methods: those that Postgres undid are done again, other errors go through `toStorageError`. So a method is one
 * statement or transaction, or several that may be repeated.
 */
export function withStorageErrors<Aggregate extends object>(aggregate: Aggregate): Aggregate {
	const methods = Object.entries(aggregate) as [string, (...values: unknown[]) => Promise<unknown>][];
	const wrapped = methods.map(([name, method]) => [
		name,
		async (...values: unknown[]) => {
			for (let attempt = 0; ; attempt += 1) {
				try {
					return await method(...values);
				} catch (error) {
					if (attempt === AGAIN.times || !wasUndone(error)) throw toStorageError(error);
				}
				await delay(AGAIN.firstMs * 2 ** attempt * (0.5 + Math.random()));
			}
		}
	]);
	return Object.fromEntries(wrapped) as Aggregate;
}

/** Whether nothing of it was written, and the next time may go well. */
function wasUndone(error: unknown): boolean {
	if (error instanceof ConnectionLost) return error.isUnwritten;
	return error instanceof Error && 'code' in error && POSTGRES_CONFLICT.has(String(error.code));
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
