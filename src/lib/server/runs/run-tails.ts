/** Follows runs that other servers write: one statement reads the news of all of them (decision 018). */
import { setInterval } from 'node:timers';
import type { StoredEvent } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';
import { EventWindow } from './event-window.ts';

/** A word about news can be lost with its connection. */
const LOOK_EVERY_MS = 1000;
/** Events of one run that are read at once. */
const MAX_EVENTS = 200;

interface Tail {
	window: EventWindow;
	followers: number;
	/** There may be news. */
	isDirty: boolean;
}

export class RunTails {
	#runs: Runs;
	#tails = new Map<string, Tail>();
	#isReading = false;
	#timer: NodeJS.Timeout | undefined;
	#log: (error: unknown) => void;

	constructor(runs: Runs, log: (error: unknown) => void) {
		this.#runs = runs;
		this.#log = log;
	}

	/** Of the runs that are followed. */
	get ids(): string[] {
		return [...this.#tails.keys()];
	}

	/** There is news of these runs; ids of others don't matter. */
	wake(runIds: readonly string[]): void {
		let isAny = false;
		for (const id of runIds) {
			const tail = this.#tails.get(id);
			if (tail) isAny = tail.isDirty = true;
		}
		if (isAny) this.#read();
	}

	/**
	 * The run's events after `after`, until its end. If another server has gone on and that event of an earlier owner was never
	 * stored, all of them from the first one.
	 */
	async *follow(
		run: { id: string; lastSeq: number },
		{ after, epoch }: { after: number; epoch: number },
		signal: AbortSignal
	): AsyncGenerator<StoredEvent[]> {
		const tail = this.#join(run);
		try {
			let isKnown = after <= run.lastSeq;
			for await (const batch of tail.window.follow(isKnown ? after : run.lastSeq, signal)) {
				if (isKnown) {
					yield batch;
					continue;
				}
				// The reader knows events that weren't stored yet: they come, or a new owner has others in their place.
				const rest = batch.filter(({ seq }) => seq > after);
				const isOther = batch.some((event) => event.seq <= after && (event.epoch ?? 1) > epoch);
				if (isOther) return yield* tail.window.follow(0, signal);
				isKnown = rest.length > 0;
				if (isKnown) yield rest;
			}
		} finally {
			this.#leave(run.id, tail);
		}
	}

	close(): void {
		clearInterval(this.#timer);
	}

	#join({ id, lastSeq }: { id: string; lastSeq: number }): Tail {
		const known = this.#tails.get(id);
		const tail = known ?? { window: new EventWindow(this.#runs, id, lastSeq), followers: 0, isDirty: true };
		tail.followers += 1;
		this.#tails.set(id, tail);
		this.#timer ??= setInterval(() => this.wake(this.ids), LOOK_EVERY_MS);
		if (!known) this.#read();
		return tail;
	}

	#leave(id: string, tail: Tail): void {
		tail.followers -= 1;
		if (tail.followers > 0 || this.#tails.get(id) !== tail) return;
		this.#tails.delete(id);
		if (this.#tails.size > 0) return;
		clearInterval(this.#timer);
		this.#timer = undefined;
	}

	/** One statement at a time; what becomes dirty meanwhile is read next. */
	#read(): void {
		if (this.#isReading) return;
		this.#isReading = true;
		void this.#readAll()
			.catch(this.#log)
			.finally(() => {
				this.#isReading = false;
				if ([...this.#tails.values()].some(({ isDirty }) => isDirty)) this.#read();
			});
	}

	async #readAll(): Promise<void> {
		const dirty = [...this.#tails].filter(([, { isDirty }]) => isDirty);
		for (const [, tail] of dirty) tail.isDirty = false;
		const cursors = dirty.map(([id, { window }]) => ({ id, after: window.lastSeq }));
		const news = await this.#runs.readNews(cursors, MAX_EVENTS);
		for (const [id, tail] of dirty) {
			const { events = [], isRunning = false, lastSeq = 0 } = news.get(id) ?? {};
			for (const event of events) tail.window.push(event);
			const isWhole = tail.window.lastSeq >= lastSeq;
			if (!isWhole) tail.isDirty = true;
			tail.window.trim(tail.window.lastSeq);
			if (!isRunning && isWhole) {
				tail.window.end();
				this.#tails.delete(id);
			} else if (events.length > 0) tail.window.wake();
		}
	}
}
