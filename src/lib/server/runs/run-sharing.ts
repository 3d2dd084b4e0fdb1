/** The runs of several servers on one database: who owns which, who goes on, and what one asks of another (decision 018). */
import { setInterval } from 'node:timers';
import { AppError } from '../../shared/errors.ts';
import type { Question } from '../../shared/message-schema.ts';
import { onceForAll } from '../../shared/in-turn.ts';
import { createOutageLog, type Log } from '../log.ts';
import type { Replica } from '../replica.ts';
import { LEASE_MS, type RunWant } from '../store/chat/run-ownership.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { Store } from '../store/store.ts';
import { RunGone, EventWindow } from './stored-events.ts';
import type { RunLog } from './run-log.ts';
import { endOrphan, foldStored, type GoesOn, takeOver } from './takeover.ts';
import type { Runs } from '../store/chat/store-runs.ts';

/** A run that this server writes. */
export interface ActiveRun {
	conversationId: string;
	log: RunLog;
	controller: AbortController;
	/** End after the current step, because a new message is waiting. */
	isAskedToYield: boolean;
	task: Promise<void>;
}

/** Three tries before a lease ends. */
const RENEW_EVERY_MS = LEASE_MS / 3;
/** An owner that couldn't renew for so long stops: soon another may begin. */
const STOP_AFTER_MS = LEASE_MS - 1000;

const FOLLOWING = 'couldn’t follow a run';
const RENEWING = 'couldn’t renew the leases of runs';
const HEARING = 'couldn’t read what other servers ask';
const GOING_ON = 'couldn’t look for runs of servers that have stopped';
/** How long a run is left that can't be read: by a server of another version, perhaps. */
const LEFT_MS = 60_000;

type ReplyListener = (conversationId: string, id: string, reply: unknown) => void;

interface Options {
	store: Store;
	replica: Replica;
	log: Log;
	/** Instead of going on. */
	isInterrupting: boolean;
	leases?(what: 'renewed' | 'lost' | 'taken', count: number): void;
	/** Runs of this server, by id. */
	active: ReadonlyMap<string, ActiveRun>;
	goOn(run: RunRecord, how: GoesOn): Promise<void>;
}

export class RunSharing {
	#options: Options;
	#tails: RunTails;
	#timer: NodeJS.Timeout | undefined;
	/** Leases and wishes wait for no takeover: many of those take longer than a lease. */
	#keepLeases = this.#inTurn(RENEWING, () => this.#renew());
	#hearWants = this.#inTurn(HEARING, () => this.#takeWants());
	#goOnAll = this.#inTurn(GOING_ON, () => this.#claimAll());
	#renewedAt = performance.now();
	#isClosing = false;
	/** Runs that couldn't be taken over: when to try again (`performance.now`). Others would wait behind them. */
	#left = new Map<string, number>();
	#outages: ReturnType<typeof createOutageLog>;
	#replyListeners: ReplyListener[] = [];

	constructor(options: Options) {
		this.#options = options;
		this.#outages = createOutageLog(options.log);
		this.#tails = new RunTails(options.store.runs, (error) => this.#outages.failed(FOLLOWING, error, 'error'));
	}

	/** Keeps the leases of this server's runs, and goes on with those whose server has stopped. */
	start(): void {
		const { replica } = this.#options;
		replica.hear('runs', (ids) => this.#tails.wake(ids.length > 0 ? ids : this.#tails.ids));
		replica.hear('wants', () => void this.#hearWants());
		replica.hear('lapsed', () => void this.#goOnAll());
		replica.onGone(async () => {
			replica.tell('lapsed', ['runs']);
			void this.#goOnAll();
		});
		this.#timer = setInterval(() => {
			// Nobody else could tell this one to stop.
			if (performance.now() - this.#renewedAt > STOP_AFTER_MS) this.#loseAll();
			void this.#keepLeases();
		}, RENEW_EVERY_MS);
		void this.#goOnAll();
	}

	/** No more runs are taken over. */
	stopClaiming(): void {
		this.#isClosing = true;
	}

	/** Leaves what is still running to others. */
	async close(): Promise<void> {
		const { store, replica } = this.#options;
		clearInterval(this.#timer);
		// After what is under way.
		await Promise.all([this.#keepLeases(), this.#hearWants(), this.#goOnAll()]);
		this.#tails.close();
		if ((await store.runs.release(replica.id)) > 0) replica.tell('lapsed', ['runs']);
	}

	/** See `RunTails.follow`. */
	follow(run: RunRecord, known: { after: number; epoch: number }, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		return this.#tails.follow(run, known, signal);
	}

	/** Stops another server's run and waits for its end. False if it isn't running. */
	async stop(runId: string): Promise<boolean> {
		if (!(await this.#want(runId, { kind: 'stop' }))) return false;
		const run = await this.#options.store.runs.get(runId);
		if (run?.state !== 'running') return true;
		const signal = AbortSignal.timeout(STOP_WAIT_MS);
		for await (const _ of this.#tails.follow(run, { after: run.lastSeq, epoch: run.epoch }, signal));
		if (!signal.aborted) return true;
		throw new AppError('unavailable', 'The server that writes this answer hasn’t stopped it yet. Try again.');
	}

	/** Asks the conversation's runs on other servers to end after their current step. */
	async askToYield(conversationId: string): Promise<void> {
		for (const id of await this.#runningElsewhere(conversationId)) await this.#want(id, { kind: 'yield' });
	}

	/** A question that is open in the log of another server's run. */
	async question(conversationId: string, id: string): Promise<Question | null> {
		const { store, replica } = this.#options;
		for (const run of await store.runs.listRunning(replica.id, conversationId)) {
			const parts = (await foldStored(store, run))?.message.parts ?? [];
			const questions = parts.flatMap((part) => (part.type === 'tool' ? (part.questions ?? []) : []));
			const found = questions.find((question) => question.id === id && question.reply === undefined);
			if (found) return found;
		}
		return null;
	}

	/** Hands an answer to a tool's question to the servers that run tools of the conversation. False if there are none. */
	async reply(conversationId: string, id: string, reply: unknown): Promise<boolean> {
		const running = await this.#runningElsewhere(conversationId);
		for (const runId of running) await this.#want(runId, { kind: 'reply', id, reply });
		return running.length > 0;
	}

	/** Called with answers that came to another server. */
	onReply(listener: ReplyListener): void {
		this.#replyListeners.push(listener);
	}

	async #renew(): Promise<void> {
		const { store, replica, active } = this.#options;
		const asked = performance.now();
		const ids = [...active.keys()];
		const own = ids.length === 0 ? new Set<string>() : await store.runs.renew(replica.id, ids);
		this.#renewedAt = asked;
		this.#options.leases?.('renewed', own.size);
		for (const id of ids) {
			const log = active.get(id)?.log;
			if (!own.has(id) && log?.isOpen) this.#lose(log);
		}
		this.#outages.worked(FOLLOWING);
		void this.#hearWants();
		if (replica.mayJudge()) void this.#goOnAll();
	}

	#loseAll(): void {
		for (const { log } of this.#options.active.values()) if (log.isOpen) this.#lose(log);
	}

	#lose(log: RunLog): void {
		this.#options.leases?.('lost', 1);
		log.onLost(new RunGone());
	}

	async #takeWants(): Promise<void> {
		const { store, replica, active } = this.#options;
		for (const [runId, wants] of await store.runs.takeWants(replica.id)) {
			const run = active.get(runId);
			for (const want of run ? wants : []) {
				if (want.kind === 'stop') run?.controller.abort(new Error('stopped by the user'));
				else if (want.kind === 'yield' && run) run.isAskedToYield = true;
				else if (want.kind === 'reply' && run) {
					for (const listener of this.#replyListeners) listener(run.conversationId, want.id, want.reply);
				}
			}
		}
	}

	async #claimAll(): Promise<void> {
		while (!this.#isClosing && (await this.#claim()));
	}

	/** Goes on with one run. False if there is none. */
	async #claim(): Promise<boolean> {
		const { store, log, replica, active, isInterrupting } = this.#options;
		let how: GoesOn | null = null;
		let asked: string | null = null;
		for (const [id, until] of this.#left) if (until < performance.now()) this.#left.delete(id);
		const claiming = store.runs.claim(replica.id, {
			// What is still ending here isn't anybody's.
			except: [...active.keys(), ...this.#left.keys()],
			now: new Date().toISOString(),
			async take(run) {
				asked = run.id;
				const taking = await takeOver(run);
				how = taking.goesOn;
				return taking.taken;
			}
		});
		const claimed = await claiming.catch((error: unknown) => {
			if (asked === null || (error instanceof AppError && error.code === 'unavailable')) throw error;
			log.error({ runId: asked, error: String(error) }, 'couldn’t go on with a run of a server that has stopped');
			this.#left.set(asked, performance.now() + LEFT_MS);
			return 'left' as const;
		});
		if (claimed === 'left') return true;
		if (!claimed) return false;
		const { run, takeovers } = claimed;
		this.#options.leases?.('taken', 1);
		replica.tell('runs', [run.id]);
		log.info({ runId: run.id, takeovers }, 'went on with a run of a server that has stopped');
		if (how && !isInterrupting) await this.#options.goOn(run, how);
		else {
			await endOrphan(store, run);
			replica.tell('runs', [run.id]);
		}
		return true;
	}

	/** Ids of the conversation's runs that other servers write. */
	async #runningElsewhere(conversationId: string): Promise<string[]> {
		const { store, replica } = this.#options;
		const running = await store.runs.listRunning(replica.id, conversationId);
		return running.map(({ id }) => id);
	}

	async #want(runId: string, want: RunWant): Promise<boolean> {
		const { store, replica } = this.#options;
		const isLeft = await store.runs.want(runId, want);
		if (isLeft) replica.tell('wants', [runId]);
		return isLeft;
	}

	#inTurn(failure: string, work: () => Promise<void>): () => Promise<void> {
		return onceForAll(() =>
			work().then(
				() => this.#outages.worked(failure),
				(error: unknown) => this.#outages.failed(failure, error, 'error')
			)
		);
	}
}

/** A stopped tool has some seconds to end. */
const STOP_WAIT_MS = 30_000;

// Runs that other servers write: one statement reads the news of all of them.

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

class RunTails {
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
