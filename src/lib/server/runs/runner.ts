/** Starts, follows, stops and recovers runs. A run belongs to the server: no request that goes away ends it (DESIGN §4). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import { loadedSkills, seenDigests, toInput } from '../agent/history.ts';
import { runAgent } from '../agent/loop.ts';
import type { FunctionTool, Model } from '../agent/model.ts';
import type { Log } from '../log.ts';
import { renderCatalog } from '../skills/catalog.ts';
import { estimateTokens } from '../skills/prompt.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { StoredEvent } from '../store/run-events.ts';
import type { RunRecord } from '../store/run-row.ts';
import type { RunStart, RunStartResult } from '../store/run-start.ts';
import type { Store } from '../store/store.ts';
import { RunLog } from './run-log.ts';
import { createSkillToolbox } from './skill-toolbox.ts';
import type { Workspaces } from './workspaces.ts';

export interface RunnerOptions {
	store: Store;
	model: Model;
	skills: SkillsProvider;
	workspaces: Workspaces;
	maxSteps: number;
	log: Log;
}

export interface RunRequest {
	runId: string;
	conversationId: string;
	message: { id: string; text: string; files: string[] };
	/** Tools of the caller: offered to the model, handed back when it calls them. */
	tools: FunctionTool[];
}

interface ActiveRun {
	log: RunLog;
	controller: AbortController;
	task: Promise<void>;
}

/** What the catalog of skills may cost a turn; with more skills, those that fit the question are told in full. */
const CATALOG_TOKENS = 2000;

/** Title of a conversation in which nothing was said yet. */
export const UNTITLED = 'New conversation';

const INTERRUPTED: RunEvent = {
	type: 'RUN_ERROR',
	code: 'interrupted',
	message: 'The server was stopped while this answer was written. What was shown is kept; ask again to go on.'
};

export class Runner {
	#options: RunnerOptions;
	#bootId = randomUUID();
	#active = new Map<string, ActiveRun>();
	/** Runs that are being stored, and are active in a moment. */
	#starting = new Map<string, Promise<void>>();
	#isClosing = false;

	constructor(options: RunnerOptions) {
		this.#options = options;
	}

	/**
	 * Stores the message and starts its run; the same run id again is the same run.
	 * @throws AppError `conflict` while another run of the conversation is under way, `unavailable` when shutting down.
	 */
	async start(request: RunRequest): Promise<{ runId: string; conversationId: string }> {
		if (this.#isClosing) throw new AppError('unavailable', 'The server is stopping; try again in a moment.');
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

	/** The run's events after `after`, live until its end; null when there is no such run. */
	async follow(runId: string, after: number, signal: AbortSignal): Promise<AsyncGenerator<StoredEvent[]> | null> {
		const active = this.#active.get(runId);
		if (active) return active.log.follow(after, signal);
		return (await this.#options.store.runs.get(runId)) ? this.#replay(runId, after, signal) : null;
	}

	/** The answer that a run is writing, newer than what is stored; null when it is not running here. */
	live(runId: string): { message: Message; seq: number } | null {
		return this.#active.get(runId)?.log.snapshot ?? null;
	}

	get(runId: string): Promise<RunRecord | null> {
		return this.#options.store.runs.get(runId);
	}

	/** Stops a run and waits for its end; false when it is not running. */
	async stop(runId: string): Promise<boolean> {
		const active = this.#active.get(runId);
		if (!active) return false;
		active.controller.abort(new Error('stopped by the user'));
		await active.task;
		return true;
	}

	/** Marks what an earlier process left running as interrupted. Called once, before requests are answered. */
	async recover(): Promise<void> {
		for (const run of await this.#options.store.runs.listRunning(this.#bootId)) {
			await this.#interrupt(run);
			this.#options.log.info({ runId: run.id }, 'run was interrupted by the last stop');
		}
	}

	/** Ends every run and waits until each has its terminal event. */
	async close(): Promise<void> {
		this.#isClosing = true;
		await Promise.allSettled(this.#starting.values());
		for (const { controller } of this.#active.values()) controller.abort(new Error('server stops'));
		await Promise.all([...this.#active.values()].map(({ task }) => task));
	}

	async #start(request: RunRequest): Promise<void> {
		const answer = emptyAnswer(randomUUID(), request.runId, new Date().toISOString());
		const { outcome, run } = await this.#store(request, answer);
		if (outcome === 'duplicate_message')
			throw new AppError('conflict', 'This message was already sent in another run.');
		if (outcome === 'busy')
			throw new AppError('conflict', 'An answer is still being written; stop it or wait for its end.');
		if (run.conversationId !== request.conversationId)
			throw new AppError('conflict', 'This run belongs to another conversation.');
		if (outcome === 'started') this.#launch(request, answer);
	}

	async #store(request: RunRequest, answer: Message): Promise<RunStartResult> {
		const { store, model } = this.#options;
		const start: RunStart = {
			run: { id: request.runId, model: model.id, bootId: this.#bootId },
			conversation: { id: request.conversationId, title: titleOf(request.message.text), placeholder: UNTITLED },
			userMessage: questionOf(request, answer.createdAt),
			answer,
			now: answer.createdAt
		};
		const result = await store.runs.start(start);
		if (result.outcome !== 'busy' || this.#active.has(result.run.id) || this.#starting.has(result.run.id))
			return result;
		// Nobody writes that run: the database failed when it was to be ended.
		await this.#interrupt(result.run);
		return store.runs.start(start);
	}

	/** Ends a run that nobody writes any more. */
	async #interrupt({ id, conversationId, messageId, lastSeq }: RunRecord): Promise<void> {
		const { store } = this.#options;
		const message = (await store.messages.list(conversationId)).find((each) => each.id === messageId);
		await store.runs.finish(id, {
			state: 'interrupted',
			errorCode: 'interrupted',
			finishedAt: new Date().toISOString(),
			events: [{ seq: lastSeq + 1, data: JSON.stringify(INTERRUPTED) }],
			...(message ? { message: { conversationId, message: foldEvent(message, INTERRUPTED) } } : {})
		});
	}

	#launch(request: RunRequest, message: Message): void {
		const { store, log } = this.#options;
		const controller = new AbortController();
		const onLost = (error: unknown) => {
			log.error({ runId: request.runId, error: String(error) }, 'run log could not be written');
			controller.abort(error);
		};
		const { runId, conversationId } = request;
		const runLog = new RunLog({ store, runId, conversationId, message, onLost });
		const task = this.#execute(request, runLog, controller.signal)
			.catch((error: unknown) => log.error({ runId, error: String(error) }, 'run could not be ended in the database'))
			.finally(() => this.#active.delete(runId));
		this.#active.set(runId, { log: runLog, controller, task });
	}

	async #execute(request: RunRequest, runLog: RunLog, signal: AbortSignal): Promise<void> {
		let last: RunEvent = {
			type: 'RUN_ERROR',
			code: 'internal',
			message: 'The run ended without an answer; try again.'
		};
		try {
			for await (const event of this.#events(request, runLog, signal)) {
				if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') last = event;
				else await runLog.append(event);
			}
		} catch (error) {
			this.#options.log.error({ runId: request.runId, error: String(error) }, 'run failed');
			last = { type: 'RUN_ERROR', code: 'internal', message: 'Something went wrong in the server; its log says more.' };
		}
		if (this.#isClosing && signal.aborted) last = INTERRUPTED;
		await runLog.end(last);
	}

	async *#events(request: RunRequest, runLog: RunLog, signal: AbortSignal): AsyncGenerator<RunEvent> {
		const { store, model, skills, workspaces, maxSteps } = this.#options;
		const { runId, conversationId } = request;
		yield { type: 'RUN_STARTED', threadId: conversationId, runId };
		const snapshot = skills.registry.snapshot();
		const offered = snapshot.skills.map(({ name, description }) => ({ name, description }));
		const ranked = await skills.rank(snapshot, request.message.text);
		const rank = () => ranked;
		const catalog = renderCatalog(snapshot.skills, { budgetTokens: CATALOG_TOKENS, rank, hasGuidance: true });
		yield { type: 'CUSTOM', name: 'skill.catalog', value: { skills: offered, tokens: estimateTokens(catalog) } };
		const history = (await store.messages.listForModel(conversationId)).filter(
			({ message }) => message.runId !== runId || message.role === 'user'
		);
		const input = toInput(history, model.id);
		const session = skills.createSession({
			snapshot,
			loaded: loadedSkills(history),
			seen: seenDigests(input),
			dialect: 'full'
		});
		const files = await workspaces.list(conversationId);
		yield* runAgent({
			model,
			instructions: instructionsOf(catalog, files),
			input,
			toolbox: createSkillToolbox(session, request.tools, workspaces.path(conversationId)),
			threadId: conversationId,
			runId,
			maxSteps,
			signal,
			record: (items) => runLog.record(items)
		});
	}

	async *#replay(runId: string, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent[]> {
		let cursor = after;
		while (!signal.aborted) {
			const events = await this.#options.store.runs.readEvents(runId, { after: cursor, limit: 500 });
			const last = events.at(-1);
			if (!last) return;
			yield events;
			cursor = last.seq;
		}
	}
}

function questionOf({ message, runId }: RunRequest, createdAt: string): Message {
	return {
		...emptyAnswer(message.id, runId, createdAt),
		role: 'user',
		status: 'complete',
		parts: [{ type: 'text', id: `${message.id}_text`, text: message.text }],
		files: message.files
	};
}

/** The first line of the question, cut at a word. */
function titleOf(text: string): string {
	const line = text.trim().split('\n')[0]?.trim() ?? '';
	return line.length <= 60 ? line || UNTITLED : `${line.slice(0, 60).replace(/\s+\S*$/, '')}…`;
}

function instructionsOf(catalog: string, files: { path: string; bytes: number }[]): string {
	const listing = files.slice(0, 200).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`);
	return [
		'You are a helpful assistant. Use the skills below when they fit what is asked; answer in the language of the user.',
		catalog,
		`## Working directory\n\nScripts run in this conversation's working directory; give them files by these relative names. Files there:\n${listing.join('\n') || '(none)'}`
	]
		.filter(Boolean)
		.join('\n\n');
}
