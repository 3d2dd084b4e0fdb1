/** Writes what all running runs log: in common transactions, for a commit costs as much for one event as for hundreds (F14). */
import { type RunEvent, usageSince } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';
import type { Store } from '../store/store.ts';

/** The longest that an event waits for the database. */
const BATCH_MS = 100;

/** A log with events that are to be stored. */
export interface UnsavedEvents {
	readonly runId: string;
	/** Those that are not stored yet, in order. */
	unsaved(): readonly StoredEvent[];
	/** All up to this one are. */
	onSaved(lastSeq: number): void;
	/** They cannot be stored, now or later. */
	onLost(error: unknown): void;
}

export class EventWriter {
	#runs: Pick<Runs, 'appendAll'>;
	#dirty = new Set<UnsavedEvents>();
	#timer: NodeJS.Timeout | undefined;
	#writing: Promise<void> = Promise.resolve();
	/** The write after the one that is under way; all who ask meanwhile share it. */
	#next: Promise<void> | null = null;

	constructor(runs: Pick<Runs, 'appendAll'>) {
		this.#runs = runs;
	}

	/** Stores what the log has within 100 ms. */
	saveSoon(log: UnsavedEvents): void {
		this.#dirty.add(log);
		this.#timer ??= setTimeout(() => void this.#write(), BATCH_MS);
	}

	/** Stores what the log has, and with it what all others have; never rejects: see `onLost`. */
	saveNow(log: UnsavedEvents): Promise<void> {
		this.#dirty.add(log);
		return this.#write();
	}

	/** Resolves when nothing of the log is being written, and nothing of it will be. */
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
		const advances = logs.map((log) => ({ log, runId: log.runId, events: log.unsaved() }));
		const waiting = advances.filter(({ events }) => events.length > 0);
		if (waiting.length === 0) return;
		try {
			const gone = await this.#runs.appendAll(waiting);
			for (const { log, runId, events } of waiting) {
				if (gone.has(runId)) log.onLost(new Error('the run is no longer in the database'));
				else log.onSaved(events.at(-1)?.seq ?? 0);
			}
		} catch (error) {
			// One log that cannot be written must not take the others along.
			if (waiting.length > 1) for (const { log } of waiting) await this.#save([log]);
			else for (const { log } of waiting) log.onLost(error);
		}
	}
}

// Ends a run that nobody writes any more: what was shown is kept, and no tool of it is run again (FEATURES F14).

export const INTERRUPTED: RunEvent = {
	type: 'RUN_ERROR',
	code: 'interrupted',
	message: 'The server stopped while this reply was being written. What you see was saved.'
};

const PAGE = { limit: 1000, maxBytes: 1024 * 1024 };

/** The stored message is as it was before the run: its events say what came since. */
export async function endOrphan(store: Store, run: RunRecord): Promise<void> {
	const { id, conversationId, messageId, lastSeq, startedAt } = run;
	let message: Message | null = await store.messages.get(conversationId, messageId);
	const before = message?.usage ?? null;
	for (let after = 0; message && after < lastSeq;) {
		const events = await store.runs.readEvents(id, { after, ...PAGE });
		for (const { data } of events) message = foldEvent(message, JSON.parse(data) as RunEvent);
		const last = events.at(-1);
		if (!last) break;
		after = last.seq;
	}
	const now = new Date().toISOString();
	await store.runs.finish(id, {
		state: 'interrupted',
		errorCode: 'interrupted',
		// Nobody measured how long it took, and the clock may have been set back since.
		finishedAt: now < startedAt ? startedAt : now,
		events: [{ seq: lastSeq + 1, data: JSON.stringify(INTERRUPTED) }],
		message: message ? { conversationId, message: foldEvent(message, INTERRUPTED) } : undefined,
		used: message?.usage ? usageSince(before, message.usage) : undefined
	});
}
