/** The data folder: private to this user, and used by one server at a time, or by several that share a Postgres. */
import { randomUUID } from 'node:crypto';
import {
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { removeFolder } from './foreign-folders.ts';
import type { Log } from './log.ts';
import type { Replica } from './replica.ts';

export interface DataFolder {
	/** Records this server’s address once, for the error message of a second server. */
	tellAddress(address: string): void;
	/** Releases the folder for other servers. */
	close(): void;
}

/** Another process uses the folder; the message says which one and what to do. */
export class DataFolderInUse extends Error {
	override name = 'DataFolderInUse';
}

/** The server that uses the folder, stored in `server.json`. */
interface Holder {
	pid: number;
	/** Containers have their own process ids. */
	host: string;
	/** The started script: `server.js`, `mcp.ts`. */
	program: string;
	/** null while starting, or without an address. */
	address: string | null;
	/** One of several; this one started last. */
	isShared?: boolean;
}

/** SQLite’s result code for a locked database. */
const BUSY = 5;

/**
 * Creates and locks the folder, until `close` or the end of this process. The lock is the system’s, so no stale file can
 * remain; it works wherever SQLite’s locks do. Also sets the umask, so that nothing this process or its children create is
 * open to other users. `isShared`: with others that say the same.
 * @throws DataFolderInUse
 */
export function openDataFolder(dir: string, log: Log, { isShared = false } = {}): DataFolder {
	const release = take(dir, isShared);
	warnOfOpenFolder(dir, log);
	const file = join(dir, 'server.json');
	const tell = (address: string | null) => {
		const program = basename(process.argv[1] ?? 'node');
		const holder: Holder = { pid: process.pid, host: hostname(), program, address, ...(isShared && { isShared }) };
		const made = `${file}.${randomUUID()}`;
		try {
			writeFileSync(made, `${JSON.stringify(holder)}\n`);
			renameSync(made, file);
		} catch (error) {
			rmSync(made, { force: true });
			// The lock holds anyway.
			log.error({ error: String(error) }, 'couldn’t record who uses the data folder');
		}
	};
	let isTold = false;
	let isClosed = false;
	tell(null);
	return {
		tellAddress(address) {
			if (isTold) return;
			isTold = true;
			tell(address);
		},
		close() {
			if (isClosed) return;
			isClosed = isTold = true;
			// Others may still be there, and have nothing else that tells of them.
			if (!isShared) rmSync(file, { force: true });
			release();
		}
	};
}

/** Says which Postgres the folder belongs to. A folder without it belongs to the SQLite file in it, or to nobody. */
const MARK = 'database.json';
const SQLITE = 'app.sqlite';

/**
 * Of the server that has locked the folder. Null: SQLite. A dump keeps `id`, unless it's older than ids, and `createdAt`.
 * `isEmpty`: nothing has ever been stored in it.
 */
export type UsedDatabase = (Mark & { isEmpty: boolean }) | null;

interface Mark {
	id: string;
	/** ISO time. Folders that were marked before it was stored lack it. */
	createdAt?: string | undefined;
}

/**
 * Two databases with one folder would delete each other's files. A new folder becomes that of its first database.
 * @throws Error if it belongs to another one; the message says what to do
 */
export function claimFolder(dir: string, database: UsedDatabase): void {
	const file = join(dir, MARK);
	const owner = readMark(file);
	if (database === null) {
		if (owner === null) return;
		throw new Error(
			`The data folder ${dir} belongs to a Postgres database, and DATABASE_URL isn’t set. Set it, or choose another folder ` +
				`with DATA_DIR. To start with an empty SQLite database here, delete ${file}.`
		);
	}
	if (owner === null && database.isEmpty && existsSync(join(dir, SQLITE))) {
		throw new Error(
			`The data folder ${dir} belongs to the SQLite database in it, and the Postgres database of DATABASE_URL is empty. ` +
				'Chats, settings, API keys, saved secrets and what is known of installed skills aren’t taken along. Choose an empty ' +
				`folder with DATA_DIR; with it, or with an empty database here once you’ve moved ${SQLITE} away, you start anew. ` +
				'Without DATABASE_URL, all is as it was.'
		);
	}
	if (owner === null) writeMark(file, database);
	// Another database may have been faster.
	const marked = owner ?? readMark(file);
	const { id, createdAt } = database;
	if (marked?.id === id || (createdAt !== undefined && marked?.createdAt === createdAt)) {
		if (marked?.id !== id || marked.createdAt !== createdAt) writeMark(file, database, { replaces: true });
		return;
	}
	const minute = (time: string | undefined) => time?.slice(0, 16).replace('T', ' ') ?? 'an unknown time';
	throw new Error(
		`The data folder ${dir} belongs to another Postgres database than that of DATABASE_URL. Choose another folder with ` +
			`DATA_DIR, or the other database with DATABASE_URL. That of the folder was created at ${minute(marked?.createdAt)}, ` +
			`this one at ${minute(createdAt)} (UTC). If this one has taken its place for good, delete ${file}.`
	);
}

/** Null if there is none. @throws Error if it says nothing */
function readMark(file: string): Mark | null {
	let text: string;
	try {
		text = readFileSync(file, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
		throw error;
	}
	try {
		const { postgres, createdAt } = JSON.parse(text) as { postgres?: unknown; createdAt?: unknown };
		if (typeof postgres === 'string') {
			return { id: postgres, createdAt: typeof createdAt === 'string' ? createdAt : undefined };
		}
	} catch {
		// Said below.
	}
	throw new Error(
		`${file} is damaged. It says which database the folder belongs to. If it’s that of this server, delete it.`
	);
}

/** Whole or not at all. Leaves one that is there, unless it `replaces` it. */
function writeMark(file: string, { id, createdAt }: Mark, { replaces = false } = {}): void {
	const made = `${file}.${randomUUID()}`;
	writeFileSync(made, `${JSON.stringify({ postgres: id, createdAt })}\n`);
	try {
		if (replaces) renameSync(made, file);
		else linkSync(made, file);
	} catch (error) {
		// Some file systems have no links.
		if (replaces || (error as NodeJS.ErrnoException).code !== 'EEXIST') renameSync(made, file);
	}
	rmSync(made, { force: true });
}

/** Folder of the server's own folders, if several share a data folder. */
const SERVERS = 'servers';

/**
 * A folder that no other server uses: the data folder itself, or one in it that goes with this server. Also removes those
 * of servers that have stopped.
 */
export async function openOwnFolder(dataDir: string, replica: Replica, log: Log) {
	if (!replica.isShared) return { dir: dataDir, close: async () => undefined };
	const nameOf = (id: string) => id.slice(0, 8);
	const at = (name: string) => join(dataDir, SERVERS, name);
	const remove = (name: string) =>
		removeFolder(at(name)).catch((error: unknown) => {
			log.error({ error: String(error), folder: at(name) }, 'couldn’t remove the folder of a server that has stopped');
		});
	const own = nameOf(replica.id);
	mkdirSync(at(own), { recursive: true });
	const sweep = async (): Promise<void> => {
		// Read in this order: each is told to the others before its folder is there.
		const names = readdirSync(join(dataDir, SERVERS));
		const live = new Set([...(await replica.live())].map(nameOf));
		for (const name of names) if (name !== own && !live.has(name)) await remove(name);
	};
	await sweep();
	// Anybody who may connect to the database can send words: who has stopped is read, and no word becomes a path.
	replica.hear('gone', () => {
		sweep().catch((error: unknown) =>
			log.info({ reason: String(error) }, 'Couldn’t look for folders of stopped servers')
		);
	});
	return { dir: at(own), close: () => remove(own) };
}

/** @throws Error if the folder can't be created or written */
function take(dir: string, isShared: boolean): () => void {
	try {
		mkdirSync(dir, { recursive: true, mode: 0o700 });
		process.umask(0o077);
		return lock(dir, isShared);
	} catch (error) {
		if (error instanceof DataFolderInUse) throw error;
		const reason = (error as Error).message;
		throw new Error(`Couldn’t use ${dir} as the data folder: ${reason}. Choose another with DATA_DIR.`, {
			cause: error
		});
	}
}

/**
 * Holds a transaction on an empty SQLite database: an exclusive one, or one that reads, as any number can. Only SQLite may
 * open the file: closing any descriptor of it would release the process’s locks.
 */
function lock(dir: string, isShared: boolean): () => void {
	const database = new DatabaseSync(join(dir, 'server.lock'), { timeout: 0 });
	try {
		// Avoids an empty journal file.
		database.exec(`pragma journal_mode = memory; ${isShared ? READS : 'begin exclusive'}`);
	} catch (error) {
		database.close();
		if ((error as { errcode?: number }).errcode !== BUSY) throw error;
		throw new DataFolderInUse(describe(dir, readHolder(dir)), { cause: error });
	}
	return () => database.close();
}

/** A transaction takes its lock with the first statement. */
const READS = 'begin; select count(*) from sqlite_schema';

function describe(dir: string, holder: Holder | null): string {
	const advice = 'Stop that server first, or choose another folder with DATA_DIR.';
	if (!holder) return `Another server is using the data folder ${dir}. ${advice}`;
	const { pid, host, program, address, isShared = false } = holder;
	if (isShared) {
		const hint = 'Stop all of them first, or choose another folder with DATA_DIR.';
		return `Servers with DATABASE_URL are using the data folder ${dir}. ${hint}`;
	}
	const where = host === hostname() ? '' : ` on ${host}`;
	const at = address === null ? '' : ` at ${address}`;
	return `Another server is using the data folder ${dir}: process ${pid}${where} (${program})${at}. ${advice}`;
}

/** null if not recorded yet. */
function readHolder(dir: string): Holder | null {
	try {
		return JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8')) as Holder;
	} catch {
		return null;
	}
}

/** Only warns, because the permissions may be intended, such as for a group. */
function warnOfOpenFolder(dir: string, log: Log): void {
	if (process.platform === 'win32' || (statSync(dir).mode & 0o077) === 0) return;
	const quoted = `'${dir.replaceAll("'", String.raw`'\''`)}'`;
	log.error({}, `Other users of this computer can read the data folder. To close it: chmod -R go-rwx ${quoted}`);
}
