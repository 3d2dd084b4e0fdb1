/**
 * The event log of one running run: numbers events, folds them, wakes followers at once, and writes to the database
 * in batches. Followers read from a bounded window in memory, or from the database when they are behind it.
 */
import { AppError } from '../../shared/errors.ts';
import { isTerminal, type RunEvent } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { ResponseItem } from '../agent/model.ts';
import type { StoredEvent } from '../store/run-events.ts';
import type { Store } from '../store/store.ts';

/** The longest that an event waits for the database. */
const BATCH_MS = 100;
/** Events kept in memory for followers after they are stored. */
const WINDOW = 256;
/** Events that may wait for the database before whoever writes them has to wait as well. */
const MAX_BACKLOG = 2000;
const PAGE = 500;

export interface RunLogOptions {
	store: Store;
	runId: string;
	conversationId: string;
	message: Message;
	/** The log cannot be written any more: the run must stop. Called once. */
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
	#lost: { error: unknown } | null = null;
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

	/** Adds one event that is not the last; tool events are stored at once, text within 100 ms. Resolves when more may come. */
	async append(event: RunEvent): Promise<void> {
		this.#push(event);
		if (event.type === 'TOOL_CALL_END' || event.type === 'TOOL_CALL_RESULT') void this.flush();
		else this.#timer ??= setTimeout(() => void this.flush(), BATCH_MS);
		if (this.#lastSeq - this.#storedSeq > MAX_BACKLOG) await this.flush();
	}

	/** Keeps items of the answer that later turns send to the model again; stored in the order of the calls. */
	record(items: ResponseItem[]): void {
		void this.#write(async () => {
			await this.#store.messages.appendItems(this.conversationId, this.#message.id, items);
		});
	}

	/** Ends the run with its one terminal event, stored before anyone is told. @throws what kept it from being stored */
	async end(event: RunEvent): Promise<void> {
		clearTimeout(this.#timer);
		await this.#writing;
		let last = this.#lost ? toRunError(this.#lost.error) : event;
		try {
			await this.#storeEnd(last);
		} catch (error) {
			// Nobody may read of a success that a reload would not show.
			last = toRunError(error);
			throw error;
		} finally {
			this.#push(last);
			this.#storedSeq = this.#lastSeq;
			this.#isEnded = true;
			this.#wake();
		}
	}

	/** Writes what waits, in one transaction. */
	flush(): Promise<void> {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		return this.#write(async () => {
			const events = this.#window.filter((stored) => stored.seq > this.#storedSeq);
			const last = events.at(-1);
			if (!last || this.#isEnded) return;
			const folded = { conversationId: this.conversationId, message: this.#message };
			const isStored = await this.#store.runs.appendEvents(this.runId, events, folded);
			if (!isStored) throw new Error('the run is no longer in the database');
			this.#storedSeq = last.seq;
			this.#trim();
		});
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

	async #storeEnd(event: RunEvent): Promise<void> {
		const message = foldEvent(this.#message, event);
		const waiting = this.#window.filter((stored) => stored.seq > this.#storedSeq);
		await this.#store.runs.finish(this.runId, {
			state: stateOf(event),
			...(message.error ? { errorCode: message.error.code } : {}),
			finishedAt: new Date().toISOString(),
			events: [...waiting, { seq: this.#lastSeq + 1, data: JSON.stringify(event) }],
			message: { conversationId: this.conversationId, message }
		});
	}

	#push(event: RunEvent): void {
		this.#lastSeq += 1;
		this.#message = foldEvent(this.#message, event);
		this.#window.push({ seq: this.#lastSeq, data: JSON.stringify(event) });
		if (!isTerminal(event)) this.#wake();
	}

	/** One write after the other; the first that fails ends the run. */
	#write(task: () => Promise<void>): Promise<void> {
		this.#writing = this.#writing.then(task).catch((error: unknown) => {
			if (this.#lost) return;
			this.#lost = { error };
			this.#onLost(error);
		});
		return this.#writing;
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

function toRunError(error: unknown): RunEvent {
	const known = error instanceof AppError ? error : null;
	return {
		type: 'RUN_ERROR',
		code: known?.code ?? 'internal',
		message: known?.message ?? 'The answer could not be stored, so it was ended; the log of the server says more.'
	};
}

function stateOf(event: RunEvent): 'success' | 'cancelled' | 'failed' | 'interrupted' {
	if (event.type === 'RUN_FINISHED') return event.outcome?.type === 'cancelled' ? 'cancelled' : 'success';
	return event.type === 'RUN_ERROR' && event.code === 'interrupted' ? 'interrupted' : 'failed';
}
