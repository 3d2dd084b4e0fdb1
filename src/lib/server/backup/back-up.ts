/** Makes a backup: what a data folder holds that cannot be made again, in one SQLite file, while a server goes on. */
import { createHash } from 'node:crypto';
import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	fsyncSync,
	lstatSync,
	openSync,
	readdirSync,
	readSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
	type Stats
} from 'node:fs';
import { dirname, join, sep, toNamespacedPath } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UPLOADING } from '../workspace-rooms.ts';
import {
	APPLICATION_ID,
	BackupError,
	CHUNK_BYTES,
	DATABASE,
	DESCRIPTORS,
	explained,
	holeAt,
	inside,
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

const FORMAT: Format = 2;
/** As often a backup begins anew when skills were installed or removed meanwhile. */
const ATTEMPTS = 5;
// Windows has neither flag, nor the things they are for.
const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** It is not the file that is at fault, and none of the others could be read either. */
const OUT_OF_ORDER = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** The times that JavaScript knows, in milliseconds. */
const MAX_TIME = 8.64e15;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/**
 * Writes the backup of a data folder to a new file, which is there whole or not at all. The database is that of one moment;
 * files are read after it, so that each one it names is there, but for what is deleted meanwhile.
 * @throws {BackupError}
 */
export function backUp(dataDir: string, file: string): Backup {
	if (!existsSync(join(dataDir, DATABASE))) {
		throw new BackupError(`No database found in ${dataDir}. Set DATA_DIR to the server’s data folder.`);
	}
	if (!existsSync(dirname(file))) throw new BackupError(`The folder ${dirname(file)} doesn’t exist. Create it first.`);
	if (`${realpathSync(dirname(file))}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`)) {
		throw new BackupError('A backup can’t be saved in the data folder. Choose another place.');
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
			`${partial} already exists: another backup is running or was interrupted. If none is running, delete that file.`,
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
				throw new BackupError(
					'Skills kept changing during the backup. Try again when no one installs or removes skills.'
				);
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
	throw new BackupError(`${file} already exists. Choose another name, or delete it.`);
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
			else writer.leaveOut(within, 'a link, or not a file');
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
	throw new BackupError(`Couldn’t read ${shown(path)} (${code}). Run the backup as the user that runs the server.`, {
		cause: error
	});
}

function enterFolder(writer: BackupWriter, here: Buffer, path: Buffer, depth: number): void {
	if (depth >= MAX_DEPTH) return writer.leaveOut(path, `a folder nested more than ${MAX_DEPTH} levels deep`);
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
		else writer.leaveOut(path, 'a link, or not a file');
	} finally {
		closeSync(file);
	}
}

function sync(path: string): void {
	const file = openSync(path, 'r+');
	try {
		fsyncSync(file);
	} finally {
		closeSync(file);
	}
}
