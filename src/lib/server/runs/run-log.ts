/**
 * The event log of a run that this server owns: numbers and folds events, notifies followers at once, and stores events in
 * batches. Followers read from a bounded window in memory, or from the database if they are further behind.
 */
import { AppError } from '../../shared/errors.ts';
import { usageSince, type RunEvent, type TokenUsage } from '../../shared/events.ts';
import { foldEvent, type Message, openQuestions } from '../../shared/message.ts';
import type { ResponseItem } from '../agent/model.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { RunFinish } from '../store/chat/store-runs.ts';
import type { Store } from '../store/store.ts';
import { type EventWriter, RunGone, type Unsaved, type UnsavedEvents, EventWindow } from './stored-events.ts';

/** Unsaved events after which `append` waits for the database. */
const MAX_BACKLOG = 2000;
export interface RunLogOptions {
	store: Store;
	writer: EventWriter;
	/** As it is stored now: `lastSeq` events of it are in `message`. */
	run: Pick<RunRecord, 'id' | 'conversationId' | 'startedAt' | 'lastSeq' | 'epoch'>;
	message: Message;
	/** Tokens that earlier runs of this answer used; null: none. */
	usedBefore: TokenUsage | null;
	/** Called once, when the log can't be written and the run must stop. */
	onLost(error: unknown): void;
}

export interface LiveAnswer {
	message: Message;
	seq: number;
	/** In which `seq` counts. */
	epoch: number;
	/** Start of each call by its id, in `performance.now()` time; after an approval, the time of the decision. */
	callsBegunAt: ReadonlyMap<string, number>;
}

export class RunLog implements UnsavedEvents {
	readonly runId: string;
	readonly conversationId: string;
	/** In which this server owns the run. */
	readonly epoch: number;
	#store: Store;
	#writer: EventWriter;
	#startedAt: string;
	/** Null if the run began on another server. */
	#bornAt: number | null;
	#tellLost: (error: unknown) => void;
	#message: Message;
	/** Usage of earlier runs of the same answer. */
	#usedBefore: TokenUsage | null;
	#callsBegunAt = new Map<string, number>();
	#window: EventWindow;
	#storedSeq: number;
	#isEnded = false;
	#lost: { error: unknown } | null = null;
	/** Not stored yet, in order. */
	#items: ResponseItem[] = [];

	constructor({ store, writer, run, message, usedBefore, onLost }: RunLogOptions) {
		this.#store = store;
		this.#writer = writer;
		this.runId = run.id;
		this.conversationId = run.conversationId;
		this.epoch = run.epoch;
		this.#startedAt = run.startedAt;
		this.#bornAt = run.lastSeq === 0 ? performance.now() : null;
		this.#message = message;
		this.#usedBefore = usedBefore;
		this.#window = new EventWindow(store.runs, run.id, run.lastSeq);
		this.#storedSeq = run.lastSeq;
		this.#tellLost = onLost;
	}

	/** Whether it can still be written. */
	get isOpen(): boolean {
		return !this.#isEnded && this.#lost === null;
	}

	get isAsking(): boolean {
		return this.#message.parts.some((part) => part.type === 'tool' && openQuestions(part).length > 0);
	}

	/** The answer as folded so far, and the last event in it. */
	get snapshot(): LiveAnswer {
		return {
			message: this.#message,
			seq: this.#window.lastSeq,
			epoch: this.epoch,
			callsBegunAt: this.#callsBegunAt
		};
	}

	/** Adds any event but the last; none once the log is lost. Stores tool events before showing them, text within 100 ms. Resolves when ready for more. */
	async append(event: RunEvent): Promise<void> {
		if (this.#lost?.error instanceof RunGone) return;
		this.#push(event);
		if (isStoredFirst(event)) {
			await this.flush();
			return this.#window.wake();
		}
		this.#window.wake();
		this.#writer.saveSoon(this);
		if (this.#window.lastSeq - this.#storedSeq > MAX_BACKLOG) await this.flush();
	}

	/** Stores items of the answer for later turns, in the order of calls, with the next events. */
	record(items: ResponseItem[]): void {
		if (this.#lost?.error instanceof RunGone) return;
		this.#items.push(...items);
		this.#writer.saveSoon(this);
	}

	/**
	 * Ends the run with its terminal event, which is stored before it's shown. False if another server goes on with the run:
	 * then nothing is written, and followers here fail. @throws the error that prevented that
	 */
	async end(event: RunEvent): Promise<boolean> {
		await this.#writer.leave(this);
		let last = this.#lost ? toRunError(this.#lost.error) : event;
		try {
			const isStored = !(await this.#isTaken(this.#lost?.error)) && (await this.#storeEnd(last));
			if (!isStored && (await this.#isTaken(new RunGone()))) {
				this.#isEnded = true;
				this.#window.break(takenOver());
				return false;
			}
		} catch (error) {
			// Don't report a success that a reload wouldn't show.
			last = toRunError(error);
			this.#finish(last);
			throw error;
		}
		this.#finish(last);
		return true;
	}

	#finish(last: RunEvent): void {
		this.#isEnded = true;
		this.#push(last);
		this.#storedSeq = this.#window.lastSeq;
		this.#window.end();
	}

	/** Stores what there is, and then nothing more: another server goes on. Followers here fail. */
	async handOver(): Promise<void> {
		await this.flush();
		this.onLost(new RunGone());
		this.#window.break(takenOver());
	}

	/** Stores what isn't stored yet. Never rejects: a failure ends the run. */
	flush(): Promise<void> {
		return this.#writer.saveNow(this);
	}

	unsaved(): Unsaved {
		// `end` writes the rest of a lost log.
		return this.#isEnded || this.#lost ? { events: [] } : this.#rest();
	}

	#rest(): Unsaved {
		const { conversationId } = this;
		const items = this.#items.length > 0 && { conversationId, messageId: this.#message.id, items: [...this.#items] };
		return { events: this.#window.after(this.#storedSeq), items: items || undefined };
	}

	onSaved({ events, items }: Unsaved): void {
		this.#storedSeq = events.at(-1)?.seq ?? this.#storedSeq;
		this.#window.trim(this.#storedSeq);
		this.#items.splice(0, items?.items.length);
	}

	/** The first failure ends the run. */
	onLost(error: unknown): void {
		if (this.#lost) return;
		this.#lost = { error };
		this.#tellLost(error);
	}

	/** Yields every event after `after`, then new ones live. Ends after the terminal event. */
	follow(after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		return this.#window.follow(after, signal);
	}

	/** Whether a run that can't be written here goes on, or has ended, elsewhere. */
	async #isTaken(reason: unknown): Promise<boolean> {
		if (!(reason instanceof RunGone)) return false;
		const run = await this.#store.runs.get(this.runId);
		return run !== null && (run.state === 'running' || run.epoch > this.epoch);
	}

	/** False if the run isn't running here any more. */
	async #storeEnd(event: RunEvent): Promise<boolean> {
		const message = foldEvent(this.#message, event);
		const { events: waiting, items } = this.#rest();
		return this.#store.runs.finish(this.runId, {
			state: stateOf(event),
			epoch: this.epoch,
			errorCode: message.error?.code,
			finishedAt: this.#now(),
			events: [...waiting, { seq: this.#window.lastSeq + 1, data: JSON.stringify(event) }],
			items,
			message: { conversationId: this.conversationId, message },
			used: message.usage ? usageSince(this.#usedBefore, message.usage) : undefined,
			// What continues an answer isn't a fresh measurement.
			speed: this.#usedBefore === null ? (message.usage ?? undefined) : undefined,
			sendsNext: mayGoOn(event)
		});
	}

	/** Start plus measured duration, because the system clock may have changed; another server has a clock of its own. */
	#now(): string {
		if (this.#bornAt !== null) {
			return new Date(Date.parse(this.#startedAt) + performance.now() - this.#bornAt).toISOString();
		}
		const now = new Date().toISOString();
		return now < this.#startedAt ? this.#startedAt : now;
	}

	#push(event: RunEvent): void {
		this.#message = foldEvent(this.#message, event);
		const begun = begunCall(event);
		if (begun !== null) this.#callsBegunAt.set(begun, performance.now());
		const stored = { seq: this.#window.lastSeq + 1, data: JSON.stringify(event) };
		this.#window.push(this.epoch === 1 ? stored : { ...stored, epoch: this.epoch });
	}
}

function takenOver(): AppError {
	return new AppError('unavailable', 'Another server goes on with this answer. Connect again.');
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

/** Whether a message that waits may follow this end without anyone having looked. */
export function mayGoOn(last: RunEvent): boolean {
	if (last.type !== 'RUN_FINISHED' || last.outcome?.type !== 'success') return false;
	// A program is still working on this reply, so the next message waits for its result.
	return last.result === undefined && !last.outcome.pendingToolCallIds?.length;
}

function stateOf(event: RunEvent): RunFinish['state'] {
	if (event.type === 'RUN_FINISHED') {
		if (event.outcome?.type === 'interrupt') return 'waiting';
		return event.outcome?.type === 'cancelled' ? 'cancelled' : 'success';
	}
	return event.type === 'RUN_ERROR' && event.code === 'interrupted' ? 'interrupted' : 'failed';
}
