/** Writes the events of all runs in shared transactions, because one commit costs as much as many (F14). */
import { AppError } from '../../shared/errors.ts';
import type { RunAdvance } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';

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
