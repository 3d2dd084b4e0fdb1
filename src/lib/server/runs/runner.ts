/** Starts, follows, stops and ends runs. A run belongs to the server: it goes on when a client disconnects (DESIGN §4). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, type Message } from '../../shared/message.ts';
import { plainLine } from '../../shared/characters.ts';
import { findPreset, MOST_COMPARED, presetOfModel } from '../../shared/models.ts';
import type { ReasoningEffort, WebTool } from '../../shared/names.ts';
import type { Settings } from '../../shared/settings.ts';
import type { AgentLimits } from '../agent/loop.ts';
import type { Model, ModelSource } from '../agent/model.ts';
import type { Log } from '../log.ts';
import type { RunRecord, StoredEvent } from '../store/chat/runs.ts';
import type { RunPlace, RunStart, RunStartResult } from '../store/chat/store-runs.ts';
import type { ConversationChanges } from './conversation-changes.ts';
import { endOrphan, EventWriter, INTERRUPTED } from './event-writer.ts';
import { EVENT_PAGE, RunLog, type LiveAnswer } from './run-log.ts';
import { digestOfTask, type NewMessage, type RunRequest } from '../turns/run-request.ts';
import type { CustomInstructions } from '../turns/instructions.ts';
import { runTurn, type TurnParts } from '../turns/turn.ts';

export interface RunnerOptions extends TurnParts {
	/** A run keeps the model it started with. */
	models: ModelSource;
	/** Current limits, for a new run. */
	limits(): AgentLimits;
	/** For all chats; none by default. */
	chats?(): Pick<Settings, 'instructions' | 'web' | 'presets'>;
	changes: ConversationChanges;
	log: Log;
}

interface Responder {
	model: Model;
	effort: ReasoningEffort | null;
	custom: CustomInstructions;
	web: readonly WebTool[];
	approval: 'ask' | undefined;
}

interface ActiveRun {
	conversationId: string;
	log: RunLog;
	controller: AbortController;
	/** End after the current step, because a new message is waiting. */
	isAskedToYield: boolean;
	task: Promise<void>;
}

type EndListener = (conversationId: string, last: RunEvent) => Promise<void>;

/** Title of an empty conversation. */
export const UNTITLED = 'New chat';

export class Runner {
	#options: RunnerOptions;
	#writer: EventWriter;
	#bootId = randomUUID();
	#active = new Map<string, ActiveRun>();
	/** Runs being stored, before they are active. */
	#starting = new Map<string, Promise<void>>();
	#endListeners: EndListener[] = [];
	#isClosing = false;

	constructor(options: RunnerOptions) {
		this.#options = options;
		this.#writer = new EventWriter(options.store.runs);
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

	/** The run's events after `after`, live until its end; null if not found. */
	async follow(runId: string, after: number, signal: AbortSignal): Promise<AsyncGenerator<StoredEvent[]> | null> {
		const active = this.#active.get(runId);
		if (active) return active.log.follow(after, signal);
		return (await this.#options.store.runs.get(runId)) ? this.#replay(runId, after, signal) : null;
	}

	/** The current answer of a run, newer than the stored one; null if it isn't running here. */
	live(runId: string): LiveAnswer | null {
		return this.#active.get(runId)?.log.snapshot ?? null;
	}

	/** The message as far as it's written: memory is ahead of the database. */
	current(message: Message): Message {
		const live = message.runId === null ? null : this.live(message.runId);
		return live?.message.id === message.id ? live.message : message;
	}

	get(runId: string): Promise<RunRecord | null> {
		return this.#options.store.runs.get(runId);
	}

	/** Stops a run and waits for its end. False if it isn't running. */
	async stop(runId: string): Promise<boolean> {
		// Wait for a run that is just being stored.
		await this.#starting.get(runId)?.catch(() => undefined);
		const active = this.#active.get(runId);
		if (!active) return false;
		active.controller.abort(new Error('stopped by the user'));
		await active.task;
		return true;
	}

	/** Asks the conversation's run to end after its current step, because a new message is waiting. */
	askToYield(conversationId: string): void {
		for (const active of this.#active.values()) {
			if (active.conversationId === conversationId) active.isAskedToYield = true;
		}
	}

	/** Calls the listener with the terminal event of each run, once another may start. Not during shutdown. */
	onEnd(listener: EndListener): void {
		this.#endListeners.push(listener);
	}

	/** Ends runs left running by an earlier process. Call once, before handling requests. */
	async recover(): Promise<void> {
		const { store, log } = this.#options;
		for (const run of await store.runs.listRunning(this.#bootId)) {
			await endOrphan(store, run);
			log.info({ runId: run.id }, 'run was interrupted by the last stop');
		}
	}

	/** Waits up to `graceMs` for runs to end, then interrupts the rest and waits for their terminal events. */
	async close(graceMs = 0): Promise<void> {
		this.#isClosing = true;
		await Promise.allSettled(this.#starting.values());
		const tasks = Promise.all([...this.#active.values()].map(({ task }) => task));
		const interrupt = () => {
			for (const { controller } of this.#active.values()) controller.abort(new Error('the server is stopping'));
		};
		const timer = setTimeout(interrupt, graceMs);
		if (graceMs === 0) interrupt();
		await tasks;
		clearTimeout(timer);
	}

	async #start(asked: RunRequest): Promise<void> {
		const request = await this.#withPreset(asked);
		const responder = await this.#responderFor(request);
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
				this.#launch(request, responder, started);
				this.#options.changes.announce(request.conversationId);
		}
	}

	/**
	 * A preset that is named as the model gives the chat what it has, once: named again, or changed or removed since, it
	 * changes nothing there. @throws AppError not_found
	 */
	async #withPreset(request: RunRequest): Promise<RunRequest> {
		const { choice = {}, pins = [], conversationId } = request;
		const id = presetOfModel(choice.model);
		if (id === null) return request;
		const { model: _named, ...said } = choice;
		if ((await this.#options.store.runs.choiceOf(conversationId)).preset === id) return { ...request, choice: said };
		const preset = findPreset(this.#options.chats?.().presets ?? {}, id);
		if (!preset) throw new AppError('not_found', `There’s no preset “${plainLine(id).slice(0, 100)}”.`);
		const { model, effort, instructions, skills, web, routing, approval } = preset;
		const given = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
		return {
			...request,
			choice: { effort, instructions, web, routing, approval, ...given, model, preset: id },
			pins: [...new Set([...skills, ...pins])]
		};
	}

	/** Uses the request's choice, otherwise the conversation's, otherwise the settings'. */
	async #responderFor(request: RunRequest): Promise<Responder> {
		const { store, models, chats } = this.#options;
		const { conversationId, apiKeyId, choice = {}, compare } = request;
		const beside = 'messageId' in request ? await store.messages.compared(conversationId) : [];
		const own = 'messageId' in request ? beside.find(({ id }) => id === request.messageId)?.model : compare?.model;
		const kept = await store.runs.choiceOf(conversationId);
		// null resets to the settings.
		const { model: id = kept.model, effort = kept.effort, instructions = kept.instructions } = choice;
		// A program with a key isn't told what the owner has written about themselves, and spends nothing it didn't ask for.
		const all = apiKeyId === undefined ? chats?.() : undefined;
		const { web = kept.web, routing = kept.routing, approval = kept.approval } = choice;
		return {
			model: models.modelFor({ id: own || id, routing }),
			effort: effort ?? models.effort(),
			custom: { allChats: all?.instructions ?? '', thisChat: instructions ?? '' },
			web: web ?? all?.web ?? [],
			approval: approval ?? undefined
		};
	}

	async #store(request: RunRequest, model: Model): Promise<RunStartResult> {
		const { store } = this.#options;
		const now = new Date().toISOString();
		const start: RunStart = {
			run: { id: request.runId, model: model.id, bootId: this.#bootId, task: digestOfTask(request) },
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
			// That run isn't active here: storing its end must have failed.
			await endOrphan(store, result.run);
			result = await store.runs.start(start);
		}
		return result;
	}

	#launch(
		request: RunRequest,
		responder: Responder,
		{ run, answer }: Extract<RunStartResult, { outcome: 'started' }>
	): void {
		const { store, log } = this.#options;
		const controller = new AbortController();
		const onLost = (error: unknown) => {
			log.error({ runId: request.runId, error: String(error) }, 'couldn’t write the run log');
			controller.abort(error);
		};
		const { runId, conversationId } = request;
		const writer = this.#writer;
		const { startedAt } = run;
		const runLog = new RunLog({ store, writer, runId, conversationId, startedAt, message: answer, onLost });
		const active: ActiveRun = {
			conversationId,
			log: runLog,
			controller,
			isAskedToYield: false,
			task: Promise.resolve()
		};
		this.#active.set(runId, active);
		active.task = this.#execute(request, responder, answer, active)
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

	/** Returns the run's terminal event. */
	async #execute(request: RunRequest, responder: Responder, answer: Message, active: ActiveRun): Promise<RunEvent> {
		const { log: runLog, controller } = active;
		const { signal } = controller;
		let last = internalError('The run ended without a reply. Try again.');
		try {
			const turn = {
				...responder,
				request,
				answer,
				limits: this.#options.limits(),
				signal,
				isAskedToYield: () => active.isAskedToYield,
				record: runLog.record.bind(runLog)
			};
			for await (const event of runTurn(this.#options, turn)) {
				if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') last = event;
				else await runLog.append(event);
			}
		} catch (error) {
			this.#options.log.error({ runId: request.runId, error: String(error) }, 'run failed');
			last = internalError('Something went wrong on the server. See its log for details.');
		}
		if (this.#isClosing && signal.aborted) last = INTERRUPTED;
		await runLog.end(last);
		return last;
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
