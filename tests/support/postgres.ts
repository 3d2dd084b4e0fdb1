/** A real Postgres for tests: in a temporary folder, on a Unix socket, gone with the process that started it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readdirSync } from 'node:fs';
import { appendFile, chmod, chown, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';

export interface TestPostgres {
	/** Address of the database `postgres`. */
	url: string;
	/** Folder of its socket. */
	folder: string;
	/** Address of a database: as the superuser, or as another role. */
	urlOf(database: string, role?: string): string;
	/** Creates an empty database, or a copy of one that nobody is connected to, and returns its address. */
	createDatabase(name: string, template?: string): Promise<string>;
	/** Runs statements in the database `postgres`. */
	sql(statements: string): Promise<unknown[]>;
	/** What it has logged. */
	log(): Promise<string>;
	/** Ends all its connections at once, as a crash does. */
	shutDown(): Promise<void>;
	/** After `shutDown`. */
	startAgain(): Promise<void>;
	restart(): Promise<void>;
	/** Ends it and deletes its folder. */
	stop(): Promise<void>;
}

const SUPERUSER = 'postgres';
/** The one role that must give a password; a test creates it. Everybody else on this machine is trusted. */
const LOCKED = 'local all locked scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n';
/** Waits for the end of its input, which is the end of this process, however it ends; then nothing is left. */
const GUARD = 'cat >/dev/null; "$@"; rm -rf "$FOLDER"';

const run = promisify(execFile);

export interface TestPostgresOptions {
	/** Where it also listens on 127.0.0.1, for programs that can’t use a socket. Default: nowhere. */
	port?: number;
	/** Folders that may have its programs. Default: those of PATH, then Debian’s, which aren’t in PATH. */
	places?: string[];
}

/** For `skipIf`: is there none on this machine? With REQUIRE_POSTGRES=1 the tests run, and fail. */
export function lacksPostgres({ places }: TestPostgresOptions = {}): boolean {
	return process.env.REQUIRE_POSTGRES !== '1' && findPrograms(places) === null;
}

/** Starts one, which takes about a second. @throws {Error} if there is none on this machine */
export async function startPostgres({ port, places }: TestPostgresOptions = {}): Promise<TestPostgres> {
	const programs = findPrograms(places);
	if (programs === null) throw new Error('Postgres isn’t installed. `sudo apt-get install postgresql` brings it.');
	// A short path: that of a socket has at most 107 bytes.
	const folder = await mkdtemp(join(tmpdir(), 'pg-'));
	const [data, logFile] = [join(folder, 'data'), join(folder, 'log')];
	const owner = process.getuid?.() === 0 ? await superuser() : null;
	const asOwner = owner === null ? [] : ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
	if (owner !== null) await chown(folder, owner.uid, owner.gid);
	await chmod(folder, 0o755);
	const commandOf = (program: string, ...args: string[]) => [...asOwner, join(programs, program), ...args];
	const call = async ([file = '', ...args]: string[]) => void (await run(file, args, { cwd: '/' }));
	const shutDownCommand = commandOf('pg_ctl', 'stop', '-D', data, '-s', '-w', '-m', 'immediate');

	const guard = spawn('/bin/sh', ['-c', GUARD, 'guard', ...shutDownCommand], {
		// In a group of its own, so that Ctrl-C doesn't end it before its work.
		detached: true,
		stdio: ['pipe', 'ignore', 'ignore'],
		env: { ...process.env, FOLDER: folder },
		cwd: '/'
	});
	const isGone = once(guard, 'close');
	guard.unref();
	if (guard.stdin instanceof Socket) guard.stdin.unref();

	const urlOf = (database: string, role = SUPERUSER) =>
		`postgres:///${database}?host=${encodeURIComponent(folder)}&user=${role}${port ? `&port=${port}` : ''}`;
	const sql = async (statements: string) => {
		const client = new Client(urlOf('postgres'));
		await client.connect();
		try {
			return (await client.query(statements)).rows as unknown[];
		} finally {
			await client.end();
		}
	};
	const shutDown = () => call(shutDownCommand);
	const startAgain = () => call(commandOf('pg_ctl', 'start', '-D', data, '-s', '-w', '-l', logFile));
	const log = () => readFile(logFile, 'utf8').catch(() => '');
	const stop = async () => {
		guard.ref();
		guard.stdin.end();
		await isGone;
	};

	try {
		const initial = ['-D', data, '-U', SUPERUSER, '-E', 'UTF8', '--locale=C', '--auth=trust', '--no-sync'];
		await call(commandOf('initdb', ...initial));
		await appendFile(join(data, 'postgresql.conf'), settings(folder, port));
		await writeFile(join(data, 'pg_hba.conf'), LOCKED);
		await startAgain();
	} catch (error) {
		const logged = await log();
		await stop();
		throw new Error(`Postgres didn’t start: ${String(error)}\n${logged}`, { cause: error });
	}
	return {
		url: urlOf('postgres'),
		folder,
		urlOf,
		sql,
		log,
		shutDown,
		startAgain,
		stop,
		async createDatabase(name, template = 'template0') {
			await sql(`create database "${name}" template "${template}"`);
			return urlOf(name);
		},
		async restart() {
			await shutDown();
			await startAgain();
		}
	};
}

/** Nothing must survive a power cut here; all that is committed does survive `restart`. */
function settings(folder: string, port: number | undefined): string {
	const lines = [
		`unix_socket_directories = '${folder}'`,
		port === undefined ? "listen_addresses = ''" : `listen_addresses = '127.0.0.1'\nport = ${port}`,
		'fsync = off',
		'full_page_writes = off',
		'autovacuum = off',
		'shared_buffers = 16MB',
		'max_connections = 150',
		'deadlock_timeout = 100ms'
	];
	return `${lines.join('\n')}\n`;
}

/** Folder of `pg_ctl`, `initdb` and `postgres`. */
function findPrograms(places = usualPlaces()): string | null {
	return places.find((folder) => isExecutable(join(folder, 'pg_ctl'))) ?? null;
}

function usualPlaces(): string[] {
	const debian = '/usr/lib/postgresql';
	const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
	return [...path, ...versionsIn(debian).map((version) => join(debian, version, 'bin'))];
}

/** Newest first. */
function versionsIn(folder: string): string[] {
	try {
		return readdirSync(folder).sort((a, b) => Number(b) - Number(a));
	} catch {
		return [];
	}
}

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Postgres refuses to run as root; Debian's package brings this user. */
async function superuser(): Promise<{ uid: number; gid: number }> {
	const idOf = async (option: string) => Number((await run('id', [option, 'postgres'])).stdout);
	return { uid: await idOf('-u'), gid: await idOf('-g') };
}
