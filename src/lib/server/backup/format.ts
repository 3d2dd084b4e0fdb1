/** What a backup is: a SQLite file with these tables, a seal over all its rows, and the words for what is wrong with one. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { sep } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { markHidden } from '../../shared/characters.ts';

/** “orsk”: by it a backup is known among SQLite files. */
export const APPLICATION_ID = 0x6f72736b;
/** Told apart by `user_version`. */
export type Format = 1 | 2;
/** What is held in memory of a file, however large it is. */
export const CHUNK_BYTES = 1024 * 1024;
/** Each level holds a descriptor while it is walked; nobody nests folders as deep but to do harm. */
export const MAX_DEPTH = 64;
export const DATABASE = 'app.sqlite';
/** In the data folder, and made anew by every server: locks, sockets, copies, what is on its way, runs of evals. */
export const MADE_AGAIN = /^(server\..+|mcp\.sock|net|skill-copies|staging|evals|app\.sqlite-.+|secrets\.key\..+)$/;
/** Linux names what a descriptor is open on, so that a script that puts a link in the place of a folder leads nowhere. */
export const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;
/** As many of those left out are named; a script may make any number of them. */
const NAMED = 100;

/**
 * Nothing else may be in a backup, so a change of them is a new format. An empty chunk stands for zeros: a megabyte of
 * them, or what is left of the file. The row of `backup` is written last, and says how many rows `files` has.
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

/** What cannot be backed up or restored: what happened, and what to do. */
export class BackupError extends Error {
	override name = 'BackupError';
}

export interface Backup {
	files: number;
	/** Of the files' contents. */
	bytes: number;
	leftOut: LeftOut;
}

/** Below the folders of the data folder itself: what is no file, cannot be read, or has no place where it is restored. */
export interface LeftOut {
	count: number;
	/** The first of them: a path in the data folder as it can be shown, in quotes, and why. */
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
	/** Of what is stored of it. */
	sha256: string | null;
}

/** Takes all rows in their order, so that none can be missing, more, or another than it was. */
export class Seal {
	readonly #hash = createHash('sha256');
	rows = 0;

	add({ path, is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256 }: FileRow): void {
		const facts = [Buffer.from(path).toString('hex'), is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256];
		this.#hash.update(`${JSON.stringify(facts)}\n`);
		this.rows++;
	}

	/** Of these rows, and of what else is known of the backup. */
	digest(madeAt: string, dataDir: string): string {
		return this.#hash.update(JSON.stringify([madeAt, dataDir, this.rows])).digest('hex');
	}
}

/** In the digest of a file, in the place of zeros that are not stored. */
export const holeAt = (position: number): string => `zeros from ${position}\n`;

export function leaveOut(leftOut: LeftOut, path: Uint8Array, reason: string): void {
	leftOut.count++;
	if (leftOut.named.length < NAMED) leftOut.named.push({ path: shown(path), reason });
}

/** A path that scripts may have made, for a terminal: on one line, in quotes, with `\xff` for what is no UTF-8. */
export function shown(path: Uint8Array): string {
	const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength);
	const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16)}`;
	const text = isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1').replace(/[\x80-\xff]/g, escaped);
	return `"${markHidden(text.length > 200 ? `${text.slice(0, 100)} … ${text.slice(-90)}` : text)}"`;
}

export const inside = (folder: Buffer, name: Uint8Array, between = sep): Buffer =>
	Buffer.concat([folder, Buffer.from(between), name]);

/** Columns that hold absolute paths, those of them that this database has. */
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

/** Of SQLite: https://sqlite.org/rescode.html */
const [CORRUPT, FULL, NOT_A_DATABASE] = [11, 13, 26];

const kindOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff;

export const isCorrupt = (error: unknown): boolean => kindOf(error) === CORRUPT;

export function explained(error: unknown, place: string): unknown {
	const { code, message } = error as NodeJS.ErrnoException;
	const kind = kindOf(error);
	if (code === 'ENOSPC' || code === 'EDQUOT' || kind === FULL) {
		return new BackupError(`The disk is full, so ${place} wasn’t written. Free some space and try again.`, {
			cause: error
		});
	}
	if (kind === CORRUPT || kind === NOT_A_DATABASE) return damaged(message);
	if (code === 'ENOTEMPTY' || code === 'EEXIST') {
		return new BackupError(`Someone else just put files into ${place}. Nothing was restored.`, { cause: error });
	}
	if (code === 'EBUSY' || code === 'EXDEV') {
		const advice = 'Choose a folder inside it with DATA_DIR.';
		return new BackupError(`${place} is in use or a disk of its own, so it can’t be replaced. ${advice}`, {
			cause: error
		});
	}
	return error;
}
