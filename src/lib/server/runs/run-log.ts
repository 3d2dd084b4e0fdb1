/**
 * The event log of one running run: numbers events, folds them, wakes followers at once, and writes to the database
 * in batches. Followers read from a bounded window in memory, or from the database when they are behind it.
 */
import { isTerminal, type RunEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { StoredEvent } from '../store/run-events.ts';
import type { Store } from '../store/store.ts';

/** The longest that an event waits for the database. */
const BATCH_MS = 100;
/** Events kept in memory for followers after they are stored. */
const WINDOW = 256;
const PAGE = 500;

export interface RunLogOptions {
	store: Store;
	runId: string;
	conversationId: string;
	message: Message;
	/** The log cannot be written any more: the run must stop. */
	onLost(error: unknown): void;
}

export class RunLog {
	readonly runId: string;
	readonly conversationId: string;
	#store: Store;
	#onLost: (error: unknown) => void;
	#message: Message;
	#lastSeq = 0;
	#storedSeq = 0;
	#window: StoredEvent[] = [];
	#isEnded = false;
	#timer: NodeJS.Timeout | undefined;
	#writing: Promise<void> = Promise.resolve();
	#waiting = new Set<() => void>();

	constructor({ store, runId, conversationId, message, onLost }: RunLogOptions) {
		this.#store = store;
		this.runId = runId;
		this.conversationId = conversationId;
		this.#message = message;
		this.#onLost = onLost;
	}

	/** The answer as folded so far, and the last event in it. */
	get snapshot(): { message: Message; seq: number } {
		return { message: this.#message, seq: this.#lastSeq };
	}

	/** Adds one event that is not the last; tool events are stored at once, text within 100 ms. */
	append(event: RunEvent): void {
		this.#push(event);
		if (event.type === 'TOOL_CALL_END' || event.type === 'TOOL_CALL_RESULT') void this.flush();
		else this.#timer ??= setTimeout(() => void this.flush(), BATCH_MS);
	}

	/** Ends the run with its one terminal event, stored before anyone is told. */
	async end(event: RunEvent, state: 'success' | 'cancelled' | 'failed' | 'interrupted'): Promise<void> {
		clearTimeout(this.#timer);
		await this.#writing;
		const seq = this.#lastSeq + 1;
		const message = foldEvent(this.#message, event);
		const events = [
			...this.#window.filter((stored) => stored.seq > this.#storedSeq),
			{ seq, data: JSON.stringify(event) }
		];
		const finish = {
			state,
			...(message.error ? { errorCode: message.error.code } : {}),
			finishedAt: new Date().toISOString(),
			events,
			message: { conversationId: this.conversationId, message }
		};
		try {
			await this.#store.runs.finish(this.runId, finish);
		} finally {
			this.#push(event);
			this.#storedSeq = seq;
			this.#isEnded = true;
			this.#wake();
		}
	}

	/** Writes what waits, in one transaction. */
	flush(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		this.#writing = this.#writing.then(async () => {
			const events = this.#window.filter((stored) => stored.seq > this.#storedSeq);
			const last = events.at(-1);
			if (!last || this.#isEnded) return;
			const folded = { conversationId: this.conversationId, message: this.#message };
			try {
				const isStored = await this.#store.runs.appendEvents(this.runId, events, folded);
				if (!isStored) throw new Error('the run is no longer in the database');
				this.#storedSeq = last.seq;
				this.#trim();
			} catch (error) {
				this.#onLost(error);
			}
		});
		return this.#writing;
	}

	/** Every event after `after`, then each new one as it comes; ends after the terminal event. */
	async *follow(after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		let cursor = after;
		while (!signal.aborted) {
			const first = this.#window[0]?.seq ?? this.#lastSeq + 1;
			if (cursor + 1 < first) {
				const stored = await this.#store.runs.readEvents(this.runId, { after: cursor, limit: PAGE });
				const last = stored.at(-1);
				if (!last) return;
				yield stored;
				cursor = last.seq;
				continue;
			}
			const ready = this.#window.slice(Math.max(0, cursor + 1 - first));
			if (ready.length > 0) {
				yield ready;
				cursor = ready.at(-1)?.seq ?? cursor;
			} else if (this.#isEnded) return;
			else await this.#next(signal);
		}
	}

	#push(event: RunEvent): void {
		this.#lastSeq += 1;
		this.#message = foldEvent(this.#message, event);
		this.#window.push({ seq: this.#lastSeq, data: JSON.stringify(event) });
		if (!isTerminal(event)) this.#wake();
	}

	/** Only what is in the database may leave memory. */
	#trim(): void {
		const keepFrom = Math.min(this.#storedSeq, this.#lastSeq - WINDOW) + 1;
		const drop = keepFrom - (this.#window[0]?.seq ?? keepFrom);
		if (drop > 0) this.#window.splice(0, drop);
	}

	#next(signal: AbortSignal): Promise<void> {
		return new Promise((resolve) => {
			const done = () => {
				this.#waiting.delete(done);
				signal.removeEventListener('abort', done);
				resolve();
			};
			this.#waiting.add(done);
			signal.addEventListener('abort', done, { once: true });
		});
	}

	#wake(): void {
		for (const done of [...this.#waiting]) done();
	}
}
