/** Work of one of several servers that another shows, or is asked to stop: evals, responses in the background, trials (decision 018). */
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../shared/errors.ts';
import { onceForAll } from '../shared/in-turn.ts';
import { createOutageLog, type Log } from './log.ts';
import type { z } from 'zod';
import type { Replica } from './replica.ts';
import type { ShownWorkKind, ShownWorkStore } from './store/shown-work.ts';

interface Work {
	/** Leaves the wish in the database. False if it isn't running. */
	wantStop(id: string): Promise<boolean>;
	/** What this server start is asked to stop. */
	stopsWanted(bootId: string): Promise<readonly string[]>;
	isRunning(id: string): Promise<boolean>;
	/** Whether this server has work that somebody could want to stop. */
	hasWork(): boolean;
	/** Stops it here. Does nothing if it isn't running here. */
	stop(id: string): void;
}

export interface StopWishes {
	/** Asks the server that does it, and waits for its end. @throws AppError `unavailable` */
	stop(id: string): Promise<void>;
	close(): void;
}

/** A word may be missed. */
const LOOK_EVERY_MS = 1_000;
const WAIT_MS = 30_000;
const ASK_EVERY_MS = 50;
const LOOKING = 'Couldn’t look for what another server wants to stop';

export function createStopWishes({ replica, log }: { replica: Replica; log: Log }, work: Work): StopWishes {
	if (!replica.isShared) return { stop: async () => undefined, close: () => undefined };
	const outages = createOutageLog(log);
	const look = onceForAll(async () => {
		if (!work.hasWork()) return;
		try {
			for (const id of await work.stopsWanted(replica.id)) work.stop(id);
			outages.worked(LOOKING);
		} catch (error) {
			outages.failed(LOOKING, error);
		}
	});
	replica.hear('stops', () => void look());
	const timer = setInterval(() => void look(), LOOK_EVERY_MS);
	timer.unref();
	return {
		async stop(id) {
			if (!(await work.wantStop(id))) return;
			replica.tell('stops', [id]);
			const until = performance.now() + WAIT_MS;
			while (await work.isRunning(id)) {
				if (performance.now() > until) {
					throw new AppError('unavailable', 'The server that does this hasn’t stopped it yet. Try again.');
				}
				await delay(ASK_EVERY_MS);
			}
		},
		close: () => clearInterval(timer)
	};
}

/** Work of one kind, whose progress any server shows. Alone, it does nothing: the server's memory has all of it. */
export interface ShownWork<Body> {
	/** Before it begins. False if another server is doing it. */
	begin(id: string, body: Body): Promise<boolean>;
	/** Stores soon how it goes. */
	show(id: string, body: Body): void;
	/** Stores how it ended. Never rejects. */
	end(id: string, body: Body): Promise<void>;
	/** `own`: this server did it last, and knows better. Null: nobody has done it, or it's forgotten. */
	read(id: string): Promise<'own' | { body: Body; isLost: boolean } | null>;
	/** Stops it at another server, and waits for its end. @throws AppError `unavailable` */
	stop(id: string): Promise<void>;
	/** Forgets how it went. */
	remove(id: string): Promise<void>;
	close(): Promise<void>;
}

export interface ShownWorkParts {
	store: ShownWorkStore;
	replica: Replica;
	log: Log;
}

/** Bodies that change again within this are stored once. */
const SHOW_EVERY_MS = 300;

export function openShownWork<Body>(
	parts: ShownWorkParts | null,
	kind: ShownWorkKind,
	{ schema, ...work }: Pick<Work, 'hasWork' | 'stop'> & { schema: z.ZodType<Body> }
): ShownWork<Body> {
	if (!parts?.replica.isShared) {
		return {
			begin: async () => true,
			show: () => undefined,
			end: async () => undefined,
			read: async () => 'own',
			stop: async () => undefined,
			remove: async () => undefined,
			close: async () => undefined
		};
	}
	const { store, replica, log } = parts;
	const changed = new Map<string, Body>();
	let timer: NodeJS.Timeout | undefined;
	let writing: Promise<void> = Promise.resolve();
	const isRunning = async (id: string): Promise<boolean> => {
		const found = await store.get(kind, id);
		return found !== null && found.isRunning && !found.isLost;
	};
	const wishes = createStopWishes(
		{ replica, log },
		{
			...work,
			wantStop: (id) => store.wantStop(kind, id),
			stopsWanted: (bootId) => store.stopsWanted(kind, bootId),
			isRunning
		}
	);
	/** One after the other, so that the last one stays. */
	const put = (id: string, body: Body, isGoingOn: boolean): Promise<void> => {
		const row = { bootId: replica.id, body, isRunning: isGoingOn, now: new Date().toISOString() };
		return (writing = writing
			.then(() => store.put(kind, id, row))
			.catch((error: unknown) =>
				log.info({ kind, reason: String(error) }, 'Couldn’t tell other servers how work goes')
			));
	};
	return {
		begin: (id, body) => store.begin(kind, id, { bootId: replica.id, body, now: new Date().toISOString() }),
		show(id, body) {
			changed.set(id, body);
			timer ??= setTimeout(() => {
				timer = undefined;
				const all = [...changed];
				changed.clear();
				for (const [each, latest] of all) void put(each, latest, true);
			}, SHOW_EVERY_MS);
		},
		end(id, body) {
			changed.delete(id);
			return put(id, body, false);
		},
		async read(id) {
			const found = await store.get(kind, id);
			if (found === null) return null;
			if (found.bootId === replica.id) return 'own';
			// A server of another version may write it in another way.
			const body = schema.safeParse(found.body);
			return body.success ? { body: body.data, isLost: found.isLost } : null;
		},
		stop: (id) => wishes.stop(id),
		remove: (id) => store.remove(kind, id),
		async close() {
			clearTimeout(timer);
			wishes.close();
			await writing;
		}
	};
}
