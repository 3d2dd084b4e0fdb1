/** Starts, follows, stops and ends runs. A run belongs to the server: it goes on when a client disconnects (DESIGN §4). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent, TokenUsage } from '../../shared/events.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import type { Question } from '../../shared/message-schema.ts';
import { MOST_COMPARED } from '../../shared/models.ts';
import type { AgentLimits } from '../agent/loop.ts';
import type { Model } from '../agent/model.ts';
import type { Log } from '../log.ts';
import type { Replica } from '../replica.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { RunPlace, RunStart, RunStartResult } from '../store/chat/store-runs.ts';
import type { ConversationChanges } from './conversation-changes.ts';
import { EventWriter, RunGone, EVENT_PAGE } from './stored-events.ts';
import { RunLog, type LiveAnswer } from './run-log.ts';
import { type ResponderParts, responderFor, withPreset } from './responder.ts';
import { type ActiveRun, RunSharing } from './run-sharing.ts';
import { endOrphan, foldStored, type GoesOn, INTERRUPTED } from './takeover.ts';
import { digestOfTask, type NewMessage, type RunRequest } from '../turns/run-request.ts';
import { isDatabaseAway } from '../store/errors.ts';
import { type Responder, runTurn, type TurnParts } from '../turns/turn.ts';

export interface RunnerOptions extends TurnParts, ResponderParts {
	/** Current limits, for a new run. */
	limits(): AgentLimits;
	changes: ConversationChanges;
	log: Log;
	replica: Replica;
	/** What becomes of runs whose server has stopped, if there are several servers; default `go-on`. */
	takeover?: 'go-on' | 'interrupt';
	/** Counts what becomes of leases. */
	leases?(what: 'renewed' | 'lost' | 'taken', count: number): void;
}

type EndListener = (conversationId: string, last: RunEvent) => Promise<void>;

/** Title of an empty conversation. */
export const UNTITLED = 'New chat';

export class Runner {
	#options: RunnerOptions;
	#writer: EventWriter;
	/** The runs of other servers; there are none for one that is alone. */
	#elsewhere: Elsewhere;
	#active = new Map<string, ActiveRun>();
	/** Runs being stored, before they are active. */
	#starting = new Map<string, Promise<void>>();
	#endListeners: EndListener[] = [];
	#isClosing = false;

	constructor(options: RunnerOptions) {
		this.#options = options;
		const { replica, store, takeover } = options;
		const tell = (runIds: string[]) => replica.tell('runs', runIds);
		this.#writer = new EventWriter(store.runs, replica.isShared ? tell : null);
		const goOn = (run: RunRecord, how: GoesOn) => this.#goOn(run, how);
		const isInterrupting = takeover === 'interrupt';
		this.#elsewhere = replica.isShared
			? new RunSharing({ ...options, active: this.#active, isInterrupting, goOn })
			: alone(options);
	}

	/**
	 * Stores the request and starts its run. Idempotent for the same run id and request.
	 * @throws AppError `conflict` while another run of the conversation is active, or for a run id used for another request;
	 * `not_found` for an unknown message; `unavailable` when shutting down.
	 */
	async start(request: RunRequest): Promise<{ runId: string; conversationId: string }> {
		if (this.#isClosing) throw new AppError('unavailable', 'The server is stopping. Try again in a moment.');
		const { runId, conversationId } = request;
		const starting = this.#start(request);
		this.#starting.set(runId, starting);
		try {
			await starting;
			return { runId, conversationId };
		} finally {
			this.#starting.delete(runId);
		}
	}

	/**
	 * The run's events after `after`, live until its end; null if not found. `epoch`: in which the reader has seen `after`.
	 * Rejects while being read if another server goes on with the run: then read on from there.
	 */
	async follow(
		runId: string,
		after: number,
		signal: AbortSignal,
		epoch = 1
	): Promise<AsyncGenerator<StoredEvent[]> | null> {
		const active = this.#active.get(runId);
		if (active) return active.log.follow(after, signal);
		const run = await this.#options.store.runs.get(runId);
		if (!run) return null;
		const live = run.state === 'running' ? this.#elsewhere.follow(run, { after, epoch }, signal) : null;
		return live ?? this.#replay(runId, after, signal);
	}

	/**
	 * Where a reader goes on that knows events up to `seq` of this epoch: there, or at 0. It starts over if that event was never
	 * stored, because a server crashed: another one may have its number now. The fold tolerates repeated events, but not gaps.
	 */
	async cursorFor(run: RunRecord, { seq, epoch }: { seq: number; epoch: number }): Promise<number> {
		if (!Number.isInteger(seq) || seq < 0 || epoch > run.epoch) return 0;
		const live = this.live(run.id);
		const current = live?.epoch ?? run.epoch;
		if (epoch < current) return seq <= (await this.#options.store.runs.lastSeqIn(run.id, epoch)) ? seq : 0;
		if (live) return seq <= live.seq ? seq : 0;
		// Its owner may be ahead of the database. Nobody goes on after the end of a run.
		if (run.state === 'running' && this.#options.replica.isShared) return seq;
		return seq <= run.lastSeq - 1 ? seq : 0;
	}

	/** The current answer of a run, newer than the stored one; null if it isn't running here. */
	live(runId: string): LiveAnswer | null {
		return this.#active.get(runId)?.log.snapshot ?? null;
	}

	/** The message as far as it's written: memory, or the log of another server's run, is ahead of it. */
	async current(message: Message): Promise<Message> {
		if (message.runId === null) return message;
		const live = this.live(message.runId);
		if (live || message.status !== 'running') return live?.message.id === message.id ? live.message : message;
		const run = await this.get(message.runId);
		const folded = run?.state === 'running' ? await foldStored(this.#options.store, run) : null;
		return folded?.message.id === message.id ? folded.message : message;
	}

	get(runId: string): Promise<RunRecord | null> {
		return this.#options.store.runs.get(runId);
	}

	/** Stops a run, on whichever server, and waits for its end. False if it isn't running. */
	async stop(runId: string): Promise<boolean> {
		// Wait for a run that is just being stored.
		await this.#starting.get(runId)?.catch(() => undefined);
		const active = this.#active.get(runId);
		if (!active) return this.#elsewhere.stop(runId);
		active.controller.abort(new Error('stopped by the user'));
		await active.task;
		return true;
	}

	/** Asks the conversation's runs to end after their current step, because a new message is waiting. */
	async askToYield(conversationId: string): Promise<void> {
		for (const active of this.#active.values()) {
			if (active.conversationId === conversationId) active.isAskedToYield = true;
		}
		await this.#elsewhere.askToYield(conversationId);
	}

	/** The question that a tool of another server's run asks; null if none with this id is open there. */
	questionElsewhere(conversationId: string, id: string): Promise<Question | null> {
		return this.#elsewhere.question(conversationId, id);
	}

	/** Hands an answer to a tool's question to another server that runs the tool. False if there is none. */
	replyElsewhere(conversationId: string, id: string, reply: unknown): Promise<boolean> {
		return this.#elsewhere.reply(conversationId, id, reply);
	}

	/** Called with answers that came to another server. */
	onReply(listener: (conversationId: string, id: string, reply: unknown) => void): void {
		this.#elsewhere.onReply(listener);
	}

	/** Calls the listener with the terminal event of each run, once another may start. Not during shutdown. */
	onEnd(listener: EndListener): void {
		this.#endListeners.push(listener);
	}

	/**
	 * Call once, before handling requests. Alone: ends runs left running by an earlier process. Among several servers: keeps
	 * the runs of this one, and goes on with those whose server has stopped.
	 */
	async recover(): Promise<void> {
		await this.#elsewhere.start();
	}

	/**
	 * Waits up to `graceMs` for runs to end. The rest is interrupted, or handed over to another server if there may be one.
	 */
	async close(graceMs = 0): Promise<void> {
		this.#isClosing = true;
		this.#elsewhere.stopClaiming();
		await Promise.allSettled(this.#starting.values());
		const tasks = Promise.all([...this.#active.values()].map(({ task }) => task));
		const interrupt = async (): Promise<void> => {
			const rest = [...this.#active.values()];
			if (this.#options.replica.isShared) await Promise.all(rest.map(({ log }) => log.handOver()));
			for (const { controller } of rest) controller.abort(new Error('the server is stopping'));
		};
		const timer = setTimeout(() => void interrupt(), graceMs);
		await tasks;
		clearTimeout(timer);
		await this.#elsewhere.close();
	}

	async #start(asked: RunRequest): Promise<void> {
		const request = await withPreset(this.#options, asked);
		const responder = await responderFor(this.#options, request);
		const started = await this.#store(request, responder.model);
		switch (started.outcome) {
			case 'duplicate_message':
				throw new AppError('conflict', 'This message was already sent in another run.');
			case 'no_message':
				throw new AppError('not_found', 'The message to continue from is missing or still being written.');
			case 'busy':
				throw new AppError('conflict', 'A reply is still being written. Stop it or wait until it’s done.');
			case 'exists':
				return requireSame(started.run, request);
			case 'started':
				this.#launch({ ...started, usedBefore: started.answer.usage }, (active) =>
					this.#execute(request, responder, started.answer, active)
				);
				this.#options.changes.announce(request.conversationId);
		}
	}

	async #store(request: RunRequest, model: Model): Promise<RunStartResult> {
		const { store, replica } = this.#options;
		const now = new Date().toISOString();
		const start: RunStart = {
			run: {
				...{ id: request.runId, model: model.id, bootId: replica.id, task: digestOfTask(request) },
				request: replica.isShared ? JSON.stringify(request) : undefined
			},
			conversation: {
				id: request.conversationId,
				title: request.kind === 'ask' ? titleOf(request.message.text) : UNTITLED,
				placeholder: request.kind === 'ask' ? UNTITLED : undefined,
				apiKeyId: request.apiKeyId
			},
			place: placeOf(request, now),
			choice: request.choice,
			beside: request.compare?.beside,
			pins: request.pins,
			now
		};
		let result = await store.runs.start(start);
		for (let others = MOST_COMPARED; result.outcome === 'busy' && others > 0; others--) {
			if (this.#active.has(result.run.id) || this.#starting.has(result.run.id)) break;
			// Another server's: it goes on there, or whoever takes it over.
			if (replica.isShared && result.run.bootId !== replica.id) break;
			// That run isn't active here: storing its end must have failed.
			await endOrphan(store, result.run);
			result = await store.runs.start(start);
		}
		return result;
	}

	/** Goes on with a run of a server that has stopped. */
	async #goOn(run: RunRecord, { answer, before, request }: GoesOn): Promise<void> {
		const begun = { run, answer, usedBefore: before.usage };
		if (request) {
			const responder = await responderFor(this.#options, request, run.model);
			this.#launch(begun, (active) => this.#execute(request, responder, answer, active));
		} else this.#launch(begun, ({ log }) => this.#finish(log));
		this.#options.changes.announce(run.conversationId);
	}

	/** `answer` has the events of the run so far. `write` returns the terminal event; null if another server goes on. */
	#launch(
		{ run, answer, usedBefore }: { run: RunRecord; answer: Message; usedBefore: TokenUsage | null },
		write: (active: ActiveRun) => Promise<RunEvent | null>
	): void {
		const { store, log } = this.#options;
		const controller = new AbortController();
		const { id: runId, conversationId } = run;
		const onLost = (error: unknown) => {
			if (error instanceof RunGone) log.info({ runId }, 'a run isn’t this server’s any more');
			else log.error({ runId, error: String(error) }, 'couldn’t write the run log');
			controller.abort(error);
		};
		const runLog = new RunLog({ store, writer: this.#writer, run, message: answer, usedBefore, onLost });
		const active: ActiveRun = {
			conversationId,
			log: runLog,
			controller,
			isAskedToYield: false,
			task: Promise.resolve()
		};
		this.#active.set(runId, active);
		active.task = write(active)
			.catch((error: unknown) => {
				log.error({ runId, error: String(error) }, 'couldn’t end the run in the database');
				return null;
			})
			.then(async (last) => {
				this.#active.delete(runId);
				this.#options.changes.announce(conversationId);
				if (!last || this.#isClosing) return;
				const tell = async () => {
					for (const listener of this.#endListeners) await listener(conversationId, last);
				};
				const { observer } = this.#options;
				await (observer ? observer.apart(tell) : tell());
			})
			.catch((error: unknown) => log.error({ runId, error: String(error) }, 'a listener for the end of a run failed'));
	}

	/** The answer is complete, and its server stopped before the end was written. */
	async #finish(log: RunLog): Promise<RunEvent | null> {
		const { runId, conversationId: threadId } = log;
		const last: RunEvent = { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' } };
		return (await log.end(last)) ? last : null;
	}

	/** Returns the run's terminal event; null if another server goes on. */
	async #execute(
		request: RunRequest,
		responder: Responder,
		answer: Message,
		active: ActiveRun
	): Promise<RunEvent | null> {
		const { log: runLog, controller } = active;
		const { signal } = controller;
		const { runId } = runLog;
		const hasBegun = runLog.snapshot.seq > 0;
		let last = internalError('The run ended without a reply. Try again.');
		try {
			const turn = {
				...responder,
				request,
				answer,
				epoch: runLog.epoch,
				limits: this.#options.limits(),
				signal,
				isAskedToYield: () => active.isAskedToYield,
				record: runLog.record.bind(runLog)
			};
			for await (const event of runTurn(this.#options, turn)) {
				if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') last = event;
				else if (event.type !== 'RUN_STARTED' || !hasBegun) await runLog.append(event);
			}
		} catch (error) {
			const { log, replica } = this.#options;
			// As when an event can't be written: a server goes on from what is stored, perhaps this one.
			if (replica.isShared && isDatabaseAway(error)) runLog.onLost(new RunGone());
			else log.error({ runId, error: String(error) }, 'run failed');
			last = internalError('Something went wrong on the server. See its log for details.');
		}
		if (this.#isClosing && signal.aborted) last = INTERRUPTED;
		return (await runLog.end(last)) ? last : null;
	}

	async *#replay(runId: string, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		let cursor = after;
		while (!signal.aborted) {
			const events = await this.#options.store.runs.readEvents(runId, { after: cursor, ...EVENT_PAGE });
			const last = events.at(-1);
			if (!last) return;
			yield events;
			cursor = last.seq;
		}
	}
}

/** What `RunSharing` is for several servers. */
type Elsewhere = Pick<
	RunSharing,
	'stop' | 'askToYield' | 'question' | 'reply' | 'onReply' | 'stopClaiming' | 'close'
> & {
	start(): void | Promise<void>;
	follow(...run: Parameters<RunSharing['follow']>): AsyncGenerator<StoredEvent[]> | null;
};

/** For a server that has its database for itself: what is left is of its own last start. */
function alone({ store, log, replica }: Pick<RunnerOptions, 'store' | 'log' | 'replica'>): Elsewhere {
	const nothing = async () => undefined;
	return {
		async start() {
			for (const run of await store.runs.listRunning(replica.id)) {
				await endOrphan(store, run);
				log.info({ runId: run.id }, 'run was interrupted by the last stop');
			}
		},
		follow: () => null,
		stop: async () => false,
		askToYield: nothing,
		question: async () => null,
		reply: async () => false,
		onReply: () => undefined,
		stopClaiming: () => undefined,
		close: nothing
	};
}

function internalError(message: string): RunEvent {
	return { type: 'RUN_ERROR', code: 'internal', message };
}

/** @throws AppError `conflict` for a run id used for another request */
function requireSame({ conversationId, task }: RunRecord, request: RunRequest): void {
	const hint = 'Use a new run id for this request.';
	if (conversationId !== request.conversationId)
		throw new AppError('conflict', 'This run id is already used.', { hint });
	if (task === null || task === digestOfTask(request)) return;
	throw new AppError('conflict', 'This run was started with a different request.', { hint });
}

function placeOf(request: RunRequest, now: string): RunPlace {
	const answer = () => emptyAnswer(randomUUID(), request.runId, now);
	switch (request.kind) {
		case 'ask': {
			const { message, after, results = [] } = request;
			const question = questionOf(message, now);
			return { kind: 'question', question, answer: answer(), results, after };
		}
		case 'retry':
			return { kind: 'answer', questionId: request.questionId, answer: answer() };
		case 'continue':
			return { kind: 'more', messageId: request.messageId, from: 'ended', results: [] };
		case 'resume':
			return { kind: 'more', messageId: request.messageId, from: 'waiting', results: request.results ?? [] };
		case 'results':
			return { kind: 'handed', results: request.results };
	}
}

function questionOf({ id, text, files }: NewMessage, createdAt: string): Message {
	return {
		...emptyAnswer(id, '', createdAt),
		runId: null,
		role: 'user',
		status: 'complete',
		parts: [{ type: 'text', id: `${id}_text`, text }],
		files
	};
}

/** The first line of the question, cut at a word. */
export function titleOf(text: string): string {
	const line = text.trim().split('\n')[0]?.trim() ?? '';
	return line.length <= 60 ? line || UNTITLED : `${line.slice(0, 60).replace(/\s+\S*$/, '')}…`;
}
