/** The format of backups: a SQLite file with these tables and a seal over all rows; and its errors. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { markHidden } from '../../shared/characters.ts';

/** “orsk”: identifies backups among SQLite files. */
export const APPLICATION_ID = 0x6f72736b;
export type Format = 1 | 2;
/** Bytes of a file in memory at once. */
export const CHUNK_BYTES = 1024 * 1024;
/** Each level holds an open descriptor. Deeper nesting is hostile. */
export const MAX_DEPTH = 64;
export const DATABASE = 'app.sqlite';
/** Recreated by every server: locks, the mark of its database, sockets, copies, staging, runs of evals. */
export const MADE_AGAIN =
	/^(server\..+|database\.json(\..+)?|[a-z]+\.sock|net|scratch|servers|skill-copies|staging|evals|environments|app\.sqlite-.+|secrets\.key\..+)$/;
/** On Linux, paths through open descriptors, so that a script can’t replace a folder by a link. */
export const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;
/** Maximum names listed; a script may create any number. */
const NAMED = 100;

/**
 * The exact schema of a backup; a change is a new format. An empty chunk means zeros: 1 MB, or the rest of the file. The
 * row of `backup` is written last and counts the rows of `files`.
 */
export const TABLES: Record<Format, string> = {
	1: `create table backup (made_at text not null, data_dir text not null);
		create table files (id integer primary key, path text not null unique, is_folder integer not null,
			mode integer not null, modified_ms integer not null, first_chunk integer, chunks integer not null,
			bytes integer not null, sha256 text);
		create table chunks (id integer primary key, bytes blob not null);`,
	2: `create table backup (made_at text not null, data_dir text not null, rows integer not null, sha256 text not null);
		create table files (id integer primary key, path blob not null unique, is_folder integer not null,
			mode integer not null, modified_ms integer not null, first_chunk integer, chunks integer not null,
			bytes integer not null, sha256 text);
		create table chunks (id integer primary key, bytes blob not null);`
};

/** Its message says what happened and what to do. */
export class BackupError extends Error {
	override name = 'BackupError';
}

export interface Backup {
	/** False for a server with Postgres. */
	hasDatabase: boolean;
	files: number;
	/** Total size of the files. */
	bytes: number;
	leftOut: LeftOut;
}

/** Skipped entries: not a file, unreadable, or impossible on this system. */
export interface LeftOut {
	count: number;
	/** The first ones: quoted path and reason. */
	named: { path: string; reason: string }[];
}

export interface FileRow {
	path: Uint8Array;
	is_folder: number;
	mode: number;
	modified_ms: number;
	first_chunk: number | null;
	chunks: number;
	bytes: number;
	/** Digest of the stored content. */
	sha256: string | null;
}

/** Digest of all rows in order, which detects missing, added and changed ones. */
export class Seal {
	readonly #hash = createHash('sha256');
	rows = 0;

	add({ path, is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256 }: FileRow): void {
		const facts = [Buffer.from(path).toString('hex'), is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256];
		this.#hash.update(`${JSON.stringify(facts)}\n`);
		this.rows++;
	}

	digest(madeAt: string, dataDir: string): string {
		return this.#hash.update(JSON.stringify([madeAt, dataDir, this.rows])).digest('hex');
	}
}

/** Replaces zeros that aren’t stored in a file’s digest. */
export const holeAt = (position: number): string => `zeros from ${position}\n`;

export function leaveOut(leftOut: LeftOut, path: Uint8Array, reason: string): void {
	leftOut.count++;
	if (leftOut.named.length < NAMED) leftOut.named.push({ path: shown(path), reason });
}

/** A path made safe for a terminal: one line, quoted, with `\xff` for bytes that aren’t UTF-8. */
export function shown(path: Uint8Array): string {
	const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength);
	const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16)}`;
	const text = isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1').replace(/[\x80-\xff]/g, escaped);
	return `"${markHidden(text.length > 200 ? `${text.slice(0, 100)} … ${text.slice(-90)}` : text)}"`;
}

export const inside = (folder: Buffer, name: Uint8Array, between = sep): Buffer =>
	Buffer.concat([folder, Buffer.from(between), name]);

/** Columns with paths of skills’ folders, absolute before migration 027, that exist in this database. */
export function placesOfSkills(database: DatabaseSync): { table: string; column: string }[] {
	const columns = [
		{ table: 'skill_installs', column: 'dir' },
		{ table: 'skill_trash', column: 'path' },
		{ table: 'skill_trash', column: 'stored' }
	];
	const has = database.prepare('select 1 from pragma_table_info(?) where name = ?');
	return columns.filter(({ table, column }) => has.get(table, column) !== undefined);
}

export function damaged(what: string): BackupError {
	return new BackupError(`The backup is damaged: ${what}. Nothing was restored. Use another one.`);
}

/** Result codes of SQLite: https://sqlite.org/rescode.html */
const [CORRUPT, FULL, NOT_A_DATABASE] = [11, 13, 26];

const kindOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff;

export const isCorrupt = (error: unknown): boolean => kindOf(error) === CORRUPT;

/** Turns errors of disk and database into a BackupError; returns others unchanged. */
export function explained(cause: unknown, place: string): unknown {
	const { code, message } = cause as NodeJS.ErrnoException;
	const kind = kindOf(cause);
	if (code === 'ENOSPC' || code === 'EDQUOT' || kind === FULL) {
		return new BackupError(`The disk is full, so ${place} wasn’t written. Free some space and try again.`, { cause });
	}
	if (kind === CORRUPT || kind === NOT_A_DATABASE) return damaged(message);
	if (code === 'ENOTEMPTY' || code === 'EEXIST') {
		return new BackupError(`Someone else just put files into ${place}. Nothing was restored.`, { cause });
	}
	if (code === 'EBUSY' || code === 'EXDEV') {
		const advice = 'Choose a folder inside it with DATA_DIR.';
		return new BackupError(`${place} is in use or a disk of its own, so it can’t be replaced. ${advice}`, { cause });
	}
	return cause;
}
