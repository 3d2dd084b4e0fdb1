/** The events of runs on their way to the database, written together because one commit costs as much as many, and to followers (F14). */
import { AppError } from '../../shared/errors.ts';
import type { RunAdvance, StoredEvent } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';
import { Waiters } from '../../shared/in-turn.ts';

/** Maximum delay before an event is stored; shorter if other servers wait for it. */
const BATCH_MS = { alone: 100, shared: 25 };

/** The run can't be written here any more: it was deleted, or another server has it. */
export class RunGone extends Error {
	override message = 'the run is gone, or another server goes on with it';
}

/** Events and items, both in order. */
export type Unsaved = Pick<RunAdvance, 'events' | 'items'>;

/** A log with unsaved events or items. */
export interface UnsavedEvents {
	readonly runId: string;
	/** In which this server owns the run. */
	readonly epoch: number;
	/** Whether a tool asks a person something. */
	readonly isAsking?: boolean;
	unsaved(): Unsaved;
	/** Called when what was unsaved is stored. */
	onSaved(saved: Unsaved): void;
	/** Called when it can't be stored. */
	onLost(error: unknown): void;
}

function isUnavailable(error: unknown): boolean {
	return error instanceof AppError && error.code === 'unavailable';
}

export class EventWriter {
	#runs: Pick<Runs, 'appendAll'>;
	#dirty = new Set<UnsavedEvents>();
	#timer: NodeJS.Timeout | undefined;
	#writing: Promise<void> = Promise.resolve();
	/** The write after the current one, shared by all callers until it starts. */
	#next: Promise<void> | null = null;

	/** Null if no other server waits for events, or could go on. */
	#tell: ((runIds: string[]) => void) | null;

	/** `tell` is called after each write, for other servers; null if there are none. */
	constructor(runs: Pick<Runs, 'appendAll'>, tell: ((runIds: string[]) => void) | null = null) {
		this.#runs = runs;
		this.#tell = tell;
	}

	/** Stores the log's events and items within 100 ms at most. */
	saveSoon(log: UnsavedEvents): void {
		this.#dirty.add(log);
		this.#timer ??= setTimeout(() => void this.#write(), this.#tell ? BATCH_MS.shared : BATCH_MS.alone);
	}

	/** Stores the events and items of all logs. Never rejects: see `onLost`. */
	saveNow(log: UnsavedEvents): Promise<void> {
		this.#dirty.add(log);
		return this.#write();
	}

	/** Stops writing the log, and waits for a current write. */
	async leave(log: UnsavedEvents): Promise<void> {
		this.#dirty.delete(log);
		await this.#writing;
	}

	#write(): Promise<void> {
		this.#next ??= this.#writing.then(() => {
			this.#next = null;
			clearTimeout(this.#timer);
			this.#timer = undefined;
			const logs = [...this.#dirty];
			this.#dirty.clear();
			return (this.#writing = this.#save(logs));
		});
		return this.#next;
	}

	async #save(logs: readonly UnsavedEvents[]): Promise<void> {
		const advances = logs.map((log) => {
			const { runId, epoch, isAsking } = log;
			return { log, runId, epoch, isAsking, ...log.unsaved() };
		});
		const waiting = advances.filter(({ events, items }) => events.length > 0 || items);
		if (waiting.length === 0) return;
		try {
			const gone = await this.#runs.appendAll(waiting);
			for (const { log, ...saved } of waiting) {
				if (gone.has(saved.runId)) log.onLost(new RunGone());
				else log.onSaved(saved);
			}
			this.#tell?.(waiting.flatMap(({ runId }) => (gone.has(runId) ? [] : [runId])));
		} catch (error) {
			// One failing log must not affect the others.
			if (waiting.length > 1) for (const { log } of waiting) await this.#save([log]);
			// What the database has is known once it's there again: then one of the servers goes on from that.
			else for (const { log } of waiting) log.onLost(this.#tell && isUnavailable(error) ? new RunGone() : error);
		}
	}
}

/** Stored events kept in memory for followers. */
const WINDOW = { events: 256, characters: 256 * 1024 };
/** Events yielded at once: limits the memory of a follower that doesn't read. */
export const EVENT_PAGE = { limit: 500, maxBytes: 64 * 1024 };

/** The newest events of one run in memory, for any number of followers; older ones are read from the database. */
export class EventWindow {
	#runs: Pick<Runs, 'readEvents'>;
	#runId: string;
	#events: StoredEvent[] = [];
	#characters = 0;
	#lastSeq: number;
	#isEnded = false;
	#broken: { error: unknown } | null = null;
	#waiting = new Waiters();

	/** `lastSeq`: the last event before those that will be pushed. */
	constructor(runs: Pick<Runs, 'readEvents'>, runId: string, lastSeq: number) {
		this.#runs = runs;
		this.#runId = runId;
		this.#lastSeq = lastSeq;
	}

	/** The last event of the run that is known here. */
	get lastSeq(): number {
		return this.#lastSeq;
	}

	/** Followers see it after `wake`. */
	push(event: StoredEvent): void {
		this.#events.push(event);
		this.#characters += event.data.length;
		this.#lastSeq = event.seq;
	}

	/** Events after this one that are in memory, in order. */
	after(seq: number): StoredEvent[] {
		return this.#events.filter((event) => event.seq > seq);
	}

	wake(): void {
		this.#waiting.wake();
	}

	/** Followers end after the last event. */
	end(): void {
		this.#isEnded = true;
		this.wake();
	}

	/** Followers fail: what they have seen may not have been stored. */
	break(error: unknown): void {
		this.#broken = { error };
		this.wake();
	}

	/** Drops stored events beyond the size of the window. */
	trim(storedSeq: number): void {
		const isTooMuch = (left: number) => left > WINDOW.events || this.#characters > WINDOW.characters;
		let drop = 0;
		for (const { seq, data } of this.#events) {
			if (seq > storedSeq || !isTooMuch(this.#events.length - drop)) break;
			this.#characters -= data.length;
			drop += 1;
		}
		if (drop > 0) this.#events.splice(0, drop);
	}

	/** Yields every event after `after`, then new ones live, until the end. */
	async *follow(after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		let cursor = after;
		while (!signal.aborted) {
			if (this.#broken) throw this.#broken.error;
			const first = this.#events[0]?.seq ?? this.#lastSeq + 1;
			if (cursor + 1 < first) {
				const stored = await this.#runs.readEvents(this.#runId, { after: cursor, ...EVENT_PAGE });
				const last = stored.at(-1);
				if (!last) return;
				yield stored;
				cursor = last.seq;
				continue;
			}
			const ready = this.#page(Math.max(0, cursor + 1 - first));
			if (ready.length > 0) {
				yield ready;
				cursor = ready.at(-1)?.seq ?? cursor;
			} else if (this.#isEnded) return;
			else await this.#waiting.wait(signal);
		}
	}

	/** One page, from an index on. */
	#page(from: number): StoredEvent[] {
		let characters = 0;
		let to = from;
		for (; to < this.#events.length && to - from < EVENT_PAGE.limit; to += 1) {
			characters += this.#events[to]?.data.length ?? 0;
			if (to > from && characters > EVENT_PAGE.maxBytes) break;
		}
		return this.#events.slice(from, to);
	}
}
