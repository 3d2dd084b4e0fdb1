/**
 * The event log of a running run: numbers and folds events, notifies followers at once, and stores events in batches.
 * Followers read from a bounded window in memory, or from the database if they are further behind.
 */
import { AppError } from '../../shared/errors.ts';
import { usageSince, type RunEvent, type TokenUsage } from '../../shared/events.ts';
import { foldEvent, type Message } from '../../shared/message.ts';
import type { ResponseItem } from '../agent/model.ts';
import type { StoredEvent } from '../store/chat/runs.ts';
import type { RunFinish } from '../store/chat/store-runs.ts';
import type { Store } from '../store/store.ts';
import type { EventWriter, UnsavedEvents } from './event-writer.ts';
import { Waiters } from './waiters.ts';

/** Stored events kept in memory for followers. */
const WINDOW = { events: 256, characters: 256 * 1024 };
/** Unsaved events after which `append` waits for the database. */
const MAX_BACKLOG = 2000;
/** Events yielded at once: limits the memory of a follower that doesn't read. */
export const EVENT_PAGE = { limit: 500, maxBytes: 64 * 1024 };

export interface RunLogOptions {
	store: Store;
	writer: EventWriter;
	runId: string;
	conversationId: string;
	/** ISO 8601. */
	startedAt: string;
	message: Message;
	/** Called once, when the log can't be written and the run must stop. */
	onLost(error: unknown): void;
}

export interface LiveAnswer {
	message: Message;
	seq: number;
	/** Start of each call by its id, in `performance.now()` time; after an approval, the time of the decision. */
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
	/** Usage of earlier runs of the same answer. */
	#usedBefore: TokenUsage | null;
	#callsBegunAt = new Map<string, number>();
	#lastSeq = 0;
	#storedSeq = 0;
	#window: StoredEvent[] = [];
	#windowCharacters = 0;
	#isEnded = false;
	#lost: { error: unknown } | null = null;
	/** Items being stored, in order. */
	#recording: Promise<void> = Promise.resolve();
	#waiting = new Waiters();

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

	/** Adds any event but the last. Stores tool events before showing them, text within 100 ms. Resolves when ready for more. */
	async append(event: RunEvent): Promise<void> {
		this.#push(event);
		if (isStoredFirst(event)) {
			await this.flush();
			return this.#waiting.wake();
		}
		this.#waiting.wake();
		this.#writer.saveSoon(this);
		if (this.#lastSeq - this.#storedSeq > MAX_BACKLOG) await this.flush();
	}

	/** Stores items of the answer for later turns, in the order of calls. */
	record(items: ResponseItem[]): void {
		this.#recording = this.#recording
			.then(() => this.#store.messages.appendItems(this.conversationId, this.#message.id, items))
			.then(
				() => undefined,
				(error: unknown) => this.onLost(error)
			);
	}

	/** Ends the run with its terminal event, which is stored before it's shown. @throws the error that prevented that */
	async end(event: RunEvent): Promise<void> {
		await this.#writer.leave(this);
		await this.#recording;
		let last = this.#lost ? toRunError(this.#lost.error) : event;
		try {
			await this.#storeEnd(last);
		} catch (error) {
			// Don't report a success that a reload wouldn't show.
			last = toRunError(error);
			throw error;
		} finally {
			this.#push(last);
			this.#storedSeq = this.#lastSeq;
			this.#isEnded = true;
			this.#waiting.wake();
		}
	}

	/** Stores unsaved events. Never rejects: a failure ends the run. */
	flush(): Promise<void> {
		return this.#writer.saveNow(this);
	}

	unsaved(): StoredEvent[] {
		// `end` writes the rest of a lost log.
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

	/** Yields every event after `after`, then new ones live. Ends after the terminal event. */
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
			else await this.#waiting.wait(signal);
		}
	}

	async #storeEnd(event: RunEvent): Promise<void> {
		const message = foldEvent(this.#message, event);
		const waiting = this.#window.filter((stored) => stored.seq > this.#storedSeq);
		await this.#store.runs.finish(this.runId, {
			state: stateOf(event),
			errorCode: message.error?.code,
			// Start plus measured duration, because the system clock may have changed.
			finishedAt: new Date(Date.parse(this.#startedAt) + performance.now() - this.#bornAt).toISOString(),
			events: [...waiting, { seq: this.#lastSeq + 1, data: JSON.stringify(event) }],
			message: { conversationId: this.conversationId, message },
			used: message.usage ? usageSince(this.#usedBefore, message.usage) : undefined,
			// What continues an answer isn't a fresh measurement.
			speed: this.#usedBefore === null ? (message.usage ?? undefined) : undefined
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

	/** One page of the window, from an index on. */
	#page(from: number): StoredEvent[] {
		let characters = 0;
		let to = from;
		for (; to < this.#window.length && to - from < EVENT_PAGE.limit; to += 1) {
			characters += this.#window[to]?.data.length ?? 0;
			if (to > from && characters > EVENT_PAGE.maxBytes) break;
		}
		return this.#window.slice(from, to);
	}

	/** Drops stored events beyond the window. */
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
}

const STORED_FIRST = new Set<string>([
	'TOOL_CALL_END',
	'TOOL_CALL_RESULT',
	'skill.started',
	'skill.finished',
	'tool.approval',
	'tool.decision',
	'tool.question',
	'tool.reply'
]);

/** Whether to store the event before showing it or running its script, so that a crash can't lose it. */
function isStoredFirst(event: RunEvent): boolean {
	return STORED_FIRST.has(event.type === 'CUSTOM' ? event.name : event.type);
}

/** The call that this event starts or resumes. */
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
