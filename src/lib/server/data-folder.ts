/** The data folder: for this user alone, and for one server at a time. */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from './log.ts';

export interface DataFolder {
	/** Where this server is reached, said once: for whoever starts a second one. */
	tellAddress(address: string): void;
	/** From here on another server may have the folder. */
	close(): void;
}

/** Another process has the folder; the message says which one, and what to do. */
export class DataFolderInUse extends Error {
	override name = 'DataFolderInUse';
}

/** Who has the folder, as it stands in `server.json`. */
interface Holder {
	pid: number;
	/** Processes of another container have their own ids. */
	host: string;
	/** The script that was started: `server.js`, `mcp.ts`. */
	program: string;
	/** null while it is starting, and for one that has none. */
	address: string | null;
}

/** Of SQLite, where somebody else has the lock. */
const BUSY = 5;

/**
 * Makes the folder where it is missing and takes it, until `close` or the end of this process, however that comes: the
 * lock is the system's, not a file that somebody would have to remove. It holds wherever SQLite's own locks do.
 *
 * From here on nothing that this process or one of its children makes is open to other users, whatever the umask was.
 * @throws {DataFolderInUse}
 */
export function openDataFolder(dir: string, log: Log): DataFolder {
	mkdirSync(dir, { recursive: true, mode: 0o700 });
	process.umask(0o077);
	const release = lock(dir);
	warnOfOpenFolder(dir, log);
	const file = join(dir, 'server.json');
	const tell = (address: string | null) => {
		const program = basename(process.argv[1] ?? 'node');
		const holder: Holder = { pid: process.pid, host: hostname(), program, address };
		try {
			writeFileSync(`${file}.new`, `${JSON.stringify(holder)}\n`);
			renameSync(`${file}.new`, file);
		} catch (error) {
			// The lock holds all the same; a full disk has others to tell of it.
			log.error({ error: String(error) }, 'couldn’t tell a second server who uses the data folder');
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

/**
 * An empty SQLite database in an exclusive transaction that writes nothing. Nobody may open the file but by SQLite: a
 * process that closes any descriptor of it gives its locks up.
 */
function lock(dir: string): () => void {
	const database = new DatabaseSync(join(dir, 'server.lock'), { timeout: 0 });
	try {
		// Else there would be an empty journal beside it.
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

/** null where it has not said who it is, yet. */
function readHolder(dir: string): Holder | null {
	try {
		return JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8')) as Holder;
	} catch {
		return null;
	}
}

/** Not closed without asking: somebody may have opened it on purpose, for a group say. */
function warnOfOpenFolder(dir: string, log: Log): void {
	if (process.platform === 'win32' || (statSync(dir).mode & 0o077) === 0) return;
	const quoted = `'${dir.replaceAll("'", String.raw`'\''`)}'`;
	log.error({}, `Other users of this computer can read the data folder. To close it: chmod -R go-rwx ${quoted}`);
}
