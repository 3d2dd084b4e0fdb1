/** Responses that go on without their client (F12). An event is stored before it's shown, so whoever follows can go on after it, also after a crash. */
import { AppError } from '../../../shared/errors.ts';
import type { Log } from '../../log.ts';
import { EventWriter, type Unsaved, type UnsavedEvents, EVENT_PAGE } from '../../runs/stored-events.ts';
import { Waiters } from '../../../shared/in-turn.ts';
import { endLeft, type Replica, soleReplica } from '../../replica.ts';
import { createStopWishes } from '../../stop-wishes.ts';
import type { StoredEvent } from '../../store/chat/runs.ts';
import type { Responses, StoredResponse } from '../../store/responses.ts';
import { runFailure, toApiError } from './errors.ts';
import { INTERRUPTED, Interruption } from './respond.ts';
import { type OutputItem, type ResponseEvent, isLast } from './wire.ts';

export interface BackgroundOptions {
	responses: Responses;
	log: Log;
	/** Default: this server is alone. */
	replica?: Replica | undefined;
	/** Responses at once, of one key and of all; streams that one key has open. */
	limits?: { ofOne: number; all: number; followers: number };
}

/** Begins the turn, and is called once. `save` takes the response as it ended, before the last event. */
type Open = (signal: AbortSignal, save: (ended: StoredResponse) => Promise<void>) => AsyncGenerator<ResponseEvent>;

export interface Background {
	/** Stores the response, then runs it. @throws AppError `rate_limited` at the limit, `unavailable` when stopping, or what the store throws */
	start(response: StoredResponse, open: Open): Promise<void>;
	/** As it's stored. What this server couldn't end is ended first. */
	get(id: string, apiKeyId: string | null): Promise<StoredResponse | null>;
	/** @throws AppError `rate_limited` if this key has too many streams open to follow one more */
	checkFollowers(apiKeyId: string | null): void;
	/** Events after `after`, then new ones until the last. @throws AppError `rate_limited`; `unavailable` if the end couldn't be stored */
	follow(
		id: string,
		place: { after: number; apiKeyId: string | null },
		signal: AbortSignal
	): AsyncGenerator<ResponseEvent>;
	/** Cancels a response, on whichever server, and waits for its end. Nothing happens if it isn't running. */
	stop(id: string): Promise<void>;
	/** Ends what a server that has stopped left running. Call once, before handling requests. */
	recover(): Promise<void>;
	/** Starts nothing more, and interrupts what still runs after `graceMs`. */
	close(graceMs: number): Promise<void>;
}

const LIMITS = { ofOne: 32, all: 256, followers: 64 };
/** Unsaved events after which the turn waits for the database. */
const MAX_BACKLOG = 500;
/** How often another server's response is looked at without being told. */
const LOOK_EVERY_MS = 1_000;

export function createBackground(options: BackgroundOptions): Background {
	const { responses, log, replica = soleReplica(), limits = LIMITS } = options;
	const tell = (ids: readonly string[]) => replica.tell('responses', ids);
	const writer = new EventWriter(responses, replica.isShared ? tell : undefined);
	const active = new Map<string, ActiveResponse>();
	/** Who follows responses of other servers, by id. */
	const waiting = new Map<string, Set<() => void>>();
	replica.hear('responses', (ids) => {
		for (const id of ids.length > 0 ? ids : [...waiting.keys()]) for (const wake of waiting.get(id) ?? []) wake();
	});
	const wishes = createStopWishes(
		{ replica, log },
		{
			...responses,
			hasWork: () => active.size > 0,
			stop: (id) => active.get(id)?.controller.abort(new Error('cancelled by the client'))
		}
	);
	const isElsewhere = async (id: string): Promise<boolean> =>
		replica.isShared && !active.has(id) && (await responses.isRunningElsewhere(id, replica.id));
	/** Open streams, by key. */
	const followers = new Map<string | null, number>();
	let isClosing = false;

	const run = async (response: StoredResponse, open: Open, running: ActiveResponse): Promise<void> => {
		let ended = response;
		let last: ResponseEvent | null = null;
		const save = async (stored: StoredResponse) => void (ended = stored);
		try {
			for await (const event of open(running.controller.signal, save)) {
				if (isLast(event)) last = event;
				else await append(running, event);
			}
		} catch (error) {
			running.onLost(error);
		}
		await writer.leave(running);
		if (running.lost || !last) {
			const { error } = running.lost ?? { error: new Error('the response has no end') };
			log.error({ responseId: response.id, error: String(error) }, 'a response in the background failed');
			const { code, message } = toApiError(error);
			ended = failed(ended, { code, message });
			last = { type: 'response.failed', sequence_number: running.savedSeq, response: ended.body };
		}
		await responses.finish(ended, [...running.unsaved().events, toStored(last)]);
		tell([response.id]);
	};

	const append = async (running: ActiveResponse, event: ResponseEvent): Promise<void> => {
		running.push(event);
		if (event.type === 'response.in_progress') {
			await responses.setBody(running.runId, event.response as StoredResponse['body']);
		}
		// Text may wait for the next shared write; what was done is stored at once.
		if (event.type.endsWith('.delta') && running.backlog < MAX_BACKLOG) writer.saveSoon(running);
		else await writer.saveNow(running);
	};

	const endOrphan = async (stored: StoredResponse): Promise<void> => {
		const output: OutputItem[] = [];
		let seq = 0;
		for (;;) {
			const events = await responses.readEvents(stored.id, { after: seq, ...EVENT_PAGE });
			const last = events.at(-1);
			if (!last) break;
			for (const event of events.map(toEvent)) {
				if (event.type === 'response.output_item.done') output.push(event.item as OutputItem);
			}
			seq = last.seq;
		}
		const error = runFailure('interrupted', INTERRUPTED);
		const ended = failed({ ...stored, body: { ...stored.body, output } }, error);
		const last = { type: 'response.failed', sequence_number: seq, response: ended.body };
		if (!(await responses.finish(ended, [toStored(last)]))) return;
		tell([stored.id]);
		log.info({ responseId: stored.id }, 'response was interrupted by the last stop');
	};

	// An event can have megabytes, and one is held for each stream that nobody reads.
	const checkFollowers = (apiKeyId: string | null): void => {
		if ((followers.get(apiKeyId) ?? 0) < limits.followers) return;
		throw new AppError('rate_limited', `At most ${limits.followers} streams of responses can be open at once.`, {
			hint: 'Close one first.'
		});
	};

	/** Resolves with the next word of another server, or after a second. */
	const listen = (id: string, signal: AbortSignal) => {
		const { promise: next, resolve } = Promise.withResolvers<void>();
		const of = waiting.get(id) ?? new Set();
		waiting.set(id, of.add(resolve));
		const timer = setTimeout(resolve, LOOK_EVERY_MS);
		const onAbort = () => resolve();
		signal.addEventListener('abort', onAbort, { once: true });
		const stop = () => {
			clearTimeout(timer);
			signal.removeEventListener('abort', onAbort);
			of.delete(resolve);
			if (of.size === 0 && waiting.get(id) === of) waiting.delete(id);
		};
		return { next, stop };
	};

	async function* read(id: string, after: number, signal: AbortSignal): AsyncGenerator<ResponseEvent> {
		for (let cursor = after; !signal.aborted;) {
			// Taken before reading: what is stored meanwhile is noticed.
			const running = active.get(id);
			const known = running?.changes;
			const listening = replica.isShared && !running ? listen(id, signal) : null;
			try {
				const isRunning = running !== undefined || (await responses.isRunning(id));
				const events = await responses.readEvents(id, { after: cursor, ...EVENT_PAGE });
				for (const event of events) {
					cursor = event.seq;
					yield toEvent(event);
				}
				if (events.length > 0) continue;
				if (running) {
					if (running.changes === known) await running.waiting.wait(signal);
				} else if (!isRunning) return;
				else if (listening && (await isElsewhere(id))) await listening.next;
				else if (await responses.isRunning(id)) {
					throw new AppError('unavailable', 'The end of this response couldn’t be saved. Try again.');
				}
			} finally {
				listening?.stop();
			}
		}
	}

	return {
		async start(response, open) {
			const { id, apiKeyId } = response;
			if (isClosing) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
			const own = [...active.values()].filter((each) => each.apiKeyId === apiKeyId);
			if (own.length >= limits.ofOne || active.size >= limits.all) {
				const hint = 'Wait until one has ended, or cancel one.';
				throw new AppError('rate_limited', `Too many responses run in the background (${own.length} of yours).`, {
					hint
				});
			}
			const running = new ActiveResponse(id, apiKeyId);
			active.set(id, running);
			const { promise, resolve } = Promise.withResolvers<void>();
			running.task = promise;
			const end = () => {
				active.delete(id);
				running.wake();
				resolve();
			};
			try {
				await responses.put({ ...response, isRunning: true }, replica.id);
			} catch (error) {
				end();
				throw error;
			}
			void run(response, open, running)
				.catch((error: unknown) => log.error({ responseId: id, error: String(error) }, 'couldn’t end a response'))
				.finally(end);
		},

		async get(id, apiKeyId) {
			const stored = await responses.get(id, apiKeyId);
			if (!stored?.isRunning || active.has(id) || (await isElsewhere(id))) return stored;
			await endOrphan(stored);
			return responses.get(id, apiKeyId);
		},

		checkFollowers,

		async *follow(id, { after, apiKeyId }, signal) {
			checkFollowers(apiKeyId);
			followers.set(apiKeyId, (followers.get(apiKeyId) ?? 0) + 1);
			let isOver = false;
			const leave = () => {
				if (isOver) return;
				isOver = true;
				const left = (followers.get(apiKeyId) ?? 1) - 1;
				if (left > 0) followers.set(apiKeyId, left);
				else followers.delete(apiKeyId);
			};
			// Nobody asks for the next event any more when a client has gone.
			signal.addEventListener('abort', leave, { once: true });
			try {
				yield* read(id, after, signal);
			} finally {
				signal.removeEventListener('abort', leave);
				leave();
			}
		},

		async stop(id) {
			const running = active.get(id);
			running?.controller.abort(new Error('cancelled by the client'));
			await running?.task;
			if (!running && (await isElsewhere(id))) await wishes.stop(id);
		},

		recover: () =>
			endLeft(replica, async (bootId) => {
				for (const response of await responses.listRunning(bootId)) {
					// One that can't be read must not keep the others from their end, nor the server from its start.
					await endOrphan(response).catch((error: unknown) => {
						log.error({ responseId: response.id, error: String(error) }, 'couldn’t end a response of the last start');
					});
				}
			}),

		async close(graceMs) {
			isClosing = true;
			wishes.close();
			const interrupt = () => {
				for (const { controller } of active.values()) controller.abort(new Interruption());
			};
			const timer = setTimeout(interrupt, graceMs);
			if (graceMs === 0) interrupt();
			await Promise.all([...active.values()].map(({ task }) => task));
			clearTimeout(timer);
		}
	};
}

class ActiveResponse implements UnsavedEvents {
	readonly runId: string;
	/** Nobody else goes on with a response. */
	readonly epoch = 1;
	readonly apiKeyId: string | null;
	readonly controller = new AbortController();
	/** Resolves at its end. */
	task: Promise<void> = Promise.resolve();
	lost: { error: unknown } | null = null;
	savedSeq = 0;
	/** How often more was stored, or it ended. */
	changes = 0;
	/** For the next change. */
	readonly waiting = new Waiters();
	#unsaved: StoredEvent[] = [];

	constructor(id: string, apiKeyId: string | null) {
		this.runId = id;
		this.apiKeyId = apiKeyId;
	}

	get backlog(): number {
		return this.#unsaved.length;
	}

	push(event: ResponseEvent): void {
		this.#unsaved.push(toStored(event));
	}

	wake(): void {
		this.changes += 1;
		this.waiting.wake();
	}

	unsaved(): Unsaved {
		// A copy: more are added while it is written.
		return { events: this.lost ? [] : [...this.#unsaved] };
	}

	onSaved({ events }: Unsaved): void {
		this.savedSeq = events.at(-1)?.seq ?? this.savedSeq;
		this.#unsaved.splice(0, events.length);
		this.wake();
	}

	/** It was deleted, or can't be written: nobody would see how it goes on. */
	onLost(error: unknown): void {
		this.lost ??= { error };
		this.controller.abort(error);
	}
}

/** Sequence numbers count from 0, and logs from 1. */
function toStored(event: ResponseEvent): StoredEvent {
	return { seq: event.sequence_number + 1, data: JSON.stringify(event) };
}

function toEvent({ data }: StoredEvent): ResponseEvent {
	return JSON.parse(data) as ResponseEvent;
}

function failed(
	stored: StoredResponse,
	{ code, message }: { code: string | null; message: string }
): StoredResponse & { body: Record<string, unknown> } {
	const error = { code: code ?? 'server_error', message };
	return { ...stored, body: { ...stored.body, status: 'failed', completed_at: null, incomplete_details: null, error } };
}
