/** Starts, follows, stops and recovers runs. A run belongs to the server: no request that goes away ends it (DESIGN §4). */
import { randomUUID } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import type { RunEvent } from '../../shared/events.ts';
import { emptyAnswer, foldEvent, type Message } from '../../shared/message.ts';
import { loadedSkills, toInput } from '../agent/history.ts';
import { runAgent } from '../agent/loop.ts';
import type { FunctionTool, Model } from '../agent/model.ts';
import type { Log } from '../log.ts';
import { estimateTokens, renderSystemPrompt } from '../skills/prompt.ts';
import type { SkillsProvider } from '../skills/provider.ts';
import type { StoredEvent } from '../store/run-events.ts';
import type { RunRecord } from '../store/run-row.ts';
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
		const { store, model } = this.#options;
		const { runId, conversationId } = request;
		const now = new Date().toISOString();
		const answer = emptyAnswer(randomUUID(), runId, now);
		const result = await store.runs.start({
			run: { id: runId, model: model.id, bootId: this.#bootId },
			conversation: { id: conversationId, title: titleOf(request.message.text) },
			userMessage: questionOf(request, now),
			answer,
			now
		});
		if (result.outcome === 'duplicate_message')
			throw new AppError('conflict', 'This message was already sent in another run.');
		if (result.outcome === 'busy')
			throw new AppError('conflict', 'An answer is still being written; stop it or wait for its end.');
		if (result.run.conversationId !== conversationId)
			throw new AppError('conflict', 'This run belongs to another conversation.');
		if (result.outcome !== 'started') return { runId, conversationId };
		// An upload made the conversation before there was anything to name it after.
		if ((await store.conversations.get(conversationId))?.title === UNTITLED) {
			await store.conversations.rename(conversationId, titleOf(request.message.text), now);
		}
		this.#launch(request, answer);
		return { runId, conversationId };
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
		const { store, log } = this.#options;
		for (const run of await store.runs.listRunning(this.#bootId)) {
			const messages = await store.messages.list(run.conversationId);
			const message = messages.find(({ id }) => id === run.messageId);
			const data = JSON.stringify(INTERRUPTED);
			await store.runs.finish(run.id, {
				state: 'interrupted',
				errorCode: 'interrupted',
				finishedAt: new Date().toISOString(),
				events: [{ seq: run.lastSeq + 1, data }],
				...(message
					? { message: { conversationId: run.conversationId, message: foldEvent(message, INTERRUPTED) } }
					: {})
			});
			log.info({ runId: run.id }, 'run was interrupted by the last stop');
		}
	}

	/** Ends every run and waits until each has its terminal event. */
	async close(): Promise<void> {
		this.#isClosing = true;
		for (const { controller } of this.#active.values()) controller.abort(new Error('server stops'));
		await Promise.all([...this.#active.values()].map(({ task }) => task));
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
				else runLog.append(event);
			}
		} catch (error) {
			this.#options.log.error({ runId: request.runId, error: String(error) }, 'run failed');
			last = { type: 'RUN_ERROR', code: 'internal', message: 'Something went wrong in the server; its log says more.' };
		}
		if (this.#isClosing && signal.aborted) last = INTERRUPTED;
		await runLog.end(last, stateOf(last));
	}

	async *#events(request: RunRequest, runLog: RunLog, signal: AbortSignal): AsyncGenerator<RunEvent> {
		const { store, model, skills, workspaces, maxSteps } = this.#options;
		const { runId, conversationId } = request;
		yield { type: 'RUN_STARTED', threadId: conversationId, runId };
		const snapshot = skills.registry.snapshot();
		const offered = snapshot.skills.map(({ name, description }) => ({ name, description }));
		const catalog = renderSystemPrompt(snapshot.skills);
		yield { type: 'CUSTOM', name: 'skill.catalog', value: { skills: offered, tokens: estimateTokens(catalog) } };
		const history = (await store.messages.listForModel(conversationId)).filter(
			({ message }) => message.runId !== runId || message.role === 'user'
		);
		const session = skills.createSession({ snapshot, loaded: loadedSkills(history) });
		const files = await workspaces.list(conversationId);
		const answerId = runLog.snapshot.message.id;
		const records: Promise<unknown>[] = [];
		yield* runAgent({
			model,
			instructions: instructionsOf(catalog, files),
			input: toInput(history, model.id),
			toolbox: createSkillToolbox(session, request.tools, workspaces.path(conversationId)),
			threadId: conversationId,
			runId,
			maxSteps,
			signal,
			record: (items) => records.push(store.messages.appendItems(conversationId, answerId, items))
		});
		await Promise.all(records);
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

function stateOf(event: RunEvent): 'success' | 'cancelled' | 'failed' | 'interrupted' {
	if (event.type === 'RUN_FINISHED') return event.outcome?.type === 'cancelled' ? 'cancelled' : 'success';
	return event.type === 'RUN_ERROR' && event.code === 'interrupted' ? 'interrupted' : 'failed';
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
