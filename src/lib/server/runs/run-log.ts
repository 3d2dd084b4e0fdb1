/**
 * The event log of one running run: numbers events, folds them, wakes followers at once, and has them written to the
 * database in batches. Followers read from a bounded window in memory, or from the database when they are behind it.
 */
import { AppError } from '../../shared/errors.ts';
import { usageSince, type RunEvent, type TokenUsage } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { ResponseItem } from '../agent/model.ts';
import type { StoredEvent } from '../store/chat/runs.ts';
import type { RunFinish } from '../store/chat/store-runs.ts';
import type { Store } from '../store/store.ts';
import type { EventWriter, UnsavedEvents } from './event-writer.ts';

/** Kept in memory for followers after it is stored: so many events, and so many characters of them. */
const WINDOW = { events: 256, characters: 256 * 1024 };
/** Events that may wait for the database before whoever writes them has to wait as well. */
const MAX_BACKLOG = 2000;
/** What a follower is given at once: one that does not read holds no more than a page of it. */
export const EVENT_PAGE = { limit: 500, maxBytes: 64 * 1024 };

export interface RunLogOptions {
	store: Store;
	/** Shared by all logs. */
	writer: EventWriter;
	runId: string;
	conversationId: string;
	/** ISO 8601. */
	startedAt: string;
	message: Message;
	/** The log cannot be written any more: the run must stop. Called once. */
	onLost(error: unknown): void;
}

export interface LiveAnswer {
	message: Message;
	seq: number;
	/** By the id of each call of this run, on the clock of `performance.now()`; from the last decision on, where one was asked for. */
	callsBegunAt: ReadonlyMap<string, number>;
}

export class RunLog implements UnsavedEvents {
	readonly runId: string;
	readonly conversationId: string;
	#store: Store;
	#writer: EventWriter;
	#startedAt: string;
	#bornAt = performance.now();
	#tellLost: (error: unknown) => void;
	#message: Message;
	/** By earlier runs of the same answer. */
	#usedBefore: TokenUsage | null;
	#callsBegunAt = new Map<string, number>();
	#lastSeq = 0;
	#storedSeq = 0;
	#window: StoredEvent[] = [];
	#windowCharacters = 0;
	#isEnded = false;
	#lost: { error: unknown } | null = null;
	/** Items of the answer on their way to the database, one after the other. */
	#recording: Promise<void> = Promise.resolve();
	#waiting = new Set<() => void>();

	constructor({ store, writer, runId, conversationId, startedAt, message, onLost }: RunLogOptions) {
		this.#store = store;
		this.#writer = writer;
		this.runId = runId;
		this.conversationId = conversationId;
		this.#startedAt = startedAt;
		this.#message = message;
		this.#usedBefore = message.usage;
		this.#tellLost = onLost;
	}

	/** The answer as folded so far, and the last event in it. */
	get snapshot(): LiveAnswer {
		return { message: this.#message, seq: this.#lastSeq, callsBegunAt: this.#callsBegunAt };
	}

	/** Adds one event that is not the last; tool events are stored first, text within 100 ms. Resolves when more may come. */
	async append(event: RunEvent): Promise<void> {
		this.#push(event);
		if (isStoredFirst(event)) {
			await this.flush();
			return this.#wake();
		}
		this.#wake();
		this.#writer.saveSoon(this);
		if (this.#lastSeq - this.#storedSeq > MAX_BACKLOG) await this.flush();
	}

	/** Keeps items of the answer that later turns send to the model again; stored in the order of the calls. */
	record(items: ResponseItem[]): void {
		this.#recording = this.#recording
			.then(() => this.#store.messages.appendItems(this.conversationId, this.#message.id, items))
			.then(
				() => undefined,
				(error: unknown) => this.onLost(error)
			);
	}

	/** Ends the run with its one terminal event, stored before anyone is told. @throws what kept it from being stored */
	async end(event: RunEvent): Promise<void> {
		await this.#writer.leave(this);
		await this.#recording;
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

	/** Writes what waits. Never rejects: what cannot be written ends the run. */
	flush(): Promise<void> {
		return this.#writer.saveNow(this);
	}

	unsaved(): StoredEvent[] {
		// A log that is lost has no more to say: its end is written by itself.
		if (this.#isEnded || this.#lost) return [];
		return this.#window.filter((stored) => stored.seq > this.#storedSeq);
	}

	onSaved(lastSeq: number): void {
		this.#storedSeq = lastSeq;
		this.#trim();
	}

	/** The first failure ends the run. */
	onLost(error: unknown): void {
		if (this.#lost) return;
		this.#lost = { error };
		this.#tellLost(error);
	}

	/** Every event after `after`, then each new one as it comes; ends after the terminal event. */
	async *follow(after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		let cursor = after;
		while (!signal.aborted) {
			const first = this.#window[0]?.seq ?? this.#lastSeq + 1;
			if (cursor + 1 < first) {
				const stored = await this.#store.runs.readEvents(this.runId, { after: cursor, ...EVENT_PAGE });
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
			else await this.#next(signal);
		}
	}

	async #storeEnd(event: RunEvent): Promise<void> {
		const message = foldEvent(this.#message, event);
		const waiting = this.#window.filter((stored) => stored.seq > this.#storedSeq);
		await this.#store.runs.finish(this.runId, {
			state: stateOf(event),
			errorCode: message.error?.code,
			// How long it took is measured: the clock on the wall may have been set since.
			finishedAt: new Date(Date.parse(this.#startedAt) + performance.now() - this.#bornAt).toISOString(),
			events: [...waiting, { seq: this.#lastSeq + 1, data: JSON.stringify(event) }],
			message: { conversationId: this.conversationId, message },
			used: message.usage ? usageSince(this.#usedBefore, message.usage) : undefined
		});
	}

	#push(event: RunEvent): void {
		this.#lastSeq += 1;
		this.#message = foldEvent(this.#message, event);
		const begun = begunCall(event);
		if (begun !== null) this.#callsBegunAt.set(begun, performance.now());
		const data = JSON.stringify(event);
		this.#window.push({ seq: this.#lastSeq, data });
		this.#windowCharacters += data.length;
	}

	/** Events of the window from a place on, as many as may be given at once. */
	#page(from: number): StoredEvent[] {
		let characters = 0;
		let to = from;
		for (; to < this.#window.length && to - from < EVENT_PAGE.limit; to += 1) {
			characters += this.#window[to]?.data.length ?? 0;
			if (to > from && characters > EVENT_PAGE.maxBytes) break;
		}
		return this.#window.slice(from, to);
	}

	/** Only what is in the database may leave memory. */
	#trim(): void {
		const isTooMuch = (left: number) => left > WINDOW.events || this.#windowCharacters > WINDOW.characters;
		let drop = 0;
		for (const { seq, data } of this.#window) {
			if (seq > this.#storedSeq || !isTooMuch(this.#window.length - drop)) break;
			this.#windowCharacters -= data.length;
			drop += 1;
		}
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

const STORED_FIRST = new Set<string>([
	'TOOL_CALL_END',
	'TOOL_CALL_RESULT',
	'skill.started',
	'skill.finished',
	'tool.approval',
	'tool.decision'
]);

/** Tells what was done: nobody may see it, and no script may start, that a crash could make undone. */
function isStoredFirst(event: RunEvent): boolean {
	return STORED_FIRST.has(event.type === 'CUSTOM' ? event.name : event.type);
}

/** The call that begins with this event, or goes on with it. */
function begunCall(event: RunEvent): string | null {
	if (event.type === 'TOOL_CALL_START') return event.toolCallId;
	return event.type === 'CUSTOM' && event.name === 'tool.decision' ? event.value.toolCallId : null;
}

function toRunError(error: unknown): RunEvent {
	const known = error instanceof AppError ? error : null;
	return {
		type: 'RUN_ERROR',
		code: known?.code ?? 'internal',
		message: known?.message ?? 'The reply couldn’t be saved, so it was stopped. See the server log for details.'
	};
}

function stateOf(event: RunEvent): RunFinish['state'] {
	if (event.type === 'RUN_FINISHED') {
		if (event.outcome?.type === 'interrupt') return 'waiting';
		return event.outcome?.type === 'cancelled' ? 'cancelled' : 'success';
	}
	return event.type === 'RUN_ERROR' && event.code === 'interrupted' ? 'interrupted' : 'failed';
}
