/** A backup: what a data folder holds that cannot be made again, in one SQLite file, made while a server goes on. */
import { createHash, randomBytes } from 'node:crypto';
import {
	chmodSync,
	closeSync,
	constants,
	existsSync,
	fchmodSync,
	fstatSync,
	fsyncSync,
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
import { basename, dirname, join, sep } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDataFolder } from './data-folder.ts';
import type { Log } from './log.ts';
import { problemOnWindows } from './safe-path.ts';

/** “orsk”: by it a backup is known among SQLite files. */
const APPLICATION_ID = 0x6f72736b;
const FORMAT = 1;
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
/** Gone, a link now, not a folder any more, a socket: what runs meanwhile may do that. */
const CHANGED = new Set(['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO']);

const TABLES = `
	create table backup (made_at text not null, data_dir text not null);
	create table files (id integer primary key, path text not null unique, is_folder integer not null,
		mode integer not null, modified_ms integer not null, first_chunk integer, chunks integer not null,
		bytes integer not null, sha256 text);
	create table chunks (id integer primary key, bytes blob not null);`;

/** What cannot be backed up or restored: what happened, and what to do. */
class BackupError extends Error {
	override name = 'BackupError';
}

export interface Backup {
	files: number;
	/** Of the files' contents. */
	bytes: number;
	/** Links, sockets and the like, which are no files: paths in the data folder. */
	leftOut: string[];
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
			pragma user_version = ${FORMAT}; begin; ${TABLES}`);
		backup.prepare('insert into backup values (?, ?)').run(new Date().toISOString(), dataDir);
		const writer = new BackupWriter(backup);
		const database = openSync(snapshot, NO_LINK);
		try {
			writer.addFile(DATABASE, database);
		} finally {
			closeSync(database);
		}
		rmSync(snapshot);
		addFolder(writer, dataDir);
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

class BackupWriter {
	readonly made: Backup = { files: 0, bytes: 0, leftOut: [] };
	readonly #addFile;
	readonly #addChunk;
	readonly #buffer = Buffer.alloc(CHUNK_BYTES);

	constructor(database: DatabaseSync) {
		this.#addFile = database.prepare(`insert into files (path, is_folder, mode, modified_ms, first_chunk, chunks, bytes,
			sha256) values (?, ?, ?, ?, ?, ?, ?, ?)`);
		this.#addChunk = database.prepare('insert into chunks (bytes) values (?)');
	}

	addFolder(path: string, { mode, mtimeMs }: Stats): void {
		this.#addFile.run(path, 1, mode & 0o777, Math.trunc(mtimeMs), null, 0, 0, null);
	}

	/** As much as there is now: who goes on writing does not keep the backup from ending. */
	addFile(path: string, descriptor: number): void {
		const { mode, mtimeMs, size } = fstatSync(descriptor);
		const hash = createHash('sha256');
		let [bytes, chunks] = [0, 0];
		let firstChunk: number | bigint | null = null;
		while (bytes < size) {
			const read = readSync(descriptor, this.#buffer, 0, Math.min(CHUNK_BYTES, size - bytes), null);
			if (read === 0) break;
			const piece = this.#buffer.subarray(0, read);
			const { lastInsertRowid } = this.#addChunk.run(piece);
			firstChunk ??= lastInsertRowid;
			hash.update(piece);
			bytes += read;
			chunks++;
		}
		this.#addFile.run(path, 0, mode & 0o777, Math.trunc(mtimeMs), firstChunk, chunks, bytes, hash.digest('hex'));
		this.made.files++;
		this.made.bytes += bytes;
	}
}

/** All below `folder`, which was opened without following a link, but for what the operator has put beside: the first level. */
function addFolder(writer: BackupWriter, folder: string, path = '', depth = 0): void {
	for (const { name } of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
		if (depth === 0 && (MADE_AGAIN.test(name) || name === DATABASE)) continue;
		if (name.startsWith(UPLOADING)) continue;
		const [here, inside] = [join(folder, name), depth === 0 ? name : `${path}/${name}`];
		try {
			// A folder of the first level may lie on another disk; below it a link is anybody's.
			const facts = depth === 0 ? statSync(here) : lstatSync(here);
			if (facts.isDirectory() && depth < MAX_DEPTH) enterFolder(writer, here, inside, depth);
			else if (facts.isFile()) takeFile(writer, here, inside);
			else writer.made.leftOut.push(inside);
		} catch (error) {
			const code = (error as NodeJS.ErrnoException).code ?? '';
			// Names that are no text cannot be told from files that are gone.
			if (CHANGED.has(code) && name.includes('\uFFFD')) writer.made.leftOut.push(inside);
			if (CHANGED.has(code)) continue;
			if (code !== 'EACCES' && code !== 'EPERM') throw error;
			throw new BackupError(`${inside} cannot be read (${code}). Make the backup as the user that runs the server.`, {
				cause: error
			});
		}
	}
}

function enterFolder(writer: BackupWriter, here: string, path: string, depth: number): void {
	if (!DESCRIPTORS) {
		writer.addFolder(path, statSync(here));
		return addFolder(writer, here, path, depth + 1);
	}
	const noLink = depth === 0 ? 0 : constants.O_NOFOLLOW;
	const folder = openSync(here, constants.O_RDONLY | constants.O_DIRECTORY | noLink);
	try {
		writer.addFolder(path, fstatSync(folder));
		addFolder(writer, join(DESCRIPTORS, String(folder)), path, depth + 1);
	} finally {
		closeSync(folder);
	}
}

function takeFile(writer: BackupWriter, here: string, path: string): void {
	const file = openSync(here, path.includes('/') ? NO_LINK : constants.O_RDONLY);
	try {
		if (fstatSync(file).isFile()) writer.addFile(path, file);
		else writer.made.leftOut.push(path);
	} finally {
		closeSync(file);
	}
}

interface FileRow {
	path: string;
	is_folder: number;
	mode: number;
	modified_ms: number;
	first_chunk: number | null;
	chunks: number;
	bytes: number;
	sha256: string | null;
}

/**
 * Makes a data folder of a backup. The folder must be empty or not be there; it is there whole or not at all, and no
 * server can use it meanwhile.
 * @throws {BackupError} DataFolderInUse
 */
export function restore(file: string, dataDir: string, log: Log): Omit<Backup, 'leftOut'> {
	const backup = openBackup(file);
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
			return restored;
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

function openBackup(file: string): DatabaseSync {
	if (!existsSync(file)) throw new BackupError(`There is no backup ${file}. Check its name.`);
	let database: DatabaseSync | undefined;
	try {
		database = new DatabaseSync(file, { readOnly: true });
		const { application_id: id } = database.prepare('pragma application_id').get() ?? {};
		const { user_version: format } = database.prepare('pragma user_version').get() ?? {};
		if (id !== APPLICATION_ID) throw new BackupError(`${file} is no backup. Name a file that npm run backup has made.`);
		if (format !== FORMAT) {
			throw new BackupError(`${file} is the backup of a newer version. Restore it with that version.`);
		}
		return database;
	} catch (error) {
		database?.close();
		if (error instanceof BackupError) throw error;
		if (kindOf(error) === CORRUPT) throw explained(error, file);
		const reason = error instanceof Error ? error.message : String(error);
		throw new BackupError(`${file} is no backup (${reason}). Name a file that npm run backup has made.`, {
			cause: error
		});
	}
}

function writeFolder(backup: DatabaseSync, staging: string): Omit<Backup, 'leftOut'> {
	const restored = { files: 0, bytes: 0 };
	const folders: { place: string; mode: number }[] = [];
	const readChunk = backup.prepare('select bytes from chunks where id = ?');
	const rows: Iterable<unknown> = backup.prepare('select * from files order by id').iterate();
	for (const row of rows as Iterable<FileRow>) {
		const segments = segmentsOf(row.path);
		if (MADE_AGAIN.test(segments[0] ?? '')) throw damaged(`it holds ${JSON.stringify(row.path)}`);
		const place = join(staging, ...segments);
		if (row.is_folder) {
			mkdirSync(place, { mode: 0o700 });
			folders.push({ place, mode: row.mode });
			continue;
		}
		writeFile(place, row, (id) => readChunk.get(id)?.bytes);
		restored.files++;
		restored.bytes += row.bytes;
	}
	if (!existsSync(join(staging, DATABASE))) throw damaged('it holds no database');
	// At last, the inner ones first: nothing can be put into a folder that is read-only.
	for (const { place, mode } of folders.reverse()) chmodSync(place, (mode & 0o777) | 0o700);
	return restored;
}

function writeFile(place: string, row: FileRow, read: (id: number) => unknown): void {
	const file = openSync(place, 'wx', 0o600);
	try {
		const hash = createHash('sha256');
		for (let number = 0; number < row.chunks; number++) {
			const bytes = read((row.first_chunk ?? 0) + number);
			if (!(bytes instanceof Uint8Array)) throw damaged(`a part of ${JSON.stringify(row.path)} is missing`);
			hash.update(bytes);
			for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
		}
		if (hash.digest('hex') !== row.sha256) throw damaged(`${JSON.stringify(row.path)} is not what it was`);
		// Database and keys are the server's own; Windows, where a backup may come from, does not know modes.
		fchmodSync(file, row.path.includes('/') ? row.mode & 0o777 : 0o600);
		futimesSync(file, row.modified_ms / 1000, row.modified_ms / 1000);
	} finally {
		closeSync(file);
	}
}

/** Of a path below the data folder, whoever wrote it into the backup. */
function segmentsOf(path: unknown): string[] {
	const segments = typeof path === 'string' ? path.split('/') : [''];
	const isBad = (name: string) =>
		['', '.', '..'].includes(name) ||
		name.includes('\0') ||
		(process.platform === 'win32' && (name.includes('\\') || problemOnWindows(name) !== null));
	if (segments.some(isBad)) throw damaged(`${JSON.stringify(path)} cannot be the name of a file here`);
	return segments;
}

/** The database has absolute paths of installed skills: they begin with the new folder now. */
function moveSkills(backup: DatabaseSync, path: string, dataDir: string): void {
	const { data_dir: before } = backup.prepare('select data_dir from backup').get() ?? {};
	if (typeof before !== 'string') throw damaged('it does not say where it was made');
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
