/** Restores a backup to a data folder, completely or not at all. */
import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import {
	chmodSync,
	closeSync,
	constants,
	existsSync,
	fchmodSync,
	ftruncateSync,
	futimesSync,
	mkdirSync,
	openSync,
	readdirSync,
	realpathSync,
	renameSync,
	rmdirSync,
	rmSync,
	writeSync
} from 'node:fs';
import { basename, dirname, join, toNamespacedPath } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { openDataFolder } from '../data-folder.ts';
import type { Log } from '../log.ts';
import { problemOnWindows } from '../safe-path.ts';
import {
	APPLICATION_ID,
	BackupError,
	CHUNK_BYTES,
	damaged,
	DATABASE,
	DESCRIPTORS,
	explained,
	holeAt,
	inside,
	isCorrupt,
	leaveOut,
	MADE_AGAIN,
	MAX_DEPTH,
	placesOfSkills,
	Seal,
	shown,
	TABLES,
	type Backup,
	type FileRow,
	type Format
} from './format.ts';

/** Suffix of the temporary folder that replaces the data folder. */
const RESTORING = '.restore-';
/** Errors for names that a system refuses: too long, not text, or equal to another one. */
const NOT_TAKEN = new Set(['ENAMETOOLONG', 'EILSEQ', 'EINVAL', 'EEXIST']);
const SLASH = '/'.charCodeAt(0);

export interface Restored extends Backup {
	/** False for backups of older versions, in which missing rows can’t be detected. */
	isSealed: boolean;
}

/** Restores to an empty or missing folder, atomically, and locks it meanwhile. @throws BackupError, DataFolderInUse */
export function restore(file: string, dataDir: string, log: Log): Restored {
	const { backup, format } = openBackup(file);
	let staging: string | null = null;
	try {
		const wasThere = existsSync(dataDir);
		const folder = openDataFolder(dataDir, log);
		try {
			const place = realpathSync(dataDir);
			if (readdirSync(place).some((name) => !name.startsWith('server.'))) {
				const advice = 'Move it away, or choose another folder with DATA_DIR.';
				throw new BackupError(`The data folder ${dataDir} isn’t empty, so nothing was restored. ${advice}`);
			}
			removeCutOff(place);
			try {
				check(backup, format);
			} catch (error) {
				// SQLite’s errors for altered pages, such as an unknown column or format.
				throw error instanceof BackupError ? error : damaged(String(error));
			}
			staging = `${place}${RESTORING}${randomBytes(6).toString('hex')}`;
			mkdirSync(staging, { mode: 0o700 });
			const restored = writeFolder(backup, staging);
			if (restored.hasDatabase) moveSkills(backup, join(staging, DATABASE), dataDir);
			folder.close();
			// No longer locked: if a server starts in it now, it stays.
			rmSync(join(place, 'server.lock'), { force: true });
			// In one step, so that a folder always exists. Windows can’t replace even an empty folder.
			if (process.platform === 'win32') rmdirSync(place);
			renameSync(staging, place);
			staging = null;
			return { ...restored, isSealed: format > 1 };
		} catch (error) {
			folder.close();
			if (!wasThere && isUnused(dataDir)) rmSync(dataDir, { recursive: true, force: true });
			throw error;
		}
	} catch (error) {
		throw explained(error, dataDir);
	} finally {
		backup.close();
		if (staging !== null) rmSync(staging, { recursive: true, force: true });
	}
}

/** Deletes leftovers of interrupted restores, which is safe while holding the folder’s lock. */
function removeCutOff(place: string): void {
	const start = `${basename(place)}${RESTORING}`;
	for (const name of readdirSync(dirname(place))) {
		if (!name.startsWith(start) || !/^[0-9a-f]{12}$/.test(name.slice(start.length))) continue;
		rmSync(join(dirname(place), name), { recursive: true, force: true });
	}
}

function isUnused(dataDir: string): boolean {
	return readdirSync(dataDir).every((name) => name === 'server.lock');
}

function openBackup(file: string): { backup: DatabaseSync; format: Format } {
	if (!existsSync(file)) throw new BackupError(`Backup not found: ${file}. Check its name.`);
	let backup: DatabaseSync | undefined;
	try {
		// Immutable: creates no files beside it and ignores a journal there.
		backup = new DatabaseSync(new URL(`${pathToFileURL(file).href}?immutable=1`), { readOnly: true });
		const { application_id: id } = backup.prepare('pragma application_id').get() ?? {};
		const { user_version: format } = backup.prepare('pragma user_version').get() ?? {};
		if (id !== APPLICATION_ID) {
			throw new BackupError(`${file} isn’t a backup. Choose a file that npm run backup created.`);
		}
		if (format !== 1 && format !== 2) {
			throw new BackupError(`${file} was created by a newer version. Restore it with that version.`);
		}
		return { backup, format };
	} catch (error) {
		backup?.close();
		if (error instanceof BackupError) throw error;
		if (isCorrupt(error)) throw explained(error, file);
		const reason = error instanceof Error ? error.message : String(error);
		throw new BackupError(`${file} isn’t a backup (${reason}). Choose a file that npm run backup created.`, {
			cause: error
		});
	}
}

/**
 * Checks the whole backup before anything is written. Takes time linear in the file’s size whatever it contains: only
 * tables are allowed, and each chunk belongs to one file.
 */
function check(backup: DatabaseSync, format: Format): void {
	if (schemaOf(backup) !== schemaOf(TABLES[format])) throw damaged('its tables aren’t those of a backup');
	// Stops at the first problem.
	const { integrity_check: state } = backup.prepare('pragma integrity_check(1)').get() ?? {};
	if (state !== 'ok') throw damaged(String(state));
	const seal = new Seal();
	const readChunk = prepareChunks(backup);
	let hasDatabase = false;
	let chunks = 0;
	for (const { row, depth } of rowsOf(backup)) {
		seal.add(row);
		chunks += row.chunks;
		hasDatabase ||= isDatabase(row, depth);
		for (const { at, piece } of piecesOf(row, readChunk)) {
			if (at + piece.length > row.bytes) throw damaged(`${shown(row.path)} has changed`);
		}
	}
	// The seal of later formats shows whether it’s missing, or was never there.
	if (!hasDatabase && format === 1) throw damaged('it contains no database');
	const { count } = backup.prepare('select count(*) as count from chunks').get() ?? {};
	if (count !== chunks) throw damaged('it contains parts that belong to no file');
	const ends = backup.prepare('select * from backup').all();
	const { made_at: madeAt, data_dir: dataDir, rows, sha256 } = ends[0] ?? {};
	if (ends.length !== 1 || typeof madeAt !== 'string' || typeof dataDir !== 'string') {
		throw damaged('it doesn’t say when and where it was created');
	}
	if (format > 1 && (rows !== seal.rows || sha256 !== seal.digest(madeAt, dataDir))) {
		throw damaged('its files aren’t the ones it was created from');
	}
}

/** Includes views, triggers and anything else that could replace a table. */
function schemaOf(tables: DatabaseSync | string): string {
	if (typeof tables === 'string') {
		const made = new DatabaseSync(':memory:');
		made.exec(tables);
		const schema = schemaOf(made);
		made.close();
		return schema;
	}
	const parts = tables.prepare('select type, name, sql from sqlite_schema order by name').all();
	return parts.map(({ type, name, sql }) => `${type} ${name} ${String(sql).replace(/\s+/g, ' ')}`).join('\n');
}

const isDatabase = (row: FileRow, depth: number): boolean =>
	depth === 0 && !row.is_folder && Buffer.from(DATABASE).equals(row.path);

/** All rows with their name and depth. A folder’s row comes before its contents. */
function* rowsOf(backup: DatabaseSync): Generator<{ row: FileRow; name: Buffer; depth: number }> {
	const rows: Iterable<unknown> = backup
		.prepare(
			`select cast(path as blob) as path, is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256
				from files order by id`
		)
		.iterate();
	const folders: Buffer[] = [];
	let nextChunk = 1;
	for (const row of rows as Iterable<FileRow>) {
		if (!isWellFormed(row) || (row.chunks > 0 && row.first_chunk !== nextChunk)) {
			throw damaged(`couldn’t read ${shown(row.path)}`);
		}
		nextChunk += row.chunks;
		const path = Buffer.from(row.path);
		while (folders.length > 0 && !isBelow(folders.at(-1), path)) folders.pop();
		const name = path.subarray(folders.length > 0 ? (folders.at(-1)?.length ?? 0) + 1 : 0);
		const text = name.toString('latin1');
		const isBad = ['', '.', '..'].includes(text) || /[/\0]/.test(text) || folders.length > MAX_DEPTH;
		if (isBad) throw damaged(`${shown(path)} isn’t a valid file name`);
		if (folders.length === 0 && MADE_AGAIN.test(text)) throw damaged(`it contains ${shown(path)}`);
		yield { row, name, depth: folders.length };
		if (row.is_folder) folders.push(path);
	}
}

const isBelow = (folder: Buffer | undefined, path: Buffer): boolean =>
	folder !== undefined && path[folder.length] === SLASH && path.subarray(0, folder.length).equals(folder);

function isWellFormed(row: FileRow): boolean {
	const numbers = [row.is_folder, row.mode, row.modified_ms, row.chunks, row.bytes];
	return (
		numbers.every(Number.isSafeInteger) && row.chunks >= 0 && row.bytes >= 0 && (!row.is_folder || row.chunks === 0)
	);
}

const prepareChunks = (backup: DatabaseSync): StatementSync =>
	backup.prepare(
		`select case when typeof(bytes) = 'blob' and length(bytes) <= ${CHUNK_BYTES} then bytes end as bytes
			from chunks where id = ?`
	);

/** Yields a file’s content except zeros, and checks its digest. */
function* piecesOf(row: FileRow, readChunk: StatementSync): Generator<{ at: number; piece: Uint8Array }> {
	if (row.is_folder) return;
	const hash = createHash('sha256');
	let at = 0;
	for (let number = 0; number < row.chunks; number++) {
		const piece = readChunk.get((row.first_chunk ?? 0) + number)?.bytes;
		if (!(piece instanceof Uint8Array)) throw damaged(`part of ${shown(row.path)} is missing`);
		hash.update(piece.length > 0 ? piece : holeAt(at));
		if (piece.length > 0) yield { at, piece };
		at += piece.length || Math.min(CHUNK_BYTES, row.bytes - at);
	}
	if (at !== row.bytes || hash.digest('hex') !== row.sha256) throw damaged(`${shown(row.path)} has changed`);
}

/** A folder being filled; null if it couldn’t be created. */
type Held = { path: Buffer; close(): void } | null;

function writeFolder(backup: DatabaseSync, staging: string): Backup {
	const restored: Backup = { hasDatabase: false, files: 0, bytes: 0, leftOut: { count: 0, named: [] } };
	const readChunk = prepareChunks(backup);
	// Folder by folder, because whole paths may be too long for the system.
	const held: Held[] = [hold(Buffer.from(toNamespacedPath(staging)))];
	try {
		for (const { row, name, depth } of rowsOf(backup)) {
			while (held.length > depth + 1) held.pop()?.close();
			const folder = held.at(-1) ?? null;
			const place = folder && isName(name) ? inside(folder.path, name) : null;
			if (row.is_folder) {
				const made = place && ifTaken(depth, () => makeFolder(place, row.mode));
				held.push(made);
				if (!made) leaveOut(restored.leftOut, row.path, 'not possible here');
				continue;
			}
			const file = place && ifTaken(depth, () => openSync(place, 'wx', 0o600));
			if (file === null) {
				leaveOut(restored.leftOut, row.path, 'not possible here');
				continue;
			}
			writeFile(file, row, { depth, readChunk });
			restored.hasDatabase ||= isDatabase(row, depth);
			restored.files++;
			restored.bytes += row.bytes;
		}
	} finally {
		for (const folder of held) folder?.close();
	}
	return restored;
}

/** Linux allows any bytes in names; Windows can’t create all of them. */
function isName(name: Buffer): boolean {
	if (process.platform !== 'win32') return true;
	const text = name.toString();
	return isUtf8(name) && !text.includes('\\') && problemOnWindows(text) === null;
}

function ifTaken<T>(depth: number, make: () => T): T | null {
	try {
		return make();
	} catch (error) {
		if (depth > 0 && NOT_TAKEN.has((error as NodeJS.ErrnoException).code ?? '')) return null;
		throw error;
	}
}

function makeFolder(place: Buffer, mode: number): Held {
	mkdirSync(place, 0o700);
	// The owner must be able to fill it.
	chmodSync(place, (mode & 0o777) | 0o700);
	return hold(place);
}

function hold(place: Buffer): Held {
	if (!DESCRIPTORS) return { path: place, close: () => undefined };
	const folder = openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
	return { path: Buffer.from(join(DESCRIPTORS, String(folder))), close: () => closeSync(folder) };
}

function writeFile(
	file: number,
	row: FileRow,
	{ depth, readChunk }: { depth: number; readChunk: StatementSync }
): void {
	try {
		for (const { at, piece } of piecesOf(row, readChunk)) {
			for (let done = 0; done < piece.length;) {
				done += writeSync(file, piece, done, piece.length - done, at + done);
			}
		}
		// Adds zeros at the end.
		ftruncateSync(file, row.bytes);
		// Database and keys are private; a backup from Windows has no modes.
		fchmodSync(file, depth > 0 ? row.mode & 0o777 : 0o600);
		futimesSync(file, row.modified_ms / 1000, row.modified_ms / 1000);
	} finally {
		closeSync(file);
	}
}

/** Moves absolute paths of skills in the database to the new folder. */
function moveSkills(backup: DatabaseSync, path: string, dataDir: string): void {
	const before = String(backup.prepare('select data_dir from backup').get()?.data_dir);
	if (before === dataDir) return;
	const database = new DatabaseSync(path);
	try {
		database.exec('begin');
		for (const { table, column } of placesOfSkills(database)) {
			const update = database.prepare(`update ${table} set ${column} = ? where id = ?`);
			for (const { id, place } of database.prepare(`select id, ${column} as place from ${table}`).all()) {
				const rest = String(place).startsWith(before) ? String(place).slice(before.length) : '';
				if (/^[\\/]/.test(rest)) update.run(join(dataDir, ...rest.split(/[\\/]/)), String(id));
			}
		}
		database.exec('commit');
	} finally {
		database.close();
	}
}
