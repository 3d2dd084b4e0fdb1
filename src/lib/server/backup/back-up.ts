/** Creates a backup of a data folder as one SQLite file, while the server runs. */
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
/** Retries if skills are installed or removed meanwhile. */
const ATTEMPTS = 5;
// Windows has neither flag.
const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
/** Errors of the system, not of one file. */
const OUT_OF_ORDER = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM']);
/** Range of dates in JavaScript, in milliseconds. */
const MAX_TIME = 8.64e15;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/**
 * Writes the backup to a new file, atomically. The database is a snapshot; files are read after it, so that all files it
 * names are included, except those deleted meanwhile. `hasDatabase` false: the database is elsewhere, only files are read.
 * @throws BackupError
 */
export function backUp(dataDir: string, file: string, { hasDatabase = true } = {}): Backup {
	if (!existsSync(hasDatabase ? join(dataDir, DATABASE) : dataDir)) {
		const what = hasDatabase ? `No database found in ${dataDir}.` : `The data folder ${dataDir} doesn’t exist.`;
		throw new BackupError(`${what} Set DATA_DIR to the server’s data folder.`);
	}
	if (!existsSync(dirname(file))) throw new BackupError(`The folder ${dirname(file)} doesn’t exist. Create it first.`);
	if (`${realpathSync(dirname(file))}${sep}`.startsWith(`${realpathSync(dataDir)}${sep}`)) {
		throw new BackupError('A backup can’t be saved in the data folder. Choose another place.');
	}
	refuseExisting(file);
	const partial = `${file}.partial`;
	const snapshot = `${partial}-database`;
	try {
		// It contains secrets.
		closeSync(openSync(partial, 'wx', 0o600));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw explained(error, partial);
		const message = `${partial} already exists: another backup is running or was interrupted.`;
		throw new BackupError(`${message} If none is running, delete that file.`, { cause: error });
	}
	try {
		for (let attempt = 1; ; attempt++) {
			const made = writeBackup(dataDir, { partial, snapshot: hasDatabase ? snapshot : null });
			if (made) {
				whileOpen(partial, 'r+', fsyncSync);
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

/** null if skills were moved meanwhile, so that database and folders may not match. Without a `snapshot`, no database. */
function writeBackup(
	dataDir: string,
	{ partial, snapshot }: { partial: string; snapshot: string | null }
): Backup | null {
	const backup = new DatabaseSync(partial);
	const live =
		snapshot === null ? null : new DatabaseSync(join(dataDir, DATABASE), { readOnly: true, timeout: 30_000 });
	try {
		const installed = live && snapshot !== null ? takeSnapshot(live, snapshot) : null;
		// An incomplete backup is discarded, so no journal is needed; the file is synced at the end.
		backup.exec(`pragma journal_mode = off; pragma synchronous = off; pragma application_id = ${APPLICATION_ID};
			pragma user_version = ${FORMAT}; begin; ${TABLES[FORMAT]}`);
		const writer = new BackupWriter(backup, { hasDatabase: snapshot !== null });
		if (snapshot !== null) {
			whileOpen(snapshot, NO_LINK, (database) => writer.addFile(Buffer.from(DATABASE), database));
			rmSync(snapshot);
		}
		addFolder(writer, Buffer.from(toNamespacedPath(dataDir)), null, 0);
		writer.end(dataDir);
		backup.exec('commit');
		return live === null || installed === readInstalledFrom(live) ? writer.made : null;
	} finally {
		backup.close();
		live?.close();
	}
}

/** Copies the database to a new file. Returns the folders of installed and removed skills in it. */
function takeSnapshot(live: DatabaseSync, snapshot: string): string {
	rmSync(snapshot, { force: true });
	closeSync(openSync(snapshot, 'wx', 0o600));
	live.prepare('vacuum into ?').run(snapshot);
	return readInstalled(snapshot);
}

/** Folders of installed and removed skills in the database. */
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
	readonly made: Backup;
	readonly #database;
	readonly #addRow;
	readonly #addChunk;
	readonly #seal = new Seal();
	readonly #buffer = Buffer.alloc(CHUNK_BYTES);

	constructor(database: DatabaseSync, { hasDatabase }: Pick<Backup, 'hasDatabase'>) {
		this.made = { hasDatabase, files: 0, bytes: 0, leftOut: { count: 0, named: [] } };
		this.#database = database;
		this.#addRow = database.prepare(`insert into files (path, is_folder, mode, modified_ms, first_chunk, chunks, bytes,
			sha256) values (?, ?, ?, ?, ?, ?, ?, ?)`);
		this.#addChunk = database.prepare('insert into chunks (bytes) values (?)');
	}

	addFolder(path: Buffer, { mode, mtimeMs }: Stats): void {
		const facts = { mode: mode & 0o777, modified_ms: timeOf(mtimeMs) };
		this.#add({ path, is_folder: 1, ...facts, first_chunk: null, chunks: 0, bytes: 0, sha256: null });
	}

	/** Reads only the current size, so that a growing file can’t prevent the end. */
	addFile(path: Buffer, descriptor: number): void {
		const { mode, mtimeMs, size } = fstatSync(descriptor);
		const hash = createHash('sha256');
		let [bytes, chunks] = [0, 0];
		let firstChunk: number | null = null;
		while (bytes < size) {
			const read = readSync(descriptor, this.#buffer, 0, Math.min(CHUNK_BYTES, size - bytes), null);
			if (read === 0) break;
			const piece = this.#buffer.subarray(0, read);
			// A sparse file may be larger than any disk.
			const isHole = (read === CHUNK_BYTES || bytes + read === size) && piece.equals(ZEROS.subarray(0, read));
			const { lastInsertRowid } = this.#addChunk.run(isHole ? ZEROS.subarray(0, 0) : piece);
			firstChunk ??= Number(lastInsertRowid);
			hash.update(isHole ? holeAt(bytes) : piece);
			bytes += read;
			chunks++;
		}
		const facts = { mode: mode & 0o777, modified_ms: timeOf(mtimeMs) };
		const sha256 = hash.digest('hex');
		this.#add({ path, is_folder: 0, ...facts, first_chunk: firstChunk, chunks, bytes, sha256 });
		this.made.files++;
		this.made.bytes += bytes;
	}

	leaveOut(path: Buffer, reason: string): void {
		leaveOut(this.made.leftOut, path, reason);
	}

	/** Writes the seal that completes the backup. */
	end(dataDir: string): void {
		const madeAt = new Date().toISOString();
		const digest = this.#seal.digest(madeAt, dataDir);
		this.#database.prepare('insert into backup values (?, ?, ?, ?)').run(madeAt, dataDir, this.#seal.rows, digest);
	}

	#add(row: FileRow): void {
		const { path, is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256 } = row;
		this.#addRow.run(path, is_folder, mode, modified_ms, first_chunk, chunks, bytes, sha256);
		this.#seal.add(row);
	}
}

const timeOf = (mtimeMs: number): number => Math.max(-MAX_TIME, Math.min(MAX_TIME, Math.trunc(mtimeMs)));

/**
 * Adds everything in `folder`. Below the first level, which belongs to the operator, no links are followed. Names are
 * bytes, because on Linux they may not be text.
 */
function addFolder(writer: BackupWriter, folder: Buffer, path: Buffer | null, depth: number): void {
	for (const name of namesIn(folder)) {
		const text = name.toString('latin1');
		if (depth === 0 && (MADE_AGAIN.test(text) || text === DATABASE)) continue;
		if (text.startsWith(UPLOADING)) continue;
		const [here, within] = [inside(folder, name), path === null ? name : inside(path, name, '/')];
		try {
			// The operator may link a first-level folder to another disk; deeper links may come from scripts.
			const facts = depth === 0 ? statSync(here) : lstatSync(here);
			if (facts.isDirectory()) enterFolder(writer, here, within, depth);
			else if (facts.isFile()) takeFile(writer, here, within, depth);
			else writer.leaveOut(within, 'a link, or not a file');
		} catch (error) {
			passOver(writer, within, depth, error as NodeJS.ErrnoException);
		}
	}
}

/** Systems may list a file twice while it is being renamed. */
function namesIn(folder: Buffer): Buffer[] {
	const names = readdirSync(folder, { encoding: 'buffer' }).sort((a, b) => Buffer.compare(a, b));
	return names.filter((name, index) => index === 0 || !names[index - 1]?.equals(name));
}

/** Scripts may create unreadable or locked files, which must not stop a backup. */
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
	const descriptors = DESCRIPTORS;
	if (!descriptors) {
		writer.addFolder(path, statSync(here));
		return addFolder(writer, here, path, depth + 1);
	}
	const noLink = depth === 0 ? 0 : constants.O_NOFOLLOW;
	whileOpen(here, constants.O_RDONLY | constants.O_DIRECTORY | noLink, (folder) => {
		writer.addFolder(path, fstatSync(folder));
		addFolder(writer, Buffer.from(join(descriptors, String(folder))), path, depth + 1);
	});
}

function takeFile(writer: BackupWriter, here: Buffer, path: Buffer, depth: number): void {
	whileOpen(here, depth === 0 ? constants.O_RDONLY : NO_LINK, (file) => {
		if (fstatSync(file).isFile()) writer.addFile(path, file);
		else writer.leaveOut(path, 'a link, or not a file');
	});
}

function whileOpen(path: string | Buffer, flags: string | number, use: (descriptor: number) => void): void {
	const descriptor = openSync(path, flags);
	try {
		use(descriptor);
	} finally {
		closeSync(descriptor);
	}
}
