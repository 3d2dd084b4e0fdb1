/** The data folder: private to this user, and used by one server at a time. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from './log.ts';

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
}

/** SQLite’s result code for a locked database. */
const BUSY = 5;

/**
 * Creates and locks the folder, until `close` or the end of this process. The lock is the system’s, so no stale file can
 * remain; it works wherever SQLite’s locks do. Also sets the umask, so that nothing this process or its children create is
 * open to other users.
 * @throws DataFolderInUse
 */
export function openDataFolder(dir: string, log: Log): DataFolder {
	const release = take(dir);
	warnOfOpenFolder(dir, log);
	const file = join(dir, 'server.json');
	const tell = (address: string | null) => {
		const program = basename(process.argv[1] ?? 'node');
		const holder: Holder = { pid: process.pid, host: hostname(), program, address };
		try {
			writeFileSync(`${file}.new`, `${JSON.stringify(holder)}\n`);
			renameSync(`${file}.new`, file);
		} catch (error) {
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
			rmSync(file, { force: true });
			release();
		}
	};
}

/** @throws Error if the folder can't be created or written */
function take(dir: string): () => void {
	try {
		mkdirSync(dir, { recursive: true, mode: 0o700 });
		process.umask(0o077);
		return lock(dir);
	} catch (error) {
		if (error instanceof DataFolderInUse) throw error;
		const reason = (error as Error).message;
		throw new Error(`Couldn’t use ${dir} as the data folder: ${reason}. Choose another with DATA_DIR.`, {
			cause: error
		});
	}
}

/**
 * Holds an exclusive transaction on an empty SQLite database. Only SQLite may open the file: closing any descriptor of it
 * would release the process’s locks.
 */
function lock(dir: string): () => void {
	const database = new DatabaseSync(join(dir, 'server.lock'), { timeout: 0 });
	try {
		// Avoids an empty journal file.
		database.exec('pragma journal_mode = memory; begin exclusive');
	} catch (error) {
		database.close();
		if ((error as { errcode?: number }).errcode !== BUSY) throw error;
		throw new DataFolderInUse(describe(dir, readHolder(dir)), { cause: error });
	}
	return () => database.close();
}

function describe(dir: string, holder: Holder | null): string {
	const advice = 'Stop that server first, or choose another folder with DATA_DIR.';
	if (!holder) return `Another server is using the data folder ${dir}. ${advice}`;
	const { pid, host, program, address } = holder;
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
