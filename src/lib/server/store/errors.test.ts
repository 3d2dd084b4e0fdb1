import { describe, expect, test } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { toStorageError } from './errors.ts';

describe('toStorageError', () => {
	test.each([
		['Postgres: disk full', { code: '53100' }, 'storage_full'],
		['SQLite: full', { code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'storage_full'],
		['Node: no space left', { code: 'ENOSPC' }, 'storage_full'],
		['Postgres: too many connections', { code: '53300' }, 'unavailable'],
		['Postgres: shutting down', { code: '57P01' }, 'unavailable'],
		['Postgres: deadlock', { code: '40P01' }, 'unavailable'],
		['SQLite: busy, with its extended code', { code: 'ERR_SQLITE_ERROR', errcode: 5 | (2 << 8) }, 'unavailable'],
		['Node: nobody listens', { code: 'ECONNREFUSED' }, 'unavailable'],
		['Postgres: waited for a lock for too long', { code: '55P03' }, 'unavailable'],
		['Postgres: took too long', { code: '57014' }, 'unavailable'],
		['Postgres: refers to nothing', { code: '23503' }, 'not_found'],
		['SQLite: refers to nothing', { code: 'ERR_SQLITE_ERROR', errcode: 787 }, 'not_found']
	])('%s', (_, codes, expected) => {
		const cause = Object.assign(new Error('reason'), codes);
		expect(toStorageError(cause)).toMatchObject({ name: 'AppError', code: expected, cause });
	});

	test.each([
		['a constraint', Object.assign(new Error('UNIQUE'), { code: 'ERR_SQLITE_ERROR', errcode: 2067 })],
		['a syntax error', Object.assign(new Error('syntax'), { code: '42601' })],
		['a bug', new TypeError('x is not a function')],
		['an AppError', new AppError('conflict', 'Taken.')],
		['what is no error', 'text']
	])('%s comes back as it was', (_, error) => {
		expect(toStorageError(error)).toBe(error);
	});
});
