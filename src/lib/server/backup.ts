/** A backup: what a data folder holds that cannot be made again, in one SQLite file, made while a server goes on. */
import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import {
	chmodSync,
	closeSync,
	constants,
	existsSync,
	fchmodSync,
	fstatSync,
	fsyncSync,
	ftruncateSync,
	futimesSync,
	lstatSync,
	mkdirSync,
	openSync,
	readdirSync,
	readSync,
	realpathSync,
	renameSync,
	rmdirSync,
	rmSync,
	statSync,
	writeSync,
	type Stats
} from 'node:fs';
import { basename, dirname, join, sep, toNamespacedPath } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { markHidden } from '../shared/characters.ts';
import { openDataFolder } from './data-folder.ts';
import type { Log } from './log.ts';
import { problemOnWindows } from './safe-path.ts';

/** “orsk”: by it a backup is known among SQLite files. */
const APPLICATION_ID = 0x6f72736b;
/** Told apart by `user_version`. */
type Format = 1 | 2;
const FORMAT: Format = 2;
/** What is held in memory of a file, however large it is. */
const CHUNK_BYTES = 1024 * 1024;
/** Each level holds a descriptor while it is walked; nobody nests folders as deep but to do harm. */
const MAX_DEPTH = 64;
/** As often a backup begins anew when skills were installed or removed meanwhile. */
const ATTEMPTS = 5;
const DATABASE = 'app.sqlite';
/** In the data folder, and made anew by every server: locks, sockets, copies, what is on its way, runs of evals. */
const MADE_AGAIN = /^(server\..+|mcp\.sock|net|skill-copies|staging|evals|app\.sqlite-.+|secrets\.key\..+)$/;
/** Uploads on their way, as `runs/workspaces.ts` names them. */
const UPLOADING = '.upload-';
/** Behind the name of a data folder: the one that is to take its place. */
const RESTORING = '.restore-';

/** Linux names what a descriptor is open on, so that a script that puts a link in the place of a folder leads nowhere. */
const DESCRIPTORS = process.platform === 'linux' ? '/proc/self/fd' : null;
// Windows has neither flag, nor the things they are for.
const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** It is not the file that is at fault, and none of the others could be read either. */
const OUT_OF_ORDER = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** What a system says to a name that it does not take: too long, no text, the same as another one for it. */
const NOT_TAKEN = new Set(['ENAMETOOLONG', 'EILSEQ', 'EINVAL', 'EEXIST']);
/** As many of those left out are named; a script may make any number of them. */
const NAMED = 100;
/** The times that JavaScript knows, in milliseconds. */
const MAX_TIME = 8.64e15;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/**
 * Nothing else may be in a backup, so a change of them is a new format. An empty chunk stands for zeros: a megabyte of
 * them, or what is left of the file. The row of `backup` is written last, and says how many rows `files` has.
 */
const TABLES: Record<Format, string> = {
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
class BackupError extends Error {
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

export interface Restored extends Backup {
	/** False for a backup of an older version, which has no record of its end: a row that is missing is not noticed. */
	isSealed: boolean;
}

/**
 * Writes the backup of a data folder to a new file, which is there whole or not at all. The database is that of one moment;
 * files are read after it, so that each one it names is there, but for what is deleted meanwhile.
 * @throws {BackupError}
 */
export function backUp(dataDir: string, file: string): Backup {
	if (!existsSync(join(dataDir, DATABASE))) {
		throw new BackupError(`There is no database in ${dataDir}. Name the data folder of the server with DATA_DIR.`);
	}
	if (!existsSync(dirname(file))) throw new BackupError(`There is no folder ${dirname(file)}. Make it first.`);
	if (`${realpathSync(dirname(file))}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`)) {
		throw new BackupError('A backup cannot lie in the data folder itself. Choose another place.');
	}
	refuseExisting(file);
	const partial = `${file}.partial`;
	const snapshot = `${partial}-database`;
	try {
		// Secrets are in it: nobody else may read it at any moment.
		closeSync(openSync(partial, 'wx', 0o600));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw explained(error, partial);
		throw new BackupError(
			`${partial} exists already: another backup is being written, or one was cut off. If none is, remove it.`,
			{ cause: error }
		);
	}
	try {
		for (let attempt = 1; ; attempt++) {
			const made = writeBackup(dataDir, { partial, snapshot });
			if (made) {
				sync(partial);
				refuseExisting(file);
				renameSync(partial, file);
				return made;
			}
			if (attempt === ATTEMPTS) {
				throw new BackupError('Skills were installed or removed all the time. Try again when that is done.');
			}
			rmSync(partial);
			closeSync(openSync(partial, 'wx', 0o600));
		}
	} catch (error) {
		throw explained(error, file);
	} finally {
		for (const path of [partial, snapshot]) rmSync(path, { force: true });
	}
}

function refuseExisting(file: string): void {
	if (!existsSync(file)) return;
	throw new BackupError(`${file} exists already, and is not replaced. Choose another name, or remove it.`);
}

/** null where skills were moved meanwhile, so that database and folders may not say the same. */
function writeBackup(dataDir: string, { partial, snapshot }: { partial: string; snapshot: string }): Backup | null {
	rmSync(snapshot, { force: true });
	closeSync(openSync(snapshot, 'wx', 0o600));
	const live = new DatabaseSync(join(dataDir, DATABASE), { readOnly: true, timeout: 30_000 });
	const backup = new DatabaseSync(partial);
	try {
		live.prepare('vacuum into ?').run(snapshot);
		const installed = readInstalled(snapshot);
		// What is half written is thrown away: no journal is needed, and it is made durable as a whole.
		backup.exec(`pragma journal_mode = off; pragma synchronous = off; pragma application_id = ${APPLICATION_ID};
			pragma user_version = ${FORMAT}; begin; ${TABLES[FORMAT]}`);
		const writer = new BackupWriter(backup);
		const database = openSync(snapshot, NO_LINK);
		try {
			writer.addFile(Buffer.from(DATABASE), database);
		} finally {
			closeSync(database);
		}
		rmSync(snapshot);
		addFolder(writer, Buffer.from(toNamespacedPath(dataDir)), null, 0);
		writer.end(dataDir);
		backup.exec('commit');
		return installed === readInstalledFrom(live) ? writer.made : null;
	} finally {
		backup.close();
		live.close();
	}
}

/** Where the database says that installed and removed skills lie. */
function readInstalled(path: string): string {
	const database = new DatabaseSync(path, { readOnly: true });
	try {
		return readInstalledFrom(database);
	} finally {
		database.close();
	}
}

function readInstalledFrom(database: DatabaseSync): string {
	const rows = placesOfSkills(database).map(({ table, column }) =>
		database.prepare(`select id, ${column} from ${table} order by id`).all()
	);
	return JSON.stringify(rows);
}

/** Columns that hold absolute paths, those of them that this database has. */
function placesOfSkills(database: DatabaseSync): { table: string; column: string }[] {
	const columns = [
		{ table: 'skill_installs', column: 'dir' },
		{ table: 'skill_trash', column: 'path' },
		{ table: 'skill_trash', column: 'stored' }
	];
	const has = database.prepare('select 1 from pragma_table_info(?) where name = ?');
	return columns.filter(({ table, column }) => has.get(table, column) !== undefined);
}

/** Takes all rows in their order, so that none can be missing, more, or another than it was. */
class Seal {
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

class BackupWriter {
	readonly made: Backup = { files: 0, bytes: 0, leftOut: { count: 0, named: [] } };
	readonly #database;
	readonly #addRow;
	readonly #addChunk;
	readonly #seal = new Seal();
	readonly #buffer = Buffer.alloc(CHUNK_BYTES);

	constructor(database: DatabaseSync) {
		this.#database = database;
		this.#addRow = database.prepare(`insert into files (path, is_folder, mode, modified_ms, first_chunk, chunks, bytes,
			sha256) values (?, ?, ?, ?, ?, ?, ?, ?)`);
		this.#addChunk = database.prepare('insert into chunks (bytes) values (?)');
	}

	addFolder(path: Buffer, { mode, mtimeMs }: Stats): void {
		this.#add({
			path,
			is_folder: 1,
			mode: mode & 0o777,
			modified_ms: timeOf(mtimeMs),
			first_chunk: null,
			chunks: 0,
			bytes: 0,
			sha256: null
		});
	}

	/** As much as there is now: who goes on writing does not keep the backup from ending. */
	addFile(path: Buffer, descriptor: number): void {
		const { mode, mtimeMs, size } = fstatSync(descriptor);
		const hash = createHash('sha256');
		let [bytes, chunks] = [0, 0];
		let firstChunk: number | null = null;
		while (bytes < size) {
			const read = readSync(descriptor, this.#buffer, 0, Math.min(CHUNK_BYTES, size - bytes), null);
			if (read === 0) break;
			const piece = this.#buffer.subarray(0, read);
			// A file of holes takes no room, so it may say to be larger than any disk.
			const isHole = (read === CHUNK_BYTES || bytes + read === size) && piece.equals(ZEROS.subarray(0, read));
			const { lastInsertRowid } = this.#addChunk.run(isHole ? ZEROS.subarray(0, 0) : piece);
			firstChunk ??= Number(lastInsertRowid);
			hash.update(isHole ? holeAt(bytes) : piece);
			bytes += read;
			chunks++;
		}
		this.#add({
			path,
			is_folder: 0,
			mode: mode & 0o777,
			modified_ms: timeOf(mtimeMs),
			first_chunk: firstChunk,
			chunks,
			bytes,
			sha256: hash.digest('hex')
		});
		this.made.files++;
		this.made.bytes += bytes;
	}

	leaveOut(path: Buffer, reason: string): void {
		leaveOut(this.made.leftOut, path, reason);
	}

	/** Without it there is no backup. */
	end(dataDir: string): void {
		const madeAt = new Date().toISOString();
		const digest = this.#seal.digest(madeAt, dataDir);
		this.#database.prepare('insert into backup values (?, ?, ?, ?)').run(madeAt, dataDir, this.#seal.rows, digest);
	}

	#add(row: FileRow): void {
		this.#addRow.run(
			row.path,
			row.is_folder,
			row.mode,
			row.modified_ms,
			row.first_chunk,
			row.chunks,
			row.bytes,
			row.sha256
		);
		this.#seal.add(row);
	}
}

const timeOf = (mtimeMs: number): number => Math.max(-MAX_TIME, Math.min(MAX_TIME, Math.trunc(mtimeMs)));

/** In the digest of a file, in the place of zeros that are not stored. */
const holeAt = (position: number): string => `zeros from ${position}\n`;

function leaveOut(leftOut: LeftOut, path: Uint8Array, reason: string): void {
	leftOut.count++;
	if (leftOut.named.length < NAMED) leftOut.named.push({ path: shown(path), reason });
}

/** A path that scripts may have made, for a terminal: on one line, in quotes, with `\xff` for what is no UTF-8. */
function shown(path: Uint8Array): string {
	const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength);
	const escaped = (character: string) => `\\x${character.charCodeAt(0).toString(16)}`;
	const text = isUtf8(bytes) ? bytes.toString() : bytes.toString('latin1').replace(/[\x80-\xff]/g, escaped);
	return `"${markHidden(text.length > 200 ? `${text.slice(0, 100)} … ${text.slice(-90)}` : text)}"`;
}

const SLASH = '/'.charCodeAt(0);
const inside = (folder: Buffer, name: Uint8Array, between = sep): Buffer =>
	Buffer.concat([folder, Buffer.from(between), name]);

/**
 * All below `folder`, which was opened without following a link, but for what the operator has put beside: the first level.
 * Names are bytes: on Linux they need be no text.
 */
function addFolder(writer: BackupWriter, folder: Buffer, path: Buffer | null, depth: number): void {
	for (const name of namesIn(folder)) {
		const text = name.toString('latin1');
		if (depth === 0 && (MADE_AGAIN.test(text) || text === DATABASE)) continue;
		if (text.startsWith(UPLOADING)) continue;
		const [here, within] = [inside(folder, name), path === null ? name : inside(path, name, '/')];
		try {
			// A folder of the first level may lie on another disk; below it a link is anybody's.
			const facts = depth === 0 ? statSync(here) : lstatSync(here);
			if (facts.isDirectory()) enterFolder(writer, here, within, depth);
			else if (facts.isFile()) takeFile(writer, here, within, depth);
			else writer.leaveOut(within, 'a link, or no file');
		} catch (error) {
			passOver(writer, within, depth, error as NodeJS.ErrnoException);
		}
	}
}

/** While somebody renames files a system may list one twice. */
function namesIn(folder: Buffer): Buffer[] {
	const names = readdirSync(folder, { encoding: 'buffer' }).sort((a, b) => Buffer.compare(a, b));
	return names.filter((name, index) => index === 0 || !names[index - 1]?.equals(name));
}

/** A script may make what its server cannot read, or hold it (a lease); nothing that it does may stop a backup. */
function passOver(writer: BackupWriter, path: Buffer, depth: number, error: NodeJS.ErrnoException): void {
	const { code = '', syscall = '' } = error;
	if (code === 'ENOENT') return;
	const isEntry = ['open', 'lstat', 'stat', 'scandir'].includes(syscall) && !OUT_OF_ORDER.has(code);
	if (depth > 0 && isEntry) return writer.leaveOut(path, `could not be opened: ${code}`);
	if (code !== 'EACCES' && code !== 'EPERM') throw error;
	throw new BackupError(`${shown(path)} cannot be read (${code}). Make the backup as the user that runs the server.`, {
		cause: error
	});
}

function enterFolder(writer: BackupWriter, here: Buffer, path: Buffer, depth: number): void {
	if (depth >= MAX_DEPTH) return writer.leaveOut(path, `a folder in ${MAX_DEPTH} others`);
	if (!DESCRIPTORS) {
		writer.addFolder(path, statSync(here));
		return addFolder(writer, here, path, depth + 1);
	}
	const noLink = depth === 0 ? 0 : constants.O_NOFOLLOW;
	const folder = openSync(here, constants.O_RDONLY | constants.O_DIRECTORY | noLink);
	try {
		writer.addFolder(path, fstatSync(folder));
		addFolder(writer, Buffer.from(join(DESCRIPTORS, String(folder))), path, depth + 1);
	} finally {
		closeSync(folder);
	}
}

function takeFile(writer: BackupWriter, here: Buffer, path: Buffer, depth: number): void {
	const file = openSync(here, depth === 0 ? constants.O_RDONLY : NO_LINK);
	try {
		if (fstatSync(file).isFile()) writer.addFile(path, file);
		else writer.leaveOut(path, 'a link, or no file');
	} finally {
		closeSync(file);
	}
}

interface FileRow {
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

/**
 * Makes a data folder of a backup. The folder must be empty or not be there; it is there whole or not at all, and no
 * server can use it meanwhile.
 * @throws {BackupError} DataFolderInUse
 */
export function restore(file: string, dataDir: string, log: Log): Restored {
	const { backup, format } = openBackup(file);
	let staging: string | null = null;
	try {
		const wasThere = existsSync(dataDir);
		const folder = openDataFolder(dataDir, log);
		try {
			const place = realpathSync(dataDir);
			if (readdirSync(place).some((name) => !name.startsWith('server.'))) {
				throw new BackupError(
					`The data folder ${dataDir} is not empty, and nothing in it is replaced. Move it away first, or choose ` +
						'another folder with DATA_DIR.'
				);
			}
			removeCutOff(place);
			try {
				check(backup, format);
			} catch (error) {
				// Whatever SQLite makes of a page that is another one: an unknown column, a format of tomorrow.
				throw error instanceof BackupError ? error : damaged(String(error));
			}
			staging = `${place}${RESTORING}${randomBytes(6).toString('hex')}`;
			mkdirSync(staging, { mode: 0o700 });
			const restored = writeFolder(backup, staging);
			moveSkills(backup, join(staging, DATABASE), dataDir);
			folder.close();
			// From here on it is a folder like any other: if a server has started in it, it stays.
			rmSync(join(place, 'server.lock'), { force: true });
			rmdirSync(place);
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

/** What a restore that was ended on its way has left: who holds the folder's lock is alone in restoring it. */
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
	if (!existsSync(file)) throw new BackupError(`There is no backup ${file}. Check its name.`);
	let backup: DatabaseSync | undefined;
	try {
		// Nothing is made beside it, and a journal that lies there is none of its own.
		backup = new DatabaseSync(new URL(`${pathToFileURL(file).href}?immutable=1`), { readOnly: true });
		const { application_id: id } = backup.prepare('pragma application_id').get() ?? {};
		const { user_version: format } = backup.prepare('pragma user_version').get() ?? {};
		if (id !== APPLICATION_ID) throw new BackupError(`${file} is no backup. Name a file that npm run backup has made.`);
		if (format !== 1 && format !== 2) {
			throw new BackupError(`${file} is the backup of a newer version. Restore it with that version.`);
		}
		return { backup, format };
	} catch (error) {
		backup?.close();
		if (error instanceof BackupError) throw error;
		if (kindOf(error) === CORRUPT) throw explained(error, file);
		const reason = error instanceof Error ? error.message : String(error);
		throw new BackupError(`${file} is no backup (${reason}). Name a file that npm run backup has made.`, {
			cause: error
		});
	}
}

/**
 * Reads all of a backup, so that nothing is written of one that is not whole. The time that it takes grows with the size
 * of the file alone, whatever is in it: there are but tables, and each chunk is read for one file.
 */
function check(backup: DatabaseSync, format: Format): void {
	if (schemaOf(backup) !== schemaOf(TABLES[format])) throw damaged('its tables are not those of a backup');
	// The first of its problems is enough.
	const { integrity_check: state } = backup.prepare('pragma integrity_check(1)').get() ?? {};
	if (state !== 'ok') throw damaged(String(state));
	const seal = new Seal();
	const readChunk = prepareChunks(backup);
	let hasDatabase = false;
	let chunks = 0;
	for (const { row, depth } of rowsOf(backup)) {
		seal.add(row);
		chunks += row.chunks;
		hasDatabase ||= depth === 0 && !row.is_folder && isNamed(row.path, DATABASE);
		for (const { at, piece } of piecesOf(row, readChunk)) {
			if (at + piece.length > row.bytes) throw damaged(`${shown(row.path)} is not what it was`);
		}
	}
	if (!hasDatabase) throw damaged('it holds no database');
	const { count } = backup.prepare('select count(*) as count from chunks').get() ?? {};
	if (count !== chunks) throw damaged('it holds parts of no file');
	const ends = backup.prepare('select * from backup').all();
	const { made_at: madeAt, data_dir: dataDir, rows, sha256 } = ends[0] ?? {};
	if (ends.length !== 1 || typeof madeAt !== 'string' || typeof dataDir !== 'string') {
		throw damaged('it does not say when and where it was made');
	}
	if (format > 1 && (rows !== seal.rows || sha256 !== seal.digest(madeAt, dataDir))) {
		throw damaged('its files are not those that it was made of');
	}
}

/** Views, triggers and what else could stand for a table are in it. */
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

const isNamed = (path: Uint8Array, name: string): boolean => Buffer.from(name).equals(path);

/** All rows, each with its name in the folder that it lies in, which comes before it, and in how many folders it lies. */
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
			throw damaged(`${shown(row.path)} cannot be read`);
		}
		nextChunk += row.chunks;
		const path = Buffer.from(row.path);
		while (folders.length > 0 && !isBelow(folders.at(-1), path)) folders.pop();
		const name = path.subarray(folders.length > 0 ? (folders.at(-1)?.length ?? 0) + 1 : 0);
		const text = name.toString('latin1');
		const isBad = ['', '.', '..'].includes(text) || /[/\0]/.test(text) || folders.length > MAX_DEPTH;
		if (isBad) throw damaged(`${shown(path)} cannot be the name of a file`);
		if (folders.length === 0 && MADE_AGAIN.test(text)) throw damaged(`it holds ${shown(path)}`);
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

/** What a file holds and where in it, but for zeros; and whether it is what it was. */
function* piecesOf(row: FileRow, readChunk: StatementSync): Generator<{ at: number; piece: Uint8Array }> {
	if (row.is_folder) return;
	const hash = createHash('sha256');
	let at = 0;
	for (let number = 0; number < row.chunks; number++) {
		const piece = readChunk.get((row.first_chunk ?? 0) + number)?.bytes;
		if (!(piece instanceof Uint8Array)) throw damaged(`a part of ${shown(row.path)} is missing`);
		hash.update(piece.length > 0 ? piece : holeAt(at));
		if (piece.length > 0) yield { at, piece };
		at += piece.length || Math.min(CHUNK_BYTES, row.bytes - at);
	}
	if (at !== row.bytes || hash.digest('hex') !== row.sha256) throw damaged(`${shown(row.path)} is not what it was`);
}

/** A folder that is being filled; null for one that could not be made. */
type Held = { path: Buffer; close(): void } | null;

function writeFolder(backup: DatabaseSync, staging: string): Backup {
	const restored: Backup = { files: 0, bytes: 0, leftOut: { count: 0, named: [] } };
	const readChunk = prepareChunks(backup);
	// Step by step: paths may be longer than the system takes them.
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
			restored.files++;
			restored.bytes += row.bytes;
		}
	} finally {
		for (const folder of held) folder?.close();
	}
	return restored;
}

/** Linux takes any bytes for a name; elsewhere a backup of Linux may have some that nobody can make. */
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
	// Its owner has to fill it, and may do so for good.
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
		// Zeros at the end are not written.
		ftruncateSync(file, row.bytes);
		// Database and keys are the server's own; Windows, where a backup may come from, does not know modes.
		fchmodSync(file, depth > 0 ? row.mode & 0o777 : 0o600);
		futimesSync(file, row.modified_ms / 1000, row.modified_ms / 1000);
	} finally {
		closeSync(file);
	}
}

/** The database has absolute paths of installed skills: they begin with the new folder now. */
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

function damaged(what: string): BackupError {
	return new BackupError(`The backup is damaged: ${what}. Nothing was restored; take another one.`);
}

/** Of SQLite: https://sqlite.org/rescode.html */
const [CORRUPT, FULL, NOT_A_DATABASE] = [11, 13, 26];

const kindOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) & 0xff;

function explained(error: unknown, place: string): unknown {
	const { code, message } = error as NodeJS.ErrnoException;
	const kind = kindOf(error);
	if (code === 'ENOSPC' || code === 'EDQUOT' || kind === FULL) {
		return new BackupError(`The disk is full: ${place} was not written. Make room and try again.`, { cause: error });
	}
	if (kind === CORRUPT || kind === NOT_A_DATABASE) return damaged(message);
	if (code === 'ENOTEMPTY' || code === 'EEXIST') {
		return new BackupError(`Somebody else has just put files into ${place}. Nothing was restored.`, { cause: error });
	}
	if (code === 'EBUSY' || code === 'EXDEV') {
		const advice = 'Choose a folder inside of it with DATA_DIR.';
		return new BackupError(`${place} is a disk of its own, or in use, and cannot be replaced. ${advice}`, {
			cause: error
		});
	}
	return error;
}

function sync(path: string): void {
	const file = openSync(path, 'r+');
	try {
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
