/** The store in Postgres, which several servers can share. */
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg';
import type { Log } from '../log.ts';
import { ConnectionLost } from './errors.ts';
import { migrate } from './migrations.ts';
import type { Database } from './schema.ts';
import { createStore, type Store } from './store.ts';

export interface PostgresOptions {
	/** For what a pooler such as PgBouncer can't carry: migrations, LISTEN and session locks. Default: the same. */
	directUrl?: string | undefined;
	/** How long to wait at the start for a server that isn't there yet. Default 15,000. */
	startMs?: number;
	/** How long a query waits for a server that is gone for a moment. Default 5,000. */
	reconnectMs?: number;
	/** A statement that takes longer is ended by the server; not with a pooler. Default 30,000. */
	statementMs?: number;
	/** The same for one that waits so long for what somebody has locked. Default 5,000: less than what waits for a connection has. */
	lockMs?: number;
	/** A connection on which no answer comes is given up: its machine is gone. Default 35,000. */
	silenceMs?: number;
	log?: Log;
}

/** At most so many in a pool; LISTEN and the lock of a server add 2. */
const CONNECTIONS = 10;
/** For a connection, new or from the pool. */
const CONNECT_MS = 10_000;
const IDLE_MS = 300_000;
const OLDEST = 13;

/**
 * Opens and migrates the database; waits for its server if that is just starting.
 *
 * @throws {Error} saying what to do, without the password, if it can't be used or was written by a newer version.
 */
export async function openPostgresStore(url: string, options: PostgresOptions = {}): Promise<Store> {
	const { directUrl = url } = options;
	const isDirect = directUrl === url;
	const setting = isDirect ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
	const client = await connectPostgres(directUrl, { ...options, setting });
	try {
		await requireUsable(client);
		if (!isDirect) await requireSame(client, await connectPostgres(url, options));
		const limits = isDirect ? limitsOf(options) : {};
		await requireSessions(client, await connectPostgres(directUrl, { ...options, setting, limits }));
		await migrate(new Kysely<Database>({ dialect: new PostgresDialect({ pool: poolOfOne(client) }) }));
	} finally {
		await client.end();
	}
	return createStore(openPostgres(url, options));
}

/** Opens the database without migrating it. Connects with the first query. */
export function openPostgres(url: string, options: PostgresOptions = {}): Kysely<Database> {
	return new Kysely<Database>({ dialect: new PostgresDialect({ pool: createPool(url, options) }) });
}

interface ConnectOptions extends Pick<PostgresOptions, 'startMs' | 'log'> {
	/** The setting with this address, for errors. */
	setting?: 'DATABASE_URL' | 'DATABASE_DIRECT_URL';
	/** As connections of the pool have. Default: none. */
	limits?: ClientConfig;
}

/** A pooler refuses these; there, they're settings of the role. */
function limitsOf({ statementMs = 30_000, lockMs = 5_000 }: PostgresOptions): ClientConfig {
	return {
		statement_timeout: statementMs,
		lock_timeout: lockMs,
		idle_in_transaction_session_timeout: statementMs
	};
}

/**
 * A connection of its own, without a limit of time for its statements: for migrations, LISTEN and session locks. Emits
 * `error` when it's lost. Waits for a server that is just starting.
 *
 * @throws {Error} saying what to do, without the password.
 */
export async function connectPostgres(
	url: string,
	{ startMs = 15_000, log, setting = 'DATABASE_URL', limits = {} }: ConnectOptions = {}
): Promise<Client> {
	const until = performance.now() + startMs;
	for (let waitMs = 100, isTold = false; ; waitMs = Math.min(waitMs * 2, 1000)) {
		const client = createClient({ ...configOf(url), ...limits }, setting);
		try {
			await client.connect();
			return client;
		} catch (error) {
			await client.end().catch(() => undefined);
			if (!isAbsent(error) || performance.now() >= until) throw explain(error, client, setting);
			if (!isTold) log?.info({ place: placeOf(client), reason: reasonOf(error) }, 'Waiting for Postgres');
			isTold = true;
		}
		await delay(waitMs);
	}
}

/** @throws {Error} if a certificate that its address names can't be read */
function createClient(config: ClientConfig, setting: string): Client {
	try {
		return new Client(config);
	} catch (error) {
		const hint = `Correct sslrootcert, sslcert or sslkey in ${setting}.`;
		throw new Error(`Couldn’t read a certificate for Postgres (${reasonOf(error)}). ${hint}`, { cause: error });
	}
}

function configOf(url: string): ClientConfig {
	return {
		// The driver verifies with these, too, but warns that a later version won't.
		connectionString: url.replace(/([?&]sslmode=)(require|verify-ca)(?=&|$)/, '$1verify-full'),
		fallback_application_name: 'openrouter-skills',
		connectionTimeoutMillis: CONNECT_MS,
		keepAlive: true,
		keepAliveInitialDelayMillis: 10_000,
		types: { getTypeParser }
	};
}

/** Counts and sums are numbers, as in SQLite; what isn't exact as a number stays text. */
const getTypeParser = ((oid: number, format: 'text' | 'binary') =>
	oid === types.builtins.INT8 && format !== 'binary' ? readInt8 : types.getTypeParser(oid, format)) as never;

function readInt8(text: string): number | string {
	const value = Number(text);
	return Number.isSafeInteger(value) ? value : text;
}

/** Kysely's view of one connection, which stays open. */
function poolOfOne(client: Client): PostgresPool {
	const connection = { query: client.query.bind(client), release: () => undefined } as unknown as PostgresPoolClient;
	return { connect: async () => connection, end: async () => undefined, options: {} };
}

/** Connections that may be lost at any time: what is safe to do again says so (`ConnectionLost`). */
function createPool(url: string, options: PostgresOptions): PostgresPool {
	const { directUrl = url, reconnectMs = 5_000, silenceMs = 35_000, log } = options;
	const pool = new Pool({
		...configOf(url),
		max: CONNECTIONS,
		idleTimeoutMillis: IDLE_MS,
		...(directUrl === url && limitsOf(options))
	});
	const lost = new WeakSet<object>();
	// Without a listener, the loss of a connection would end the process.
	pool.on('error', (error) => log?.info({ reason: reasonOf(error) }, 'Lost a connection to Postgres'));
	pool.on('connect', (client) => {
		client.on('error', () => lost.add(client));
		client.on('end', () => lost.add(client));
	});

	const guard = (client: PoolClient): PostgresPoolClient => {
		let stage: 'alone' | 'transaction' | 'ending' = 'alone';
		const query = async (sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
			if (BEGINS.test(sql)) stage = 'transaction';
			if (sql === 'commit') stage = 'ending';
			const silence = setTimeout(() => {
				lost.add(client);
				// Also ends what it's waiting for.
				void (client as unknown as Client).end().catch(() => undefined);
			}, silenceMs);
			try {
				const result = await client.query(sql, [...parameters]);
				if (sql === 'commit' || sql === 'rollback') stage = 'alone';
				return result as unknown as PostgresQueryResult<unknown>;
			} catch (error) {
				if (!lost.has(client) && !isAbsent(error)) throw error;
				// Whether a commit or a statement alone arrived can't be known.
				throw new ConnectionLost(error, {
					isUnwritten: stage === 'transaction' || (stage === 'alone' && READS.test(sql))
				});
			} finally {
				clearTimeout(silence);
			}
		};
		return { query: query as PostgresPoolClient['query'], release: (destroy) => client.release(destroy) };
	};

	return {
		options: pool.options,
		end: () => pool.end(),
		async connect() {
			const until = performance.now() + reconnectMs;
			for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 500)) {
				try {
					return guard(await pool.connect());
				} catch (error) {
					if (!isAbsent(error) || pool.ending || performance.now() >= until) {
						throw new ConnectionLost(error, { isUnwritten: false });
					}
				}
				await delay(waitMs);
			}
		}
	};
}

const BEGINS = /^(begin|start transaction)\b/;
const READS = /^\s*(select|with recursive)\b/i;

/** Postgres: can't connect now, shutting down, too many connections, idle for too long. Node: nobody there, or not any more. */
const ABSENT =
	/^(08...|53300|57P0[1-3]|25P0[34]|ECONN(REFUSED|RESET)|E(PIPE|NOENT|NOTFOUND|AI_AGAIN|TIMEDOUT)|E(HOST|NET)UNREACH)$/;
/** PgBouncer has one code for all, also for what may be over in a moment; these aren't. */
const REFUSED = /startup parameter|authentication failed/;
const NO_DATABASE = /^no such database/;
/** The driver has no codes for what happens to its socket. */
const DROPPED = /^Connection terminated|^Client (has encountered a connection error|was closed)/;

/** Whether it may be there again in a moment. */
function isAbsent(error: unknown): boolean {
	if (!(error instanceof Error) || REFUSED.test(error.message) || NO_DATABASE.test(error.message)) return false;
	return ('code' in error && ABSENT.test(String(error.code))) || DROPPED.test(error.message);
}

/** Node says nothing about several addresses of a host that all failed. */
function reasonOf(error: unknown): string {
	const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
	return first instanceof Error ? first.message : String(first);
}

function placeOf({ host, port }: Client): string {
	return host.startsWith('/') ? host : `${host}:${port}`;
}

/** Without the error itself, which may hold the address with its password. */
function explain(error: unknown, client: Client, setting: string): Error {
	const [place, reason] = [placeOf(client), reasonOf(error)];
	const code = error instanceof Error && 'code' in error ? String(error.code) : '';
	if (/startup parameter/.test(reason)) {
		const hint = 'Keep its address in DATABASE_URL, and set DATABASE_DIRECT_URL to that of Postgres itself.';
		return new Error(`A pooler at ${place} refuses our settings (${reason}). ${hint}`);
	}
	if (/no encryption/.test(reason)) {
		const hint = `Add ?sslmode=verify-full to ${setting}, and &sslrootcert=/path/ca.pem for a certificate of your own.`;
		return new Error(`Postgres at ${place} doesn’t take connections without TLS (${reason}). ${hint}`);
	}
	if (/does not support SSL/.test(reason)) {
		const hint = `Turn on “ssl” there, or set sslmode=disable in ${setting} if nobody else can listen.`;
		return new Error(`Postgres at ${place} has no TLS. ${hint}`);
	}
	if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
		const hint = `Use the name in the certificate in ${setting}.`;
		return new Error(`The certificate of Postgres at ${place} is for another name (${reason}). ${hint}`);
	}
	if (/^CERT_|SELF_SIGNED_CERT|^UNABLE_TO_/.test(code)) {
		const hint = `If it’s one of your own, name its authority’s certificate in ${setting}: sslrootcert=/path/ca.pem.`;
		return new Error(`The certificate of Postgres at ${place} can’t be trusted (${code}). ${hint}`);
	}
	if (code === '28P01' || code === '28000' || /password must be a string|authentication failed/.test(reason)) {
		const hint = `Check the user and the password in ${setting}.`;
		return new Error(`Postgres at ${place} refused the user “${client.user}” (${reason}). ${hint}`);
	}
	if (code === '3D000' || NO_DATABASE.test(reason)) {
		const hint = `Create it with createdb ${client.database}, or name another one in ${setting}.`;
		return new Error(`Postgres at ${place} has no database “${client.database}”. ${hint}`);
	}
	return new Error(`Couldn’t reach Postgres at ${place} (${reason}). Start it, or correct ${setting}.`);
}

/** Both are the same database, with the same tables. Ends `pooled`. @throws {Error} otherwise */
async function requireSame(client: Client, pooled: Client): Promise<void> {
	// No two servers have started in the same microsecond.
	const asked = "select concat_ws(' ', pg_postmaster_start_time(), current_database(), current_schema()) as place";
	const placeThrough = async (on: Client) => (await on.query<{ place: string }>(asked)).rows[0]?.place;
	try {
		if ((await placeThrough(client)) === (await placeThrough(pooled))) return;
	} finally {
		await pooled.end();
	}
	throw new Error(
		'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases. The second must lead past the pooler to the same one.'
	);
}

/**
 * Each connection is one to Postgres, for as long as it's open. Ends `other`.
 *
 * @throws {Error} if there's a pooler in between, which carries neither LISTEN nor session locks
 */
async function requireSessions(client: Client, other: Client): Promise<void> {
	const pids: number[] = [];
	try {
		// In turns: a pooler hands on what is free, unless it happens to have others to serve.
		for (const on of [client, other, client, other, client, other]) {
			pids.push((await on.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0);
		}
	} finally {
		await other.end();
	}
	if (pids[0] !== pids[1] && pids.every((pid, index) => pid === pids[index % 2])) return;
	throw new Error(
		`There is a pooler in transaction mode between this server and Postgres (at ${placeOf(client)}). ` +
			'Keep its address in DATABASE_URL, and set DATABASE_DIRECT_URL to that of Postgres itself.'
	);
}

/** @throws {Error} for an old server, or a database that can't hold every text */
async function requireUsable(client: Client): Promise<void> {
	const asked = "select current_setting('server_version') as version, current_setting('server_encoding') as encoding";
	const [found] = (await client.query<{ version: string; encoding: string }>(asked)).rows;
	if (Number.parseInt(found?.version ?? '', 10) < OLDEST) {
		throw new Error(`Postgres ${found?.version} is too old. Use version ${OLDEST} or newer.`);
	}
	if (found?.encoding !== 'UTF8') {
		const hint = `Create one with createdb --encoding=UTF8 --template=template0, and name it in DATABASE_URL.`;
		throw new Error(
			`The database “${client.database}” can’t hold every text: its encoding is ${found?.encoding}. ${hint}`
		);
	}
}
