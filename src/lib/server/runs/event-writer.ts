/** Writes the events of all runs in shared transactions, because one commit costs as much as many (F14). */
import { type RunEvent, usageSince } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';
import type { Store } from '../store/store.ts';

/** Maximum delay before an event is stored. */
const BATCH_MS = 100;

/** A log with unsaved events. */
export interface UnsavedEvents {
	readonly runId: string;
	/** In order. */
	unsaved(): readonly StoredEvent[];
	/** Called when events up to this one are stored. */
	onSaved(lastSeq: number): void;
	/** Called when events can't be stored. */
	onLost(error: unknown): void;
}

export class EventWriter {
	#runs: Pick<Runs, 'appendAll'>;
	#dirty = new Set<UnsavedEvents>();
	#timer: NodeJS.Timeout | undefined;
	#writing: Promise<void> = Promise.resolve();
	/** The write after the current one, shared by all callers until it starts. */
	#next: Promise<void> | null = null;

	constructor(runs: Pick<Runs, 'appendAll'>) {
		this.#runs = runs;
	}

	/** Stores the log's events within 100 ms. */
	saveSoon(log: UnsavedEvents): void {
		this.#dirty.add(log);
		this.#timer ??= setTimeout(() => void this.#write(), BATCH_MS);
	}

	/** Stores the events of all logs. Never rejects: see `onLost`. */
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
			// One failing log must not affect the others.
			if (waiting.length > 1) for (const { log } of waiting) await this.#save([log]);
			else for (const { log } of waiting) log.onLost(error);
		}
	}
}

export const INTERRUPTED: RunEvent = {
	type: 'RUN_ERROR',
	code: 'interrupted',
	message: 'The server stopped while this reply was being written. What you see was saved.'
};

const PAGE = { limit: 1000, maxBytes: 1024 * 1024 };

/** Ends a run left by a crash (F14): folds its events into the stored message, and runs no tool again. */
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
		// The duration is unknown, and the clock may have been set back.
		finishedAt: now < startedAt ? startedAt : now,
		events: [{ seq: lastSeq + 1, data: JSON.stringify(INTERRUPTED) }],
		message: message ? { conversationId, message: foldEvent(message, INTERRUPTED) } : undefined,
		used: message?.usage ? usageSince(before, message.usage) : undefined
	});
}
