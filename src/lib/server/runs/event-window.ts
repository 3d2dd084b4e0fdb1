/** The newest events of one run in memory, for any number of followers; older ones are read from the database. */
import type { StoredEvent } from '../store/chat/runs.ts';
import type { Runs } from '../store/chat/store-runs.ts';
import { Waiters } from '../../shared/in-turn.ts';

/** Stored events kept in memory for followers. */
const WINDOW = { events: 256, characters: 256 * 1024 };
/** Events yielded at once: limits the memory of a follower that doesn't read. */
export const EVENT_PAGE = { limit: 500, maxBytes: 64 * 1024 };

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
