/** This server among others on the same Postgres: words between them, and who has stopped (decision 018). Alone with SQLite. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Notification } from 'pg';
import { AppError } from '../shared/errors.ts';
import { createLines, type Exclusively } from '../shared/in-turn.ts';
import { createOutageLog, type Log } from './log.ts';
import { CHANNEL, type Replicas } from './store/replicas.ts';
import type { Store } from './store/store.ts';

/**
 * What servers tell each other, with ids as words. `runs`: new events; `wants`: wishes for their owners; `lapsed`: runs without
 * an owner; `conversation`: it changed; `table`: what is kept in memory of it is old (`announcing`); `gone`: servers that
 * have stopped, also to the one that noticed; `responses`: new events of those in the background; `stops`: wishes that other
 * work stops; `grant`: an answer that counts for a whole chat; `jobs`: scripts for workers, or wishes about them; `outputs`:
 * news of those for servers.
 */
type Topic =
	| 'runs'
	| 'wants'
	| 'lapsed'
	| 'conversation'
	| 'table'
	| 'gone'
	| 'responses'
	| 'stops'
	| 'grant'
	| 'jobs'
	| 'outputs';

export interface Replica {
	/** This server start. */
	readonly id: string;
	/** Whether others may use the same database. */
	readonly isShared: boolean;
	/** False for a while after the connection was lost: others may seem to have stopped and haven't. */
	mayJudge(): boolean;
	/** Tells the other servers. Never rejects: who misses a word looks by itself now and then. */
	tell(topic: Topic, words: readonly string[]): void;
	/** Called with what others tell, and with nothing when words may have been missed. */
	hear(topic: Topic, listener: (words: readonly string[]) => void): void;
	/** Called once, by one server, for each other that has stopped without saying so. */
	onGone(listener: (id: string) => Promise<unknown>): void;
	/** Ids of the servers and workers that live, with this one. */
	live(): Promise<ReadonlySet<string>>;
	/** Among all servers. Its lock is lost with the connection to the database: after that, another may begin. */
	exclusively: Exclusively;
	/** Once all listeners are there. */
	start(): Promise<void>;
	close(): Promise<void>;
}

/** Ends what stopped servers have left: alone, all of it, before this one does anything; among others, each one's when it goes. */
export async function endLeft(replica: Replica, end: (bootId?: string) => Promise<unknown>): Promise<void> {
	if (replica.isShared) replica.onGone(end);
	else await end();
}

/** For a server that has its database for itself. */
export function soleReplica(): Replica {
	const id = randomUUID();
	return {
		id,
		isShared: false,
		mayJudge: () => true,
		tell: () => undefined,
		hear: () => undefined,
		onGone: () => undefined,
		live: async () => new Set([id]),
		exclusively: createLines(),
		start: async () => undefined,
		close: async () => undefined
	};
}

/** How often others are looked at. A killed one is noticed within this. */
const LOOK_EVERY_MS = 250;
const BEAT_EVERY_MS = 2_000;
/** After a lost connection, nobody is declared dead for so long: all may have lost theirs. */
const QUIET_MS = 5_000;
/** A machine that vanished keeps its lock until its connection times out; no beat for so long counts, too. */
const SILENT_SECONDS = 15;
/** First key of our advisory locks; the second is a server's. */
const LOCKS = 7;
/** The same for work that one server does at a time; the second is a hash of its name. */
const WORK_LOCKS = 8;
/**
 * Ends the connection that holds a server's lock. One that was paused would keep it, and the locks of its work, for as long as
 * its machine answers for it.
 */
const END_HOLDER = `
	select pg_terminate_backend(pid) from pg_locks
	where locktype = 'advisory' and classid = $1 and objid = $2 and objsubid = 2 and granted
		and database = (select oid from pg_database where datname = current_database())`;
/** How often a lock is tried that another server has. */
const TRY_EVERY_MS = 50;
/** How long work waits for the database. */
const RECONNECT_MS = 30_000;

const TELLING = 'Couldn’t tell the other servers';

/** These statements take milliseconds: a connection that is silent for so long is given up. */
const SILENCE_MS = 5_000;

async function inTime<Result>(on: Client, work: Promise<Result>): Promise<Result> {
	// It fails what it waits for.
	const silence = setTimeout(() => void on.end().catch(() => undefined), SILENCE_MS);
	try {
		return await work;
	} finally {
		clearTimeout(silence);
	}
}

interface SharedOptions {
	/** A connection of its own: no pooler carries LISTEN and session locks. */
	connect(): Promise<Client>;
	replicas: Replicas;
	log: Log;
	/** It runs scripts for servers. It notices who has stopped, but cleaning up after it is for a server. */
	isWorker?: boolean;
}

/** @throws if the database can't be reached */
export async function openReplica({ connect, replicas, log, isWorker = false }: SharedOptions): Promise<Replica> {
	const id = randomUUID();
	/** Another one for each connection: the database may hold the last one's lock until it notices that it's gone. */
	let lockKey = 0;
	const listeners = new Map<Topic, ((words: readonly string[]) => void)[]>();
	const goneListeners: ((id: string) => Promise<unknown>)[] = [];
	/** Servers that have stopped. */
	const noticed = new Set<string>();
	let client: Client | null = null;
	let quietUntil = 0;
	let isClosed = false;
	let timer: NodeJS.Timeout | undefined;
	let looking: Promise<void> = Promise.resolve();
	let cleaning: Promise<void> = Promise.resolve();
	let lastBeat = -Infinity;

	const outages = createOutageLog(log);
	const tell: Replica['tell'] = (topic, words) => {
		if (words.length === 0 || isClosed) return;
		replicas.tell(`${id} ${topic}`, words).then(
			() => outages.worked(TELLING),
			(error: unknown) => outages.failed(TELLING, error)
		);
	};
	const inLine = createLines();
	/** Tries again and again: waiting for it in the database would hold up what else this connection is for. */
	const lock = async (name: string): Promise<() => Promise<void>> => {
		for (let lostAt: number | null = null; ; await delay(TRY_EVERY_MS)) {
			const on = client;
			if (!on) {
				lostAt ??= performance.now();
				if (!isClosed && performance.now() - lostAt < RECONNECT_MS) continue;
				throw new AppError('unavailable', 'The server can’t reach its database. Try again in a moment.');
			}
			lostAt = null;
			const { rows } = await on
				.query<{ free: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as free', [WORK_LOCKS, name])
				.catch(() => ({ rows: [] }));
			if (rows[0]?.free !== true) continue;
			return async () => {
				// With its connection, a lock is gone.
				await on.query('select pg_advisory_unlock($1, hashtext($2))', [WORK_LOCKS, name]).catch(() => undefined);
			};
		}
	};

	const hearAll = (): void => {
		for (const each of listeners.values()) for (const listener of each) listener([]);
	};
	const onMessage = ({ payload = '' }: Notification): void => {
		const [from, topic, ...words] = payload.split(' ');
		if (from === id || words.length === 0) return;
		for (const listener of listeners.get(topic as Topic) ?? []) listener(words);
	};
	/** Listens before it locks: a word in between isn't missed. */
	const open = async (): Promise<Client> => {
		const opened = await connect();
		const key = randomInt(1, 2 ** 31 - 1);
		const drop = (): void => {
			if (client !== opened) return;
			client = null;
			quietUntil = performance.now() + QUIET_MS;
			if (!isClosed) log.error({}, 'Lost the connection for words between servers');
		};
		opened.on('error', drop);
		opened.on('end', drop);
		opened.on('notification', onMessage);
		try {
			await inTime(opened, opened.query(`listen ${CHANNEL}`));
			await inTime(opened, opened.query('select pg_advisory_lock($1, $2)', [LOCKS, key]));
		} catch (error) {
			await opened.end().catch(() => undefined);
			throw error;
		}
		lockKey = key;
		return opened;
	};
	/** What one can't do, another must not miss, nor the start of this server. */
	const cleanUp = async (gone: string): Promise<void> => {
		for (const listener of goneListeners) {
			await listener(gone).catch((error: unknown) =>
				log.error({ server: gone, error: String(error) }, 'Couldn’t clean up after a server that has stopped')
			);
		}
	};
	const bury = async (gone: string): Promise<void> => {
		if (isWorker ? noticed.has(gone) : !(await replicas.bury(gone))) return;
		noticed.add(gone);
		log.info({ server: gone }, 'Another server has stopped');
		tell('gone', [gone]);
		for (const listener of listeners.get('gone') ?? []) listener([gone]);
		// Whoever looks goes on: without its beats, this one would be taken for gone.
		cleaning = cleaning.then(() => cleanUp(gone));
	};

	/** Whoever's lock is free has stopped: the database frees it with its connection. */
	const look = async (on: Client): Promise<void> => {
		if (performance.now() - lastBeat >= BEAT_EVERY_MS) {
			lastBeat = performance.now();
			await replicas.beat({ id, lockKey });
		}
		if (performance.now() < quietUntil) return;
		const looked = on.query<{ id: string; lock_key: number; free: boolean; silent: boolean }>(
			`select id, lock_key, pg_try_advisory_lock($1, lock_key) as free,
				beat_at < now() - make_interval(secs => $3) as silent
			from replicas where id <> $2 and pg_postmaster_start_time() < now() - make_interval(secs => $4)`,
			[LOCKS, id, SILENT_SECONDS, QUIET_MS / 1000]
		);
		const { rows } = await inTime(on, looked);
		for (const other of rows) {
			if (other.free) await on.query('select pg_advisory_unlock($1, $2)', [LOCKS, other.lock_key]);
			else if (other.silent) await inTime(on, on.query(END_HOLDER, [LOCKS, other.lock_key]));
			if (other.free || other.silent) await bury(other.id);
		}
	};
	let isAway = false;
	const tick = async (): Promise<void> => {
		try {
			if (!client) {
				client = await open();
				lastBeat = -Infinity;
				hearAll();
			}
			await look(client);
			if (isAway) log.info({}, 'Looks after the other servers again');
			isAway = false;
		} catch (error) {
			// Once for each time that the database is away.
			if (!isClosed && !isAway) log.error({ reason: String(error) }, 'Can’t look after the other servers');
			isAway = true;
		}
	};
	const goOn = (): void => {
		timer = setTimeout(() => {
			looking = tick().then(() => {
				if (!isClosed) goOn();
			});
		}, LOOK_EVERY_MS);
	};

	client = await open();
	await replicas.beat({ id, lockKey });
	lastBeat = performance.now();

	return {
		id,
		isShared: true,
		mayJudge: () => client !== null && performance.now() >= quietUntil,
		tell,
		hear(topic, listener) {
			listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
		},
		onGone(listener) {
			goneListeners.push(listener);
		},
		live: () => replicas.live(),
		exclusively: (name, work) =>
			inLine(name, async () => {
				const free = await lock(name);
				try {
					return await work();
				} finally {
					await free();
				}
			}),
		async start() {
			for (const gone of await replicas.unknown()) await cleanUp(gone);
			goOn();
		},
		async close() {
			isClosed = true;
			clearTimeout(timer);
			await looking;
			await cleaning;
			await replicas.bury(id).catch(() => undefined);
			const last = client;
			client = null;
			await last?.end().catch(() => undefined);
		}
	};
}

// What one of several servers keeps in memory, and another changes: its table is told, and read again.

/** Writes of what servers keep in memory, or pages show until they hear of a change. */
const WRITES = {
	settings: ['set'],
	secrets: ['put', 'remove'],
	mcpServers: ['put', 'remove'],
	skillSettings: ['set', 'remove'],
	skillPins: ['set'],
	skillInstalls: ['add', 'move', 'remove'],
	trustedSkills: ['put', 'remove'],
	networkGrants: ['replace'],
	skillPackages: ['put', 'remove'],
	skillExecutions: ['finish', 'endUnfinished']
} as const satisfies { [Name in keyof Store]?: readonly (keyof Store[Name])[] };

/** A table, or the folders of skills. */
type Kept = keyof typeof WRITES | 'skills';

/** The store, which tells other servers what it has changed. */
export function announcing(store: Store, replica: Replica): Store {
	if (!replica.isShared) return store;
	const told = Object.entries(WRITES).map(([name, writes]) => {
		const aggregate = store[name as keyof typeof WRITES] as Record<string, (...values: unknown[]) => Promise<unknown>>;
		const wrapped = writes.map((write) => [
			write,
			async (...values: unknown[]) => {
				const result = await aggregate[write]?.(...values);
				replica.tell('table', [name]);
				return result;
			}
		]);
		return [name, { ...aggregate, ...Object.fromEntries(wrapped) }];
	});
	return { ...store, ...Object.fromEntries(told) };
}

/** Many changes in a row are read at once. */
const SETTLED_MS = 50;

/** Calls back after another server has changed one of these, one call at a time, and after words may have been missed. */
export function onOthersChange(
	{ replica, log }: { replica: Replica; log: Log },
	kept: readonly Kept[],
	readAgain: () => Promise<unknown> | void
): void {
	let isDue = false;
	let reading: Promise<void> = Promise.resolve();
	replica.hear('table', (names) => {
		const isNews = names.length === 0 || names.some((name) => (kept as readonly string[]).includes(name));
		if (!isNews || isDue) return;
		isDue = true;
		reading = reading.then(async () => {
			await delay(SETTLED_MS, undefined, { ref: false });
			isDue = false;
			try {
				await readAgain();
			} catch (error) {
				// Without its connection, this server is closing, or reads all of it when it's back.
				if (!replica.mayJudge()) return;
				log.error({ kept, error: String(error) }, 'couldn’t read what another server has changed');
			}
		});
	});
}
